"""Measure learning without a rate on the four fixed networks, at learning rates from 0.01 to 1.

    python benchmarks/rate_free.py run results.jsonl --seeds 10 --jobs 2
    python benchmarks/rate_free.py run results.jsonl --methods all --rates 0.01,1 --seeds 1
    python benchmarks/rate_free.py run results.jsonl --rates 0.1 --set learning.step=fitted
    python benchmarks/rate_free.py table results.jsonl

Every run has the product's defaults and 30 rounds; only the seed, the method, the learning rate of
all devices and what `--set` says differ. `run` appends to the file and skips what is in it. Rivals
take SC-DN's mean iterations from a run with the same seed and rate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from network_runs import network_scenario, run_once
from result_file import Record, argument_parser, mean_text, read, run_missing

from scdn.methods import method, methods
from scdn.scenario import Scenario

NAMES = ("paper-static", "paper-dynamic", "wildfire", "smart-grid")
RATES = (0.01, 0.03, 0.1, 0.3, 1.0)


def scenario_of(
    network: str, seed: int, name: str, rate: float, settings: Sequence[str]
) -> Scenario:
    """Return a network's scenario with this learning rate on every device."""
    groups = range(len(network_scenario(network).fleet))
    rates = [f"fleet.{group}.learning_rate={rate}" for group in groups]
    changes = [f"seed={seed}", f"method={name}", *rates, *settings]
    return network_scenario(network, changes)


def train(network: str, seed: int, name: str, rate: float, settings: Sequence[str]) -> Record:
    """Run one scenario; return its scores and how it ended."""
    recorded = run_once(scenario_of(network, seed, name, rate, settings))
    end = recorded.end or {}
    scores = [event["metrics"] for event in recorded.rounds]
    return {
        "network": network,
        "seed": seed,
        "method": name,
        "rate": rate,
        "settings": list(settings),
        "status": end.get("status"),
        "top1": [round(score["top1"], 3) for score in scores],
        "top3": [round(score["top3"], 3) for score in scores],
        "total_j": end["energy"]["total_j"] if "energy" in end else None,
    }


def run_all(
    path: Path,
    names: Sequence[str],
    rates: Sequence[float],
    settings: Sequence[str],
    seeds: int,
    jobs: int,
) -> None:
    """Run what the file does not have yet, and append it."""
    wanted = (
        (network, seed, name, rate, tuple(settings))
        for seed, rate, name, network in product(range(seeds), rates, names, NAMES)
    )
    run_missing(path, train, wanted, ("network", "seed", "method", "rate", "settings"), jobs)


def rows(records: Sequence[Record]) -> Iterator[str]:
    """Yield a table: mean ± standard deviation of the last top-3, and runs that diverged."""
    rates = sorted({record["rate"] for record in records})
    yield "| method | network | " + " | ".join(f"rate {rate:g}" for rate in rates) + " | diverged |"
    yield "|---|---|" + "---:|" * (len(rates) + 1)
    order = {m.name: place for place, m in enumerate(methods())}
    groups: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        groups.setdefault((record["method"], *record["settings"]), []).append(record)
    names = sorted(groups, key=lambda group: (group[1:], order[group[0]]))
    for name, network in product(names, NAMES):
        chosen = [r for r in groups[name] if r["network"] == network]
        scores = ([r["top3"][-1] for r in chosen if r["rate"] == rate] for rate in rates)
        cells = [score_text(of_rate) for of_rate in scores]
        diverged = sum(r["status"] != "done" for r in chosen)
        cells += [f"{diverged} of {len(chosen)}"]
        yield f"| {' '.join(name)} | {network} | " + " | ".join(cells) + " |"


def score_text(scores: Sequence[float]) -> str:
    """Return the mean and the standard deviation over so many seeds."""
    if len(scores) < 2:
        return f"{scores[0]:.1f}" if scores else "–"
    return f"{mean_text(scores, 2)} ({len(scores)})"


def main() -> None:
    """Run, or print the table."""
    parser = argument_parser(__doc__, seeds=10)
    parser.add_argument("--methods", default="sc-dn", help="names separated by commas, or all")
    parser.add_argument("--rates", default=",".join(map(str, RATES)))
    parser.add_argument("--set", dest="settings", action="append", default=[])
    args = parser.parse_args()
    if args.action == "run":
        chosen = [m.name for m in methods()] if args.methods == "all" else args.methods.split(",")
        names = [method(name).name for name in chosen]
        rates = [float(rate) for rate in args.rates.split(",")]
        run_all(args.file, names, rates, args.settings, args.seeds, args.jobs)
    print("\n".join(rows(read(args.file))))


if __name__ == "__main__":
    main()
