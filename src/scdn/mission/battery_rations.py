"""How a mission shares out batteries, so that they last until its expected end.

A device has a ration in every round: what is left in its battery, divided by the rounds in which it
is expected to be there. With a smaller ration it trains fewer iterations, at a slower clock, but at
least one: a joule buys more progress in two rounds of one iteration than in one round of two.

The server cannot do with less at will, so its joules have a price: their usual one times a factor
of at least 1. After every round its spending is compared with what its battery has for each round
that is still expected. Where it was more, the factor rises, and where it was less, the factor
falls: exponentially, by a multiple of the relative difference. This is dual mirror descent, known
from the pacing of budgets in auctions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from scdn.arrays import Array

STEP = 0.3  # of the logarithm of a factor, where spending is twice what the battery allows
MOST_EXCESS = 10.0  # times what the battery allows, that spending counts as at the most
HIGHEST = 1e6  # factor


def device_rations(left_j: Array, survival: Array, rounds: int) -> Array:
    """Return what each device may spend in a round, with so many ahead, this one included.

    `survival` is the chance of a device to be there in the next round.
    """
    return left_j / expected_rounds(survival, rounds)


def expected_rounds(survival: Array, rounds: int) -> Array:
    """Return in how many of so many rounds a device is expected to be there, this one included."""
    leaving = 1.0 - survival
    with np.errstate(divide="ignore", invalid="ignore"):
        ahead = (1.0 - survival**rounds) / leaving
    return np.where(leaving > 0, ahead, float(rounds))


@dataclass
class ServerBatteryPrice:
    """The factor of the price of the server's joules, between two rounds.

    Attributes
    ----------
    factor
        1 for a battery that is large enough.
    rounds
        For how many rounds like the last one the battery is enough; None: for any number.
    """

    factor: float = 1.0
    rounds: float | None = None

    def observe(self, left_j: float, spent_j: float, rounds: int) -> None:
        """Take a round into account, before which so much was left and so many rounds ahead."""
        self.factor = next_factor(self.factor, spent_j, left_j / rounds)
        self.rounds = (left_j - spent_j) / spent_j if spent_j > 0 else None


def next_factor(factor: float, spent_j: float, allowed_j: float) -> float:
    """Return the factor after a round in which so much was spent, and so much is in the battery."""
    share = spent_j / allowed_j if allowed_j > 0 else MOST_EXCESS * (spent_j > 0)
    change = math.exp(STEP * (min(share, MOST_EXCESS) - 1))
    return min(max(factor * change, 1.0), HIGHEST)
