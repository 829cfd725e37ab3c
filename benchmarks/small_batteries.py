"""Compare how much each method loses when its devices have small batteries.

    python benchmarks/small_batteries.py run batteries.jsonl --seeds 3 --jobs 2
    python benchmarks/small_batteries.py table batteries.jsonl

The paper's static network with MNIST, billed by the protocol: the server only knows what it heard.
Every device has the same battery, which is too small for all rounds. Rivals take SC-DN's mean
iterations of the same seed and the same batteries; a mission is to find the best model. `run`
appends to the file and skips what is in it; runs of SC-DN are kept in `--work`, since rivals need
them.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path

from network_runs import network_scenario
from result_file import Record, argument_parser, mean_text, read, run_missing

from scdn.record.run_reader import read_run
from scdn.scenario import Scenario
from scdn.simulation.runner import REFERENCE_METHOD, run

METHODS = ("mission", "gsp-matched", "vafl-matched", "oort")
SIZES = (None, 0.3, 0.1)  # joules of each device; None: unlimited
KEY = ("battery_j", "seed", "method", "rounds")
DEVICE_TERMS = ("transmission_j", "processing_j", "circuit_j", "idle_j")


def scenario_of(battery_j: float | None, seed: int, method: str, rounds: int) -> Scenario:
    """Return the scenario of one run."""
    settings = [f"seed={seed}", f"method={method}", f"learning.rounds={rounds}"]
    settings.append('mission.goal="best"')
    if battery_j is not None:
        settings.append(f"fleet.0.battery_j=[{battery_j}, {battery_j}]")
    return network_scenario("paper-static", settings)


def train(work: Path, battery_j: float | None, seed: int, method: str, rounds: int) -> Record:
    """Run one method; return its final score, what devices spent, and who ran out of energy."""
    scenario = scenario_of(battery_j, seed, method, rounds)
    reference = work / f"{battery_j}-{seed}-{rounds}"
    if method == REFERENCE_METHOD:
        recorded = read_run(reference) if reference.exists() else run(scenario, reference)
    else:
        with tempfile.TemporaryDirectory() as folder:
            recorded = run(scenario, Path(folder) / "run", reference=reference)
    energy = (recorded.end or {})["energy"]
    return {
        **dict(zip(KEY, (battery_j, seed, method, rounds), strict=True)),
        "top3": recorded.rounds[-1]["metrics"]["top3"],
        "device_j": sum(energy[term] for term in DEVICE_TERMS),
        "total_j": energy["total_j"],
        "active": [len(event["active"]) for event in recorded.rounds],
        "exits": sum(len(event.get("exits_by_battery", [])) for event in recorded.rounds),
    }


def run_all(args: argparse.Namespace) -> None:
    """Run SC-DN where it is missing, then everybody else."""
    for methods in ((REFERENCE_METHOD,), args.methods):
        cells = product(range(args.seeds), (None, *args.sizes), methods)
        wanted = [(size, seed, name, args.rounds) for seed, size, name in cells]
        run_missing(args.file, partial(train, args.work), wanted, KEY, args.jobs)


# --- the table ------------------------------------------------------------------------------------


def rows(records: Sequence[Record]) -> Iterator[str]:
    """Yield each method's final top-3 with unlimited batteries, and what smaller ones cost it."""
    sizes = sorted({r["battery_j"] for r in records if r["battery_j"] is not None}, reverse=True)
    columns = [f"{size:g} J | loses | exits" for size in sizes]
    yield "| method | unlimited | devices (J) | " + " | ".join(columns) + " |"
    yield "|---|---:|---:|" + "---:|" * (3 * len(sizes))
    for method in (METHODS[0], REFERENCE_METHOD, *METHODS[1:]):
        full = _by_seed(records, None, method)
        if full:
            cells = [mean_text([r["top3"] for r in full.values()], 1)]
            cells.append(f"{statistics.mean(r['device_j'] for r in full.values()):.3g}")
            for size in sizes:
                cells += _cells(full, _by_seed(records, size, method))
            yield f"| {method} | " + " | ".join(cells) + " |"


def _by_seed(records: Sequence[Record], size: float | None, method: str) -> dict[int, Record]:
    chosen = [r for r in records if (r["battery_j"], r["method"]) == (size, method)]
    return {record["seed"]: record for record in chosen}


def _cells(full: dict[int, Record], small: dict[int, Record]) -> list[str]:
    both = sorted(full.keys() & small.keys())
    if not both:
        return ["", "", ""]
    lost = [full[seed]["top3"] - small[seed]["top3"] for seed in both]
    return [
        mean_text([small[seed]["top3"] for seed in both], 1),
        mean_text(lost, 1),
        f"{statistics.mean(small[seed]['exits'] for seed in both):.1f}",
    ]


def main() -> None:
    """Run, or print the table."""
    parser = argument_parser(__doc__, seeds=3)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--sizes", nargs="+", type=float, default=SIZES[1:])
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--work", type=Path, default=Path("out/small-batteries"))
    args = parser.parse_args()
    if args.action == "run":
        run_all(args)
    print("\n".join(rows(read(args.file))))


if __name__ == "__main__":
    main()
