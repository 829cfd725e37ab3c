"""The box bounds of `bounds_numpy`, compiled: one box at a time, one device after another.

`bounds_numpy` explains the mathematics and is the version to read first. Both do the same
arithmetic and so visit the same boxes, unless the last bit of a number decides between equals. All
compiled code is in this file, because Numba's cache only notices changes of a kernel's own file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

from scdn.arrays import Array
from scdn.control.exact.array_columns import (
    ALTITUDE,
    CEILING,
    CLIMB,
    CLIMB_STEPS,
    CUTOFF,
    EXPONENT,
    GAIN,
    HOVER,
    LATERAL,
    LOS_LOSS,
    LOS_SCALE,
    LOS_SLOPE,
    MIN_DISTANCE_SQ,
    MOST_UNDECIDED,
    NLOS_LOSS,
    PRICE,
    PX,
    PY,
    PZ,
    REACH,
    SPREADING,
    WIDE_CUTOFF,
    WIDE_REACH,
    X0,
    Y0,
    Z0,
)

RELEASES_GIL = True

F = TypeVar("F", bound=Callable[..., Any])


def _compiled(function: F) -> F:
    return cast(F, njit(cache=True, nogil=True, error_model="numpy")(function))


@_compiled
def _los_probability(rise: float, run: float, link: Array) -> tuple[float, float]:
    """Return P_LoS and P_NLoS, as `scdn.world.line_of_sight` does."""
    elevation = math.atan2(rise, run) * (180.0 / math.pi)
    odds_against = link[LOS_SCALE] * math.exp(-link[LOS_SLOPE] * (elevation - link[LOS_SCALE]))
    if odds_against == 0.0:
        return 1.0, 0.0
    return 1.0 / (1.0 + odds_against), 1.0 / (1.0 + 1.0 / odds_against)


@_compiled
def _distance_power(square: float, exponent: float) -> float:
    """Return d^exponent from d²."""
    return square if exponent == 2.0 else math.pow(square, 0.5 * exponent)


@_compiled
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


@_compiled
def _times(low: float, high: float, a: float, b: float) -> tuple[float, float]:
    """Return [low, high]·[a, b] for 0 ≤ low ≤ high."""
    return a * (high if a < 0.0 else low), b * (high if b > 0.0 else low)


@_compiled
def movement_cost(x: float, y: float, z: float, m: Array) -> float:
    """Return the weighted movement energy of being at (x, y, z)."""
    cost = m[HOVER] * math.exp(z / m[ALTITUDE]) if m[HOVER] > 0.0 else 0.0
    if z > m[Z0] and m[CLIMB] > 0.0:
        cost += m[CLIMB] * math.log((m[CEILING] - m[Z0]) / (m[CEILING] - z))
    return cost + m[LATERAL] * math.hypot(x - m[X0], y - m[Y0])


@_compiled
def _path_loss(x: float, y: float, z: float, d: Array, links: Array) -> float:
    link = links[1] if (z > 0.0 and d[PZ] > 0.0) else links[0]
    rise = abs(z - d[PZ])
    run_sq = (x - d[PX]) ** 2 + (y - d[PY]) ** 2
    spread = link[SPREADING] * _distance_power(
        max(run_sq + rise * rise, link[MIN_DISTANCE_SQ]), link[EXPONENT]
    )
    los, nlos = _los_probability(rise, math.sqrt(run_sq), link)
    return spread * (link[LOS_LOSS] * los + link[NLOS_LOSS] * nlos)


@_compiled
def active_at(x: float, y: float, z: float, devices: Array, links: Array, active: Any) -> None:
    """Fill `active` with which devices are active with the server at (x, y, z)."""
    for n in range(devices.shape[0]):
        active[n] = _path_loss(x, y, z, devices[n], links) <= devices[n, CUTOFF]


@_compiled
def saving_at(x: float, y: float, z: float, devices: Array, links: Array) -> float:
    """Return what the devices save with the server at (x, y, z)."""
    saved = 0.0
    for n in range(devices.shape[0]):
        d = devices[n]
        loss = _path_loss(x, y, z, d, links)
        if loss <= d[CUTOFF]:
            saved += d[GAIN] - d[PRICE] * loss
    return saved


# A device in a box: path loss at the centre, its range, and its gradient's range.
LOSS, LOW, HIGH, SMOOTH, SLOPE_LOW, SLOPE_HIGH = 0, 1, 2, 3, 4, 7
# An undecided device's line: loss at the centre, a point on the line, its slope and its range.
AT, ANCHOR, TOP, LEAST, MOST, SLOPE, LINE_LOW, LINE_HIGH = 0, 1, 2, 3, 4, 5, 6, 9
MEAN, ALONE = 12, 13  # slopes that were tried


@_compiled
def _loss_in_box(
    centre: Array, half_width: Array, d: Array, link: Array, rounding: float, out: Array
) -> bool:
    """Fill `out` with a device's loss in a box; return False if it is inactive everywhere."""
    dx, dy, dz = centre[0] - d[PX], centre[1] - d[PY], centre[2] - d[PZ]
    wx, wy, wz = half_width[0], half_width[1], half_width[2]
    ax, ay, v = abs(dx), abs(dy), abs(dz)
    nx, ny, v_low = max(0.0, ax - wx), max(0.0, ay - wy), max(0.0, v - wz)
    fx, fy, v_high = ax + wx, ay + wy, v + wz
    run_near, run_far = nx * nx + ny * ny, fx * fx + fy * fy
    near, far = run_near + v_low * v_low, run_far + v_high * v_high
    r_low, r_high = math.sqrt(run_near), math.sqrt(run_far)
    exponent, scale = link[EXPONENT], link[SPREADING]
    power_near = _distance_power(max(near, link[MIN_DISTANCE_SQ]), exponent)
    los_high, nlos_low = _los_probability(v_high, r_low, link)
    h_a = link[LOS_LOSS] * los_high + link[NLOS_LOSS] * nlos_low
    falls = link[NLOS_LOSS] >= link[LOS_LOSS]  # the loss falls with the elevation
    if falls and scale * power_near * h_a * (1.0 - rounding) > d[WIDE_CUTOFF]:
        return False
    los_low, nlos_high = _los_probability(v_low, r_high, link)
    h_b = link[LOS_LOSS] * los_low + link[NLOS_LOSS] * nlos_high
    h_low, h_high = min(h_a, h_b), max(h_a, h_b)
    power_far = _distance_power(max(far, link[MIN_DISTANCE_SQ]), exponent)
    run_sq = dx * dx + dy * dy
    los, nlos = _los_probability(v, math.sqrt(run_sq), link)
    here = scale * _distance_power(max(run_sq + v * v, link[MIN_DISTANCE_SQ]), exponent)
    out[LOSS] = here * (link[LOS_LOSS] * los + link[NLOS_LOSS] * nlos)
    out[LOW], out[HIGH] = scale * power_near * h_low, scale * power_far * h_high
    smooth = near >= link[MIN_DISTANCE_SQ]
    out[SMOOTH] = 1.0 if smooth else 0.0
    if smooth:
        bend_a, bend_b = power_near / near, power_far / far
        bend_low, bend_high = min(bend_a, bend_b), max(bend_a, bend_b)
        t_low, t_high = exponent * h_low * bend_low, exponent * h_high * bend_high
        pq_a, pq_b = los_low * nlos_high, los_high * nlos_low
        pq_high = 0.25 if los_low < 0.5 < los_high else max(pq_a, pq_b)
        turn = abs(link[NLOS_LOSS] - link[LOS_LOSS]) * link[LOS_SLOPE] * (180.0 / math.pi)
        s_low, s_high = turn * min(pq_a, pq_b) * bend_low, turn * pq_high * bend_high
        a, b = _cosine(dx - wx, dx + wx, ny * ny, fy * fy)
        if not falls:
            a, b = -b, -a
        l0, h0 = _times(t_low, t_high, dx - wx, dx + wx)
        l1, h1 = _times(s_low * v_low, s_high * v_high, a, b)
        out[SLOPE_LOW], out[SLOPE_HIGH] = scale * (l0 + l1), scale * (h0 + h1)
        a, b = _cosine(dy - wy, dy + wy, nx * nx, fx * fx)
        if not falls:
            a, b = -b, -a
        l0, h0 = _times(t_low, t_high, dy - wy, dy + wy)
        l1, h1 = _times(s_low * v_low, s_high * v_high, a, b)
        out[SLOPE_LOW + 1], out[SLOPE_HIGH + 1] = scale * (l0 + l1), scale * (h0 + h1)
        l0, h0 = _times(t_low, t_high, dz - wz, dz + wz)
        least, most = s_low * r_low, s_high * r_high
        l1 = least if dz + wz <= 0.0 and dz - wz < 0.0 else -most
        h1 = -least if dz - wz >= 0.0 else most
        if not falls:
            l1, h1 = -h1, -l1
        out[SLOPE_LOW + 2], out[SLOPE_HIGH + 2] = scale * (l0 + l1), scale * (h0 + h1)
        spread = 0.0
        for axis in range(3):
            spread += max(-out[SLOPE_LOW + axis], out[SLOPE_HIGH + axis]) * half_width[axis]
        out[LOW] = max(out[LOW], out[LOSS] - spread)
        out[HIGH] = min(out[HIGH], out[LOSS] + spread)
    return not out[LOW] * (1.0 - rounding) > d[WIDE_CUTOFF]


