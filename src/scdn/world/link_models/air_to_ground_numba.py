"""The bounds of `air_to_ground`, compiled: the same arithmetic for one device and one box."""

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
    part_of_a_link,
)

# A link's row: path loss = SPREADING·d^EXPONENT·(LOS_LOSS·P_LoS + NLOS_LOSS·P_NLoS).
SPREADING, EXPONENT, LOS_SCALE, LOS_SLOPE, NLOS_LOSS, LOS_LOSS, MIN_DISTANCE_SQ = range(7)
AIR_TO_AIR = 7  # where the second row begins


@part_of_a_link
def _los_probability(rise: float, run: float, scale: float, slope: float) -> tuple[float, float]:
    """Return P_LoS and P_NLoS, as `scdn.world.line_of_sight` does."""
    elevation = math.atan2(rise, run) * (180.0 / math.pi)
    odds_against = scale * math.exp(-slope * (elevation - scale))
    if odds_against == 0.0:
        return 1.0, 0.0
    return 1.0 / (1.0 + odds_against), 1.0 / (1.0 + 1.0 / odds_against)


@part_of_a_link
def _distance_power(square: float, exponent: float) -> float:
    """Return d^exponent from d²."""
    return square if exponent == 2.0 else math.pow(square, 0.5 * exponent)


@part_of_a_link
def _cosine(low: float, high: float, other_near: float, other_far: float) -> tuple[float, float]:
    """Return the range of x/√(x² + y²) for x in [low, high] and y² in [near, far]."""
    if low >= 0.0:
        bottom = low / math.sqrt(low * low + other_far) if low > 0.0 else 0.0
    else:
        bottom = low / math.sqrt(low * low + other_near)
    if high <= 0.0:
        top = high / math.sqrt(high * high + other_far) if high < 0.0 else 0.0
    else:
        top = high / math.sqrt(high * high + other_near)
    return bottom, top


