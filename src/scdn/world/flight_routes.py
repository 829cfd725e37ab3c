"""Flights around keep-out boxes: the cheapest one to any position, and lower bounds in boxes.

A flight goes from the start straight up or down to a cruise altitude, then horizontally by the
shortest way around the keep-out boxes that block this altitude, then straight up or down to its
destination. Its cost is `lateral_cost` times the horizontal length, plus the cost of changing
altitude. The cruise altitude is the cheapest of the start's, the destination's, and those of the
boxes' tops and bottoms; no other altitude is cheaper, because blocked ways open only there.

Keep-out boxes are open, but closed where they touch or pass the region's faces. A flight may touch
boxes, but it is the limit of flights that keep clear of them: it never slips through the seam
between two boxes that touch, nor past the vertical edge where two meet diagonally. Boxes that
contain the start do not count, so that the server can leave. Coordinates that differ from a face by
less than 1e-9 of the region's size count as on the face.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, IntArray, Mask, floats
from scdn.world.flight_ways import AltitudeCost, FlightWays, Ways

_CHUNK = 4096  # positions at a time
_ROUNDING = 1e-12


class Flights(NamedTuple):
    """The cheapest flights to some positions; where there is none, the length is infinite."""

    length_m: Array  # horizontally
    cruise_m: Array


class RouteBounds(NamedTuple):
    """Lower bounds offset_cost + lateral_cost·|(x, y) − source_m| in boxes of destinations."""

    source_m: Array  # (B, 2)
    offset_cost: Array  # (B,), infinite where no position of the box can be reached
    lateral_cost: Array  # (B,)


class FlightRoutes:
    """All flights from one start.

    Parameters
    ----------
    start_m
        Where flights begin, in the region.
    keep_out_m
        Boxes x0, y0, z0, x1, y1, z1.
    region_m
        The region's size.
    lateral_cost
        The cost of a metre sideways.
    altitude_cost
        `altitude_cost(z0, cruise, z)` is the cost of going from altitude z0 to `cruise` and on to
        z, for arrays that broadcast. It adds up the costs of climbing and of sinking, so that an
        altitude between z0 and z costs nothing extra, and one outside of them the more the further
        it is; it may be infinite.
    min_cruise_m
        Flights cruise at this altitude or higher.
    """

    def __init__(
        self,
        start_m: ArrayLike,
        keep_out_m: ArrayLike,
        region_m: ArrayLike,
        lateral_cost: float,
        altitude_cost: AltitudeCost,
        min_cruise_m: float = 0.0,
    ):
        self.start_m, boxes = floats(start_m), floats(keep_out_m).reshape(-1, 2, 3)
        self._search = FlightWays(
            self.start_m, boxes, floats(region_m), lateral_cost, altitude_cost, min_cruise_m
        )

    @property
    def ignored(self) -> Mask:
        """Return which keep-out boxes contain the start (or enclose it) and are ignored: (K,)."""
        return self._search.obstacles.ignored

    def flights(self, positions: ArrayLike) -> Flights:
        """Return the cheapest flights to positions (…, 3).

        Of equally cheap flights a short one is taken, and one that goes down at its end.
        """
        p = floats(positions)
        points = p.reshape(-1, 3)
        length, cruise = np.full(len(points), np.inf), points[:, 2].copy()
        for first in range(0, len(points), _CHUNK):
            ways, *flight = self._cheapest(points[first : first + _CHUNK])
            length[first + ways.box], cruise[first + ways.box] = flight
        length[np.all(points == self.start_m, axis=1)] = 0.0  # even under a roof
        return Flights(length.reshape(p.shape[:-1]), cruise.reshape(p.shape[:-1]))

    def waypoints(self, position: ArrayLike) -> Array:
        """Return the points (k, 3) between which one flight is straight; none without a flight."""
        p = floats(position)
        ways, _, cruise = self._cheapest(p[None])
        if not len(ways.box):
            return np.zeros((0, 3))
        tree, corner = self._search.trees[ways.tree[0]], int(ways.corner[0])
        corners = [corner]
        while corner:
            corner = int(tree.parent[corner])
            corners.append(corner)
        plane = [*self._search.graph.points_m[corners[::-1]], p[:2]]
        path = [self.start_m, *(np.append(xy, cruise[0]) for xy in plane), p]
        return np.array([path[0], *(there for here, there in pairwise(path) if any(here != there))])

    def reachable(self, positions: ArrayLike) -> Mask:
        """Return whether a flight leads to positions (…, 3)."""
        return np.asarray(np.isfinite(self.flights(positions).length_m))

    def unreachable(self, corners_m: ArrayLike) -> Mask:
        """Return which boxes (B, 2, 3), given by two corners, are cut off.

        Nine positions of each box are tried: its centre, and halfway from there to its corners.
        """
        corners = floats(corners_m).reshape(-1, 2, 3)
        steps = np.stack(np.meshgrid(*[[-0.25, 0.25]] * 3), axis=-1).reshape(-1, 3)
        steps = np.concatenate([np.zeros((1, 3)), steps])
        centre, width = corners.mean(axis=1), corners[:, 1] - corners[:, 0]
        return np.asarray(~self.reachable(centre[:, None] + steps * width[:, None]).any(axis=1))

    def in_box(self, centre: ArrayLike, half_width: ArrayLike) -> RouteBounds:
        """Return lower bounds in boxes of destinations (B, 3) that contain no kept-out position.

        They bound what the cheapest flight costs more than a change of altitude alone, which is
        `altitude_cost(z0, max(z0, z, min_cruise_m), z)`. A bound has a slope where a single corner
        (or the start) is the last one of the cheapest flights to the whole box; it is then exact
        wherever that corner is visible. Else it is constant.
        """
        middle, half = floats(centre).T, floats(half_width).T
        search, lateral, count = self._search, self._search.lateral_cost, middle.shape[1]
        ways = search.ways(search.boxes(middle - half, middle + half))
        source = np.repeat(self.start_m[None, :2], count, axis=0)
        offset, slope = np.full(count, np.inf), np.zeros(count)
        if not len(ways.box):
            return RouteBounds(source, offset, slope)
        fixed = ways.extra_cost + lateral * ways.length_m
        corner, wide = search.graph.points_m[ways.corner], half[:2, ways.box]
        step = abs(middle[:2, ways.box] - corner.T)
        near, far = np.hypot(*np.maximum(step - wide, 0.0)), np.hypot(*(step + wide))
        np.minimum.at(offset, ways.box, fixed + lateral * near)
        # where two ways are equal at the centre, the one that turns earlier is nowhere longer
        best = _least(count, ways.box, (1 + _ROUNDING) * fixed + lateral * np.hypot(*step))
        rival = best[ways.box]
        between = search.graph.distance_m[ways.corner, ways.corner[rival]]
        closer = np.maximum(near - far[rival], -between)
        dearer = fixed - fixed[rival] + lateral * closer >= -_ROUNDING * (fixed + lateral * far)
        single = best >= 0
        single[ways.box[~dearer & (rival != np.arange(len(rival)))]] = False
        best = best[single]
        source[single], offset[single], slope[single] = corner[best], fixed[best], lateral
        return RouteBounds(source, offset, slope)

    def _cheapest(self, points: Array) -> tuple[Ways, Array, Array]:
        """Return the cheapest way to each position that has one, its length and its altitude."""
        search = self._search
        boxes = search.boxes(points.T, points.T)
        ways = search.ways(boxes)
        last = np.hypot(*(points[ways.box, :2] - search.graph.points_m[ways.corner]).T)
        length = ways.length_m + last
        cost = ways.extra_cost + search.lateral_cost * length
        best = _least(len(points), ways.box, cost, length)
        ways, length = ways.at(best[best >= 0]), length[best[best >= 0]]
        z = points[ways.box, 2]
        cruise = np.append(search.altitudes_m, 0.0)[ways.altitude]
        cruise = np.where(ways.altitude < 0, np.maximum(z, search.min_cruise_m), cruise)
        cruise = search.higher_start(boxes.at(ways.box), ways, cruise)
        stays = np.all(points[ways.box] == self.start_m, axis=1)
        return ways, length, np.where(stays, z, cruise)


def _least(count: int, group: IntArray, *keys: Array) -> IntArray:
    """Return the index of each group's least entry by the first key, then the next; −1 if none."""
    index = np.arange(len(group))
    for key in keys:
        least = np.full(count, np.inf)
        np.minimum.at(least, group[index], key[index])
        index = index[key[index] == least[group[index]]]
    first = np.full(count, -1)
    first[group[index[::-1]]] = index[::-1]
    return first
