"""Lines over the savings of undecided devices: how steep each is, so that a box's bound is best."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from scdn.arrays import Array, Mask
from scdn.control.exact.array_columns import CLIMB_STEPS, MOST_UNDECIDED, PRICE, WIDE_REACH


class Interval:
    """Intervals, as two arrays."""

    def __init__(self, low: Array, high: Array) -> None:
        self.low, self.high = low, high

    def flipped(self, where: Mask) -> Interval:
        """Times −1 where said."""
        return Interval(
            np.where(where, -self.high, self.low), np.where(where, -self.low, self.high)
        )

    def scaled(self, factor: Interval) -> Interval:
        """Times an interval of factors that are not negative."""
        low = self.low * np.where(self.low < 0, factor.high, factor.low)
        return Interval(low, self.high * np.where(self.high > 0, factor.high, factor.low))


class Losses(Protocol):
    """What is known of every device in every box."""

    devices: Array
    loss: Array  # at the centre
    range: Interval
    slope: Interval  # of the gradient


class LinearOverestimators:
    """The overestimates of a batch's undecided devices: at most a dozen per box."""

    def __init__(
        self, batch: Losses, sloped: Mask, follows: Mask, corner: Mask, at_reach: Array, top: Array
    ) -> None:
        self.sloped, self.follows = sloped, follows
        count = min(MOST_UNDECIDED, sloped.shape[1])
        which = np.argsort(~sloped, axis=1, kind="stable")[:, :count]
        self.real = np.take_along_axis(sloped, which, 1)
        d = batch.devices

        def pick(column: Any) -> Any:
            return np.take_along_axis(np.broadcast_to(column, sloped.shape), which, 1)

        low, high, reach = pick(batch.range.low), pick(batch.range.high), pick(d[:, WIDE_REACH])
        is_corner = pick(corner)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            steepest = np.where(
                is_corner, pick(at_reach) / (high - reach), pick(top) / (high - low)
            )
        self.loss = pick(batch.loss)
        self.anchor = np.where(is_corner, reach, low)
        self.top = np.where(is_corner, pick(at_reach), pick(top))
        self.least = np.where(is_corner, pick(d[:, PRICE]), 0.0)
        self.most = np.where(self.real, steepest, 0.0)
        deep = which[..., None]
        self.low = np.take_along_axis(batch.slope.low, deep, 1)
        self.high = np.take_along_axis(batch.slope.high, deep, 1)
        for column in (self.loss, self.anchor, self.top, self.least):
            column[~self.real] = 0.0
        self.slope = self.least.copy()

    def choose(self, base: Interval, width: Array) -> None:
        """Slopes one by one from the flattest, or together from their mean: the better of both."""
        self._sweep(base, width)
        several = self.real.sum(axis=1) > 1
        first = self.slope.copy()
        self._sweep(base, width)
        self.slope = np.where(several[:, None], self.slope, first)
        if not several.any():
            return
        alone, fall_alone = self.slope.copy(), self._fall(base, width)
        self.slope = self._mean_slopes(base, width)
        self._sweep(base, width)
        better = several & (self._fall(base, width) < fall_alone)
        self.slope = np.where(better[:, None], self.slope, alone)

    def _fall(self, base: Interval, width: Array) -> Array:
        """How high the sum of the lines reaches in the box."""
        value, tilt = self.totals()
        steepest = np.maximum(base.high + tilt.high, -base.low - tilt.low)
        return value + (steepest * width).sum(axis=1)

    def _mean_slopes(self, base: Interval, width: Array) -> Array:
        """Slopes that play together: the mean of what a climb to the lines' joint peak meets."""
        middle = (self.low + self.high) / 2 * width[:, None, :]
        downhill = (base.low + base.high) / 2 * width
        place, mean = np.zeros_like(width), np.zeros_like(self.slope)
        for step in range(1, CLIMB_STEPS + 1):
            loss = self.loss + (middle * place[:, None, :]).sum(axis=2)
            slope = np.where(loss > self.anchor, self.most, self.least)
            slope = np.where(self.real, slope, 0.0)
            mean += slope / CLIMB_STEPS
            uphill = -downhill - (slope[..., None] * middle).sum(axis=1)
            size = np.sqrt((uphill**2).sum(axis=1, keepdims=True))
            stride = np.divide(1.0, size * math.sqrt(step), out=np.zeros_like(size), where=size > 0)
            place = np.clip(place + stride * uphill, -1.0, 1.0)
        return mean

    def _sweep(self, base: Interval, width: Array) -> None:
        """Sets each slope in turn to what makes the sum reach least high."""
        tilt = self.totals()[1]
        low, high = base.low + tilt.low, base.high + tilt.high
        for n in range(self.real.shape[1]):
            best = self._best(n, low, high, width)
            step = np.where(self.real[:, n], best - self.slope[:, n], 0.0)[:, None]
            low, high = low + step * self.low[:, n], high + step * self.high[:, n]
            self.slope[:, n] = np.where(self.real[:, n], best, self.slope[:, n])

    def _best(self, n: int, low: Array, high: Array, width: Array) -> Array:
        now, least, most = self.slope[:, n], self.least[:, n], self.most[:, n]
        middle = (self.low[:, n] + self.high[:, n]) / 2
        others = (low + high) / 2 - now[:, None] * middle
        level = np.divide(-others, middle, out=np.full_like(middle, -1.0), where=middle != 0)
        trials = [now, least, most, *level.T]
        falls = []
        for index, trial in enumerate(trials):
            step = (trial - now)[:, None]
            a, b = low + step * self.low[:, n], high + step * self.high[:, n]
            fall = self.top[:, n] + trial * (self.anchor[:, n] - self.loss[:, n])
            fall = fall + (np.maximum(b, -a) * width).sum(axis=1)
            inside = (least < trial) & (trial < most)
            falls.append(fall if index < 3 else np.where(inside, fall, np.inf))
        best = np.argmin(falls, axis=0)
        return np.choose(best, trials)

    def totals(self) -> tuple[Array, Interval]:
        """The sum of the lines at the centres, and of their gradients' ranges."""
        value = np.where(self.real, self.top + self.slope * (self.anchor - self.loss), 0.0)
        weight = np.where(self.real, self.slope, 0.0)[..., None]
        return value.sum(axis=1), Interval(
            (weight * self.low).sum(axis=1), (weight * self.high).sum(axis=1)
        )

    def magnitude(self) -> Array:
        """What the lines add to the sum of magnitudes."""
        return np.where(self.real, self.slope * np.abs(self.anchor - self.loss), 0.0).sum(axis=1)
