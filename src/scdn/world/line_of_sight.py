"""The probability that a device and the server see each other.

The compiled link model, `link_models/air_to_ground_numba.py`, has the formula a second time:
Numba's cache watches only a function's own file, so a change here would not recompile it. The tests
`test_compiled_objective_is_the_true_one` and `test_numpy_bounds_equal_the_compiled_ones` compare
the two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scdn.arrays import Array


class LosProbability(NamedTuple):
    """P_LoS and P_NLoS = 1 − P_LoS, each without cancellation where it is small."""

    los: Array
    nlos: Array


def los_probability(
    elevation_deg: Array, los_scale: Array | float, los_slope: Array | float
) -> LosProbability:
    """Return P_LoS = 1/(1 + ψ·exp(−β·(θ − ψ))) and its complement; ψ: scale, β: slope."""
    odds_against = los_scale * np.exp(-los_slope * (elevation_deg - los_scale))
    return LosProbability(1.0 / (1.0 + odds_against), 1.0 / (1.0 + 1.0 / odds_against))
