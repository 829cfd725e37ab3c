"""Theorem 1's conditions on momentum (a Lambert-W limit on ρ) and on proximal SGD.

The theorem divides by w̄ − w_max/2, so the mean step weight must exceed half of the largest.
"""

from __future__ import annotations

import math


def lambert_w_minus1(x: float) -> float:
    """Solve w·e^w = x for w ≤ −1, the branch W₋₁ of Lambert's function, for −1/e ≤ x < 0."""
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
"""Theorem 1 needs ρ < exp(W₋₁(−1/(2√e)) + ½), about 0.2847."""


def learning_rate_limit(mu: float, steps: int) -> float:
    """Return 1/(2·steps·μ), which η of proximal SGD with `steps` steps in a round must be below."""
    return 1 / (2 * steps * mu) if steps and mu else math.inf
