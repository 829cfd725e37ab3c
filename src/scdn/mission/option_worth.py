"""What the options of a round are worth: its duration, and the bits per number that is sent.

All options of a round are measured by the same scale, so that one exact search compares them: the
progress that an option forgoes is counted from the best that any of them allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from scdn.control.problem import RoundProblem
from scdn.control.round_option import RoundOption
from scdn.control.worth import RoundWorth, problem_by_worth

if TYPE_CHECKING:
    from scdn.mission.round_search import MissionRound

# Progress of a round by bits per number, relative to that with 32. Missions on MNIST made 0.5 to
# 0.85 of the progress in their first round with 4 bits, and 0.2 to 0.4 with 2; later about as much,
# and 0.7. After 30 rounds 4 bits are as good as 32 (docs/what-is-counted.md, "Fewer bits").
GAIN_SHARES = {2: 0.5, 4: 0.9, 8: 1.0, 16: 1.0, 32: 1.0}


def gain_share(option: RoundOption | None) -> float:
    """Return the part of the expected progress that an option leaves."""
    return 1.0 if option is None else option.gain_share


def fixed_j(mission: MissionRound, option: RoundOption | None) -> float:
    """Return priced joules of a round that its problem does not count."""
    return mission.fixed_j + (0.0 if option is None else option.idle_j)


def overhead_j(mission: MissionRound, option: RoundOption | None) -> float:
    """Return priced joules of a device that takes part, which its problem does not count."""
    if option is None:
        return mission.overhead_j + mission.circuit_j
    return mission.overhead_j * option.sent_share + mission.circuit_j * option.delay_share


def problems_by_worth(
    problem: RoundProblem, mission: MissionRound, worth: float, serving_rounds: float
) -> list[RoundProblem]:
    """Return the round's problem at a worth of progress, for each of its options."""
    options: Sequence[RoundOption | None] = mission.options or (None,)
    takes_part = np.arange(mission.gains.shape[1]) > 0
    gains_j = [
        worth * gain_share(option) * mission.gains - overhead_j(mission, option) * takes_part
        for option in options
    ]
    best_j = np.max(gains_j, axis=(0, 2), initial=0.0)[:, None]
    fixed = [_fixed_cost(mission, option, worth) for option in options]
    return [
        problem_by_worth(
            problem if option is None else option.of(problem),
            RoundWorth(gain_j, mission.prices, serving_rounds, best_j, cost - min(fixed)),
        )
        for option, gain_j, cost in zip(options, gains_j, fixed, strict=True)
    ]


def _fixed_cost(mission: MissionRound, option: RoundOption | None, worth: float) -> float:
    """Return what an option costs whatever is decided.

    If time is the goal, other rounds could use the time of this one: it is worth the progress that
    all devices together make in it.
    """
    if option is None:
        return 0.0
    cost = option.idle_j - worth * option.gain_share * mission.base
    if mission.goal == "time":
        per_round = mission.base + float(mission.gains.max(axis=1, initial=0.0).sum())
        shortest_s = min(other.seconds for other in mission.options)
        cost += worth * per_round * (option.seconds / max(shortest_s, 1e-300) - 1)
    return cost
