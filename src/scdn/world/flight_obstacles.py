"""Keep-out boxes as obstacles of flights: which are in the way, and where two of them touch.

Flights may touch boxes but not pass between two that touch. So a box is added for every face that
two boxes share: it lies in both and covers the seam between them. Boxes that meet only along a
vertical edge leave no passage either; the edge becomes a `contact`, a point in every horizontal
plane that it crosses. (Boxes that meet along a horizontal edge, one below and one above the
altitude of a flight, do leave one.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scdn.arrays import Array, Mask

_SNAP = 1e-9  # share of the region's size: coordinates this close to a face count as on it
_MERGING_ROUNDS = 4


@dataclass(frozen=True)
class Faces:
    """The coordinates of the region's and the boxes' faces, sorted, for each axis."""

    coordinates: tuple[Array, Array, Array]
    tolerance_m: float

    @classmethod
    def of(cls, keep_out_m: Array, region_m: Array) -> Faces:
        """Collect the faces of boxes (K, 2, 3); of those that are too close, the lowest counts."""
        tolerance = _SNAP * float(region_m.max())
        axes = []
        for axis, size in enumerate(region_m.tolist()):
            kept = [0.0]
            for face in np.unique(keep_out_m[..., axis]).tolist():
                if kept[-1] + tolerance < face < size - tolerance:
                    kept.append(face)
            axes.append(np.array([*kept, size]))
        return cls((axes[0], axes[1], axes[2]), tolerance)

    def snap(self, positions: Array) -> Array:
        """Move coordinates (3, …) that are close to a face onto it."""
        snapped = np.empty(positions.shape)
        for axis, (faces, x) in enumerate(zip(self.coordinates, positions, strict=True)):
            nearest = faces[np.searchsorted((faces[1:] + faces[:-1]) / 2, x)]
            snapped[axis] = np.where(abs(x - nearest) <= self.tolerance_m, nearest, x)
        return snapped


@dataclass(frozen=True)
class Obstacles:
    """Open boxes that flights do not pass through.

    Attributes
    ----------
    low, high
        Corners of the boxes (R, 3); faces on the region's boundary are moved far out.
    contact
        Points (C, 2) where two boxes meet along a vertical edge.
    bottom, top
        Altitudes between which each of the R boxes and then of the C contacts blocks.
    ignored
        Which of the given keep-out boxes contain the start, and so do not count.
    """

    low: Array
    high: Array
    contact: Array
    bottom: Array
    top: Array
    ignored: Mask

    @classmethod
    def of(cls, keep_out_m: Array, region_m: Array, start_m: Array, faces: Faces) -> Obstacles:
        """Make obstacles from keep-out boxes (K, 2, 3) and a start that lies on or off faces."""
        far = 4 * region_m.max()
        low, high = faces.snap(keep_out_m[:, 0].T).T, faces.snap(keep_out_m[:, 1].T).T
        counts = np.all((keep_out_m[:, 0] < keep_out_m[:, 1]) & (low < high), axis=1)
        counts &= np.all((low < region_m) & (high > 0), axis=1)
        low = np.where(low <= 0, -far, low)
        high = np.where(high >= region_m, far, high)
        ignored = counts & np.all((low < start_m) & (start_m < high), axis=1)
        ignored |= _enclosing(low, high, counts & ~ignored, start_m)
        low, high = low[counts & ~ignored], high[counts & ~ignored]
        for _ in range(_MERGING_ROUNDS):
            before = len(low)
            for axis in (2, 0, 1):
                low, high = _without_contained(*_with_seams_covered(low, high, axis))
            if len(low) in (before, 0) or len(low) > 4 * len(keep_out_m):
                break
        contact, bottom, top = _contacts(low, high)
        bottom, top = np.append(low[:, 2], bottom), np.append(high[:, 2], top)
        return cls(low, high, contact, bottom, top, ignored)

    def block(self, lowest: Array, highest: Array) -> Mask:
        """Return which of the boxes and contacts block all altitudes of ranges (B,): (R + C, B)."""
        return (self.bottom[:, None] < lowest) & (highest < self.top[:, None])

    def corners(self, region_m: Array) -> Array:
        """Return the corners of the boxes' outlines that lie in the region, each once: (V, 2)."""
        x = np.stack([self.low[:, 0], self.high[:, 0]])[[0, 0, 1, 1]]
        y = np.stack([self.low[:, 1], self.high[:, 1]])[[0, 1, 0, 1]]
        points = np.stack([x.ravel(), y.ravel()], axis=-1)
        inside = np.all((points >= 0) & (points <= region_m[:2]), axis=1)
        return np.unique(points[inside], axis=0)

    def column(self, x_m: Array) -> tuple[float, float]:
        """Return the altitudes between which the vertical line through a free point is free."""
        over = np.all((self.low[:, :2] < x_m[:2]) & (x_m[:2] < self.high[:, :2]), axis=1)
        below = self.high[over & (self.high[:, 2] <= x_m[2]), 2]
        above = self.low[over & (self.low[:, 2] >= x_m[2]), 2]
        return float(below.max(initial=-np.inf)), float(above.min(initial=np.inf))

    def quadrants(self, points: Array) -> Mask:
        """Return which boxes cover the four quadrants around points: (V, 2, 2, R).

        The second axis is the side in x, the third the side in y, the negative sides first.
        """
        beside = sides(self.low[:, :2], self.high[:, :2], points)
        return beside[:, :, None, :, 0] & beside[:, None, :, :, 1]


