"""The bounds of `two_ray`, compiled: the same arithmetic for one device and one box."""

from __future__ import annotations

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

FREE_SPACE, MARGIN, ANTENNA, MIN_DISTANCE_SQ = range(4)


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
    free, margin, antenna = constants[FREE_SPACE], constants[MARGIN], constants[ANTENNA]
    true_near, true_far, true_here = 0.0, 0.0, 0.0
    for axis in range(3):
        step = abs(centre[axis] - device[axis])
        true_near += max(0.0, step - half_width[axis]) ** 2
        true_far += (step + half_width[axis]) ** 2
        true_here += step * step
    least = constants[MIN_DISTANCE_SQ]
    near, far, here = max(true_near, least), max(true_far, least), max(true_here, least)
    device_height = device[2] + antenna
    lowest, highest = centre[2] - half_width[2] + antenna, centre[2] + half_width[2] + antenna
    low_heights, high_heights = lowest * device_height, highest * device_height
    reflected_low = margin * (near / high_heights) ** 2
    bounds[LOW] = max(free * near, reflected_low)
    if bounds[LOW] * (1.0 - rounding) > limit:
        return False
    reflected_high = margin * (far / low_heights) ** 2
    bounds[HIGH] = max(free * far, reflected_high)
    heights = (centre[2] + antenna) * device_height
    bounds[LOSS] = max(free * here, margin * (here / heights) ** 2)
    bounds[SMOOTH] = 1.0 if true_near >= least else 0.0
    only_free = free * low_heights**2 >= margin * far
    only_reflected = free * high_heights**2 <= margin * near
    along_low, along_high = 4 * margin * near / high_heights**2, 4 * margin * far / low_heights**2
    spread = 0.0
    for axis in range(3):
        low = centre[axis] - device[axis] - half_width[axis]
        high = centre[axis] - device[axis] + half_width[axis]
        a, b = 2 * free * low, 2 * free * high
        c = low * (along_high if low < 0.0 else along_low)
        d = high * (along_high if high > 0.0 else along_low)
        if axis == 2:
            c -= 2 * reflected_high / lowest
            d -= 2 * reflected_low / highest
        if only_reflected:
            a, b = c, d
        elif not only_free:
            a, b = min(a, c), max(b, d)
        bounds[SLOPE_LOW + axis], bounds[SLOPE_HIGH + axis] = a, b
        spread += max(-a, b) * half_width[axis]
    if bounds[SMOOTH] > 0.0:
        bounds[LOW] = max(bounds[LOW], bounds[LOSS] - spread)
        bounds[HIGH] = min(bounds[HIGH], bounds[LOSS] + spread)
    return not bounds[LOW] * (1.0 - rounding) > limit


@loss_and_gradient
def at_point(server: Array, device: Array, constants: Array, gradient: Array) -> float:
    """Return the loss at a point, and fill its gradient."""
    square = 0.0
    for axis in range(3):
        square += (server[axis] - device[axis]) ** 2
    least = constants[MIN_DISTANCE_SQ]
    here = max(square, least)
    height = server[2] + constants[ANTENNA]
    heights = height * (device[2] + constants[ANTENNA])
    free = constants[FREE_SPACE] * here
    reflected = constants[MARGIN] * (here / heights) ** 2
    slope, lift = 2 * constants[FREE_SPACE], 0.0
    if reflected > free:
        slope, lift = 4 * constants[MARGIN] * here / heights**2, 2 * reflected / height
    if square <= least:
        slope = 0.0
    for axis in range(3):
        gradient[axis] = slope * (server[axis] - device[axis])
    gradient[2] -= lift
    return max(free, reflected)
