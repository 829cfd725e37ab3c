"""Lines over the savings of undecided devices, with slopes that make a box's bound best."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from scdn.arrays import Array, Mask
from scdn.control.exact.array_columns import CLIMB_STEPS, MOST_UNDECIDED, PRICE, WIDE_REACH
from scdn.world.intervals import Interval


class BoxLosses(Protocol):
    """The path loss of every device in every box."""

    devices: Array
    loss: Array  # at the centre
    range: Interval
    gradient: Interval


class LinearOverestimators:
    """A line over the saving of each undecided device: at most a dozen per box."""

    def __init__(
        self, boxes: BoxLosses, sloped: Mask, follows: Mask, top: Array, corner: Mask
    ) -> None:
        """Start with the flattest lines.

        `sloped` says which devices get a line, `follows` which follow their saving instead; `top`
        is the saving at the line's fixed point, and `corner` says where that is the edge of reach.
        """
        self.sloped, self.follows = sloped, follows
        count = min(MOST_UNDECIDED, sloped.shape[1])
        which = np.argsort(~sloped, axis=1, kind="stable")[:, :count]
        self.real = np.take_along_axis(sloped, which, 1)

        def pick(column: Any) -> Any:
            return np.take_along_axis(np.broadcast_to(column, sloped.shape), which, 1)

        def real(column: Array) -> Array:
            return np.where(self.real, column, 0.0)

        reach, price = boxes.devices[:, WIDE_REACH], boxes.devices[:, PRICE]
        anchor, highest = pick(np.where(corner, reach, boxes.range.low)), pick(boxes.range.high)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            self.most = real(pick(top) / (highest - anchor))
        self.loss, self.anchor, self.top = real(pick(boxes.loss)), real(anchor), real(pick(top))
        self.least = real(pick(np.where(corner, price, 0.0)))
        self.low = np.take_along_axis(boxes.gradient.low, which[..., None], 1)
        self.high = np.take_along_axis(boxes.gradient.high, which[..., None], 1)
        self.slope = self.least.copy()

    def choose_slopes(self, base: Interval, half_width: Array) -> None:
        """Choose slopes one by one from the flattest, or together from their mean."""
        self._sweep(base, half_width)
        several = self.real.sum(axis=1) > 1
        first = self.slope.copy()
        self._sweep(base, half_width)
        self.slope = np.where(several[:, None], self.slope, first)
        if not several.any():
            return
        alone, peak_alone = self.slope.copy(), self._peak(base, half_width)
        self.slope = self._mean_slopes(base, half_width)
        self._sweep(base, half_width)
        better = several & (self._peak(base, half_width) < peak_alone)
        self.slope = np.where(better[:, None], self.slope, alone)

    def totals(self) -> tuple[Array, Interval]:
        """Return the sum of the lines at the centres, and of their gradients' intervals."""
        value = np.where(self.real, self.top + self.slope * (self.anchor - self.loss), 0.0)
        weight = np.where(self.real, self.slope, 0.0)[..., None]
        low, high = (weight * self.low).sum(axis=1), (weight * self.high).sum(axis=1)
        return value.sum(axis=1), Interval(low, high)

    def magnitude(self) -> Array:
        """Return what the lines add to the sum of magnitudes."""
        return np.where(self.real, self.slope * np.abs(self.anchor - self.loss), 0.0).sum(axis=1)

    def _peak(self, base: Interval, half_width: Array) -> Array:
        """Return a bound on how high the sum of the lines reaches in the box."""
        value, gradient = self.totals()
        total = base.plus(gradient)
        return value + (np.maximum(total.high, -total.low) * half_width).sum(axis=1)

    def _mean_slopes(self, base: Interval, half_width: Array) -> Array:
        """Return the mean of the slopes that a climb to the lines' joint peak meets."""
        middle = (self.low + self.high) / 2 * half_width[:, None, :]
        downhill = (base.low + base.high) / 2 * half_width
        point, mean = np.zeros_like(half_width), np.zeros_like(self.slope)
        for step in range(1, CLIMB_STEPS + 1):
            loss = self.loss + (middle * point[:, None, :]).sum(axis=2)
            slope = np.where(loss > self.anchor, self.most, self.least)
            slope = np.where(self.real, slope, 0.0)
            mean += slope / CLIMB_STEPS
            uphill = -downhill - (slope[..., None] * middle).sum(axis=1)
            size = np.sqrt((uphill**2).sum(axis=1, keepdims=True))
            stride = np.divide(1.0, size * math.sqrt(step), out=np.zeros_like(size), where=size > 0)
            point = np.clip(point + stride * uphill, -1.0, 1.0)
        return mean

    def _sweep(self, base: Interval, half_width: Array) -> None:
        """Set each slope in turn to what makes the sum reach least high."""
        low, high = base.plus(self.totals()[1])
        for n in range(self.real.shape[1]):
            best = self._best_slope(n, low, high, half_width)
            step = np.where(self.real[:, n], best - self.slope[:, n], 0.0)[:, None]
            low, high = low + step * self.low[:, n], high + step * self.high[:, n]
            self.slope[:, n] = np.where(self.real[:, n], best, self.slope[:, n])

    def _best_slope(self, n: int, low: Array, high: Array, half_width: Array) -> Array:
        now, least, most = self.slope[:, n], self.least[:, n], self.most[:, n]
        middle = (self.low[:, n] + self.high[:, n]) / 2
        others = (low + high) / 2 - now[:, None] * middle
        level = np.divide(-others, middle, out=np.full_like(middle, -1.0), where=middle != 0)
        trials = [now, least, most, *level.T]
        peaks = []
        for index, trial in enumerate(trials):
            step = (trial - now)[:, None]
            a, b = low + step * self.low[:, n], high + step * self.high[:, n]
            peak = self.top[:, n] + trial * (self.anchor[:, n] - self.loss[:, n])
            peak = peak + (np.maximum(b, -a) * half_width).sum(axis=1)
            inside = (least < trial) & (trial < most)
            peaks.append(peak if index < 3 else np.where(inside, peak, np.inf))
        return np.choose(np.argmin(peaks, axis=0), trials)
