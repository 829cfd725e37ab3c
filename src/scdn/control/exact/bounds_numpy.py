"""Lower bounds of the objective over boxes of positions, in plain NumPy.

Inside a box with centre c and half-widths w, each device's path loss L(x) = scale·D^(α/2)·h(θ) lies
between interval bounds (its distance and elevation at their extremes) and, as long as the box is
beyond the minimum distance, has a gradient whose components lie between interval bounds too. A
device that the box decides is handled by its state:

- out of reach or not worth it everywhere: it saves nothing, and is dropped from the box's halves;
- active everywhere: it saves gain − price·L(x);
- undecided: its saving is overestimated by a line in L. Either through the corner at the edge of
  its reach, at least as steep as its price (a multiplier on the constraint L ≤ reach), or through
  its best point, at most as steep as the chord to zero. The slopes are chosen so that the sum
  reaches least high in the box: one after another, or together, as the mean slopes met on a climb
  to the joint peak of all lines (which shows that reaches do not meet where single ones cannot).

What is summed is then linear in the losses, so the mean-value theorem bounds it: its value at c,
less Σ w·|the sum's gradient interval|. Gradients of different devices cancel before their magnitude
is taken, which makes the bound second order: near an optimum it is off by w². Movement is convex:
its tangent at c joins the sum, or its least value in the box is added apart, whichever is better.

Every bound is lowered by the rounding error that its arithmetic may have made, and holds for plans
that use the model's tolerance on the delay too: it takes a device's reach a little wider.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scdn.arrays import Array, Mask
from scdn.control.exact.array_columns import (
    ALTITUDE,
    CEILING,
    CLIMB,
    CUTOFF,
    GAIN,
    HOVER,
    LATERAL,
    MOST_UNDECIDED,
    PRICE,
    PX,
    PY,
    PZ,
    REACH,
    WIDE_CUTOFF,
    WIDE_REACH,
    X0,
    Y0,
    Z0,
)
from scdn.control.exact.linear_overestimators import Interval, LinearOverestimators

RELEASES_GIL = False

# Absurd heights and losses are infinite; a bound that is no number counts as none (see Surface).
_to_infinity = np.errstate(over="ignore", invalid="ignore", divide="ignore")

_DEGREES = 180.0 / math.pi
_PAIRS = 1 << 18  # device-box pairs at a time


@_to_infinity
def movement(x: float, y: float, z: float, move: Array) -> float:
    """Weighted movement energy of being at (x, y, z)."""
    return float(_movement(np.array([x, y, z]), move))


def _movement(place: Array, move: Array) -> Array:
    z = place[..., 2]
    cost = move[HOVER] * np.exp(z / move[ALTITUDE]) if move[HOVER] > 0 else np.zeros_like(z)
    climbs = (z > move[Z0]) & (move[CLIMB] > 0)
    ratio = np.where(climbs, (move[CEILING] - move[Z0]) / np.where(climbs, move[CEILING] - z, 1), 1)
    cost = cost + move[CLIMB] * np.log(ratio)
    return cost + move[LATERAL] * np.hypot(place[..., 0] - move[X0], place[..., 1] - move[Y0])


class _Links:
    """The link constants that hold for each device, with the server in the air or on the ground."""

    def __init__(self, devices: Array, links: Array, airborne: Mask) -> None:
        air = airborne & (devices[:, PZ] > 0)
        self.scale, self.exponent, self.los_scale, self.los_slope, self.nlos, self.los = (
            np.where(air, links[1, column], links[0, column]) for column in range(6)
        )

    def sight(self, rise: Array, run: Array) -> tuple[Array, Array]:
        """Chances of line of sight and of none; each without cancellation."""
        theta = np.arctan2(rise, run) * _DEGREES
        with np.errstate(over="ignore", divide="ignore"):
            blocked = self.los_scale * np.exp(-self.los_slope * (theta - self.los_scale))
            return 1.0 / (1.0 + blocked), 1.0 / (1.0 + 1.0 / blocked)

    def excess(self, sight: Array, none: Array) -> Array:
        """The mean excess loss, h."""
        return self.los * sight + self.nlos * none

    def root(self, square: Array) -> Array:
        return np.where(self.exponent == 2.0, square, np.power(square, 0.5 * self.exponent))


def _losses(x: float, y: float, z: float, devices: Array, links: Array, min_sq: float) -> Array:
    link = _Links(devices, links, np.array(z > 0))
    run_sq = (x - devices[:, PX]) ** 2 + (y - devices[:, PY]) ** 2
    rise = np.abs(z - devices[:, PZ])
    root = link.root(np.maximum(run_sq + rise * rise, min_sq))
    return link.scale * root * link.excess(*link.sight(rise, np.sqrt(run_sq)))


def active_at(
    x: float, y: float, z: float, devices: Array, links: Array, min_sq: float, on: Mask
) -> None:
    """Which devices are active with the server at (x, y, z)."""
    on[:] = _losses(x, y, z, devices, links, min_sq) <= devices[:, CUTOFF]


@_to_infinity
def value_at(x: float, y: float, z: float, devices: Array, links: Array, min_sq: float) -> float:
    """What the devices save with the server at (x, y, z)."""
    loss = _losses(x, y, z, devices, links, min_sq)
    saved = devices[:, GAIN] - devices[:, PRICE] * loss
    return float(np.where(loss <= devices[:, CUTOFF], saved, 0.0).sum())


@_to_infinity
def barrier(
    place: Array,
    on: Mask,
    mu: float,
    devices: Array,
    links: Array,
    move: Array,
    min_sq: float,
    gradient: Array,
) -> float:
    """Cost of keeping the devices `on`, with a barrier at the edge of their reach; its gradient."""
    x, y, z = place
    total = movement(x, y, z, move)
    run_0 = math.sqrt((x - move[X0]) ** 2 + (y - move[Y0]) ** 2 + 1e-8)  # smooth where it stood
    gradient[0] = move[LATERAL] * (x - move[X0]) / run_0
    gradient[1] = move[LATERAL] * (y - move[Y0]) / run_0
    gradient[2] = _vertical(z, move)
    d = devices[on]
    link = _Links(d, links, np.array(z > 0))
    dx, dy, dz = x - d[:, PX], y - d[:, PY], z - d[:, PZ]
    run_sq, rise = dx * dx + dy * dy, np.abs(dz)
    run, true_sq = np.sqrt(run_sq), run_sq + rise * rise
    here_sq = np.maximum(true_sq, min_sq)
    sight, none = link.sight(rise, run)
    root = link.scale * link.root(here_sq)
    h = link.excess(sight, none)
    loss = root * h
    spare = d[:, REACH] - loss
    if np.any(spare <= 0):
        return math.inf
    limited = np.isfinite(d[:, REACH])
    share = np.where(limited, spare / np.where(limited, d[:, REACH], 1.0), 1.0)
    total += float((d[:, PRICE] * loss).sum() - mu * np.log(share).sum())
    weight = d[:, PRICE] + np.where(limited, mu / spare, 0.0)
    t = np.where(true_sq > min_sq, link.exponent * h * root / here_sq, 0.0)
    turn = (link.nlos - link.los) * link.los_slope * _DEGREES * sight * none
    s = np.divide(turn * root, true_sq, out=np.zeros_like(root), where=true_sq > 0)
    sideways = t + np.divide(s * rise, run, out=np.zeros_like(run), where=run > 0)
    gradient[0] += (weight * sideways * dx)[run > 0].sum()
    gradient[1] += (weight * sideways * dy)[run > 0].sum()
    gradient[2] += (weight * (t * dz - s * run * np.sign(dz))).sum()
    return total


def barrier_slopes(
    place: Array,
    shifts: Array,
    on: Mask,
    mu: float,
    devices: Array,
    links: Array,
    move: Array,
    min_sq: float,
    gradient: Array,
    slopes: Array,
) -> None:
    """How the barrier's gradient changes along each axis that has a shift, by differences."""
    moved, other = place.copy(), np.zeros(3)
    for axis in range(3):
        if shifts[axis] != 0.0:
            moved[axis] = place[axis] + shifts[axis]
            barrier(moved, on, mu, devices, links, move, min_sq, other)
            slopes[:, axis] = (other - gradient) / shifts[axis]
            moved[axis] = place[axis]


