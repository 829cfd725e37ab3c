"""The box bounds of `bounds_numpy`, compiled: one box at a time, one device after another.

`bounds_numpy` explains the mathematics and is the version to read first; both visit the same boxes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

from scdn.arrays import Array
from scdn.control.bounds_numpy import (
    ALTITUDE,
    CEILING,
    CLIMB,
    CUTOFF,
    DIFFERENCE,
    EXPONENT,
    GAIN,
    HOVER,
    LATERAL,
    LOS_SCALE,
    LOS_SLOPE,
    MOST_UNDECIDED,
    NLOS,
    PRICE,
    PX,
    PY,
    PZ,
    REACH,
    SCALE,
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
def _sight(theta: float, link: Array) -> float:
    return 1.0 / (1.0 + link[LOS_SCALE] * math.exp(-link[LOS_SLOPE] * (theta - link[LOS_SCALE])))


@_compiled
def _root(square: float, exponent: float) -> float:
    """square^(exponent/2)."""
    return square if exponent == 2.0 else math.pow(square, 0.5 * exponent)


@_compiled
def _cosine(low: float, high: float, other_near: float, other_far: float) -> tuple[float, float]:
    """The range of x/√(x² + y²) for x in [low, high] and y² in [near, far]."""
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
    """[low, high]·[a, b] for 0 ≤ low ≤ high."""
    return a * (high if a < 0.0 else low), b * (high if b > 0.0 else low)


@_compiled
def movement(x: float, y: float, z: float, m: Array) -> float:
    """Weighted movement energy of being at (x, y, z)."""
    cost = m[HOVER] * math.exp(z / m[ALTITUDE]) if m[HOVER] > 0.0 else 0.0
    if z > m[Z0] and m[CLIMB] > 0.0:
        cost += m[CLIMB] * math.log((m[CEILING] - m[Z0]) / (m[CEILING] - z))
    return cost + m[LATERAL] * math.hypot(x - m[X0], y - m[Y0])


@_compiled
def _loss(x: float, y: float, z: float, d: Array, links: Array, min_sq: float) -> float:
    link = links[1] if (z > 0.0 and d[PZ] > 0.0) else links[0]
    rise = abs(z - d[PZ])
    run_sq = (x - d[PX]) ** 2 + (y - d[PY]) ** 2
    theta = math.atan2(rise, math.sqrt(run_sq)) * (180.0 / math.pi)
    spread = link[SCALE] * _root(max(run_sq + rise * rise, min_sq), link[EXPONENT])
    return spread * (link[NLOS] - link[DIFFERENCE] * _sight(theta, link))


@_compiled
def active_at(
    x: float, y: float, z: float, devices: Array, links: Array, min_sq: float, on: Any
) -> None:
    """Which devices are active with the server at (x, y, z)."""
    for n in range(devices.shape[0]):
        on[n] = _loss(x, y, z, devices[n], links, min_sq) <= devices[n, CUTOFF]


@_compiled
def value_at(x: float, y: float, z: float, devices: Array, links: Array, min_sq: float) -> float:
    """What the devices save with the server at (x, y, z)."""
    saved = 0.0
    for n in range(devices.shape[0]):
        d = devices[n]
        loss = _loss(x, y, z, d, links, min_sq)
        if loss <= d[CUTOFF]:
            saved += d[GAIN] - d[PRICE] * loss
    return saved


@_compiled
def bound_boxes(
    centres: Array,
    widths: Array,
    alive: Any,
    first: int,
    last: int,
    devices: Array,
    links: Array,
    move: Array,
    min_sq: float,
    rounding: float,
    floor: Array,
    value: Array,
    split: Any,
    left: Any,
) -> None:
    """Bounds boxes [first, last), filling `floor`, `value`, `split` and `left`."""
    words = alive.shape[1]
    slope_low, slope_high = np.zeros(3), np.zeros(3)
    low, high = np.zeros(3), np.zeros(3)
    # undecided devices: value, slope range and gradient range of their linear overestimates
    u_loss, u_anchor, u_top = (
        np.zeros(MOST_UNDECIDED),
        np.zeros(MOST_UNDECIDED),
        np.zeros(MOST_UNDECIDED),
    )
    u_least, u_most, u_slope = (
        np.zeros(MOST_UNDECIDED),
        np.zeros(MOST_UNDECIDED),
        np.zeros(MOST_UNDECIDED),
    )
    u_low, u_high = np.zeros((MOST_UNDECIDED, 3)), np.zeros((MOST_UNDECIDED, 3))
    for box in range(first, last):
        cx, cy, cz = centres[box, 0], centres[box, 1], centres[box, 2]
        wx, wy, wz = widths[box, 0], widths[box, 1], widths[box, 2]
        airborne = cz > 0.0
        slope_low[:] = 0.0
        slope_high[:] = 0.0
        saved_here, saved_most, magnitude = 0.0, 0.0, 0.0
        undecided = 0
        for word in range(words):
            bits = alive[box, word]
            keep = np.uint64(0)
            base = word * 64
            for bit in range(min(64, devices.shape[0] - base)):
                flag = np.uint64(1) << np.uint64(bit)
                if not bits & flag:
                    continue
                d = devices[base + bit]
                link = links[1] if (airborne and d[PZ] > 0.0) else links[0]
                dx, dy, dz = cx - d[PX], cy - d[PY], cz - d[PZ]
                ax, ay, v = abs(dx), abs(dy), abs(dz)
                nx, ny, v_low, v_high = (
                    max(0.0, ax - wx),
                    max(0.0, ay - wy),
                    max(0.0, v - wz),
                    v + wz,
                )
                fx, fy = ax + wx, ay + wy
                run_near, run_far = nx * nx + ny * ny, fx * fx + fy * fy
                near, far = run_near + v_low * v_low, run_far + v_high * v_high
                r_low, r_high = math.sqrt(run_near), math.sqrt(run_far)
                exponent, scale = link[EXPONENT], link[SCALE]
                root_near = _root(max(near, min_sq), exponent)
                sight_high = _sight(math.atan2(v_high, r_low) * (180.0 / math.pi), link)
                difference = link[DIFFERENCE]
                h_a = link[NLOS] - difference * sight_high
                if (
                    difference >= 0.0
                    and scale * root_near * h_a * (1.0 - rounding) > d[WIDE_CUTOFF]
                ):
                    continue
                sight_low = _sight(math.atan2(v_low, r_high) * (180.0 / math.pi), link)
                h_b = link[NLOS] - difference * sight_low
                h_low, h_high = min(h_a, h_b), max(h_a, h_b)
                root_far = _root(max(far, min_sq), exponent)
                loss_low, loss_high = scale * root_near * h_low, scale * root_far * h_high
                # the centre
                run_sq = dx * dx + dy * dy
                here_sq = max(run_sq + v * v, min_sq)
                sight = _sight(math.atan2(v, math.sqrt(run_sq)) * (180.0 / math.pi), link)
                loss = scale * _root(here_sq, exponent) * (link[NLOS] - difference * sight)
                if loss <= d[CUTOFF]:
                    saved_here += d[GAIN] - d[PRICE] * loss
                smooth = near >= min_sq and difference >= 0.0
                if smooth:
                    # ranges of the gradient's factors: the loss is scale·D^(α/2)·h(θ)
                    bend_near, bend_far = root_near / near, root_far / far
                    bend_low, bend_high = min(bend_near, bend_far), max(bend_near, bend_far)
                    t_low, t_high = exponent * h_low * bend_low, exponent * h_high * bend_high
                    pq_a, pq_b = sight_low * (1.0 - sight_low), sight_high * (1.0 - sight_high)
                    pq_low, pq_high = min(pq_a, pq_b), max(pq_a, pq_b)
                    if sight_low < 0.5 < sight_high:
                        pq_high = 0.25
                    turn = difference * link[LOS_SLOPE] * (180.0 / math.pi)
                    s_low, s_high = turn * pq_low * bend_low, turn * pq_high * bend_high
                    a, b = _cosine(dx - wx, dx + wx, ny * ny, fy * fy)
                    l0, h0 = _times(t_low, t_high, dx - wx, dx + wx)
                    l1, h1 = _times(s_low * v_low, s_high * v_high, a, b)
                    low[0], high[0] = scale * (l0 + l1), scale * (h0 + h1)
                    a, b = _cosine(dy - wy, dy + wy, nx * nx, fx * fx)
                    l0, h0 = _times(t_low, t_high, dy - wy, dy + wy)
                    l1, h1 = _times(s_low * v_low, s_high * v_high, a, b)
                    low[1], high[1] = scale * (l0 + l1), scale * (h0 + h1)
                    l0, h0 = _times(t_low, t_high, dz - wz, dz + wz)
                    down = -1.0 if dz - wz >= 0.0 else (1.0 if dz + wz <= 0.0 else 0.0)
                    if down < 0.0:
                        l1, h1 = -s_high * r_high, -s_low * r_low
                    elif down > 0.0:
                        l1, h1 = s_low * r_low, s_high * r_high
                    else:
                        l1, h1 = -s_high * r_high, s_high * r_high
                    low[2], high[2] = scale * (l0 + l1), scale * (h0 + h1)
                    spread = (
                        max(-low[0], high[0]) * wx
                        + max(-low[1], high[1]) * wy
                        + max(-low[2], high[2]) * wz
                    )
                    loss_low = max(loss_low, loss - spread)
                    loss_high = min(loss_high, loss + spread)
                    if loss_low * (1.0 - rounding) > d[WIDE_CUTOFF]:
                        continue
                keep |= flag
                gain, price = d[GAIN], d[PRICE]
                top = gain - price * loss_low
                magnitude += abs(gain) + price * loss_high
                decided = loss_high * (1.0 + rounding) <= d[WIDE_CUTOFF]
                crowded = undecided == MOST_UNDECIDED and gain >= price * loss_high
                if smooth and (decided or crowded):
                    saved_most += gain - price * loss
                    for axis in range(3):
                        slope_low[axis] += price * low[axis]
                        slope_high[axis] += price * high[axis]
                elif not smooth or undecided == MOST_UNDECIDED:
                    saved_most += top
                else:
                    at_reach = gain - price * d[WIDE_REACH]
                    width = loss_high - d[WIDE_REACH]
                    if (
                        loss_high - loss_low <= rounding * loss_high
                        or abs(width) <= rounding * loss_high
                    ):
                        saved_most += top
                        continue
                    if (
                        d[WIDE_REACH] <= d[WIDE_CUTOFF]
                        and at_reach > 0.0
                        and at_reach >= price * width
                    ):
                        # through the corner (reach, at_reach), at least as steep as the price
                        u_anchor[undecided], u_top[undecided] = d[WIDE_REACH], at_reach
                        u_least[undecided], u_most[undecided] = price, at_reach / width
                    else:
                        # through (loss_low, top), at most as steep as the chord to (loss_high, 0)
                        u_anchor[undecided], u_top[undecided] = loss_low, top
                        u_least[undecided], u_most[undecided] = 0.0, top / (loss_high - loss_low)
                    u_loss[undecided] = loss
                    u_slope[undecided] = u_least[undecided]
                    for axis in range(3):
                        u_low[undecided, axis], u_high[undecided, axis] = low[axis], high[axis]
                    undecided += 1
            left[box, word] = keep
        # movement: convex, so its tangent at the centre stays below it
        here = movement(cx, cy, cz, move)
        value[box] = here - saved_here
        run = math.hypot(cx - move[X0], cy - move[Y0])
        gx = move[LATERAL] * (cx - move[X0]) / run if run > 0.0 else 0.0
        gy = move[LATERAL] * (cy - move[Y0]) / run if run > 0.0 else 0.0
        gz = (
            move[HOVER] / move[ALTITUDE] * math.exp(cz / move[ALTITUDE])
            if move[HOVER] > 0.0
            else 0.0
        )
        if cz > move[Z0] and move[CLIMB] > 0.0:
            gz += move[CLIMB] / (move[CEILING] - cz)
        floor_x = max(abs(cx - move[X0]) - wx, 0.0)
        floor_y = max(abs(cy - move[Y0]) - wy, 0.0)
        lowest = movement(move[X0] + floor_x, move[Y0] + floor_y, cz - wz, move)
        magnitude += abs(here) + abs(gx) * wx + abs(gy) * wy + abs(gz) * wz
        # slopes of undecided devices, one after another, so that the whole falls least in the box
        for axis in range(3):
            low[axis], high[axis] = slope_low[axis], slope_high[axis]
        low[0] += gx
        high[0] += gx
        low[1] += gy
        high[1] += gy
        low[2] += gz
        high[2] += gz
        for n in range(undecided):
            for axis in range(3):
                low[axis] += u_slope[n] * u_low[n, axis]
                high[axis] += u_slope[n] * u_high[n, axis]
        for _sweep in range(2 if undecided > 1 else 1):
            for n in range(undecided):
                best_slope, best_fall = u_slope[n], math.inf
                for trial in range(5):
                    if trial == 0:
                        m = u_least[n]
                    elif trial == 1:
                        m = u_most[n]
                    else:
                        axis = trial - 2
                        middle = 0.5 * (u_low[n, axis] + u_high[n, axis])
                        others = 0.5 * (low[axis] + high[axis]) - u_slope[n] * middle
                        m = -others / middle if middle != 0.0 else u_least[n]
                        if not u_least[n] < m < u_most[n]:
                            continue
                    step = m - u_slope[n]
                    fall = u_top[n] + m * (u_anchor[n] - u_loss[n])
                    for axis in range(3):
                        w = widths[box, axis]
                        a = low[axis] + step * u_low[n, axis]
                        b = high[axis] + step * u_high[n, axis]
                        fall += max(b, -a) * w
                    if fall < best_fall:
                        best_fall, best_slope = fall, m
                step = best_slope - u_slope[n]
                for axis in range(3):
                    low[axis] += step * u_low[n, axis]
                    high[axis] += step * u_high[n, axis]
                u_slope[n] = best_slope
        # rebuild the sums, so that no rounding of the sweeps is left in them
        together, apart = here - saved_most, lowest - saved_most
        for axis in range(3):
            low[axis], high[axis] = slope_low[axis], slope_high[axis]
        for n in range(undecided):
            top = u_top[n] + u_slope[n] * (u_anchor[n] - u_loss[n])
            together -= top
            apart -= top
            magnitude += u_slope[n] * abs(u_anchor[n] - u_loss[n])
            for axis in range(3):
                low[axis] += u_slope[n] * u_low[n, axis]
                high[axis] += u_slope[n] * u_high[n, axis]
        widest, choice = -1.0, 0
        for axis in range(3):
            w = widths[box, axis]
            apart -= max(high[axis], -low[axis], 0.0) * w
            g = gx if axis == 0 else (gy if axis == 1 else gz)
            together -= max(high[axis] + g, -low[axis] - g, 0.0) * w
            magnitude += max(abs(high[axis]), abs(low[axis])) * w
            doubt = (
                high[axis] - low[axis] + 1e-3 * max(abs(high[axis] + g), abs(low[axis] + g))
            ) * w
            if doubt > widest and w > 0.0:
                widest, choice = doubt, axis
        floor[box] = max(together, apart) - rounding * magnitude
        split[box] = choice


@_compiled
def barrier(
    place: Array,
    on: Any,
    mu: float,
    devices: Array,
    links: Array,
    move: Array,
    min_sq: float,
    gradient: Array,
) -> float:
    """Cost of keeping the devices `on`, with a barrier at the edge of their reach; its gradient."""
    x, y, z = place[0], place[1], place[2]
    total = movement(x, y, z, move)
    run = math.sqrt((x - move[X0]) ** 2 + (y - move[Y0]) ** 2 + 1e-8)  # smooth where it stood
    gradient[0] = move[LATERAL] * (x - move[X0]) / run
    gradient[1] = move[LATERAL] * (y - move[Y0]) / run
    gradient[2] = (
        move[HOVER] / move[ALTITUDE] * math.exp(z / move[ALTITUDE]) if move[HOVER] > 0.0 else 0.0
    )
    if z > move[Z0] and move[CLIMB] > 0.0:
        gradient[2] += move[CLIMB] / (move[CEILING] - z)
    for n in range(devices.shape[0]):
        if not on[n]:
            continue
        d = devices[n]
        link = links[1] if (z > 0.0 and d[PZ] > 0.0) else links[0]
        dx, dy, dz = x - d[PX], y - d[PY], z - d[PZ]
        run_sq = dx * dx + dy * dy
        r, v = math.sqrt(run_sq), abs(dz)
        true_sq = run_sq + v * v
        here_sq = max(true_sq, min_sq)
        sight = _sight(math.atan2(v, r) * (180.0 / math.pi), link)
        root = link[SCALE] * _root(here_sq, link[EXPONENT])
        h = link[NLOS] - link[DIFFERENCE] * sight
        loss = root * h
        weight = d[PRICE]
        total += d[PRICE] * loss
        if d[REACH] < math.inf:
            spare = d[REACH] - loss
            if spare <= 0.0:
                return math.inf
            total -= mu * math.log(spare / d[REACH])
            weight += mu / spare
        t = link[EXPONENT] * h * root / here_sq if true_sq > min_sq else 0.0
        turn = link[DIFFERENCE] * link[LOS_SLOPE] * (180.0 / math.pi) * sight * (1.0 - sight)
        s = turn * root / true_sq if true_sq > 0.0 else 0.0
        if r > 0.0:
            gradient[0] += weight * (t * dx + s * v * dx / r)
            gradient[1] += weight * (t * dy + s * v * dy / r)
        gradient[2] += weight * (
            t * dz - s * r * (1.0 if dz > 0.0 else (-1.0 if dz < 0.0 else 0.0))
        )
    return total
