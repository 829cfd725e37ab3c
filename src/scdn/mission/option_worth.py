"""What the options of a round are worth: its duration, and the bits per number that is sent.

Where seconds have a price, devices may also compute faster than their deadline asks for. All
options of a round are measured by the same scale, so that one exact search compares them: the
progress that an option forgoes is counted from the best that any of them allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scdn.control.problem import RoundProblem
from scdn.control.round_option import RoundOption
from scdn.control.worth import RoundWorth, problem_by_worth
from scdn.mission.waiting import compute_deadlines
from scdn.scenario import Prices

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


def seconds_in_place(mission: MissionRound, option: RoundOption | None, work_s: float) -> float:
    """Return how long the server stays for so much work."""
    return max(work_s, mission.least_s * (1.0 if option is None else option.duration))


def problems_by_worth(
    problem: RoundProblem,
    mission: MissionRound,
    worth: float,
    serving_rounds: float,
    second_price: float = 0.0,
) -> list[RoundProblem]:
    """Return the round's problem at these prices, for each of its options."""
    options: Sequence[RoundOption | None] = mission.options or (None,)
    takes_part = np.arange(mission.gains.shape[1]) > 0
    gains_j = [
        worth * gain_share(option) * mission.gains - overhead_j(mission, option) * takes_part
        for option in options
    ]
    best_j = np.max(gains_j, axis=(0, 2), initial=0.0)[:, None]
    variants = []
    for option, gain_j in zip(options, gains_j, strict=True):
        own = problem if option is None else option.of(problem)
        cost_j = 0.0 if option is None else option.idle_j - worth * option.gain_share * mission.base
        longest_s = own.learning.compute_deadline_s
        for deadline_s in compute_deadlines(own) if second_price else (longest_s,):
            seconds = seconds_in_place(mission, option, deadline_s + own.max_delay_s)
            learning = own.learning
            if deadline_s != longest_s:
                learning = learning.model_copy(update={"compute_deadline_s": deadline_s})
            variants.append(
                (replace(own, learning=learning), gain_j, cost_j + second_price * seconds)
            )
    least = min(cost for *_, cost in variants)
    server_price = mission.server_factor * mission.prices.server
    prices = Prices(device=mission.prices.device, server=server_price)
    return [
        problem_by_worth(variant, RoundWorth(gain_j, prices, serving_rounds, best_j, cost - least))
        for variant, gain_j, cost in variants
    ]
