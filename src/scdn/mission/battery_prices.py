"""Prices by which a mission rations batteries, so that they last until its expected end.

A joule of a device has its usual price times a factor of at least 1. After every round the device's
spending is compared with what is left in its battery for each round that is still expected. Where
it was more, the factor rises, and where it was less, the factor falls: exponentially, by a multiple
of the relative difference. This is dual mirror descent, known from the pacing of budgets in
auctions. Spending per round approaches what the battery allows, by cheaper iterations, by fewer, or
by rests in between; and a battery that is large enough has a factor of 1. So does the server's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from scdn.arrays import Array, floats
from scdn.control.problem import RoundProblem

STEP = 0.3  # of the logarithm of a factor, where spending is twice what the battery allows
MOST_EXCESS = 10.0  # times what the battery allows, that spending counts as at the most
HIGHEST = 1e6  # factor


@dataclass
class BatteryPrices:
    """The factors of all batteries between two rounds.

    Attributes
    ----------
    factors
        Of devices, by id; 1 for any other.
    server
        Of the server.
    server_rounds
        For how many rounds like the last one the server's battery is enough; None: for any number.
    """

    factors: dict[str, float] = field(default_factory=dict)
    server: float = 1.0
    server_rounds: float | None = None

    def apply(self, problem: RoundProblem) -> RoundProblem:
        """Return the round's problem with the factors of its devices."""
        factors = floats([self.factors.get(name, 1.0) for name in problem.ids])
        return problem if (factors == 1).all() else replace(problem, price_factors=factors)

    def observe(
        self, problem: RoundProblem, left_j: Array, work_j: Array, idle_j: Array, rounds: int
    ) -> None:
        """Take what devices spent in a round into account.

        Parameters
        ----------
        problem
            The round's problem, with the chance of each device to be there in the next round.
        left_j
            What was left in each battery before the round; infinite without one.
        work_j, idle_j
            What each device spent on training and messages, and what it would have at rest.
        rounds
            The expected rounds until the mission's end, this one included.
        """
        ahead = expected_rounds(problem.survival, rounds)
        allowed_j = np.maximum(left_j / ahead - idle_j, 0.0)
        for n in np.flatnonzero(np.isfinite(left_j)):
            name = problem.ids[n]
            before = self.factors.get(name, 1.0)
            self.factors[name] = next_factor(before, float(work_j[n]), float(allowed_j[n]))

    def observe_server(self, left_j: float, spent_j: float, rounds: int) -> None:
        """Take what the server spent in a round into account; see `observe`."""
        self.server = next_factor(self.server, spent_j, left_j / rounds)
        self.server_rounds = (left_j - spent_j) / spent_j if spent_j > 0 else None

    # --- checkpoints ----------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the whole state."""
        return asdict(self)

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> BatteryPrices:
        """Return the prices with this state."""
        return cls(**{**state, "factors": dict(state["factors"])})


def next_factor(factor: float, spent_j: float, allowed_j: float) -> float:
    """Return the factor after a round in which so much was spent, and so much is in the battery."""
    share = spent_j / allowed_j if allowed_j > 0 else MOST_EXCESS * (spent_j > 0)
    change = math.exp(STEP * (min(share, MOST_EXCESS) - 1))
    return min(max(factor * change, 1.0), HIGHEST)


def expected_rounds(survival: Array, rounds: int) -> Array:
    """Return in how many of so many rounds a device is expected to be there, this one included."""
    leaving = 1.0 - survival
    with np.errstate(divide="ignore", invalid="ignore"):
        ahead = (1.0 - survival**rounds) / leaving
    return np.where(leaving > 0, ahead, float(rounds))
