"""The cheapest flight, found slowly: cells of a unit grid, fractions, and every pair of corners.

Shares nothing with `scdn.world.flight_routes`. Boxes have whole-numbered corners, so that each unit
cell is either blocked or free; a way may run along the border of a blocked cell, unless both sides
of the border are blocked, and may pass a grid point only between free cells that share a side.
"""

from __future__ import annotations

import heapq
import math
from fractions import Fraction
from functools import cache
from itertools import pairwise, product

QUADRANTS = ((1, 1), (-1, 1), (-1, -1), (1, -1))  # counter-clockwise: neighbours share a side


class GridWorld:
    """Boxes in a region, all of whole numbers."""

    def __init__(self, boxes, region):
        self.boxes = [b for b in boxes if all(b[axis] < b[axis + 3] for axis in range(3))]
        self.region = region
        self.plane = cache(self.plane)
        self.free_groups = cache(self.free_groups)

    def cell(self, *corner):
        """Is the cell with this lowest corner blocked? Cells outside are like those inside."""
        i = [min(max(c, 0), size - 1) for c, size in zip(corner, self.region, strict=True)]
        return any(all(b[a] <= i[a] < b[a + 3] for a in range(3)) for b in self.boxes)

    def _layers(self, z):
        return (math.floor(z),) if z % 1 else (int(z) - 1, int(z))

    def plane(self, i, j, z):
        """Is a cell of the horizontal plane at altitude z blocked? (From both sides.)"""
        return all(self.cell(i, j, k) for k in self._layers(z))

    def around(self, x, y):
        """The cells that a vertical line touches."""
        return product(
            (math.floor(x),) if x % 1 else (int(x) - 1, int(x)),
            (math.floor(y),) if y % 1 else (int(y) - 1, int(y)),
        )

    def leg_is_free(self, x, y, z, a):
        low, high = sorted((z, a))
        return not any(
            all(self.cell(i, j, k) for i, j in self.around(x, y))
            for k in range(math.floor(low), math.ceil(high))
            if low < high
        )

    def inside(self, point):
        """Is a position surrounded by blocked cells?"""
        x, y, z = point
        return all(self.cell(i, j, k) for i, j in self.around(x, y) for k in self._layers(z))

    def free_groups(self, x, y, z):
        """Free quadrants around a point of the plane, in groups that are connected there."""
        free = []
        for sx, sy in QUADRANTS:
            i = math.floor(x) if x % 1 or sx > 0 else int(x) - 1
            j = math.floor(y) if y % 1 or sy > 0 else int(y) - 1
            free.append(not self.plane(i, j, z))
        if all(free):
            return [set(range(4))]
        groups = []
        for q in range(4):
            if free[q] and not free[q - 1]:
                group = {q}
                while free[(q + 1) % 4]:
                    q = (q + 1) % 4
                    group.add(q)
                groups.append(group)
        return groups

    def group_towards(self, p, direction, z):
        """The group of free quadrants at p that a way in this direction leaves through, or None."""
        wanted = {
            q
            for q, signs in enumerate(QUADRANTS)
            if all(d * s >= 0 for d, s in zip(direction, signs, strict=True))
        }
        groups = self.free_groups(*p, z)
        return next((n for n, group in enumerate(groups) if group & wanted), None)

    def straight_is_free(self, p, q, z):
        """May a way run straight from p to q?"""
        d = (q[0] - p[0], q[1] - p[1])
        times = {Fraction(0), Fraction(1)}
        for axis in range(2):
            if d[axis]:
                low, high = sorted((p[axis], q[axis]))
                lines = range(math.ceil(low), math.floor(high) + 1)
                times |= {(line - p[axis]) / d[axis] for line in lines}
        ordered = sorted(times)
        for begin, end in pairwise(ordered):
            middle = [c + step * (begin + end) / 2 for c, step in zip(p, d, strict=True)]
            if self.group_towards(middle, d, z) is None:
                return False
        back = (-d[0], -d[1])
        for t in ordered[1:-1]:
            here = [c + step * t for c, step in zip(p, d, strict=True)]
            if self.group_towards(here, d, z) != self.group_towards(here, back, z):
                return False
        return True

    def length(self, start, end, z):
        """The length of the shortest way in the plane at altitude z."""
        lines = [sorted({Fraction(b[k]) for b in self.boxes for k in (a, a + 3)}) for a in (0, 1)]
        crossings = [(c, self.free_groups(*c, z)) for c in product(*lines)]
        corners = [c for c, free in crossings if 0 < sum(map(len, free)) < 4]
        nodes = [start, end, *corners]
        best, queue = {}, [(0.0, 0, group) for group in range(4)]
        while queue:
            length, node, group = heapq.heappop(queue)
            if node == 1:
                return length
            if (node, group) in best:
                continue
            best[node, group] = length
            p = nodes[node]
            for other, q in enumerate(nodes):
                d = (q[0] - p[0], q[1] - p[1])
                if d == (0, 0):
                    if other == 1:
                        heapq.heappush(queue, (length, 1, 0))
                    continue
                if self.group_towards(p, d, z) != group or not self.straight_is_free(p, q, z):
                    continue
                arrives = 0 if other == 1 else self.group_towards(q, (-d[0], -d[1]), z)
                if (other, arrives) not in best:
                    heapq.heappush(queue, (length + math.hypot(*d), other, arrives))
        return math.inf

    def cost(self, start, end, lateral, altitude_cost, least_altitude=0):
        """The cost of the cheapest flight over all altitudes, and its length."""
        start, end = (tuple(map(Fraction, point)) for point in (start, end))
        faces = {Fraction(b[k]) for b in self.boxes for k in (2, 5)}
        altitudes = {start[2], end[2]} | {f for f in faces if 0 <= f < self.region[2]}
        best = (math.inf, math.inf)
        for a in {max(a, Fraction(least_altitude)) for a in altitudes}:
            if self.leg_is_free(*start, a) and self.leg_is_free(*end, a):
                length = self.length(start[:2], end[:2], a)
                cost = float(altitude_cost(float(start[2]), float(a), float(end[2])))
                if length < math.inf and cost < math.inf:
                    best = min(best, (lateral * length + cost, length))
        return best