@_compiled
def _line(d: Array, box_loss: Array, rounding: float, line: Array) -> bool:
    """Fill `line` over an undecided device's saving; return False if it is as good as flat."""
    low, high, reach = box_loss[LOW], box_loss[HIGH], d[WIDE_REACH]
    if high - low <= rounding * high or abs(high - reach) <= rounding * high:
        return False
    at_reach, top = d[GAIN] - d[PRICE] * reach, d[GAIN] - d[PRICE] * low
    if reach <= d[WIDE_CUTOFF] and at_reach > 0.0 and at_reach >= d[PRICE] * (high - reach):
        line[ANCHOR], line[TOP] = reach, at_reach
        line[LEAST], line[MOST] = d[PRICE], at_reach / (high - reach)
    else:
        line[ANCHOR], line[TOP] = low, top
        line[LEAST], line[MOST] = 0.0, top / (high - low)
    line[AT], line[SLOPE] = box_loss[LOSS], line[LEAST]
    for axis in range(3):
        line[LINE_LOW + axis] = box_loss[SLOPE_LOW + axis]
        line[LINE_HIGH + axis] = box_loss[SLOPE_HIGH + axis]
    return True


@_compiled
def _sum_slopes(lines: Array, count: int, base: Array, total: Array) -> None:
    """Fill `total` with the sum of all gradients' ranges; it and `base` hold low, then high."""
    total[:] = base
    for n in range(count):
        for axis in range(6):
            total[axis] += lines[n, SLOPE] * lines[n, LINE_LOW + axis]


