"""What a mission was, and what it used against what no plan falls below: a part of the summary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scdn.mission.bound import MissionBound
from scdn.mission.flown_round import FlownRound
from scdn.mission.run_bound import run_bound
from scdn.record import checkpoint
from scdn.record.run_reader import Event
from scdn.scenario import Prices
from scdn.targets import Target

if TYPE_CHECKING:
    from scdn.simulation.loop import Simulation


def mission_summary(
    simulation: Simulation,
    folder: Path,
    status: str,
    targets: Sequence[Event],
    reason: str | None,
) -> Event:
    """Return the entry `mission` of a summary; none without a mission.

    Only a run that is over has a bound, and only if it would not take too long and no report was
    late. It is always computed from the rounds on disk, so that a resumed run has the same one.
    `targets` are the results of the run's targets: each that is reached has a bound of the rounds
    until then.
    """
    mission = simulation.mission
    if mission is None:
        return {}
    about: Event = {
        "goal": mission.scenario.mission.goal,
        "target": None if mission.target is None else str(mission.target),
        "ended": reason,
        "priced_j": mission.joules,
    }
    if status != "done":
        return {"mission": {**about, **_bound_entry(None), "to_targets": []}}
    prices, rounds = mission.scenario.mission_prices, _flown_rounds(folder, simulation.round)
    reached = [result for result in targets if result["reached"]]
    to_targets = [_to_target(result, rounds, prices) for result in reached]
    bound = _bound_entry(run_bound(rounds, prices))
    if any(entry.has_late_reports for entry in rounds):
        about["has_late_reports"] = True
    return {"mission": {**about, **bound, "to_targets": to_targets}}


def _flown_rounds(folder: Path, count: int) -> list[FlownRound]:
    return [FlownRound.from_arrays(*kept) for kept in checkpoint.load_rounds(folder, count)]


def _to_target(result: Event, rounds: Sequence[FlownRound], prices: Prices) -> Event:
    until = rounds[: result["round"] + 1]
    return {
        "target": str(Target(result["metric"], result["value"])),
        "priced_j": sum(entry.billed_j for entry in until),
        **_bound_entry(run_bound(until, prices)),
    }


def _bound_entry(bound: MissionBound | None) -> Event:
    if bound is None:
        return {"bound_j": None, "attained_j": None, "worth_j": None}
    return {
        "bound_j": _finite(bound.joules),
        "attained_j": _finite(bound.attained_j),
        "worth_j": _finite(bound.worth),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
