"""The learning rates at which devices train in a round."""

from __future__ import annotations

import numpy as np

from scdn.arrays import Array, IntArray
from scdn.learning.step_rule import StepRule
from scdn.theory.theorem_1_conditions import learning_rate_limit
from scdn.world.fleet import OPTIMIZERS, Fleet


def local_rates(
    step_rule: StepRule, round_index: int, steps: int, fleet: Fleet, optimizer: IntArray, mu: Array
) -> Array:
    """Return the rates at which devices train: the scenario's, halved or as the server found.

    A rate that the server found is kept within Theorem 1's condition on proximal SGD, for devices
    that take up to so many steps.
    """
    rates = fleet.learning_rate * step_rule.rate_factor(round_index)
    if not step_rule.is_searched:
        return rates
    proximal = optimizer == OPTIMIZERS.index("proximal")
    limits = [learning_rate_limit(value, steps) for value in mu]
    below = np.nextafter(limits, 0)  # they must not be reached
    return np.where(proximal, np.minimum(rates, below), rates)
