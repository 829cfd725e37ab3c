"""Compare missions with the goals `time` and `best` with rivals that spend the same joules.

    python benchmarks/mission_goals.py run goals.jsonl --study docs/results/mission-study.jsonl
    python benchmarks/mission_goals.py table goals.jsonl --study docs/results/mission-study.jsonl

Rivals' runs are those of `mission_study.py`. For each of them that reached the harder target, a
mission with the goal `time` has the rival's joules until then as its budget: who is there first? A
mission with the goal `best` has as its budget what the rival's run took in all: whose score is
better at the end? `run` appends to the file and skips what is in it.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path

from mission_study import METHODS, TARGETS, scenario_of
from network_runs import run_once
from result_file import Record, argument_parser, read, run_missing
from two_bills import BILLS, NAMES

from scdn.record.round_totals import cumulative_totals
from scdn.record.target_results import target_results
from scdn.simulation.runner import REFERENCE_METHOD
from scdn.targets import parse_targets

GOALS = ("time", "best")
RIVALS = (REFERENCE_METHOD, *METHODS[1:])
KEY = ("network", "bill", "seed", "rival", "goal")


def hardest(network: str) -> str:
    """Return the target that missions plan for."""
    return TARGETS[network][-1]


def budget_of(rival: Record, goal: str) -> float | None:
    """Return what the rival spent until the harder target, or in all; None: it was not reached."""
    if goal == "time":
        joules = rival["targets"][hardest(rival["network"])]["joules"]
        return None if joules is None else float(joules)
    return float(rival["joules"][-1])


def train(
    rivals: Sequence[Record], network: str, bill: str, seed: int, rival: str, goal: str
) -> Record:
    """Run a mission with the joules of a rival; return its seconds to the target and its score."""
    key = dict(zip(KEY, (network, bill, seed, rival, goal), strict=True))
    budget_j = budget_of(_rival(rivals, network, bill, seed, rival), goal)
    settings = (f'mission.goal="{goal}"', f"mission.budget_j={budget_j}")
    recorded = run_once(scenario_of(network, bill, seed, "mission", *settings))
    target = parse_targets([hardest(network)])
    reached = target_results(recorded.start, recorded.rounds, target)[0]
    return {
        **key,
        "budget_j": budget_j,
        "joules": cumulative_totals(recorded.rounds)[-1].joules if recorded.rounds else 0.0,
        "joules_to_target": reached["joules"],
        "seconds_to_target": reached["seconds"],
        "score": recorded.rounds[-1]["metrics"][target[0].metric] if recorded.rounds else None,
    }


def _rival(rivals: Sequence[Record], network: str, bill: str, seed: int, name: str) -> Record:
    wanted = (network, bill, seed, name)
    return next(r for r in rivals if (r["network"], r["bill"], r["seed"], r["method"]) == wanted)


def run_all(args: argparse.Namespace) -> None:
    """Run the missions that the file does not have."""
    rivals = [r for r in read(args.study) if r["method"] in RIVALS and r["seed"] < args.seeds]
    rivals = [r for r in rivals if r["network"] in args.networks and r["bill"] in args.bills]
    rivals.sort(key=lambda r: r["seed"])
    wanted = [
        (r["network"], r["bill"], r["seed"], r["method"], goal)
        for r, goal in product(rivals, args.goals)
        if budget_of(r, goal) is not None
    ]
    run_missing(args.file, partial(train, rivals), wanted, KEY, args.jobs)


# --- tables ---------------------------------------------------------------------------------------


def rows(records: Sequence[Record], rivals: Sequence[Record]) -> Iterator[str]:
    """Yield the comparison with each rival on each network, by both goals."""
    yield (
        "| network | bill | rival | its s | mission's s | ratio | no slower "
        "| its score | mission's score | better by | no more than 0.3 below |"
    )
    yield "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    for network, bill, name in product(NAMES, BILLS, RIVALS):
        cell = [
            r for r in records if (r["network"], r["bill"], r["rival"]) == (network, bill, name)
        ]
        if cell:
            pairs = [(r, _rival(rivals, network, bill, r["seed"], name)) for r in cell]
            cells = [*_time_cells(pairs), *_best_cells(pairs)]
            yield f"| {network} | {bill} | {name} | " + " | ".join(cells) + " |"


def _time_cells(pairs: Sequence[tuple[Record, Record]]) -> list[str]:
    seconds = [
        (_or_infinite(ours["seconds_to_target"]), theirs["targets"][hardest(theirs["network"])])
        for ours, theirs in pairs
        if ours["goal"] == "time"
    ]
    if not seconds:
        return [""] * 4
    ours, theirs = [s for s, _ in seconds], [t["seconds"] for _, t in seconds]
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    kept = sum(a <= b * (1 + 1e-9) for a, b in zip(ours, theirs, strict=True))
    medians = [f"{statistics.median(values):.3g}" for values in (theirs, ours)]
    return [*medians, f"{ratio:.2f}", f"{kept} of {len(ours)}"]


def _best_cells(pairs: Sequence[tuple[Record, Record]]) -> list[str]:
    scores = [(ours["score"], theirs["score"]) for ours, theirs in pairs if ours["goal"] == "best"]
    if not scores:
        return [""] * 4
    better = [a - b for a, b in scores]
    kept = sum(value >= -0.3 for value in better)
    medians = [f"{statistics.median(values):.2f}" for values in zip(*scores, strict=True)]
    middle = f"{statistics.median(better):+.2f}"
    return [medians[1], medians[0], middle, f"{kept} of {len(better)}"]


def _or_infinite(value: float | None) -> float:
    return math.inf if value is None else value


def main() -> None:
    """Run, or print the table."""
    parser = argument_parser(__doc__, seeds=10)
    parser.add_argument("--study", type=Path, default=Path("docs/results/mission-study.jsonl"))
    parser.add_argument("--networks", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--bills", nargs="+", choices=BILLS, default=("paper", "protocol"))
    parser.add_argument("--goals", nargs="+", choices=GOALS, default=GOALS)
    args = parser.parse_args()
    if args.action == "run":
        run_all(args)
    print("\n".join(rows(read(args.file), read(args.study))))


if __name__ == "__main__":
    main()
