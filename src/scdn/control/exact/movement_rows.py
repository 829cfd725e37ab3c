"""The server's movement as the bounds take it: one row of numbers for each box of positions."""

from __future__ import annotations

import numpy as np

from scdn.arrays import Array
from scdn.control.exact.array_columns import BEFORE, HOVER, LATERAL, X0, Y0
from scdn.control.problem import RoundProblem


class MovementRows:
    """Weighted energies of the flights of one round; columns as in `array_columns`.

    In the air and on the ground the server may need different power. Where it lands, any flight has
    a cost that staying where it is has not; so the position before is looked at on its own. Where
    flights go round keep-out boxes, the last leg of a flight to a box begins at a box's corner.
    """

    def __init__(self, problem: RoundProblem) -> None:
        movement, weight = problem.movement, problem.weights.movement
        row = np.array(
            [
                *problem.server_m,
                weight * movement.hover_j,
                movement.altitude_scale_m,
                weight * movement.climb_j,
                problem.ceiling_m,
                weight * movement.lateral_j_per_m,
                weight * movement.rise_j_per_m,
                weight * movement.sink_j_per_m,
                0.0,
            ]
        )
        self.in_air, self.on_ground = row, row.copy()
        self.on_ground[HOVER] = weight * movement.ground_j
        if movement.on_ground:
            self.in_air = self.on_ground
        self.lands = movement.cruise_m > 0
        same_power = bool((self.in_air == self.on_ground).all())
        self.same_everywhere = same_power and not (self.lands or problem.routes)
        self.problem = problem
        self._known: dict[bytes, Array] = {}  # the search asks for the same position several times

    def at(self, position: Array) -> Array:
        """Return the row of one position."""
        if self.same_everywhere:
            return self.in_air
        key = position.tobytes()
        if key not in self._known:
            self._known[key] = self.in_boxes(position[None], np.zeros((1, 3)))[0]
        return self._known[key]

    def in_boxes(self, centre: Array, half_width: Array) -> Array:
        """Return a row for each box, or one for all; it holds for every position in the box."""
        if self.same_everywhere:
            return self.in_air[None]
        rows = np.where(centre[:, 2:] > 0, self.in_air, self.on_ground)
        flies = ((centre != self.problem.server_m) | (half_width > 0)).any(axis=1)
        if self.lands:
            rows[flies, BEFORE] += self._take_off(centre[flies, 2])
        if self.problem.routes:
            bounds = self.problem.routes.in_box(centre[flies], half_width[flies])
            weight = self.problem.weights.movement
            offset = bounds.offset_cost
            rows[flies, X0], rows[flies, Y0] = bounds.source_m.T
            rows[flies, LATERAL] = weight * bounds.lateral_cost
            with np.errstate(invalid="ignore"):
                rows[flies, BEFORE] += np.where(np.isinf(offset), np.inf, weight * offset)
        return rows

    def _take_off(self, z: Array) -> Array:
        """Return what a flight between landings costs beyond one at the higher of its ends."""
        problem, start = self.problem, float(self.problem.server_m[2])
        higher = np.maximum(z, start)
        cruise = np.maximum(higher, problem.movement.cruise_m)
        direct, flown = (
            problem.movement.altitude_j(start, altitude, z, problem.ceiling_m)
            for altitude in (higher, cruise)
        )
        return np.asarray(problem.weights.movement * (flown - direct))