@_compiled
def _peak(lines: Array, count: int, total: Array, half_width: Array) -> float:
    """Return a bound on how high the sum of the lines reaches in the box."""
    top = 0.0
    for n in range(count):
        top += lines[n, TOP] + lines[n, SLOPE] * (lines[n, ANCHOR] - lines[n, AT])
    for axis in range(3):
        top += max(total[3 + axis], -total[axis]) * half_width[axis]
    return top


@_compiled
def _mean_slopes(lines: Array, count: int, base: Array, half_width: Array, point: Array) -> None:
    """Set the slopes to the mean of those that a climb to the lines' joint peak meets."""
    point[:] = 0.0
    for n in range(count):
        lines[n, MEAN] = 0.0
    for step in range(1, CLIMB_STEPS + 1):
        g0 = -0.5 * (base[0] + base[3]) * half_width[0]
        g1 = -0.5 * (base[1] + base[4]) * half_width[1]
        g2 = -0.5 * (base[2] + base[5]) * half_width[2]
        for n in range(count):
            line = lines[n]
            m0 = 0.5 * (line[LINE_LOW] + line[LINE_HIGH]) * half_width[0]
            m1 = 0.5 * (line[LINE_LOW + 1] + line[LINE_HIGH + 1]) * half_width[1]
            m2 = 0.5 * (line[LINE_LOW + 2] + line[LINE_HIGH + 2]) * half_width[2]
            loss = line[AT] + m0 * point[0] + m1 * point[1] + m2 * point[2]
            slope = line[MOST] if loss > line[ANCHOR] else line[LEAST]
            line[MEAN] += slope / CLIMB_STEPS
            g0 -= slope * m0
            g1 -= slope * m1
            g2 -= slope * m2
        size = math.sqrt(g0 * g0 + g1 * g1 + g2 * g2)
        if size > 0.0:
            stride = 1.0 / (size * math.sqrt(step))
            point[0] = min(max(point[0] + stride * g0, -1.0), 1.0)
            point[1] = min(max(point[1] + stride * g1, -1.0), 1.0)
            point[2] = min(max(point[2] + stride * g2, -1.0), 1.0)
    for n in range(count):
        lines[n, SLOPE] = lines[n, MEAN]


