"""SC-DN against its rivals on MNIST: ten paired seeds, tuned rates, both regimes.

    python benchmarks/claims.py --out out/claims --jobs 2 -o docs/results/methods-mnist.json

Every method's learning rate is tuned first, with the same small budget: four rates, two seeds that
are not used again, scored on a tenth of the training rows. Then each method runs with ten seeds on
the paper's static network with 2, 4 and 6 devices and on its dynamic one. Runs that are there are
not repeated.

    regime       steps per iteration   update
    few          1                     the product's (server last, fitted)
    few-paper    1                     the paper's (all at once, whole)
    many         20                    the product's
    many-paper   20                    the paper's
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from scdn.cli.progress import Progress
from scdn.documents import to_json, write_atomic
from scdn.record.read import read_run
from scdn.report.statistics import compare, spread
from scdn.report.study import make_study
from scdn.scenario import read_scenario
from scdn.simulation.compare import Task, carry_out

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
RATES = (0.2, 0.4, 0.8, 1.6)
TUNING_SEEDS = (1000, 1001)
STATIC = ("sc-dn", "max-vfl", "max-vfl-matched", "gsp", "gsp-matched", "vafl", "vafl-matched")
DYNAMIC = (*STATIC, "zoc", "zoc-greedy")
FEW = {"few", "few-paper"}
PAPER = ("learning.server_turn=parallel", "learning.damping=none")
MANY = ("learning.steps_per_iteration=20", "fleet.0.flops_per_cycle=[0.064, 0.148]")
REGIMES = {"few": (), "few-paper": PAPER, "many": MANY, "many-paper": (*PAPER, *MANY)}
NETWORKS = {
    "static 2": ("paper-static", "fleet.0.count=2"),
    "static 4": ("paper-static", "fleet.0.count=4"),
    "static 6": ("paper-static", "fleet.0.count=6"),
    "dynamic": ("paper-dynamic", "fleet.0.count=6"),
}


def scenario(network: str, regime: str, method: str, seed: int, rate: float, *more: str):
    """The scenario of one run."""
    name, size = NETWORKS[network]
    settings = [
        f"name={network}",
        size,
        *REGIMES[regime],
        f"method={method}",
        f"seed={seed}",
        f"fleet.0.learning_rate={rate}",
        f"learning.server_rate={rate}",
        *more,
    ]
    return read_scenario(EXAMPLES / f"{name}.toml", settings)


def tuning(out: Path, regime: str) -> list[Task]:
    """The runs that rates are chosen by, on the static network of four."""
    found = []
    for method in STATIC:
        for rate in RATES:
            for seed in TUNING_SEEDS:
                here = out / regime / "tuning"
                chosen = scenario("static 4", regime, method, seed, rate, "learning.holdout=0.1")
                place = here / method / f"rate-{rate}" / f"seed-{seed}"
                reference = here / "sc-dn" / f"rate-{rate}" / f"seed-{seed}"
                rival = method.startswith(("gsp", "vafl"))
                found.append(Task(chosen, place, reference if rival else None))
    return found


def tuned(out: Path, regime: str) -> dict[str, float]:
    """Each method's best rate; a memory does not need one of its own."""
    best = {}
    for method in STATIC:
        scores = {}
        for rate in RATES:
            runs = [
                read_run(out / regime / "tuning" / method / f"rate-{rate}" / f"seed-{seed}")
                for seed in TUNING_SEEDS
            ]
            scores[rate] = float(np.mean([_score(run) for run in runs]))
        best[method] = max(scores, key=lambda rate: scores[rate])
    return best | {"zoc": best["sc-dn"], "zoc-greedy": best["max-vfl"]}


def _score(run) -> float:
    return run.rounds[-1]["metrics"]["top3"] if run.end["status"] == "done" else 0.0


def study(out: Path, regime: str, rates: dict[str, float], seeds: int) -> list[Task]:
    """The runs that count."""
    found = []
    for network in NETWORKS:
        for method in DYNAMIC if network == "dynamic" else STATIC:
            for seed in range(seeds):
                place = out / regime / network / method / f"seed-{seed}"
                source = out / regime / network / "sc-dn" / f"seed-{seed}"
                rival = method.startswith(("gsp", "vafl"))
                chosen = scenario(network, regime, method, seed, rates[method])
                found.append(Task(chosen, place, source if rival else None))
    return found


def run_all(tasks: list[Task], jobs: int) -> None:
    """References first, then those who follow them."""
    bar, count = Progress(len(tasks), lines=20), 0
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for wave in (False, True):
            for place in pool.map(carry_out, [t for t in tasks if bool(t.reference) == wave]):
                count += 1
                bar.show(count, "/".join(place.parts[-3:]))


def summary(out: Path, regime: str, rates: dict[str, float], seeds: int) -> dict:
    """Means, deviations and paired differences to SC-DN, for each network."""
    result = {"rates": rates, "networks": {}}
    for network in NETWORKS:
        methods = DYNAMIC if network == "dynamic" else STATIC
        runs = [
            read_run(out / regime / network / method / f"seed-{seed}")
            for method in methods
            for seed in range(seeds)
        ]
        found = make_study(runs, "sc-dn")
        table: dict = {method: {} for method in methods}
        for measure in found.measures():
            for method in methods:
                values = measure.values.get(method, {})
                mean = spread(values.values())
                if mean is None:
                    continue
                cell = {"mean": mean.mean, "std": mean.std}
                paired = compare(values, measure.values.get("sc-dn", {}))
                if method != "sc-dn" and paired is not None:
                    cell |= {
                        "difference": paired.difference,
                        "low": paired.low,
                        "high": paired.high,
                        "p": paired.p_t,
                    }
                table[method][measure.metric.key] = cell
        statuses = [run.end["status"] for run in runs]
        shares = [
            sum(e["plan"]["solve_seconds"] for e in r.rounds) / sum(e["seconds"] for e in r.rounds)
            for r in runs
            if r.method == "sc-dn"
        ]
        result["networks"][network] = {
            "methods": table,
            "diverged": statuses.count("diverged"),
            "control_share": float(np.median(shares)),
        }
    return result


def main() -> None:
    """Parses, runs, writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="where runs are kept")
    parser.add_argument("--regimes", default="few,few-paper,many,many-paper")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, required=True, help="a JSON file")
    args = parser.parse_args()
    found = json.loads(args.output.read_text()) if args.output.exists() else {}
    for regime in args.regimes.split(","):
        run_all(tuning(args.out, regime), args.jobs)
        rates = tuned(args.out, regime)
        print(f"{regime}: rates {rates}")
        run_all(study(args.out, regime, rates, args.seeds), args.jobs)
        found[regime] = {"seeds": args.seeds, **summary(args.out, regime, rates, args.seeds)}
        write_atomic(args.output, to_json(found) + "\n")


if __name__ == "__main__":
    main()
