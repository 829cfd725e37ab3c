"""Theorem 1's conditions on momentum and proximal SGD.

The theorem divides by w̄ − w_max/2, so the mean step weight must exceed half of the largest.
"""

from __future__ import annotations

import math


def lambert_w_minus1(x: float) -> float:
    """The branch W₋₁ of w·e^w = x, for −1/e ≤ x < 0."""
    if not -1 / math.e <= x < 0:
        raise ValueError(f"W_-1 needs -1/e ≤ x < 0, got {x}")
    below, above = -2.0, -1.0  # w·e^w falls from 0 to -1/e as w goes from -∞ to -1
    while below * math.exp(below) < x:
        below *= 2
    while True:
        middle = (below + above) / 2
        if middle in (below, above):
            return middle
        if middle * math.exp(middle) < x:
            above = middle
        else:
            below = middle


MOMENTUM_LIMIT = math.exp(lambert_w_minus1(-0.5 / math.sqrt(math.e)) + 0.5)
"""ρ must be below this, about 0.2847."""


def learning_rate_limit(mu: float, steps: int) -> float:
    """η must be below 1/(2·steps·μ) for proximal SGD that takes `steps` steps in a round."""
    return 1 / (2 * steps * mu) if steps and mu else math.inf
