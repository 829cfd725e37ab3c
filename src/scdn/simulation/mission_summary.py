"""What a mission was, and what it used against what no plan falls below: a part of the summary."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from scdn.mission.bound import MissionBound
from scdn.mission.flown_round import FlownRound
from scdn.mission.run_bound import run_bound
from scdn.record import checkpoint
from scdn.record.run_reader import Event

if TYPE_CHECKING:
    from scdn.simulation.loop import Simulation


def mission_summary(simulation: Simulation, folder: Path, status: str) -> Event:
    """Return the entry `mission` of a summary; none without a mission.

    Only a run that is over has a bound, and only if it would not take too long. It is always
    computed from the rounds on disk, so that a resumed run has the same one.
    """
    mission = simulation.mission
    if mission is None:
        return {}
    bound = _bound(simulation, folder) if status == "done" else None
    return {
        "mission": {
            "goal": mission.scenario.mission.goal,
            "target": None if mission.target is None else str(mission.target),
            "ended": mission.ended,
            "priced_j": mission.joules,
            "bound_j": None if bound is None else _finite(bound.joules),
            "attained_j": None if bound is None else _finite(bound.attained_j),
            "worth_j": None if bound is None else _finite(bound.worth),
        }
    }


def _bound(simulation: Simulation, folder: Path) -> MissionBound | None:
    kept = checkpoint.load_rounds(folder, simulation.round)
    rounds = [FlownRound.from_arrays(*arrays_and_values) for arrays_and_values in kept]
    return run_bound(rounds, simulation.scenario.mission_prices)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
