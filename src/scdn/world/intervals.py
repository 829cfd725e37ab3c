"""Interval arithmetic on arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scdn.arrays import Array, Mask


class Interval(NamedTuple):
    """Intervals, as two arrays."""

    low: Array
    high: Array

    @staticmethod
    def spanned_by(a: Array, b: Array) -> Interval:
        """Return the intervals between a and b, in either order."""
        return Interval(np.minimum(a, b), np.maximum(a, b))

    def plus(self, other: Interval) -> Interval:
        """Return the sums of two intervals."""
        return Interval(self.low + other.low, self.high + other.high)

    def plus_number(self, number: float) -> Interval:
        """Return the intervals, each moved by a number."""
        return Interval(self.low + number, self.high + number)

    def scaled(self, factor: float) -> Interval:
        """Return the intervals times a number that is not negative."""
        return Interval(factor * self.low, factor * self.high)

    def with_axes(self) -> Interval:
        """Return the intervals with a last axis, for products with those of three coordinates."""
        return Interval(self.low[..., None], self.high[..., None])

    def hull(self, other: Interval) -> Interval:
        """Return the least intervals that hold both."""
        return Interval(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def where(self, mask: Mask, otherwise: Interval) -> Interval:
        """Return these intervals where the mask says so, and the others elsewhere."""
        low, high = (np.where(mask, a, b) for a, b in zip(self, otherwise, strict=True))
        return Interval(low, high)

    def around(self, middle: Array, spread: Array, where: Mask) -> Interval:
        """Return the intervals, cut to middle ± spread where the mask says so."""
        return Interval(
            np.where(where, np.maximum(self.low, middle - spread), self.low),
            np.where(where, np.minimum(self.high, middle + spread), self.high),
        )

    def negated(self, where: Mask) -> Interval:
        """Return the intervals times −1 where the mask says so."""
        low, high = np.where(where, -self.high, self.low), np.where(where, -self.low, self.high)
        return Interval(low, high)

    def times(self, factor: Interval) -> Interval:
        """Return the intervals times an interval of factors that are not negative."""
        low = self.low * np.where(self.low < 0, factor.high, factor.low)
        return Interval(low, self.high * np.where(self.high > 0, factor.high, factor.low))


def cosine(x: Interval, other_near_sq: Array, other_far_sq: Array) -> Interval:
    """Return the range of x/√(x² + y²) for y² in [near, far]."""

    def ratio(x: Array, square: Array) -> Array:
        length = np.sqrt(x * x + square)
        return np.divide(x, length, out=np.zeros_like(x), where=length > 0)

    return Interval(
        ratio(x.low, np.where(x.low >= 0, other_far_sq, other_near_sq)),
        ratio(x.high, np.where(x.high <= 0, other_far_sq, other_near_sq)),
    )