@_compiled
def _sweep(lines: Array, count: int, total: Array, half_width: Array) -> None:
    """Set each line's slope in turn to what makes the sum reach least high."""
    for n in range(count):
        line = lines[n]
        best_slope, lowest_peak = line[SLOPE], math.inf
        for trial in range(6):
            if trial == 0:
                slope = line[SLOPE]
            elif trial == 1:
                slope = line[LEAST]
            elif trial == 2:
                slope = line[MOST]
            else:
                axis = trial - 3
                middle = 0.5 * (line[LINE_LOW + axis] + line[LINE_HIGH + axis])
                others = 0.5 * (total[axis] + total[3 + axis]) - line[SLOPE] * middle
                slope = -others / middle if middle != 0.0 else -1.0
                if not line[LEAST] < slope < line[MOST]:
                    continue
            step = slope - line[SLOPE]
            peak = line[TOP] + slope * (line[ANCHOR] - line[AT])
            for axis in range(3):
                a = total[axis] + step * line[LINE_LOW + axis]
                b = total[3 + axis] + step * line[LINE_HIGH + axis]
                peak += max(b, -a) * half_width[axis]
            if peak < lowest_peak:
                lowest_peak, best_slope = peak, slope
        step = best_slope - line[SLOPE]
        for axis in range(6):
            total[axis] += step * line[LINE_LOW + axis]
        line[SLOPE] = best_slope


@_compiled
def _choose_slopes(
    lines: Array, count: int, base: Array, half_width: Array, total: Array, point: Array
) -> None:
    """Choose slopes one by one from the flattest, or together from their mean."""
    _sum_slopes(lines, count, base, total)
    _sweep(lines, count, total, half_width)
    if count < 2:
        return
    _sweep(lines, count, total, half_width)
    alone = _peak(lines, count, total, half_width)
    for n in range(count):
        lines[n, ALONE] = lines[n, SLOPE]
    _mean_slopes(lines, count, base, half_width, point)
    _sum_slopes(lines, count, base, total)
    _sweep(lines, count, total, half_width)
    if _peak(lines, count, total, half_width) >= alone:
        for n in range(count):
            lines[n, SLOPE] = lines[n, ALONE]


