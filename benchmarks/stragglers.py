"""Compare schedules where one device is ten times slower: seconds and joules to the targets.

    python benchmarks/stragglers.py run stragglers.jsonl --seeds 8
    python benchmarks/stragglers.py table stragglers.jsonl

Six devices of `examples/straggler.toml` learn MNIST, all at their highest clock and power; only the
schedule differs. *Left out* is the synchronous schedule with a deadline that the slow device cannot
meet. Missions choose power, clock and iterations too, to their own target; those that *wait* have
`mission.schedule = "synchronous"`. In *alike* runs the sixth device is as fast as the others. A run
ends when it has reached all targets, or after 120 rounds. `run` appends to the file and skips what
is in it. Ratios are to the synchronous schedule of the same network, with the same seed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from network_runs import run_to_targets
from result_file import Record, run_missing, run_or_show

from scdn.methods import method, register_method
from scdn.record.target_results import target_results
from scdn.scenario import read_scenario
from scdn.targets import parse_targets

SCENARIO = Path(__file__).parents[1] / "examples" / "straggler.toml"
TARGETS = ("top3=97", "top1=88")
ROUNDS = 120  # after which a run has not reached its targets
SHORT_DEADLINE = "learning.compute_deadline_s=1"
WAITS = "mission.schedule=synchronous"
ALIKE = "fleet.1.cpu_max_hz=[2.3e9,2.3e9]"
MISSION_TARGET = "mission.target=top1=88"  # the harder one
SCHEDULES = {  # by name in the table: the method, and what it changes in the scenario
    "synchronous": ("max-vfl", []),
    "left out": ("max-vfl", [SHORT_DEADLINE]),
    "buffered, 5 of 6": ("max-vfl-buffered", []),
    "buffered, 3 of 6": ("max-vfl-buffered", ["learning.buffer_reports=3"]),
    "asynchronous": ("max-vfl-asynchronous", []),
    "mission, time": ("mission", ["mission.goal=time"]),
    "mission, time, waits": ("mission", ["mission.goal=time", WAITS]),
    "mission, energy": ("mission", ["mission.goal=energy"]),
    "alike, synchronous": ("max-vfl", [ALIKE]),
    "alike, mission, time": ("mission", [ALIKE, "mission.goal=time"]),
    "alike, mission, time, waits": ("mission", [ALIKE, "mission.goal=time", WAITS]),
}
KEY = ("schedule", "seed")


def train(schedule: str, seed: int) -> Record:
    """Run one schedule until it has reached the targets; return what that took."""
    asynchronous = replace(method("max-vfl"), name="max-vfl-asynchronous", schedule="asynchronous")
    register_method(asynchronous)
    name, settings = SCHEDULES[schedule]
    settings = [*settings, f"seed={seed}", f"method={name}", f"learning.rounds={ROUNDS}"]
    if name == "mission":
        settings.append(MISSION_TARGET)
    targets = parse_targets(TARGETS)
    recorded = run_to_targets(read_scenario(SCENARIO, settings), targets)
    stale = [
        arrival["staleness"]
        for event in recorded.rounds
        for arrival in event.get("arrivals", ())
        if arrival["id"].startswith("slow")
    ]
    return {
        "schedule": schedule,
        "seed": seed,
        "targets": target_results(recorded.start, recorded.rounds, targets),
        "rounds": len(recorded.rounds),
        "top3": recorded.rounds[-1]["metrics"]["top3"],
        "staleness": max(stale, default=0),
        "waited_for_all": sum("waits_for" not in event["plan"] for event in recorded.rounds),
    }


def run_all(path: Path, seeds: int, jobs: int) -> None:
    """Run every schedule with every seed."""
    wanted = [(schedule, seed) for seed in range(seeds) for schedule in SCHEDULES]
    run_missing(path, train, wanted, KEY, jobs)


def rows(records: Sequence[Record]) -> Iterator[str]:
    """Return the lines of the table: medians over the seeds, and the range of the ratios.

    A run that has not reached a target counts as infinite.
    """
    yield "| target | schedule | reached | rounds | seconds | joules | of seconds | of joules |"
    yield "|---|---|---|---|---|---|---|---|"
    for index, target in enumerate(TARGETS):
        results = {(r["schedule"], r["seed"]): r["targets"][index] for r in records}
        for schedule in SCHEDULES:
            own = {seed: r for (name, seed), r in results.items() if name == schedule}
            waited = [results[reference(schedule), seed] for seed in own]
            cells = [
                median_text([amount(result, key) for result in own.values()], digits)
                for key, digits in (("round", 0), ("seconds", 1), ("joules", 1))
            ]
            for key in ("seconds", "joules"):
                pairs = zip(own.values(), waited, strict=True)
                ratios = [amount(one, key) / other[key] for one, other in pairs if other["reached"]]
                highest = number_text(max(ratios), 2)
                cells.append(f"{median_text(ratios, 2)} ({min(ratios):.2f} to {highest})")
            reached = sum(result["reached"] for result in own.values())
            yield f"| {target} | {schedule} | {reached} of {len(own)} | {' | '.join(cells)} |"
    yield from rows_by_seed(records)


def rows_by_seed(records: Sequence[Record]) -> Iterator[str]:
    """Return the lines of a second table: the ratios of each seed, of seconds and of joules."""
    seeds = sorted({record["seed"] for record in records})
    yield ""
    yield f"| target | schedule | ratio of | {' | '.join(f'seed {seed}' for seed in seeds)} |"
    yield f"|---|---|---|{'---|' * len(seeds)}"
    for index, target in enumerate(TARGETS):
        results = {(r["schedule"], r["seed"]): r["targets"][index] for r in records}
        for schedule in SCHEDULES:
            if "mission" not in schedule:
                continue
            for key in ("seconds", "joules"):
                cells = [
                    number_text(amount(own, key) / amount(results[reference(schedule), seed], key))
                    for seed in seeds
                    if (own := results.get((schedule, seed)))
                ]
                yield f"| {target} | {schedule} | {key} | {' | '.join(cells)} |"


def reference(schedule: str) -> str:
    """Return the schedule that another one is compared with: the synchronous one."""
    return "alike, synchronous" if schedule.startswith("alike") else "synchronous"


def amount(result: Record, key: str) -> float:
    """Return what a target took; infinite where it was not reached."""
    return float(result[key]) if result["reached"] else math.inf


def median_text(values: Sequence[float], digits: int) -> str:
    """Return the median, if at least half of the runs reached the target."""
    return number_text(statistics.median(values), digits)


def number_text(value: float, digits: int = 2) -> str:
    """Return a number, or a sign for one that is infinite."""
    return f"{value:.{digits}f}" if math.isfinite(value) else "∞"


if __name__ == "__main__":
    run_or_show(__doc__, run_all, rows, seeds=8)
