"""Compare estimates with the runs that follow, and measure how long planning ahead takes.

    python benchmarks/estimates.py run estimates.jsonl --seeds 2
    python benchmarks/estimates.py table estimates.jsonl
    OMP_NUM_THREADS=1 python benchmarks/estimates.py speed speed.jsonl

`run` estimates and trains three methods on two of the fixed networks with the target top3=95, by
both bills; runs of SC-DN are kept beside the file, since rivals need them. `speed` plans 30 rounds
of a mission ahead for 10, 50 and 1,000 devices in this process and counts processor seconds, so
that other work on the machine counts little.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

from network_runs import network_scenario
from result_file import Record, read, run_missing
from two_bills import BILLS

from scdn.control.plan import Plan
from scdn.control.problem import RoundProblem
from scdn.methods import RoundContext, method, register_method
from scdn.record.run_reader import read_run
from scdn.simulation.estimate import estimate
from scdn.simulation.runner import REFERENCE_METHOD, run

NETWORKS = ("paper-dynamic", "wildfire")
METHODS = ("mission", "sc-dn", "gsp-matched")
SIZES = (10, 50, 1000)
HIGH_WORTH_J = 1000.0
KEY = ("network", "bill", "seed", "method")


def compare(network: str, bill: str, seed: int, name: str, *, work: str) -> Record:
    """Return what a run was expected to take, and what it took; SC-DN's runs are in `work`."""
    settings = [f"seed={seed}", f"method={name}", 'targets=["top3=95"]', *BILLS[bill]]
    scenario = network_scenario(network, settings)
    began = time.perf_counter()
    expected = estimate(scenario).document()
    record = {"estimate_s": time.perf_counter() - began}
    reference = Path(work) / f"{network}-{bill}-{seed}"
    if name == REFERENCE_METHOD or (method(name).rival and not reference.exists()):
        leader = scenario.model_copy(update={"method": REFERENCE_METHOD})
        recorded = read_run(reference) if reference.exists() else run(leader, reference)
    if name != REFERENCE_METHOD:
        with tempfile.TemporaryDirectory() as folder:
            given = reference if method(name).rival else None
            recorded = run(scenario, Path(folder) / "run", reference=given)
    end = recorded.end or {}
    record |= dict(zip(KEY, (network, bill, seed, name), strict=True))
    return record | {
        "expected": {**expected["energy"], "s": expected["seconds"], "rounds": expected["rounds"]},
        "taken": {
            **{term: end["energy"][term] for term in expected["energy"]},
            "s": end["energy"]["latency_s"],
            "rounds": end["rounds"],
        },
    }


def table(records: Sequence[Record]) -> Iterator[str]:
    """Yield a row per run: joules, seconds and rounds, expected and taken."""
    yield "| network | bill | method | seed | J expected | J taken | ratio | s | rounds |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for record in records:
        expected, taken = record["expected"], record["taken"]
        ratio = taken["total_j"] / expected["total_j"]
        yield (
            f"| {record['network']} | {record['bill']} | {record['method']} | {record['seed']} "
            f"| {expected['total_j']:.4g} | {taken['total_j']:.4g} | {ratio:.2f} "
            f"| {expected['s']:.0f}, {taken['s']:.0f} "
            f"| {expected['rounds']}, {taken['rounds']} |"
        )
    yield ""
    yield from summary(records)


def summary(records: Sequence[Record]) -> Iterator[str]:
    """Yield a row per method and bill: the joules taken over those expected, in each run."""
    yield f"| joules taken / expected | {' | '.join(NETWORKS)} |"
    yield "|---|" + "---|" * len(NETWORKS)
    for name, bill in product(METHODS, ("paper", "protocol")):
        cells = []
        for network in NETWORKS:
            ratios = [
                record["taken"]["total_j"] / record["expected"]["total_j"]
                for record in records
                if (record["method"], record["bill"], record["network"]) == (name, bill, network)
            ]
            cells.append(", ".join(f"{ratio:.2f}" for ratio in ratios))
        yield f"| `{name}`, {bill}'s bill | {' | '.join(cells)} |"


def speed(devices: int, worth_j: float | None) -> Record:
    """Return the processor seconds of planning 30 rounds of a mission for so many devices.

    With a given worth of progress there is one plan per round, and a high one makes everybody in
    reach active; otherwise the goal decides.
    """
    seconds: list[float] = []
    chosen = method("mission")

    def timed(problem: RoundProblem, context: RoundContext) -> Plan:
        began = time.process_time()
        plan = chosen.controller(problem, context)
        seconds.append(time.process_time() - began)
        return plan

    name = f"timed-{devices}-{worth_j}"
    register_method(replace(chosen, name=name, controller=timed))
    settings = [f"method={name}", 'targets=["top3=95"]', "churn.exits=false",
                "churn.entry_rate=0", *BILLS["paper"]]  # fmt: skip
    settings += [] if worth_j is None else [f"mission.worth_j={worth_j}"]
    scenario = network_scenario("paper-dynamic", settings)
    group = scenario.fleet[0].model_copy(update={"count": devices})
    scenario = scenario.model_copy(update={"fleet": (group,)})
    began = time.process_time()
    rounds = estimate(scenario).rounds
    return {
        "devices": devices,
        "worth_j": worth_j,
        "rounds": len(rounds),
        "active": statistics.mean(len(event["active"]) for event in rounds),
        "total_s": time.process_time() - began,
        "plans_s": seconds,
    }


def speed_table(records: Sequence[Record]) -> Iterator[str]:
    """Yield a row per number of devices."""
    yield "| devices | worth | active | rounds | all rounds, s | a round's plan, median, ms |"
    yield "|---|---|---|---|---|---|"
    for record in records:
        worth = "by the goal" if record["worth_j"] is None else f"{record['worth_j']:g} J"
        yield (
            f"| {record['devices']} | {worth} | {record['active']:.0f} | {record['rounds']} "
            f"| {record['total_s']:.1f} | {1e3 * statistics.median(record['plans_s']):.0f} |"
        )


def main() -> None:
    """Run what the file does not have yet if asked to, and print its table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("run", "table", "speed", "speed-table"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    if args.action.startswith("speed"):
        if args.action == "speed":
            speed(2, None)  # loads the compiled kernels
            wanted = list(product(SIZES, (None, HIGH_WORTH_J)))
            run_missing(args.file, speed, wanted, ("devices", "worth_j"), 1)
        print("\n".join(speed_table(read(args.file))))
        return
    if args.action == "run":
        work = str(args.file.with_suffix(""))
        seeds = range(args.seeds)
        runs = [
            (network, bill, seed, name)
            for bill, seed, network, name in product(
                ("paper", "protocol"), seeds, NETWORKS, METHODS
            )
        ]
        run_missing(args.file, partial(compare, work=work), runs, KEY, args.jobs)
    print("\n".join(table(read(args.file))))


if __name__ == "__main__":
    main()