@_compiled
def _movement_gradient(x: float, y: float, z: float, movement: Array, pull: Array) -> None:
    """Fill `pull` with the movement's gradient."""
    run = math.hypot(x - movement[X0], y - movement[Y0])
    pull[0] = movement[LATERAL] * (x - movement[X0]) / run if run > 0.0 else 0.0
    pull[1] = movement[LATERAL] * (y - movement[Y0]) / run if run > 0.0 else 0.0
    pull[2] = (
        movement[HOVER] / movement[ALTITUDE] * math.exp(z / movement[ALTITUDE])
        if movement[HOVER] > 0
        else 0.0
    )
    if z > movement[Z0] and movement[CLIMB] > 0.0:
        pull[2] += movement[CLIMB] / (movement[CEILING] - z)


@_compiled
def bound_boxes(
    centres: Array,
    half_widths: Array,
    alive: Any,
    first: int,
    last: int,
    devices: Array,
    links: Array,
    movement: Array,
    rounding: float,
    lower_bound: Array,
    centre_value: Array,
    split_axis: Any,
    still_alive: Any,
) -> None:
    """Bound boxes [first, last): fill the last four arrays."""
    box_loss, lines = np.zeros(10), np.zeros((MOST_UNDECIDED, 14))
    slope, total, point, pull = np.zeros(6), np.zeros(6), np.zeros(3), np.zeros(3)
    for box in range(first, last):
        centre, half_width = centres[box], half_widths[box]
        slope[:] = 0.0  # the gradient's range: low, then high
        saved_here, saved_most, saved_ever, magnitude, undecided = 0.0, 0.0, 0.0, 0.0, 0
        for word in range(alive.shape[1]):
            bits, keep = alive[box, word], np.uint64(0)
            for bit in range(min(64, devices.shape[0] - 64 * word)):
                flag = np.uint64(1) << np.uint64(bit)
                if not bits & flag:
                    continue
                d = devices[64 * word + bit]
                link = links[1] if (centre[2] > 0.0 and d[PZ] > 0.0) else links[0]
                if not _loss_in_box(centre, half_width, d, link, rounding, box_loss):
                    continue
                keep |= flag
                gain, price = d[GAIN], d[PRICE]
                if box_loss[LOSS] <= d[CUTOFF]:
                    saved_here += gain - price * box_loss[LOSS]
                saved_ever += gain - price * box_loss[LOW]
                magnitude += abs(gain) + price * box_loss[HIGH]
                smooth, full = box_loss[SMOOTH] > 0.0, undecided == MOST_UNDECIDED
                decided = box_loss[HIGH] * (1.0 + rounding) <= d[WIDE_CUTOFF]
                if smooth and (decided or (full and gain >= price * box_loss[HIGH])):
                    saved_most += gain - price * box_loss[LOSS]
                    for axis in range(6):
                        slope[axis] += price * box_loss[SLOPE_LOW + axis]
                elif smooth and not full and _line(d, box_loss, rounding, lines[undecided]):
                    undecided += 1
                else:
                    saved_most += gain - price * box_loss[LOW]
            still_alive[box, word] = keep
        here = movement_cost(centre[0], centre[1], centre[2], movement)
        centre_value[box] = here - saved_here
        _movement_gradient(centre[0], centre[1], centre[2], movement, pull)
        for axis in range(3):
            slope[axis] += pull[axis]
            slope[3 + axis] += pull[axis]
        if undecided > 0:
            _choose_slopes(lines, undecided, slope, half_width, total, point)
        # sum up afresh, so that no rounding of the choice is left
        for n in range(undecided):
            line = lines[n]
            saved_most += line[TOP] + line[SLOPE] * (line[ANCHOR] - line[AT])
            magnitude += line[SLOPE] * abs(line[ANCHOR] - line[AT])
        _sum_slopes(lines, undecided, slope, total)
        corner_x = movement[X0] + max(abs(centre[0] - movement[X0]) - half_width[0], 0.0)
        corner_y = movement[Y0] + max(abs(centre[1] - movement[Y0]) - half_width[1], 0.0)
        together = here - saved_most
        apart = movement_cost(corner_x, corner_y, centre[2] - half_width[2], movement) - saved_most
        magnitude += abs(here)
        # where gradients do not explain the bound's distance, the longest side is halved
        excess = (saved_most - saved_here) / max(
            half_width[0], half_width[1], half_width[2], 1e-300
        )
        most_doubt, widest_axis = -1.0, 0
        for axis in range(3):
            w, a, b, g = half_width[axis], total[axis], total[3 + axis], pull[axis]
            together -= max(b, -a, 0.0) * w
            apart -= max(b - g, g - a, 0.0) * w
            magnitude += (max(abs(a), abs(b)) + 2.0 * abs(g)) * w
            doubt = (b - a + 1e-3 * max(abs(b), abs(a)) + excess) * w
            if doubt > most_doubt and w > 0.0:
                most_doubt, widest_axis = doubt, axis
        # whatever is saved, movement does not cost less than nothing
        least = -saved_ever - rounding * abs(saved_ever)
        lower_bound[box] = max(max(together, apart) - rounding * magnitude, least)
        split_axis[box] = widest_axis


