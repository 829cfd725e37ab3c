"""The bound of a run: no plan buys what it made for less, under the gain curves fitted to it.

After every round the mission has fitted gain curves: what each device adds by its iterations, and
what a round brings besides. The run's progress is the sum of what these curves say that its rounds
brought. Progress as it is measured in single rounds is mostly noise, and a plan that knew the noise
in advance would only fly in lucky rounds. A factor of all curves does not change the bound.

The run itself is a plan under these curves, and was billed no less than that plan costs in the
bound's problem (`billed_round`). So no run falls below its bound.
"""

from __future__ import annotations

from collections.abc import Sequence

from scdn.mission.bound import MissionBound, billed_round, mission_bound
from scdn.mission.flown_round import FlownRound
from scdn.mission.free_round import BoundRound
from scdn.scenario import Prices

MOST_WORK = 5_000_000  # devices × rounds²: each round tries the positions of all; takes seconds
TOLERANCE = 0.01
MOST_PASSES = 12
MOST_BOXES = 20_000  # of each solve
DEVICE_BOXES = 200_000_000  # of all solves: boxes times devices; fewer boxes only loosen the bound


def run_bound(rounds: Sequence[FlownRound], prices: Prices) -> MissionBound | None:
    """Return the bound of a run; None if it would take too long, or if reports were late.

    What a late report adds, and what it costs, is of more than one round's problem.
    """
    if any(entry.has_late_reports for entry in rounds):
        return None
    device_rounds = sum(len(entry.problem) for entry in rounds)
    if device_rounds * len(rounds) > MOST_WORK:
        return None
    return mission_bound(
        [bound_round(entry, prices) for entry in rounds],
        prices,
        sum(entry.gain for entry in rounds),
        tolerance=TOLERANCE,
        max_passes=MOST_PASSES,
        max_boxes=min(MOST_BOXES, DEVICE_BOXES // (MOST_PASSES * max(1, device_rounds))),
    )


def bound_round(entry: FlownRound, prices: Prices) -> BoundRound:
    """Return a round as the bound takes it."""
    return billed_round(
        entry.problem,
        entry.server_m,
        entry.counts,
        entry.path_loss,
        gains=entry.gains,
        base_gain=entry.base_gain,
        fixed_j=entry.fixed_j,
        billed_j=entry.billed_j,
        prices=prices,
    )
