"""Shortest paths around rectangles in a plane, from one start: shadows and trees of corners.

The shortest path to a point is straight from the start, or straight from a rectangle's corner that
the shortest path to that corner ends in. What a rectangle hides from a corner is its shadow: all
points whose connection to the corner crosses the rectangle's interior. A shadow is convex, and the
intersection of at most four half-planes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scdn.arrays import Array, IntArray, Mask
from scdn.world.flight_obstacles import Obstacles

_EDGE = 1e-12  # share of the region's size: a path may cut a corner by this much
_CHUNK = 1 << 12  # pairs at a time: small temporary arrays are reused


class HalfPlanes(NamedTuple):
    """Half-planes x·normal_x + y·normal_y > level.

    The first axis runs over those that intersect.
    """

    normal_x: Array
    normal_y: Array
    level: Array

    def at(self, index: IntArray) -> HalfPlanes:
        """Select some intersections; all axes but the first count as one."""
        return HalfPlanes(*(part.reshape(len(part), -1).take(index, axis=1) for part in self))

    def depth(self, centre: Array, half_width: Array, most: bool = False) -> Array:
        """Return how deep inside rectangles (2, …) are: their least or `most` deep corners."""
        inside = self.normal_x * centre[0]
        inside += self.normal_y * centre[1]
        inside -= self.level
        for normal, half in ((self.normal_x, half_width[0]), (self.normal_y, half_width[1])):
            reach = abs(normal)
            reach *= half
            np.add(inside, reach, out=inside) if most else np.subtract(inside, reach, out=inside)
        return inside


class PathTree(NamedTuple):
    """The shortest paths to all corners around the obstacles that block one altitude.

    Attributes
    ----------
    blocks
        Which obstacles block.
    length_m, parent
        The length of the shortest path to each corner (infinite: none), and its last corner.
    onward_m
        The same length where a shortest path may turn at the corner and go on; else, and for the
        start, infinite.
    beyond
        Two half-planes per corner (2, V): a shortest path goes on from there to their intersection
        only, which lies between the straight continuation and the obstacle's edge.
    """

    blocks: Mask
    length_m: Array
    parent: IntArray
    onward_m: Array
    beyond: HalfPlanes


class CornerGraph:
    """The start (corner 0) and the corners of all obstacles: what hides them, and paths to them."""

    def __init__(self, start_m: Array, obstacles: Obstacles, region_m: Array, snapped_m: Array):
        corners = obstacles.corners(region_m)
        self.points_m = np.concatenate([start_m[None, :2], corners])
        self._on_faces = np.concatenate([snapped_m[None, :2], corners])
        self._covered = obstacles.quadrants(self._on_faces)
        self._edge = _EDGE * float(region_m.max())
        self._shadows = _join(
            _box_shadows(self._on_faces, obstacles, self._edge),
            _contact_shadows(self._on_faces, obstacles.contact, self._edge),
        )
        steps = self.points_m[:, None] - self.points_m[None]
        self.distance_m = np.hypot(steps[..., 0], steps[..., 1])
        self._hidden_from = self._hidden_corners()

    def hidden(self, corner: IntArray, centre: Array, half_width: Array, blocks: Mask) -> Mask:
        """Return whether a single obstacle hides all of a rectangle from a corner.

        Arrays have one column per pair of corner and rectangle.
        """
        hidden = np.zeros(len(corner), dtype=bool)
        pairs, obstacles = np.nonzero(blocks.T)
        for first in range(0, len(pairs), _CHUNK):
            pair, obstacle = pairs[first : first + _CHUNK], obstacles[first : first + _CHUNK]
            shadows = self._shadows.at(obstacle * len(self.points_m) + corner[pair])
            a, b, c, d = shadows.depth(centre.take(pair, axis=1), half_width.take(pair, axis=1))
            hidden[pair[(a > 0) & (b > 0) & (c > 0) & (d > 0)]] = True
        return hidden

    def tree(self, blocks: Mask) -> PathTree:
        """Find the shortest paths from the start around these obstacles (Dijkstra's algorithm)."""
        boxes = self._covered.shape[-1]
        blocked = np.any(self._covered & blocks[:boxes], axis=-1)  # (V, 2, 2)
        turns = blocked.sum(axis=(1, 2)) == 1  # at other corners no shortest path turns
        hidden = np.any(self._hidden_from & np.packbits(blocks)[:, None, None], axis=0)
        steps = np.where(hidden | ~turns, np.inf, self.distance_m)
        length, parent = np.full(len(turns), np.inf), np.zeros(len(turns), dtype=np.int64)
        waiting = length.copy()  # the lengths of paths to corners from which none went on yet
        length[0] = waiting[0] = 0.0
        while waiting[here := int(waiting.argmin())] < np.inf:
            waiting[here] = np.inf
            via = length[here] + steps[here]
            shorter = np.nonzero(via < length)[0]
            length[shorter] = waiting[shorter] = via[shorter]
            parent[shorter] = here
        onward, beyond = self._onward(blocked, length, parent)
        return PathTree(blocks, length, parent, onward, beyond)

    def _hidden_corners(self) -> NDArray[np.uint8]:
        """Return which obstacles hide corners from corners, as bits: (bytes, V, V)."""
        obstacles, count = self._shadows.level.shape[1:]
        hidden = np.empty(((obstacles + 7) // 8, count, count), dtype=np.uint8)
        size = max(1, _CHUNK // max(1, obstacles * count))
        for first in range(0, count, size):
            last = min(first + size, count)
            shadows = HalfPlanes(*(part[:, :, first:last, None] for part in self._shadows))
            depth = shadows.depth(self._on_faces[first:].T, np.zeros((2, 1, 1)))
            bits = np.packbits((depth > 0).all(axis=0), axis=0)
            hidden[:, first:last, first:] = bits
            hidden[:, first:, first:last] = bits.swapaxes(1, 2)
        return hidden

    def _onward(self, blocked: Mask, length: Array, parent: IntArray) -> tuple[Array, HalfPlanes]:
        """Return `onward_m` and `beyond` of a tree.

        A path from p that turns at a corner v goes round the blocked quadrant: p is in one of the
        quadrants beside it, and the path goes on into the other, between the continuation of p–v
        and the obstacle's edge. Anywhere else a path past v could be cut short.
        """
        side_x = np.where(blocked[:, 1].any(axis=-1), 1.0, -1.0)  # where the blocked quadrant is
        side_y = np.where(blocked[:, :, 1].any(axis=-1), 1.0, -1.0)
        x, y = self._on_faces[:, 0], self._on_faces[:, 1]
        dx, dy = x - x[parent], y - y[parent]
        along_x = (side_x * dx >= 0) & (side_y * dy <= 0)
        along_y = (side_x * dx <= 0) & (side_y * dy >= 0)
        onward = np.where(along_x | along_y, length, np.inf)
        onward[0] = np.inf
        turn = np.where(along_x, 1.0, -1.0) * side_x * side_y
        scale = turn / np.maximum(np.hypot(dx, dy), self._edge)
        normal_x = np.stack([-dy * scale, np.where(along_x, 0.0, -side_x)])
        normal_y = np.stack([dx * scale, np.where(along_x, -side_y, 0.0)])
        level = normal_x * x + normal_y * y - self._edge
        return onward, HalfPlanes(normal_x, normal_y, level)


def _join(first: HalfPlanes, second: HalfPlanes) -> HalfPlanes:
    parts = zip(first, second, strict=True)
    return HalfPlanes(*(np.concatenate(pair, axis=1) for pair in parts))


def _box_shadows(points: Array, obstacles: Obstacles, edge: float) -> HalfPlanes:
    """Return the shadows of boxes as seen from points: (4, R, V).

    Two half-planes lie between the tangents, two beyond the sides that face the point.
    """
    x, y = points.T
    x0, y0, x1, y1 = np.concatenate([obstacles.low[:, :2], obstacles.high[:, :2]], axis=1).T[
        ..., None
    ]
    left, right, below, above = x <= x0, x >= x1, y <= y0, y >= y1
    # the corners that tangents touch, at the counter-clockwise and at the clockwise end
    end_x = np.where(above | (right & ~below), x1, x0) - x
    end_y = np.where(left | (above & ~right), y1, y0) - y
    begin_x = np.where(below | (right & ~above), x1, x0) - x
    begin_y = np.where(right | (above & ~left), y1, y0) - y
    outside = left | right | below | above
    end = np.where(outside, np.hypot(end_x, end_y), 1.0)
    begin = np.where(outside, np.hypot(begin_x, begin_y), 1.0)
    facing_x, facing_y = left * 1.0 - right, below * 1.0 - above
    nothing = np.zeros_like(facing_x)
    normal_x = np.stack([end_y / end, -begin_y / begin, facing_x, nothing])
    normal_y = np.stack([-end_x / end, begin_x / begin, nothing, facing_y])
    level = normal_x * x + normal_y * y
    level[2] = np.where(left, x0, np.where(right, -x1, -1.0))
    level[3] = np.where(below, y0, np.where(above, -y1, -1.0))
    level[:, ~outside] = np.inf  # no path begins inside
    return HalfPlanes(normal_x, normal_y, level + edge)


def _contact_shadows(points: Array, contacts: Array, edge: float) -> HalfPlanes:
    """Return the shadows of points where two boxes meet, narrow strips behind them: (4, C, V)."""
    x, y = contacts.T[..., None]
    dx, dy = x - points[:, 0], y - points[:, 1]
    distance = np.hypot(dx, dy)
    apart = np.where(distance > 0, distance, 1.0)
    dx, dy, nothing = dx / apart, dy / apart, np.zeros_like(dx)
    across, along = dx * y - dy * x, dx * x + dy * y
    normal_x = np.stack([-dy, dy, dx, nothing])
    normal_y = np.stack([dx, -dx, dy, nothing])
    level = np.stack([across - 3 * edge, -across - 3 * edge, along + edge, nothing - 1.0])
    level[:, distance == 0] = np.inf
    return HalfPlanes(normal_x, normal_y, level)
