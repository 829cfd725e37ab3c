"""How the server moves: what it costs to stay, to climb, to sink and to travel.

Every model is a set of coefficients of one formula. A round begins with a flight from the position
before to the new one, at a cruise altitude that is at least the higher of both; then the server
stays for `round_s`.

    energy = hover_j·exp(z/altitude_scale_m)   in the air, or ground_j on the ground
           + climb_j·ln((z_max − z)/(z_max − z′)) for every climb from z to z′
           + rise_j_per_m, sink_j_per_m · metres up and down
           + lateral_j_per_m · metres sideways
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, floats
from scdn.scenario import Movement
from scdn.scenario.round_settings import RotaryWing, Rover
from scdn.world import rotary_wing

_to_infinity = np.errstate(over="ignore", divide="ignore", invalid="ignore")


class MovementJ(NamedTuple):
    """The server's energy in a round, by kind."""

    hover: Array
    climb: Array
    lateral: Array

    @property
    def total(self) -> Array:
        """Return the sum of the three."""
        return self.hover + self.climb + self.lateral

    def staying_longer(self, factor: float) -> MovementJ:
        """Return the energy if the server stays so many times as long."""
        return self._replace(hover=self.hover * factor)


@dataclass(frozen=True)
class MovementModel:
    """The coefficients of one way of moving.

    Attributes
    ----------
    hover_j, altitude_scale_m, ground_j
        Energy of staying for a round, in the air and on the ground.
    climb_j
        Factor of the climb's logarithm, as in the paper.
    rise_j_per_m, sink_j_per_m, lateral_j_per_m
        Energy of travelling.
    rise_s_per_m, sink_s_per_m, lateral_s_per_m
        Time of travelling; 0 in the paper's model.
    min_flight_m
        The lowest altitude at which the server stays in the air; infinite if it never does.
    cruise_m
        The altitude, at least, of flights between landings; 0 where the server stays in the air.
    on_ground
        Whether the server stands on the ground or on a candidate position, and never hovers.
    moves
        Whether it moves at all. Among candidate positions any mast can be the server, at no cost.
    flies
        Whether it can pass over boxes; a rover cannot.
    goes_around
        Whether flights go round keep-out boxes, or over them.
    """

    hover_j: float
    altitude_scale_m: float
    ground_j: float
    climb_j: float = 0.0
    rise_j_per_m: float = 0.0
    sink_j_per_m: float = 0.0
    lateral_j_per_m: float = 0.0
    rise_s_per_m: float = 0.0
    sink_s_per_m: float = 0.0
    lateral_s_per_m: float = 0.0
    min_flight_m: float = 0.0
    cruise_m: float = 0.0
    on_ground: bool = False
    moves: bool = True
    flies: bool = True
    goes_around: bool = False

    @_to_infinity
    def staying_j(self, z: ArrayLike) -> Array:
        """Return the energy of staying at altitudes for a round."""
        z = floats(z)
        height = np.exp(z / self.altitude_scale_m)
        hover = self.hover_j * height if self.hover_j else np.zeros_like(height)
        if self.on_ground:
            return np.full_like(hover, self.ground_j)
        return hover if self.ground_j == self.hover_j else np.where(z > 0, hover, self.ground_j)

    def altitude_j(
        self, before: ArrayLike, cruise: ArrayLike, after: ArrayLike, ceiling_m: float
    ) -> Array:
        """Return the energy of going from one altitude to another and on to a third.

        Climbing to the ceiling takes infinite energy in the paper's model; sinking takes none.
        """
        return self._leg_j(before, cruise, ceiling_m) + self._leg_j(cruise, after, ceiling_m)

    @_to_infinity
    def _leg_j(self, start: ArrayLike, end: ArrayLike, ceiling_m: float) -> Array:
        z_before, z = np.broadcast_arrays(floats(start), floats(end))
        if self.climb_j:
            rises = z > z_before
            return self.climb_j * (
                np.log(np.where(rises, ceiling_m - z_before, 1.0))
                - np.log(np.where(rises, ceiling_m - z, 1.0))
            )
        up = self.rise_j_per_m * np.maximum(z - z_before, 0.0)
        return np.asarray(up + self.sink_j_per_m * np.maximum(z_before - z, 0.0))

    def cruise_altitude_m(self, before_m: ArrayLike, after_m: ArrayLike) -> Array:
        """Return the altitude of a flight: the higher end, or more between landings."""
        before, after = np.broadcast_arrays(floats(before_m), floats(after_m))
        higher = np.maximum(before[..., 2], after[..., 2])
        travels = (before != after).any(axis=-1)
        return np.where(travels, np.maximum(higher, self.cruise_m), higher)

    def energy_j(
        self,
        before_m: ArrayLike,
        after_m: ArrayLike,
        ceiling_m: float,
        length_m: ArrayLike | None = None,
        cruise_m: ArrayLike | None = None,
    ) -> MovementJ:
        """Return the energy of a flight and of staying at its end.

        `length_m` is the horizontal way and `cruise_m` its altitude, by default straight and as
        low as possible.
        """
        before, after = floats(before_m), floats(after_m)
        length, cruise = self._flight(before, after, length_m, cruise_m)
        lateral = self.lateral_j_per_m * length
        climb = self.altitude_j(before[..., 2], cruise, after[..., 2], ceiling_m)
        return MovementJ(self.staying_j(after[..., 2]), climb, lateral)

    def flight_s(
        self,
        before_m: ArrayLike,
        after_m: ArrayLike,
        length_m: ArrayLike | None = None,
        cruise_m: ArrayLike | None = None,
    ) -> Array:
        """Return how long a flight takes."""
        before, after = floats(before_m), floats(after_m)
        length, cruise = self._flight(before, after, length_m, cruise_m)
        up = _climbed(before[..., 2], cruise) + _climbed(cruise, after[..., 2])
        down = _climbed(cruise, before[..., 2]) + _climbed(after[..., 2], cruise)
        vertical = self.rise_s_per_m * up + self.sink_s_per_m * down
        return np.asarray(self.lateral_s_per_m * length + vertical)

    def _flight(
        self,
        before: Array,
        after: Array,
        length_m: ArrayLike | None,
        cruise_m: ArrayLike | None,
    ) -> tuple[Array, Array]:
        if length_m is None:
            step = after[..., :2] - before[..., :2]
            length_m = np.hypot(step[..., 0], step[..., 1])
        cruise = self.cruise_altitude_m(before, after) if cruise_m is None else floats(cruise_m)
        return floats(length_m), cruise