@part_of_a_link
def _times(low: float, high: float, a: float, b: float) -> tuple[float, float]:
    """Return [low, high]·[a, b] for 0 ≤ low ≤ high."""
    return a * (high if a < 0.0 else low), b * (high if b > 0.0 else low)


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
    row = AIR_TO_AIR if (centre[2] > 0.0 and device[2] > 0.0) else 0
    scale, exponent = constants[row + SPREADING], constants[row + EXPONENT]
    sight_scale, sight_slope = constants[row + LOS_SCALE], constants[row + LOS_SLOPE]
    los_loss, nlos_loss = constants[row + LOS_LOSS], constants[row + NLOS_LOSS]
    least_sq = constants[row + MIN_DISTANCE_SQ]
    dx, dy, dz = centre[0] - device[0], centre[1] - device[1], centre[2] - device[2]
    wx, wy, wz = half_width[0], half_width[1], half_width[2]
    ax, ay, v = abs(dx), abs(dy), abs(dz)
    nx, ny, v_low = max(0.0, ax - wx), max(0.0, ay - wy), max(0.0, v - wz)
    fx, fy, v_high = ax + wx, ay + wy, v + wz
    run_near, run_far = nx * nx + ny * ny, fx * fx + fy * fy
    near, far = run_near + v_low * v_low, run_far + v_high * v_high
    r_low, r_high = math.sqrt(run_near), math.sqrt(run_far)
    power_near = _distance_power(max(near, least_sq), exponent)
    los_high, nlos_low = _los_probability(v_high, r_low, sight_scale, sight_slope)
    h_a = los_loss * los_high + nlos_loss * nlos_low
    falls = nlos_loss >= los_loss  # the loss falls with the elevation
    if falls and scale * power_near * h_a * (1.0 - rounding) > limit:
        return False
    los_low, nlos_high = _los_probability(v_low, r_high, sight_scale, sight_slope)
    h_b = los_loss * los_low + nlos_loss * nlos_high
    h_low, h_high = min(h_a, h_b), max(h_a, h_b)
    power_far = _distance_power(max(far, least_sq), exponent)
    run_sq = dx * dx + dy * dy
    los, nlos = _los_probability(v, math.sqrt(run_sq), sight_scale, sight_slope)
    here = scale * _distance_power(max(run_sq + v * v, least_sq), exponent)
    bounds[LOSS] = here * (los_loss * los + nlos_loss * nlos)
    bounds[LOW], bounds[HIGH] = scale * power_near * h_low, scale * power_far * h_high
    smooth = near >= least_sq
    bounds[SMOOTH] = 1.0 if smooth else 0.0
    if smooth:
        bend_a, bend_b = power_near / near, power_far / far
        bend_low, bend_high = min(bend_a, bend_b), max(bend_a, bend_b)
        t_low, t_high = exponent * h_low * bend_low, exponent * h_high * bend_high
        pq_a, pq_b = los_low * nlos_high, los_high * nlos_low
        pq_high = 0.25 if los_low < 0.5 < los_high else max(pq_a, pq_b)
        turn = abs(nlos_loss - los_loss) * sight_slope * (180.0 / math.pi)
        s_low, s_high = turn * min(pq_a, pq_b) * bend_low, turn * pq_high * bend_high
        a, b = _cosine(dx - wx, dx + wx, ny * ny, fy * fy)
        if not falls:
            a, b = -b, -a
        l0, h0 = _times(t_low, t_high, dx - wx, dx + wx)
        l1, h1 = _times(s_low * v_low, s_high * v_high, a, b)
        bounds[SLOPE_LOW], bounds[SLOPE_HIGH] = scale * (l0 + l1), scale * (h0 + h1)
        a, b = _cosine(dy - wy, dy + wy, nx * nx, fx * fx)
        if not falls:
            a, b = -b, -a
        l0, h0 = _times(t_low, t_high, dy - wy, dy + wy)
        l1, h1 = _times(s_low * v_low, s_high * v_high, a, b)
        bounds[SLOPE_LOW + 1], bounds[SLOPE_HIGH + 1] = scale * (l0 + l1), scale * (h0 + h1)
        l0, h0 = _times(t_low, t_high, dz - wz, dz + wz)
        least, most = s_low * r_low, s_high * r_high
        l1 = least if dz + wz <= 0.0 and dz - wz < 0.0 else -most
        h1 = -least if dz - wz >= 0.0 else most
        if not falls:
            l1, h1 = -h1, -l1
        bounds[SLOPE_LOW + 2], bounds[SLOPE_HIGH + 2] = scale * (l0 + l1), scale * (h0 + h1)
        spread = 0.0
        for axis in range(3):
            steepest = max(-bounds[SLOPE_LOW + axis], bounds[SLOPE_HIGH + axis])
            spread += steepest * half_width[axis]
        bounds[LOW] = max(bounds[LOW], bounds[LOSS] - spread)
        bounds[HIGH] = min(bounds[HIGH], bounds[LOSS] + spread)
    return not bounds[LOW] * (1.0 - rounding) > limit


@loss_and_gradient
def at_point(server: Array, device: Array, constants: Array, gradient: Array) -> float:
    """Return the loss at a point, and fill its gradient."""
    row = AIR_TO_AIR if (server[2] > 0.0 and device[2] > 0.0) else 0
    exponent, least_sq = constants[row + EXPONENT], constants[row + MIN_DISTANCE_SQ]
    los_loss, nlos_loss = constants[row + LOS_LOSS], constants[row + NLOS_LOSS]
    sight_slope = constants[row + LOS_SLOPE]
    dx, dy, dz = server[0] - device[0], server[1] - device[1], server[2] - device[2]
    run_sq = dx * dx + dy * dy
    r, v = math.sqrt(run_sq), abs(dz)
    true_sq = run_sq + v * v
    here_sq = max(true_sq, least_sq)
    los, nlos = _los_probability(v, r, constants[row + LOS_SCALE], sight_slope)
    root = constants[row + SPREADING] * _distance_power(here_sq, exponent)
    h = los_loss * los + nlos_loss * nlos
    t = exponent * h * root / here_sq if true_sq > least_sq else 0.0
    turn = (nlos_loss - los_loss) * sight_slope * (180.0 / math.pi) * los * nlos
    s = turn * root / true_sq if true_sq > 0.0 else 0.0
    gradient[0] = t * dx + s * v * dx / r if r > 0.0 else 0.0
    gradient[1] = t * dy + s * v * dy / r if r > 0.0 else 0.0
    gradient[2] = t * dz - s * r * (1.0 if dz > 0.0 else (-1.0 if dz < 0.0 else 0.0))
    return root * h
