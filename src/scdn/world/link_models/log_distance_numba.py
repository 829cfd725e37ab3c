"""The bounds of `log_distance`, compiled: the same arithmetic for one device and one box."""

from __future__ import annotations

import math

from scdn.arrays import Array
from scdn.world.link_models.compiled_link import (
    HIGH,
    LOSS,
    LOW,
    SLOPE_HIGH,
    SLOPE_LOW,
    SMOOTH,
    loss_and_gradient,
    loss_in_box,
)

COEFFICIENT, EXPONENT, MIN_DISTANCE_SQ = range(3)


@loss_in_box
def in_box(
    centre: Array,
    half_width: Array,
    device: Array,
    constants: Array,
    limit: float,
    rounding: float,
    bounds: Array,
) -> bool:
    """Bound the loss in a box."""
    coefficient, exponent = constants[COEFFICIENT], constants[EXPONENT]
    near, far, here = 0.0, 0.0, 0.0
    for axis in range(3):
        step = abs(centre[axis] - device[axis])
        near += max(0.0, step - half_width[axis]) ** 2
        far += (step + half_width[axis]) ** 2
        here += step * step
    near_sq = max(near, constants[MIN_DISTANCE_SQ])
    bounds[LOW] = coefficient * math.pow(near_sq, 0.5 * exponent)
    if bounds[LOW] * (1.0 - rounding) > limit:
        return False
    far_sq = max(far, constants[MIN_DISTANCE_SQ])
    bounds[HIGH] = coefficient * math.pow(far_sq, 0.5 * exponent)
    bounds[LOSS] = coefficient * math.pow(max(here, constants[MIN_DISTANCE_SQ]), 0.5 * exponent)
    bounds[SMOOTH] = 1.0 if near >= constants[MIN_DISTANCE_SQ] else 0.0
    a, b = exponent * (bounds[LOW] / near_sq), exponent * (bounds[HIGH] / far_sq)
    least, most = min(a, b), max(a, b)
    for axis in range(3):
        low = centre[axis] - device[axis] - half_width[axis]
        high = centre[axis] - device[axis] + half_width[axis]
        bounds[SLOPE_LOW + axis] = low * (most if low < 0.0 else least)
        bounds[SLOPE_HIGH + axis] = high * (most if high > 0.0 else least)
    return True


@loss_and_gradient
def at_point(server: Array, device: Array, constants: Array, gradient: Array) -> float:
    """Return the loss at a point, and fill its gradient."""
    square = 0.0
    for axis in range(3):
        square += (server[axis] - device[axis]) ** 2
    least = constants[MIN_DISTANCE_SQ]
    here = max(square, least)
    loss = constants[COEFFICIENT] * math.pow(here, 0.5 * constants[EXPONENT])
    slope = constants[EXPONENT] * loss / here if square > least else 0.0
    for axis in range(3):
        gradient[axis] = slope * (server[axis] - device[axis])
    return loss