def _climbed(start: Array, end: Array) -> Array:
    return np.maximum(end - start, 0.0)


def movement_model(movement: Movement, round_s: float | None) -> MovementModel:
    """Return the model that a scenario's settings describe, for rounds of this duration."""
    model = _straight_model(movement, round_s or 0.0)
    return replace(model, goes_around=model.moves and movement.path == "around")


def _straight_model(movement: Movement, stay_s: float) -> MovementModel:
    match movement.model:
        case "paper":
            return MovementModel(
                hover_j=movement.hover_j,
                altitude_scale_m=movement.altitude_scale_m,
                ground_j=movement.hover_j,
                climb_j=movement.climb_j,
                lateral_j_per_m=movement.lateral_j_per_m,
                min_flight_m=movement.min_flight_m,
            )
        case "rotary-wing" | "landing":
            return _rotary_wing(movement, movement.rotary_wing or RotaryWing(), stay_s)
        case "rover":
            rover = movement.rover or Rover()
            return MovementModel(
                hover_j=0.0,
                altitude_scale_m=math.inf,
                ground_j=rover.standby_w * stay_s,
                lateral_j_per_m=rover.drive_j_per_m,
                lateral_s_per_m=1 / rover.speed_m_per_s,
                min_flight_m=math.inf,
                on_ground=True,
                flies=False,
            )
        case "mast":
            return MovementModel(
                0.0, math.inf, 0.0, min_flight_m=math.inf, on_ground=True, moves=False
            )


def _rotary_wing(movement: Movement, craft: RotaryWing, stay_s: float) -> MovementModel:
    climb_s, sink_s = 1 / craft.climb_m_per_s, 1 / craft.sink_m_per_s
    lands = movement.model == "landing"
    return MovementModel(
        hover_j=rotary_wing.hover_w(craft) * stay_s,
        altitude_scale_m=math.inf,
        ground_j=craft.standby_w * stay_s,
        rise_j_per_m=rotary_wing.vertical_w(craft, craft.climb_m_per_s) * climb_s,
        sink_j_per_m=rotary_wing.vertical_w(craft, -craft.sink_m_per_s) * sink_s,
        lateral_j_per_m=rotary_wing.level_w(craft, craft.speed_m_per_s) / craft.speed_m_per_s,
        rise_s_per_m=climb_s,
        sink_s_per_m=sink_s,
        lateral_s_per_m=1 / craft.speed_m_per_s,
        min_flight_m=math.inf if lands else movement.min_flight_m,
        cruise_m=craft.cruise_m if lands else 0.0,
        on_ground=lands,
    )