def _vertical(z: Any, move: Array) -> Any:
    """The slope of the movement's energy in altitude."""
    slope = (
        move[HOVER] / move[ALTITUDE] * np.exp(z / move[ALTITUDE]) if move[HOVER] > 0 else 0.0 * z
    )
    climbs = (z > move[Z0]) & (move[CLIMB] > 0)
    return slope + np.where(climbs, move[CLIMB] / np.where(climbs, move[CEILING] - z, 1.0), 0.0)


@_to_infinity
def bound_boxes(
    centres: Array,
    widths: Array,
    alive: NDArray[np.uint64],
    first: int,
    last: int,
    devices: Array,
    links: Array,
    move: Array,
    min_sq: float,
    rounding: float,
    floor: Array,
    value: Array,
    split: NDArray[np.int64],
    left: NDArray[np.uint64],
) -> None:
    """Bounds boxes [first, last).

    Fills `floor` (below the objective anywhere in the box, less a constant), `value` (the objective
    at the centre), `split` (the axis to halve) and `left` (the devices that are not decided off).
    """
    step = max(1, _PAIRS // max(1, len(devices)))
    for start in range(first, last, step):
        rows = slice(start, min(start + step, last))
        box = _Batch(centres[rows], widths[rows], alive[rows], devices, links, min_sq, rounding)
        floor[rows], value[rows], split[rows], left[rows] = box.bound(move)


def _cosine(x: Interval, other_near: Array, other_far: Array) -> Interval:
    """The range of x/√(x² + y²) for y² in [near, far]."""

    def ratio(x: Array, square: Array) -> Array:
        length = np.sqrt(x * x + square)
        return np.divide(x, length, out=np.zeros_like(x), where=length > 0)

    return Interval(
        ratio(x.low, np.where(x.low >= 0, other_far, other_near)),
        ratio(x.high, np.where(x.high <= 0, other_far, other_near)),
    )


class _Batch:
    """Some boxes against all devices: arrays of (boxes, devices)."""

    def __init__(
        self,
        centre: Array,
        width: Array,
        alive: NDArray[np.uint64],
        devices: Array,
        links: Array,
        min_sq: float,
        rounding: float,
    ) -> None:
        self.centre, self.width, self.devices = centre, width, devices
        self.rounding = rounding
        bits = np.unpackbits(alive.view(np.uint8), axis=1, bitorder="little")
        self.alive = bits[:, : len(devices)].astype(np.bool_)
        self.words = alive.shape[1]
        self._losses(_Links(devices, links, centre[:, 2:] > 0), min_sq)

    def _losses(self, link: _Links, min_sq: float) -> None:
        """Loss at the centre, its range, and its gradient's range."""
        d = self.devices
        step = self.centre[:, None, :] - d[None, :, :3]
        w = self.width[:, None, :]
        reach = Interval(step - w, step + w)
        near, far = np.maximum(0.0, np.abs(step) - w), np.abs(step) + w
        near_sq, far_sq = near * near, far * far
        run_near, run_far = near_sq[..., 0] + near_sq[..., 1], far_sq[..., 0] + far_sq[..., 1]
        d_near, d_far = run_near + near_sq[..., 2], run_far + far_sq[..., 2]
        run = Interval(np.sqrt(run_near), np.sqrt(run_far))
        rise = Interval(near[..., 2], far[..., 2])
        root_near = link.root(np.maximum(d_near, min_sq))
        root_far = link.root(np.maximum(d_far, min_sq))
        sight_high, none_low = link.sight(rise.high, run.low)
        sight_low, none_high = link.sight(rise.low, run.high)
        h_a, h_b = link.excess(sight_high, none_low), link.excess(sight_low, none_high)
        h = Interval(np.minimum(h_a, h_b), np.maximum(h_a, h_b))
        run_sq = step[..., 0] ** 2 + step[..., 1] ** 2
        here_sq = np.maximum(run_sq + step[..., 2] ** 2, min_sq)
        sight = link.sight(np.abs(step[..., 2]), np.sqrt(run_sq))
        self.loss = link.scale * link.root(here_sq) * link.excess(*sight)
        low, high = link.scale * root_near * h.low, link.scale * root_far * h.high

        self.smooth = d_near >= min_sq
        beyond = np.maximum(d_near, min_sq)
        bend_a, bend_b = root_near / beyond, root_far / np.maximum(d_far, min_sq)
        bend = Interval(np.minimum(bend_a, bend_b), np.maximum(bend_a, bend_b))
        pq_a, pq_b = sight_low * none_high, sight_high * none_low
        pq_high = np.where((sight_low < 0.5) & (sight_high > 0.5), 0.25, np.maximum(pq_a, pq_b))
        turn = np.abs(link.nlos - link.los) * link.los_slope * _DEGREES
        farther = Interval(link.exponent * h.low * bend.low, link.exponent * h.high * bend.high)
        steeper = Interval(turn * np.minimum(pq_a, pq_b) * bend.low, turn * pq_high * bend.high)
        self.slope = self._gradient(link, reach, farther, steeper, run, rise, near_sq, far_sq)
        spread = np.sum(np.maximum(-self.slope.low, self.slope.high) * w, axis=2)
        self.range = Interval(
            np.where(self.smooth, np.maximum(low, self.loss - spread), low),
            np.where(self.smooth, np.minimum(high, self.loss + spread), high),
        )

    def _gradient(
        self,
        link: _Links,
        reach: Interval,
        farther: Interval,
        steeper: Interval,
        run: Interval,
        rise: Interval,
        near_sq: Array,
        far_sq: Array,
    ) -> Interval:
        scale, sooner = link.scale, link.nlos >= link.los  # the loss falls with the elevation
        lows, highs = [], []
        tilt = Interval(steeper.low * rise.low, steeper.high * rise.high)
        for axis, other in ((0, 1), (1, 0)):
            part = Interval(reach.low[..., axis], reach.high[..., axis])
            cosine = _cosine(part, near_sq[..., other], far_sq[..., other])
            cosine = cosine.flipped(~sooner)
            away, turning = part.scaled(farther), cosine.scaled(tilt)
            lows.append(scale * (away.low + turning.low))
            highs.append(scale * (away.high + turning.high))
        part = Interval(reach.low[..., 2], reach.high[..., 2])
        away = part.scaled(farther)
        least, most = steeper.low * run.low, steeper.high * run.high
        above, below = part.low >= 0, part.high <= 0
        turning = Interval(
            np.where(above, -most, np.where(below, least, -most)), np.where(above, -least, most)
        ).flipped(~sooner)
        lows.append(scale * (away.low + turning.low))
        highs.append(scale * (away.high + turning.high))
        return Interval(np.stack(lows, axis=2), np.stack(highs, axis=2))

    def bound(self, move: Array) -> tuple[Array, Array, Any, NDArray[np.uint64]]:
        """Floors, values at the centres, axes to halve, devices left."""
        d, r = self.devices, self.rounding
        gain, price, cutoff = d[:, GAIN], d[:, PRICE], d[:, WIDE_CUTOFF]
        here = _movement(self.centre, move)
        on_here = self.alive & (self.loss <= d[:, CUTOFF])
        saved_here = np.where(on_here, gain - price * self.loss, 0.0).sum(axis=1)
        value = here - saved_here
        left = self.alive & ~(self.range.low * (1 - r) > cutoff)
        top = gain - price * self.range.low
        lines = self._lines(left, top)
        saved = np.where(
            left & ~lines.sloped, np.where(lines.follows, gain - price * self.loss, top), 0
        )
        saved_most = saved.sum(axis=1)
        weight = np.where(lines.follows, price, 0.0)[..., None]
        slope = Interval(
            (weight * self.slope.low).sum(axis=1), (weight * self.slope.high).sum(axis=1)
        )
        magnitude = np.where(left, np.abs(gain) + price * self.range.high, 0.0).sum(axis=1)

        pull = self._pull(move)
        base = Interval(slope.low + pull, slope.high + pull)
        lines.choose(base, self.width)
        shift, tilt = lines.totals()
        total = Interval(base.low + tilt.low, base.high + tilt.high)
        magnitude = magnitude + lines.magnitude()
        w = self.width
        corner = np.stack(
            [
                move[X0] + np.maximum(np.abs(self.centre[:, 0] - move[X0]) - w[:, 0], 0.0),
                move[Y0] + np.maximum(np.abs(self.centre[:, 1] - move[Y0]) - w[:, 1], 0.0),
                self.centre[:, 2] - w[:, 2],
            ],
            axis=1,
        )
        devices = -saved_most - shift
        joint = np.maximum(np.maximum(total.high, -total.low), 0.0)
        apart = np.maximum(np.maximum(total.high - pull, pull - total.low), 0.0)
        largest = np.maximum(np.abs(total.high), np.abs(total.low))
        magnitude = magnitude + np.abs(here) + ((largest + 2 * np.abs(pull)) * w).sum(axis=1)
        floor = np.maximum(
            here + devices - (joint * w).sum(axis=1),
            _movement(corner, move) + devices - (apart * w).sum(axis=1),
        )
        # what the slopes do not explain speaks for halving the longest side
        excess = (saved_most + shift - saved_here) / np.maximum(w.max(axis=1), 1e-300)
        doubt = (total.high - total.low + 1e-3 * largest + excess[:, None]) * w
        doubt = np.where(w > 0, doubt, -1.0)
        # whatever is saved, movement does not cost less than nothing
        saved_ever = np.where(left, top, 0.0).sum(axis=1)
        floor = np.maximum(floor - r * magnitude, -saved_ever - r * np.abs(saved_ever))
        padded = np.zeros((len(left), self.words * 64), dtype=np.bool_)
        padded[:, : left.shape[1]] = left
        packed = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
        return floor, value, doubt.argmax(axis=1), packed

    def _pull(self, move: Array) -> Array:
        """The movement's gradient at the centres."""
        step = self.centre[:, :2] - move[[X0, Y0]]
        run = np.hypot(step[:, 0], step[:, 1])
        sideways = np.divide(step, run[:, None], out=np.zeros_like(step), where=run[:, None] > 0)
        return np.column_stack([move[LATERAL] * sideways, _vertical(self.centre[:, 2], move)])

    def _lines(self, left: Mask, top: Array) -> LinearOverestimators:
        """Sorts the devices by how their saving is overestimated."""
        d, r = self.devices, self.rounding
        gain, price = d[:, GAIN], d[:, PRICE]
        reach, cutoff = d[:, WIDE_REACH], d[:, WIDE_CUTOFF]
        low, high = self.range.low, self.range.high
        decided = left & self.smooth & (high * (1 + r) <= cutoff)
        waiting = left & self.smooth & ~decided
        with np.errstate(invalid="ignore"):
            flat = (high - low <= r * high) | (np.abs(high - reach) <= r * high)
            at_reach = gain - price * reach
            corner = (reach <= cutoff) & (at_reach > 0) & (at_reach >= price * (high - reach))
        bent = waiting & ~flat
        before = np.cumsum(bent, axis=1) - bent  # how many lines are taken already
        sloped = bent & (before < MOST_UNDECIDED)
        crowded = waiting & (before >= MOST_UNDECIDED) & (gain >= price * high)
        return LinearOverestimators(self, sloped, decided | crowded, corner, at_reach, top)