@_compiled
def barrier(
    position: Array,
    active: Any,
    mu: float,
    devices: Array,
    links: Array,
    movement: Array,
    gradient: Array,
) -> float:
    """Return the cost of keeping devices active, with a barrier at the edge of their reach.

    Fills `gradient` with the cost's gradient.
    """
    x, y, z = position[0], position[1], position[2]
    total = movement_cost(x, y, z, movement)
    _movement_gradient(x, y, z, movement, gradient)
    run = math.sqrt(
        (x - movement[X0]) ** 2 + (y - movement[Y0]) ** 2 + 1e-8
    )  # smooth at the position before
    gradient[0] = movement[LATERAL] * (x - movement[X0]) / run
    gradient[1] = movement[LATERAL] * (y - movement[Y0]) / run
    for n in range(devices.shape[0]):
        if not active[n]:
            continue
        d = devices[n]
        link = links[1] if (z > 0.0 and d[PZ] > 0.0) else links[0]
        dx, dy, dz = x - d[PX], y - d[PY], z - d[PZ]
        run_sq = dx * dx + dy * dy
        r, v = math.sqrt(run_sq), abs(dz)
        true_sq = run_sq + v * v
        here_sq = max(true_sq, link[MIN_DISTANCE_SQ])
        los, nlos = _los_probability(v, r, link)
        root = link[SPREADING] * _distance_power(here_sq, link[EXPONENT])
        h = link[LOS_LOSS] * los + link[NLOS_LOSS] * nlos
        loss = root * h
        weight = d[PRICE]
        total += d[PRICE] * loss
        if d[REACH] < math.inf:
            spare = d[REACH] - loss
            if spare <= 0.0:
                return math.inf
            total -= mu * math.log(spare / d[REACH])
            weight += mu / spare
        t = link[EXPONENT] * h * root / here_sq if true_sq > link[MIN_DISTANCE_SQ] else 0.0
        turn = (link[NLOS_LOSS] - link[LOS_LOSS]) * link[LOS_SLOPE] * (180.0 / math.pi) * los * nlos
        s = turn * root / true_sq if true_sq > 0.0 else 0.0
        if r > 0.0:
            gradient[0] += weight * (t * dx + s * v * dx / r)
            gradient[1] += weight * (t * dy + s * v * dy / r)
        gradient[2] += weight * (
            t * dz - s * r * (1.0 if dz > 0.0 else (-1.0 if dz < 0.0 else 0.0))
        )
    return total


@_compiled
def barrier_hessian(
    position: Array,
    shifts: Array,
    active: Any,
    mu: float,
    devices: Array,
    links: Array,
    movement: Array,
    gradient: Array,
    hessian: Array,
) -> None:
    """Fill `hessian` with the gradient's differences along each axis that has a shift."""
    moved, other = position.copy(), np.zeros(3)
    for axis in range(3):
        if shifts[axis] != 0.0:
            moved[axis] = position[axis] + shifts[axis]
            barrier(moved, active, mu, devices, links, movement, other)
            hessian[:, axis] = (other - gradient) / shifts[axis]
            moved[axis] = position[axis]