def sides(low: Array, high: Array, points: Array) -> Mask:
    """Return whether intervals cover what is just below and just above points: (V, 2, R, axes)."""
    x = points[:, None, :]
    return np.stack([(low < x) & (x <= high), (low <= x) & (x < high)], axis=1)


def _enclosing(low: Array, high: Array, counts: Mask, start_m: Array) -> Mask:
    """Return which boxes leave the start no way out together, though none contains it."""
    beside = sides(low, high, start_m[None])[0] & counts[:, None]  # (2, K, 3)
    x, y, z = (beside[..., axis] for axis in range(3))
    octants = x[:, None, None] & y[None, :, None] & z[None, None, :]
    enclosed = octants.any(axis=-1).all()
    return octants.any(axis=(0, 1, 2)) if enclosed else np.zeros(len(low), dtype=bool)


def _with_seams_covered(low: Array, high: Array, axis: int) -> tuple[Array, Array]:
    """Add a box over every face that two boxes share: as wide as the face, as long as both."""
    others = [other for other in range(3) if other != axis]
    lower = np.maximum(low[:, None], low[None])
    upper = np.minimum(high[:, None], high[None])
    touch = high[:, None, axis] == low[None, :, axis]
    first, second = np.nonzero(touch & np.all(lower[..., others] < upper[..., others], axis=-1))
    lower, upper = lower[first, second], upper[first, second]
    lower[:, axis], upper[:, axis] = low[first, axis], high[second, axis]
    return np.concatenate([low, lower]), np.concatenate([high, upper])


def _without_contained(low: Array, high: Array) -> tuple[Array, Array]:
    """Drop boxes that lie in another; of equal ones the first is kept."""
    within = np.all((low[None] <= low[:, None]) & (high[:, None] <= high[None]), axis=-1)
    earlier = np.tri(len(low), k=-1, dtype=bool)
    contained = np.any(within & (~within.T | earlier), axis=1)
    return low[~contained], high[~contained]


def _contacts(low: Array, high: Array) -> tuple[Array, Array, Array]:
    """Return points where two boxes meet along a vertical edge, and its lower and upper ends."""
    bottom = np.maximum(low[:, None, 2], low[None, :, 2])
    top = np.minimum(high[:, None, 2], high[None, :, 2])
    beside = (high[:, None, 0] == low[None, :, 0]) & (bottom < top)
    rising = np.nonzero(beside & (high[:, None, 1] == low[None, :, 1]))
    falling = np.nonzero(beside & (low[:, None, 1] == high[None, :, 1]))
    first = np.concatenate([rising[0], falling[0]])
    second = np.concatenate([rising[1], falling[1]])
    y = np.concatenate([high[rising[0], 1], low[falling[0], 1]])
    points = np.stack([high[first, 0], y], axis=-1)
    return points, bottom[first, second], top[first, second]
