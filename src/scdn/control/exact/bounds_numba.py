"""The box bounds of `bounds_numpy`, compiled: one box at a time, one device after another.

`bounds_numpy` explains the mathematics and is the version to read first. Both do the same
arithmetic and so visit the same boxes, unless the last bit of a number decides between equals. All
compiled code is in this file, because Numba's cache only notices changes of a kernel's own file;
link models are called by address, and so have files of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

from scdn.arrays import Array
from scdn.control.exact.array_columns import (
    ALTITUDE,
    BEFORE,
    CEILING,
    CLIMB,
    CLIMB_STEPS,
    CUTOFF,
    FLOOR_COST,
    FLOOR_LOSS,
    FLOOR_SNR,
    GAIN,
    HOVER,
    IS_PADE,
    LATERAL,
    MOST_UNDECIDED,
    PRICE,
    REACH,
    RISE,
    SINK,
    WIDE_CUTOFF,
    WIDE_REACH,
    X0,
    Y0,
    Z0,
)
from scdn.world.link_models import LinkModel
from scdn.world.link_models.compiled_link import (
    BOUNDS,
    HIGH,
    LOSS,
    LOW,
    SLOPE_HIGH,
    SLOPE_LOW,
    SMOOTH,
    call_at_point,
    call_in_box,
)

RELEASES_GIL = True

F = TypeVar("F", bound=Callable[..., Any])


def _compiled(function: F) -> F:
    return cast(F, njit(cache=True, nogil=True, error_model="numpy")(function))


def prepare_link(model: LinkModel) -> tuple[int, int, Array]:
    """Return the addresses of a model's compiled functions, and its constants."""
    if model.compiled is None:
        raise ImportError(f"the link model {model.name} has no compiled bounds")
    module = import_module(model.compiled)
    constants = np.ascontiguousarray(model.constants(), dtype=np.float64).ravel()
    return module.in_box.address, module.at_point.address, constants


@_compiled
def _address(numbers: Array) -> int:
    return np.int64(numbers.ctypes.data)  # type: ignore[return-value]


@_compiled
def movement_cost(x: float, y: float, z: float, m: Array) -> float:
    """Return the weighted movement energy of being at (x, y, z)."""
    cost = m[HOVER] * math.exp(z / m[ALTITUDE]) if m[HOVER] > 0.0 else 0.0
    if z > m[Z0] and m[CLIMB] > 0.0:
        cost += m[CLIMB] * math.log((m[CEILING] - m[Z0]) / (m[CEILING] - z))
    cost += m[LATERAL] * math.hypot(x - m[X0], y - m[Y0])
    return cost + m[RISE] * max(z - m[Z0], 0.0) + m[SINK] * max(m[Z0] - z, 0.0) + m[BEFORE]


@_compiled
def _nats(d: Array, loss: float) -> float:
    """Return the nats per symbol at a device's least power."""
    snr = d[FLOOR_SNR] / loss
    return snr * ((6.0 + snr) / (6.0 + 4.0 * snr)) if d[IS_PADE] > 0.0 else math.log1p(snr)


@_compiled
def _cost_of_sending(d: Array, loss: float) -> float:
    """Return the weighted transmission energy at a path loss."""
    return d[FLOOR_COST] / _nats(d, loss) if loss < d[FLOOR_LOSS] else d[PRICE] * loss


@_compiled
def _sending_slope(d: Array, loss: float) -> float:
    """Return the derivative of the transmission energy by the path loss."""
    if not loss < d[FLOOR_LOSS]:
        return d[PRICE]
    snr, nats = d[FLOOR_SNR] / loss, _nats(d, loss)
    if d[IS_PADE] > 0.0:
        by_snr = (36.0 + 12.0 * snr + 4.0 * snr * snr) / (6.0 + 4.0 * snr) ** 2
    else:
        by_snr = 1.0 / (1.0 + snr)
    return d[FLOOR_COST] / (nats * nats) * by_snr * snr / loss


@_compiled
def active_at(x: float, y: float, z: float, devices: Array, link: Any, active: Any) -> None:
    """Fill `active` with which devices are active with the server at (x, y, z)."""
    server, gradient = np.array([x, y, z]), np.zeros(3)
    for n in range(devices.shape[0]):
        active[n] = _loss_at(server, devices[n], link, gradient) <= devices[n, CUTOFF]


@_compiled
def _loss_at(server: Array, d: Array, link: Any, gradient: Array) -> float:
    """Return a device's path loss at a position, and fill its gradient."""
    return call_at_point(  # type: ignore[call-arg]
        link[1], _address(server), _address(d), _address(link[2]), _address(gradient)
    )


@_compiled
def saving_at(x: float, y: float, z: float, devices: Array, link: Any) -> float:
    """Return what the devices save with the server at (x, y, z)."""
    server, gradient = np.array([x, y, z]), np.zeros(3)
    saved = 0.0
    for n in range(devices.shape[0]):
        d = devices[n]
        loss = _loss_at(server, d, link, gradient)
        if loss <= d[CUTOFF]:
            saved += d[GAIN] - _cost_of_sending(d, loss)
    return saved


