"""The ways by which flights may reach boxes of destinations.

A way is a cruise altitude and a corner: the flight takes the shortest path to the corner and goes
straight on from there. Most ways cannot be the cheapest to any position of a box, because an
obstacle hides the box from the corner, because the path would bend the wrong way, or because
another way is always cheaper; the rest are few.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from scdn.arrays import Array, IntArray, Mask
from scdn.world.flight_obstacles import Faces, Obstacles
from scdn.world.shortest_paths import CornerGraph, HalfPlanes, PathTree

AltitudeCost = Callable[[float, Array, Array], Array]


class DestinationBoxes(NamedTuple):
    """Boxes of destinations (3, B): as given, and moved onto the faces that they nearly touch."""

    low: Array
    high: Array
    on_faces_low: Array
    on_faces_high: Array

    def at(self, index: IntArray) -> DestinationBoxes:
        """Select some boxes."""
        return DestinationBoxes(*(part.take(index, axis=1) for part in self))

    def outline(self) -> tuple[Array, Array]:
        """Return centres and half-widths in the plane, (2, B)."""
        low, high = self.on_faces_low[:2], self.on_faces_high[:2]
        return (low + high) / 2, (high - low) / 2


class Ways(NamedTuple):
    """Ways to boxes, in no order."""

    box: IntArray
    tree: IntArray
    corner: IntArray
    altitude: IntArray  # an index of the altitudes; −1 is the destination's own
    length_m: Array  # of the path to the corner
    extra_cost: Array  # of an altitude that is not between start and destination

    @classmethod
    def straight(cls, box: IntArray, altitude: IntArray, extra_cost: Array) -> Ways:
        """Return ways that are straight from the start."""
        start = np.zeros(len(box), dtype=np.int64)
        return cls(box, start, start, altitude, np.zeros(len(box)), extra_cost)

    def at(self, index: IntArray | Mask) -> Ways:
        """Select some ways."""
        box, tree, corner, altitude = (part[index] for part in self[:4])
        return Ways(box, tree, corner, altitude, self.length_m[index], self.extra_cost[index])

    def joined(self, *others: Ways) -> Ways:
        """Return these ways and others."""
        return Ways(*(np.concatenate(parts) for parts in zip(self, *others, strict=True)))


class FlightWays:
    """Finds the ways from one start; the parameters are those of `FlightRoutes`."""

    def __init__(
        self,
        start_m: Array,
        keep_out_m: Array,
        region_m: Array,
        lateral_cost: float,
        altitude_cost: AltitudeCost,
        min_cruise_m: float,
    ):
        self.start_m, self.lateral_cost = start_m, lateral_cost
        self.min_cruise_m, self._altitude_cost = min_cruise_m, altitude_cost
        self._faces = Faces.of(keep_out_m, region_m)
        on_faces = self._faces.snap(start_m)
        self.obstacles = Obstacles.of(keep_out_m, region_m, on_faces, self._faces)
        self.graph = CornerGraph(start_m, self.obstacles, region_m, on_faces)
        self._column = self.obstacles.column(on_faces)
        self.altitudes_m = self._cruise_altitudes(float(on_faces[2]), float(region_m[2]))
        self._altitude_blocks = self.obstacles.block(self.altitudes_m, self.altitudes_m)
        self._switches = np.unique(np.append(self.obstacles.bottom, self.obstacles.top))
        self.trees: list[PathTree] = []
        self._tree_of: dict[bytes, int] = {}
        self._trees_around(np.zeros((len(self._altitude_blocks), 1), dtype=bool))  # tree 0

    def boxes(self, low: Array, high: Array) -> DestinationBoxes:
        """Make boxes from lowest and highest corners (3, B)."""
        return DestinationBoxes(low, high, self._faces.snap(low), self._faces.snap(high))

    def ways(self, boxes: DestinationBoxes) -> Ways:
        """Return all ways that may be the cheapest to some position of a box.

        A box that the start sees at the box's own altitude needs no other way: none is cheaper.
        """
        low = np.maximum(boxes.on_faces_low[2], self.min_cruise_m)
        high = np.maximum(boxes.on_faces_high[2], self.min_cruise_m)
        blocks = self.obstacles.block(low, high)
        climbs = (high >= self._column[0]) & (low <= self._column[1])
        if self.min_cruise_m > 0:
            climbs &= ~self.legs_blocked(boxes, low, high)
        sees = climbs & ~self._hidden_from_start(boxes, blocks)
        open_ = np.nonzero(sees)[0]
        straight = Ways.straight(open_, np.full(len(open_), -1), np.zeros(len(open_)))
        rest = np.nonzero(~sees)[0]
        if not len(rest):
            return straight
        around, most = self._own_ways(boxes, rest[climbs[rest]], low, high, blocks)
        helps = ~climbs[rest, None] | ~self._blocked_as_well(blocks[:, rest])
        return straight.joined(around, self._other_ways(boxes.at(rest), rest, helps, most[rest]))

    def higher_start(self, boxes: DestinationBoxes, ways: Ways, cruise_m: Array) -> Array:
        """Return the start's altitude where a flight to a position can as well go down at its end.

        There is one way to each box, and boxes are positions.
        """
        level = np.full(len(cruise_m), max(self.start_m[2], self.min_cruise_m))
        blocks = self.obstacles.block(level, level)
        hidden = self._hidden_from_start(boxes, blocks) | (ways.corner > 0)
        hidden &= np.any(blocks & ~self._blocks[:, ways.tree], axis=0)
        goes_down = (cruise_m < level) & (boxes.low[2] <= cruise_m) & ~hidden
        goes_down &= ~self.legs_blocked(boxes, level, level) & (level <= self._column[1])
        return np.where(goes_down, level, cruise_m)

    def legs_blocked(self, boxes: DestinationBoxes, lowest: Array, highest: Array) -> Mask:
        """Return whether no position of a box can be reached vertically from its cruise altitude.

        Cruise altitudes are between `lowest` and `highest`, and rise with the positions' own.
        """
        box_low, box_high = self.obstacles.low.T[..., None], self.obstacles.high.T[..., None]
        low, high = boxes.on_faces_low, boxes.on_faces_high
        blocked = (np.maximum(lowest, low[2]) > box_low[2]) & (
            np.minimum(highest, high[2]) < box_high[2]
        )
        for axis in range(2):
            blocked &= (box_low[axis] < low[axis]) & (high[axis] < box_high[axis])
        return blocked.any(axis=0)

    def _cruise_altitudes(self, start: float, ceiling: float) -> Array:
        """Return the altitudes that flights may choose besides the destination's own."""
        faces = np.append(self.obstacles.low[:, 2], self.obstacles.high[:, 2])
        faces = faces[(faces >= 0) & (faces < ceiling)]
        altitudes = np.unique(np.maximum(np.append(faces, start), self.min_cruise_m))
        return altitudes[(self._column[0] <= altitudes) & (altitudes <= self._column[1])]

    def _trees_around(self, blocks: Mask) -> IntArray:
        """Return the indices of the trees around sets of obstacles (R + C, n).

        Trees are built when they are first needed.
        """
        known = len(self.trees)
        for mask in blocks.T:
            if mask.tobytes() not in self._tree_of:
                self._tree_of[mask.tobytes()] = len(self.trees)
                self.trees.append(self.graph.tree(mask))
        if len(self.trees) > known:
            self._blocks = np.stack([tree.blocks for tree in self.trees], axis=1)
            self._onward_m = np.stack([tree.onward_m for tree in self.trees])
            beyond = zip(*(tree.beyond for tree in self.trees), strict=True)
            self._beyond = HalfPlanes(*(np.stack(part, axis=1) for part in beyond))
        return np.array([self._tree_of[mask.tobytes()] for mask in blocks.T], dtype=np.int64)

    def _hidden_from_start(self, boxes: DestinationBoxes, blocks: Mask) -> Mask:
        start = np.zeros(blocks.shape[1], dtype=np.int64)
        return self.graph.hidden(start, *boxes.outline(), blocks)

    def _own_ways(
        self, boxes: DestinationBoxes, index: IntArray, low: Array, high: Array, blocks: Mask
    ) -> tuple[Ways, Array]:
        """Return ways at the boxes' own altitudes, and what flights to the boxes cost at most."""
        low, high, blocks = low[index], high[index], blocks[:, index]
        first = np.searchsorted(self._switches, low, side="left")
        last = np.searchsorted(self._switches, high, side="right")
        ranges = first * (len(self._switches) + 1) + last
        _, example, which = np.unique(ranges, return_index=True, return_inverse=True)
        rows = Ways.straight(index, np.full(len(index), -1), np.zeros(len(index)))
        rows = rows._replace(tree=self._trees_around(blocks[:, example])[which])
        ways = self._past_corners(boxes, rows, np.full(len(index), np.inf))
        # From a centre that is reached, all of the box is reached, if no obstacle begins or ends
        # within its altitudes, none divides it (only flat boxes may lie between two obstacles),
        # and flights need not come down into it.
        some = (self.obstacles.bottom[:, None] < high) & (low < self.obstacles.top[:, None])
        whole = np.zeros(boxes.low.shape[1], dtype=bool)
        whole[index] = np.all(some == blocks, axis=0)
        whole[index] &= (low >= self._column[0]) & (high <= self._column[1])
        flat = boxes.on_faces_low == boxes.on_faces_high
        whole &= (flat[0] == flat[1]) & ((boxes.low[2] >= self.min_cruise_m) | flat.all(axis=0))
        open_ = ways.at(whole[ways.box])
        centre, half_width = boxes.outline()
        centre, half_width = centre[:, open_.box], half_width[:, open_.box]
        to_centre = np.hypot(*(centre - self.graph.points_m[open_.corner].T))
        length = open_.length_m + to_centre + np.hypot(*half_width)
        blocks = self._blocks[:, open_.tree]
        sees = ~self.graph.hidden(open_.corner, centre, np.zeros_like(centre), blocks)
        most = np.full(len(whole), np.inf)
        np.minimum.at(most, open_.box[sees], self.lateral_cost * length[sees])
        return ways, most

    def _blocked_as_well(self, blocks: Mask) -> Mask:
        """Return at which altitudes everything is in the way that blocks some boxes: (B, L)."""
        missing = (~self._altitude_blocks).astype(np.float32)
        return np.asarray(blocks.T.astype(np.float32) @ missing == 0)

    def _other_ways(
        self, boxes: DestinationBoxes, index: IntArray, helps: Mask, most: Array
    ) -> Ways:
        """Return ways at other altitudes that help, where they may cost less than `most`.

        Altitudes that cost more than one at which the start sees the box are left out. The ways'
        boxes are named by `index`.
        """
        extra = self._extra_cost(boxes)
        start = self.start_m[:2, None]
        outside = np.maximum(boxes.low[:2] - start, start - boxes.high[:2])
        least = extra + self.lateral_cost * np.hypot(*np.maximum(outside, 0.0))[:, None]
        box, altitude = np.nonzero(helps & (least < most[:, None]))
        rows = Ways.straight(box, altitude, extra[box, altitude])
        cruise = self.altitudes_m[altitude]
        rows = rows.at(~self.legs_blocked(boxes.at(box), cruise, cruise))
        blocks = self._altitude_blocks[:, rows.altitude]
        hidden = self._hidden_from_start(boxes.at(rows.box), blocks)
        cheapest = most.copy()
        np.minimum.at(cheapest, rows.box[~hidden], rows.extra_cost[~hidden])
        straight = rows.at(~hidden & (rows.extra_cost == cheapest[rows.box]))
        rows = rows.at(rows.extra_cost < cheapest[rows.box])
        used, altitude = np.unique(rows.altitude, return_inverse=True)
        rows = rows._replace(tree=self._trees_around(self._altitude_blocks[:, used])[altitude])
        ways = straight.joined(self._past_corners(boxes, rows, most[rows.box]))
        return ways._replace(box=index[ways.box])

    def _past_corners(self, boxes: DestinationBoxes, rows: Ways, most: Array) -> Ways:
        """Return the ways past corners that see boxes.

        `rows` gives box, tree and altitude; no way may cost `most` before it reaches the corner.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            longest = np.fmax((most - rows.extra_cost) / self.lateral_cost, 0.0)
        row, corner = np.nonzero(self._onward_m[rows.tree] < longest[:, None])
        centre, half_width = boxes.outline()
        box, tree = rows.box[row], rows.tree[row]
        beyond = self._beyond.at(tree * len(self.graph.points_m) + corner)
        depth = beyond.depth(centre.take(box, axis=1), half_width.take(box, axis=1), most=True)
        ahead = np.nonzero((depth[0] > 0) & (depth[1] > 0))[0]
        row, corner, box, tree = row[ahead], corner[ahead], box[ahead], tree[ahead]
        centre, half_width = centre.take(box, axis=1), half_width.take(box, axis=1)
        seen = ~self.graph.hidden(corner, centre, half_width, self._blocks.take(tree, axis=1))
        row, corner, tree = row[seen], corner[seen], tree[seen]
        return rows.at(row)._replace(corner=corner, length_m=self._onward_m[tree, corner])

    def _extra_cost(self, boxes: DestinationBoxes) -> Array:
        """Return what altitudes cost more than a direct change, at least, in boxes: (B, L)."""
        start, altitudes = float(self.start_m[2]), self.altitudes_m
        z = np.clip(altitudes, boxes.low[2, :, None], boxes.high[2, :, None])
        direct = np.maximum(np.maximum(z, start), self.min_cruise_m)
        outside = (altitudes > direct) | (altitudes < np.minimum(z, start))
        with np.errstate(invalid="ignore"):  # where both are infinite, nothing more
            extra = self._altitude_cost(start, np.broadcast_to(altitudes, z.shape), z)
            extra = np.fmax(extra - self._altitude_cost(start, direct, z), 0.0)
        return np.where(outside, extra, 0.0)
