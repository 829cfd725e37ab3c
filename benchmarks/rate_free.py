"""Measure learning without a rate on the four fixed networks, at learning rates from 0.01 to 1.

    python benchmarks/rate_free.py run results.jsonl --seeds 10 --jobs 2
    python benchmarks/rate_free.py run results.jsonl --methods all --rates 0.01,1 --seeds 1
    python benchmarks/rate_free.py table results.jsonl

Every run has the product's defaults and 30 rounds; only the seed, the method and the learning rate
of all devices differ. `run` appends to the file and skips what is in it. Rivals take SC-DN's mean
iterations from a run with the same seed and rate.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from result_file import Record, read, run_missing

from scdn.methods import method, methods
from scdn.scenario import Scenario, read_scenario
from scdn.simulation.runner import run

NETWORKS = Path(__file__).parent / "networks"
NAMES = ("paper-static", "paper-dynamic", "wildfire", "smart-grid")
RATES = (0.01, 0.03, 0.1, 0.3, 1.0)


def scenario_of(network: str, seed: int, name: str, rate: float) -> Scenario:
    """Return a network's scenario with this learning rate on every device."""
    path = NETWORKS / f"{network}.toml"
    groups = range(len(read_scenario(path).fleet))
    rates = [f"fleet.{group}.learning_rate={rate}" for group in groups]
    return read_scenario(path, [f"seed={seed}", f"method={name}", *rates])


def train(network: str, seed: int, name: str, rate: float) -> Record:
    """Run one scenario; return its scores and how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        recorded = run(scenario_of(network, seed, name, rate), Path(folder) / "run")
    end = recorded.end or {}
    scores = [event["metrics"] for event in recorded.rounds]
    return {
        "network": network,
        "seed": seed,
        "method": name,
        "rate": rate,
        "status": end.get("status"),
        "top1": [round(score["top1"], 3) for score in scores],
        "top3": [round(score["top3"], 3) for score in scores],
        "total_j": end["energy"]["total_j"] if "energy" in end else None,
    }


def run_all(
    path: Path, names: Sequence[str], rates: Sequence[float], seeds: int, jobs: int
) -> None:
    """Run what the file does not have yet, and append it."""
    wanted = (
        (network, seed, name, rate)
        for seed, rate, name, network in product(range(seeds), rates, names, NAMES)
    )
    run_missing(path, train, wanted, ("network", "seed", "method", "rate"), jobs)


def rows(records: Sequence[Record]) -> Iterator[str]:
    """Yield a table: mean ± standard deviation of the last top-3, and runs that diverged."""
    rates = sorted({record["rate"] for record in records})
    yield "| method | network | " + " | ".join(f"rate {rate:g}" for rate in rates) + " | diverged |"
    yield "|---|---|" + "---:|" * (len(rates) + 1)
    names = [m.name for m in methods() if any(r["method"] == m.name for r in records)]
    for name, network in product(names, NAMES):
        chosen = [r for r in records if (r["method"], r["network"]) == (name, network)]
        scores = ([r["top3"][-1] for r in chosen if r["rate"] == rate] for rate in rates)
        cells = [score_text(of_rate) for of_rate in scores]
        diverged = sum(r["status"] != "done" for r in chosen)
        yield f"| {name} | {network} | " + " | ".join(cells) + f" | {diverged} of {len(chosen)} |"


def score_text(scores: Sequence[float]) -> str:
    """Return the mean and the standard deviation over so many seeds."""
    if len(scores) < 2:
        return f"{scores[0]:.1f}" if scores else "–"
    return f"{statistics.mean(scores):.2f} ± {statistics.stdev(scores):.2f} ({len(scores)})"


def main() -> None:
    """Run, or print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("run", "table"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--methods", default="sc-dn", help="names separated by commas, or all")
    parser.add_argument("--rates", default=",".join(map(str, RATES)))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    if args.action == "run":
        chosen = [m.name for m in methods()] if args.methods == "all" else args.methods.split(",")
        names = [method(name).name for name in chosen]
        rates = [float(rate) for rate in args.rates.split(",")]
        run_all(args.file, names, rates, args.seeds, args.jobs)
    print("\n".join(rows(read(args.file))))


if __name__ == "__main__":
    main()