# An undecided device's line: loss at the centre, a point on the line, its slope and its range.
AT, ANCHOR, TOP, LEAST, MOST, SLOPE, LINE_LOW, LINE_HIGH = 0, 1, 2, 3, 4, 5, 6, 9
MEAN, ALONE = 12, 13  # slopes that were tried


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
    if z > movement[Z0]:
        pull[2] += movement[RISE]
        if movement[CLIMB] > 0.0:
            pull[2] += movement[CLIMB] / (movement[CEILING] - z)
    elif z < movement[Z0]:
        pull[2] -= movement[SINK]


@_compiled
def _saving_near_floor(d: Array, box_loss: Array, follows: bool, slope: Array) -> float:
    """Return what a device saves that may transmit at its least power; add to the sum's slopes.

    Where it is active in the whole box, its saving follows the path loss, as others' do.
    """
    if not follows:
        return d[GAIN] - _cost_of_sending(d, box_loss[LOW])
    # the cost's slope falls up to the floor, and jumps up there
    steepest = _sending_slope(d, box_loss[LOW])
    flattest = _sending_slope(d, min(box_loss[HIGH], d[FLOOR_LOSS] * (1.0 - 1e-15)))
    if box_loss[HIGH] >= d[FLOOR_LOSS]:
        steepest = max(steepest, d[PRICE])
    for axis in range(3):
        low, high = box_loss[SLOPE_LOW + axis], box_loss[SLOPE_HIGH + axis]
        slope[axis] += low * (steepest if low < 0.0 else flattest)
        slope[3 + axis] += high * (steepest if high > 0.0 else flattest)
    return d[GAIN] - _cost_of_sending(d, box_loss[LOSS])


@_compiled
def bound_boxes(
    centres: Array,
    half_widths: Array,
    alive: Any,
    first: int,
    last: int,
    devices: Array,
    link: Any,
    movements: Array,
    rounding: float,
    lower_bound: Array,
    centre_value: Array,
    split_axis: Any,
    still_alive: Any,
) -> None:
    """Bound boxes [first, last): fill the last four arrays."""
    box_loss, lines = np.zeros(BOUNDS), np.zeros((MOST_UNDECIDED, 14))
    constants, bounds = _address(link[2]), _address(box_loss)
    slope, total, point, pull = np.zeros(6), np.zeros(6), np.zeros(3), np.zeros(3)
    for box in range(first, last):
        centre, half_width = centres[box], half_widths[box]
        movement = movements[box if movements.shape[0] > 1 else 0]
        slope[:] = 0.0  # the gradient's range: low, then high
        saved_here, saved_most, saved_ever, magnitude, undecided = 0.0, 0.0, 0.0, 0.0, 0
        for word in range(alive.shape[1]):
            bits, keep = alive[box, word], np.uint64(0)
            for bit in range(min(64, devices.shape[0] - 64 * word)):
                flag = np.uint64(1) << np.uint64(bit)
                if not bits & flag:
                    continue
                d = devices[64 * word + bit]
                if not call_in_box(  # type: ignore[call-arg]
                    link[0],
                    _address(centre),
                    _address(half_width),
                    _address(d),
                    constants,
                    d[WIDE_CUTOFF],
                    rounding,
                    bounds,
                ):
                    continue
                keep |= flag
                gain, price = d[GAIN], d[PRICE]
                if box_loss[LOSS] <= d[CUTOFF]:
                    saved_here += gain - _cost_of_sending(d, box_loss[LOSS])
                saved_ever += gain - _cost_of_sending(d, box_loss[LOW])
                magnitude += abs(gain) + _cost_of_sending(d, box_loss[HIGH])
                smooth, full = box_loss[SMOOTH] > 0.0, undecided == MOST_UNDECIDED
                decided = box_loss[HIGH] * (1.0 + rounding) <= d[WIDE_CUTOFF]
                if box_loss[LOW] < d[FLOOR_LOSS]:
                    saved_most += _saving_near_floor(d, box_loss, smooth and decided, slope)
                elif smooth and (decided or (full and gain >= price * box_loss[HIGH])):
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
        lowest = centre[2] - half_width[2]
        if movement[SINK] > 0.0:
            lowest = min(max(movement[Z0], lowest), centre[2] + half_width[2])
        apart = movement_cost(corner_x, corner_y, lowest, movement) - saved_most
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
    link: Any,
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
    by_loss = np.zeros(3)
    for n in range(devices.shape[0]):
        if not active[n]:
            continue
        d = devices[n]
        loss = _loss_at(position, d, link, by_loss)
        weight = _sending_slope(d, loss)
        total += _cost_of_sending(d, loss)
        if d[REACH] < math.inf:
            spare = d[REACH] - loss
            if spare <= 0.0:
                return math.inf
            total -= mu * math.log(spare / d[REACH])
            weight += mu / spare
        for axis in range(3):
            gradient[axis] += weight * by_loss[axis]
    return total


@_compiled
def barrier_hessian(
    position: Array,
    shifts: Array,
    active: Any,
    mu: float,
    devices: Array,
    link: Any,
    movement: Array,
    gradient: Array,
    hessian: Array,
) -> None:
    """Fill `hessian` with the gradient's differences along each axis that has a shift."""
    moved, other = position.copy(), np.zeros(3)
    for axis in range(3):
        if shifts[axis] != 0.0:
            moved[axis] = position[axis] + shifts[axis]
            barrier(moved, active, mu, devices, link, movement, other)
            hessian[:, axis] = (other - gradient) / shifts[axis]
            moved[axis] = position[axis]
