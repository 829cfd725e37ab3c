"""Lower bounds of the objective over boxes of positions, in NumPy.

Inside a box with centre c and half-widths w, each device's path loss L(x) = const·d^α·h(θ) lies
between interval bounds (its distance and elevation at their extremes) and, as long as the box is
beyond the minimum distance, has a gradient whose components lie between interval bounds too. A
device saves gain − price·L(x) where it is active, else nothing. Over a box it is one of these:

- inactive everywhere (out of reach or not worth it): it is dropped from the box and its halves;
- active everywhere: its saving is known, gain − price·L(x);
- undecided: its saving is overestimated by a line in L. Either through the corner at the edge of
  its reach, at least as steep as its price (a multiplier on the constraint L ≤ reach), or through
  its best point, at most as steep as the chord to zero. The slopes are chosen so that the sum
  reaches least high in the box: one after another, or together, as the mean slopes met on a climb
  to the joint peak of all lines (which shows that reaches do not meet where single ones cannot).

What is summed is then linear in the losses, so the mean-value theorem bounds it: its value at c,
less Σ w·|the sum's gradient interval|. Gradients of different devices cancel before their magnitude
is taken, which makes the bound second order: near an optimum it is off by w². Movement is convex:
its tangent at c joins the sum, or its least value in the box is added apart, whichever is better.

Every bound is lowered by the rounding error that its arithmetic may have made. It also holds for
plans that use the model's tolerance on the delay: it takes a device's reach a little wider.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scdn.arrays import Array, IntArray, Mask
from scdn.control.exact.array_columns import (
    CUTOFF,
    FLOOR_LOSS,
    GAIN,
    LATERAL,
    MOST_UNDECIDED,
    PRICE,
    SINK,
    WIDE_CUTOFF,
    WIDE_REACH,
    X0,
    Y0,
    Z0,
)
from scdn.control.exact.linear_overestimators import LinearOverestimators
from scdn.control.exact.objective_numpy import (
    active_at,
    barrier,
    barrier_hessian,
    cost_of_sending,
    movement_cost,
    movement_slope,
    prepare_link,
    saving_at,
    sending_slope,
    to_infinity,
)
from scdn.world.intervals import Interval
from scdn.world.link_models import LinkModel

__all__ = [
    "RELEASES_GIL",
    "active_at",
    "barrier",
    "barrier_hessian",
    "bound_boxes",
    "movement_cost",
    "prepare_link",
    "saving_at",
]

RELEASES_GIL = False

_PAIRS = 1 << 18  # device-box pairs at a time


@to_infinity
def bound_boxes(
    centres: Array,
    half_widths: Array,
    alive: NDArray[np.uint64],
    first: int,
    last: int,
    devices: Array,
    link: LinkModel,
    movements: Array,
    rounding: float,
    lower_bound: Array,
    centre_value: Array,
    split_axis: IntArray,
    still_alive: NDArray[np.uint64],
) -> None:
    """Bound boxes [first, last).

    Fills `lower_bound` (of the objective in the box, less a constant), `centre_value` (the
    objective at the centre), `split_axis` (the axis to halve) and `still_alive` (a bit for each
    device that may be active in the box).
    """
    step = max(1, _PAIRS // max(1, len(devices)))
    for start in range(first, last, step):
        rows = slice(start, min(start + step, last))
        bits = np.unpackbits(alive[rows].view(np.uint8), axis=1, bitorder="little")
        batch = _Batch(centres[rows], half_widths[rows], devices, link)
        movement = movements[rows] if len(movements) > 1 else movements[0]
        bounds = batch.bound(bits[:, : len(devices)].astype(np.bool_), movement, rounding)
        lower_bound[rows], centre_value[rows], split_axis[rows] = bounds[:3]
        padded = np.zeros(bits.shape, dtype=np.bool_)
        padded[:, : len(devices)] = bounds.alive
        still_alive[rows] = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


class _Bounds(NamedTuple):
    lower_bound: Array
    centre_value: Array
    split_axis: IntArray
    alive: Mask


class _Batch:
    """Some boxes against all devices: arrays of (boxes, devices)."""

    loss: Array  # at the centre
    range: Interval  # of the loss in the box
    gradient: Interval  # of the loss in the box
    smooth: Mask  # whether the box is beyond the minimum distance

    def __init__(self, centre: Array, half_width: Array, devices: Array, link: LinkModel) -> None:
        self.centre, self.half_width, self.devices = centre, half_width, devices
        losses = link.bounds(centre, half_width, devices[:, :3])
        self.loss, self.range, self.gradient, self.smooth = losses

    def bound(self, alive: Mask, movement: Array, rounding: float) -> _Bounds:
        """Bound the boxes, given which devices may be active in them."""
        d, w = self.devices, self.half_width
        gain = d[:, GAIN]
        x, y, z = self.centre.T
        movement_here = movement_cost(x, y, z, movement)
        active_here = alive & (self.loss <= d[:, CUTOFF])
        saved_here = np.where(active_here, gain - cost_of_sending(d, self.loss), 0.0).sum(axis=1)
        alive = alive & ~(self.range.low * (1 - rounding) > d[:, WIDE_CUTOFF])
        # what a device can save at the most
        most = gain - cost_of_sending(d, self.range.low)
        lines = self._overestimators(alive, most, rounding)
        plain = np.where(lines.follows, gain - cost_of_sending(d, self.loss), most)
        saved_most = np.where(alive & ~lines.sloped, plain, 0).sum(axis=1)
        largest_cost = cost_of_sending(d, self.range.high)
        magnitude = np.where(alive, np.abs(gain) + largest_cost, 0.0).sum(axis=1)

        pull = self._movement_gradient(movement)
        cost_slope = self._cost_slope(lines.follows)
        base = Interval(cost_slope.low + pull, cost_slope.high + pull)
        lines.choose_slopes(base, w)
        lines_value, lines_gradient = lines.totals()
        total = base.plus(lines_gradient)
        saved = -saved_most - lines_value
        joint = np.maximum(np.maximum(total.high, -total.low), 0.0)
        apart = np.maximum(np.maximum(total.high - pull, pull - total.low), 0.0)
        lower_bound = np.maximum(
            movement_here + saved - (joint * w).sum(axis=1),
            self._least_movement(movement) + saved - (apart * w).sum(axis=1),
        )
        largest = np.maximum(np.abs(total.high), np.abs(total.low))
        magnitude = magnitude + lines.magnitude() + np.abs(movement_here)
        magnitude = magnitude + ((largest + 2 * np.abs(pull)) * w).sum(axis=1)
        # whatever is saved, movement does not cost less than nothing
        saved_ever = np.where(alive, most, 0.0).sum(axis=1)
        least = -saved_ever - rounding * np.abs(saved_ever)
        # where gradients do not explain the bound's distance, the longest side is halved
        excess = (saved_most + lines_value - saved_here) / np.maximum(w.max(axis=1), 1e-300)
        doubt = (total.high - total.low + 1e-3 * largest + excess[:, None]) * w
        return _Bounds(
            np.maximum(lower_bound - rounding * magnitude, least),
            movement_here - saved_here,
            np.where(w > 0, doubt, -1.0).argmax(axis=1),
            alive,
        )

    def _cost_slope(self, follows: Mask) -> Interval:
        """Return the range of the gradient of what devices spend whose saving is followed.

        Below the loss where a device transmits at its least power, the cost's slope falls; it jumps
        up there.
        """
        d = self.devices
        low, high = self.range
        floor = d[:, FLOOR_LOSS]
        price = np.broadcast_to(d[:, PRICE], low.shape)
        steepest, flattest = price, price
        floored = low < floor
        if floored.any():
            steepest = np.maximum(sending_slope(d, low), np.where(high >= floor, price, 0.0))
            flattest = sending_slope(d, np.minimum(high, floor * (1.0 - 1e-15)))
            steepest, flattest = (np.where(floored, slope, price) for slope in (steepest, flattest))
        weight = np.where(follows, 1.0, 0.0)[..., None]
        spent = self.gradient.times(Interval(flattest, steepest).with_axes())
        return Interval((weight * spent.low).sum(axis=1), (weight * spent.high).sum(axis=1))

    def _movement_gradient(self, movement: Array) -> Array:
        step = self.centre[:, :2] - movement[..., [X0, Y0]]
        run = np.hypot(step[:, 0], step[:, 1])
        sideways = np.divide(step, run[:, None], out=np.zeros_like(step), where=run[:, None] > 0)
        upwards = movement_slope(self.centre[:, 2], movement)
        return np.column_stack([movement[..., LATERAL, None] * sideways, upwards])

    def _least_movement(self, movement: Array) -> Array:
        """Return the least movement cost in each box: at its lowest point nearest to the start."""
        (x, y, z), (wx, wy, wz) = self.centre.T, self.half_width.T
        x0, y0, z0 = movement[..., X0], movement[..., Y0], movement[..., Z0]
        near_x = x0 + np.maximum(np.abs(x - x0) - wx, 0.0)
        near_y = y0 + np.maximum(np.abs(y - y0) - wy, 0.0)
        level = np.clip(z0, z - wz, z + wz)
        near_z = np.where(movement[..., SINK] > 0, level, z - wz)
        return np.asarray(movement_cost(near_x, near_y, near_z, movement))

    def _overestimators(self, alive: Mask, most: Array, rounding: float) -> LinearOverestimators:
        """Sort the devices by how their saving is overestimated."""
        d = self.devices
        gain, price = d[:, GAIN], d[:, PRICE]
        reach, cutoff = d[:, WIDE_REACH], d[:, WIDE_CUTOFF]
        low, high = self.range
        decided = alive & self.smooth & (high * (1 + rounding) <= cutoff)
        undecided = alive & self.smooth & ~decided & (low >= d[:, FLOOR_LOSS])
        with np.errstate(invalid="ignore"):
            flat = (high - low <= rounding * high) | (np.abs(high - reach) <= rounding * high)
            at_reach = gain - price * reach
            corner = (reach <= cutoff) & (at_reach > 0) & (at_reach >= price * (high - reach))
        bent = undecided & ~flat
        before: IntArray = np.cumsum(bent, axis=1) - bent  # how many lines are taken already
        sloped = bent & (before < MOST_UNDECIDED)
        crowded = undecided & (before >= MOST_UNDECIDED) & (gain >= price * high)
        return LinearOverestimators(
            self, sloped, decided | crowded, np.where(corner, at_reach, most), corner
        )
