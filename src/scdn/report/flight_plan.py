"""A flight as a `.plan` file of QGroundControl: its mission, and fences around keep-out boxes.

The format is described in QGroundControl's developer guide ("Plan File Format"), the commands in
MAVLink's common message set. Altitudes are relative to the ground at home, where the server takes
off; home's own altitude above the sea is not known and written as 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import Literal

import numpy as np

from scdn.arrays import Array, IntArray, floats
from scdn.errors import input_error
from scdn.file_io import Table
from scdn.report.flight import Flight
from scdn.report.flight_path import crossings
from scdn.scenario.local_plane import LocalPlane
from scdn.scenario.round_settings import RotaryWing, Rover
from scdn.world.geometry import closed_at_faces

End = Literal["home", "land"]
Firmware = Literal["px4", "ardupilot"]

FIRMWARE_TYPES: dict[Firmware, int] = {"px4": 12, "ardupilot": 3}  # MAV_AUTOPILOT
_QUADROTOR, _GROUND_ROVER = 2, 10  # MAV_TYPE
_RELATIVE_ALTITUDE, _NO_POSITION = 3, 2  # MAV_FRAME
_CRUISE_SPEED, _HOVER_SPEED = 15.0, 5.0  # QGroundControl's defaults, where the model has no speed

MANY_ITEMS = 500  # PX4 stores so many by default, ArduPilot some 700 on most boards
LONGEST_HOLD_S = 65535  # ArduPilot keeps holds in 16 bits, as whole seconds
_LEAST_ALTITUDE_M = 1.0  # of flights between two positions on the ground
_TOUCH_M = 1e-3  # a flight that cuts a box by less only touches it
_LARGEST_LATITUDE = 89.0


class Command(IntEnum):
    """Commands of MAVLink (MAV_CMD)."""

    WAYPOINT = 16
    LAND = 21
    TAKEOFF = 22
    DELAY = 93
    CHANGE_SPEED = 178


@dataclass(frozen=True, eq=False)
class Step:
    """One item of a mission; commands without a position have that of the step before."""

    command: Command
    position_m: Array
    seconds: int = 0  # of a hold or a delay
    speed_m_per_s: float = 0.0


@dataclass(frozen=True)
class FlightPlan:
    """The document of a `.plan` file, and what its user must know."""

    document: Table
    warnings: Sequence[str]


def make_flight_plan(
    flight: Flight,
    origin_deg: tuple[float, float] | None = None,
    *,
    end: End = "home",
    firmware: Firmware = "px4",
    inset_m: float = 1.0,
) -> FlightPlan:
    """Return the `.plan` of a flight.

    Parameters
    ----------
    flight
        The server's stops.
    origin_deg
        Latitude and longitude of (0, 0), instead of the flight's own.
    end
        Whether the server flies back to where it took off, or lands where its last stop is.
    firmware
        The autopilot's.
    inset_m
        How far fences are inside of keep-out boxes, which flights may touch.
    """
    plane = _plane(flight, origin_deg)
    steps = _steps(flight, end)
    ground_m = float(flight.start_m[2]) if _stands(flight) else 0.0
    home = np.append(flight.start_m[:2], ground_m)
    points = np.stack([home, *(step.position_m for step in steps)])
    fences = _Fences.around(flight, points, inset_m)
    speed = _speed_m_per_s(flight)
    document = {
        "fileType": "Plan",
        "version": 1,
        "groundStation": "QGroundControl",
        "mission": {
            "version": 2,
            "firmwareType": FIRMWARE_TYPES[firmware],
            "vehicleType": _GROUND_ROVER if flight.movement.model == "rover" else _QUADROTOR,
            "cruiseSpeed": speed or _CRUISE_SPEED,
            "hoverSpeed": speed or _HOVER_SPEED,
            "plannedHomePosition": [*_degrees(plane, home, flight.source), 0.0],
            "items": [
                _item(step, number, plane, ground_m, flight.source)
                for number, step in enumerate(steps, 1)
            ],
        },
        "geoFence": {
            "version": 2,
            "circles": [],
            "polygons": [_polygon(box, plane, flight.source) for box in fences.boxes],
        },
        "rallyPoints": {"version": 2, "points": []},
    }
    return FlightPlan(document, [*_warnings(flight, steps), *fences.warnings])


# --- the mission ----------------------------------------------------------------------------------


def _stands(flight: Flight) -> bool:
    """Return whether the server never stays in the air."""
    return flight.movement.model in ("landing", "rover")


def _speed_m_per_s(flight: Flight) -> float | None:
    match flight.movement.model:
        case "rotary-wing" | "landing":
            return (flight.movement.rotary_wing or RotaryWing()).speed_m_per_s
        case "rover":
            return (flight.movement.rover or Rover()).speed_m_per_s
        case _:
            return None


def _steps(flight: Flight, end: End) -> list[Step]:
    """Return the items of the mission; the speed is set once the server has taken off."""
    model, start = flight.movement.model, flight.start_m
    in_the_air = start[2] > 0 and not _stands(flight)
    moves = any(len(stop.path_m) > 1 for stop in flight.stops)
    if model == "mast" or not (moves or in_the_air):
        fault = "is mast" if model == "mast" else "never moves the server"
        raise input_error(flight.source, "movement.model", fault, "nothing flies: no plan to write")
    steps = list(_drive(flight, end) if model == "rover" else _fly(flight, end))
    speed = _speed_m_per_s(flight)
    if speed is not None:
        commands = [step.command for step in steps]
        first = 0 if model == "rover" else commands.index(Command.TAKEOFF) + 1
        position = steps[first - 1].position_m if first else start
        steps.insert(first, Step(Command.CHANGE_SPEED, position, speed_m_per_s=speed))
    return steps


def _way_back(flight: Flight) -> Array:
    if not len(flight.way_back_m):
        fault = "there is no way back to the start"
        raise input_error(flight.source, "--end home", fault, "use --end land")
    return flight.way_back_m


def _drive(flight: Flight, end: End) -> Iterator[Step]:
    for stop in flight.stops:
        for position in stop.path_m[1:-1]:
            yield Step(Command.WAYPOINT, position)
        yield from _hold(stop.position_m, stop.stay_s)
    if end == "home":
        for position in _way_back(flight)[1:]:
            yield Step(Command.WAYPOINT, position)


def _fly(flight: Flight, end: End) -> Iterator[Step]:
    floor_m = max(flight.movement.min_flight_m, _LEAST_ALTITUDE_M)
    start, stands = flight.start_m, _stands(flight)

    def is_ground(position: Array) -> bool:
        return stands or position[2] <= 0

    if not is_ground(start):
        yield Step(Command.TAKEOFF, start)
    for stop in flight.stops:
        lands = is_ground(stop.position_m)
        if len(stop.path_m) > 1:
            yield from _leg(stop.path_m, is_ground(stop.path_m[0]), lands, floor_m)
        if not lands:
            yield from _hold(stop.position_m, stop.stay_s)
        elif _whole_seconds(stop.stay_s) > 0:
            yield Step(Command.DELAY, stop.position_m, _whole_seconds(stop.stay_s))
    last = flight.stops[-1].position_m
    if end == "home" and (last != start).any():
        yield from _leg(_way_back(flight), is_ground(last), is_ground(start), floor_m)
        last = start
        if not is_ground(start):
            yield Step(Command.WAYPOINT, start)
    if not is_ground(last):
        yield Step(Command.LAND, last * [1.0, 1.0, 0.0])


def _leg(path_m: Array, takes_off: bool, lands: bool, floor_m: float) -> Iterator[Step]:
    """Yield a flight along a path, without its last point unless it lands there.

    Between its ends the flight keeps the floor. The server takes off and lands vertically.
    """
    way = [np.append(p[:2], max(p[2], floor_m)) for p in path_m[1:-1]]
    here, there = path_m[0], path_m[-1]
    if takes_off:
        altitude = way[0][2] if way else max(there[2], floor_m)
        here = np.append(here[:2], altitude)
        yield Step(Command.TAKEOFF, here)
    if lands:
        way.append(np.append(there[:2], way[-1][2] if way else max(here[2], floor_m)))
    for before, position in pairwise([here, *way]):
        if (before != position).any():
            yield Step(Command.WAYPOINT, position)
    if lands:
        yield Step(Command.LAND, there)


def _hold(position_m: Array, stay_s: float) -> Iterator[Step]:
    """Yield the waypoints of one hold: mostly one, more if it is very long."""
    left = _whole_seconds(stay_s)
    while True:
        yield Step(Command.WAYPOINT, position_m, min(left, LONGEST_HOLD_S))
        left -= LONGEST_HOLD_S
        if left <= 0:
            return


def _whole_seconds(stay_s: float) -> int:
    """Round a stay up; a millisecond more than whole seconds is rounding error."""
    return math.ceil(stay_s - 1e-3)


def _warnings(flight: Flight, steps: Sequence[Step]) -> Iterator[str]:
    if len(steps) > MANY_ITEMS:
        yield f"the mission has {len(steps)} items; many autopilots store {MANY_ITEMS} to 700"
    commands = [step.command for step in steps]
    if commands.count(Command.TAKEOFF) > 1:
        yield (
            "the server lands and takes off again: the autopilot must stay armed "
            "on the ground (PX4: COM_DISARM_LAND = -1, ArduCopter: DISARM_DELAY = 0)"
        )
    if not any(stop.stay_s for stop in flight.stops):
        yield "the server does not stay anywhere: --stay gives the seconds of a round"


# --- fences ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Fences:
    """Rectangles x0, y0, x1, y1 that the server must not enter, and why some boxes have none."""

    boxes: Array
    warnings: Sequence[str]

    @classmethod
    def around(cls, flight: Flight, points_m: Array, inset_m: float) -> _Fences:
        """Make a fence of every keep-out box that the flight neither passes over nor under.

        Fences have no altitude. Where a flight passes through a box, its fence stays.
        """
        keep_out, size = flight.keep_out_m, flight.region_m
        numbers = np.flatnonzero((keep_out[:, :3] < keep_out[:, 3:]).all(axis=1))  # not empty
        keep_out = keep_out[numbers]
        outline = np.clip(keep_out.reshape(-1, 2, 3)[..., :2], 0, size[:2]).reshape(-1, 4)
        fences = _smaller(outline, inset_m)
        hit = crossings(points_m, _smaller(closed_at_faces(keep_out, size), _TOUCH_M))
        vertical = (points_m[:, :2] == points_m[0, :2]).all(axis=1)
        at_home = vertical[:-1] & vertical[1:]
        in_the_way, around_home = hit[~at_home].any(axis=0), hit[at_home].any(axis=0)
        over = crossings(points_m[:, :2], fences).any(axis=0) & ~in_the_way | around_home
        boxes = [numbers[mask] for mask in (in_the_way, around_home & ~in_the_way, over)]
        return cls(fences[~over], list(_fence_warnings(*boxes)))


def _smaller(boxes: Array, inset_m: float) -> Array:
    """Return boxes that are smaller at each face, by at most a quarter of their width."""
    low, high = np.split(floats(boxes), 2, axis=1)
    inset = np.minimum(inset_m, (high - low) / 4)
    return np.concatenate([low + inset, high - inset], axis=1)


def _fence_warnings(in_the_way: IntArray, home: IntArray, over: IntArray) -> Iterator[str]:
    for number in in_the_way:
        yield (
            f"the flight passes THROUGH keep_out_m.{number}: "
            'plan with movement.path = "around", or clear it'
        )
    for number in home:
        yield f"keep_out_m.{number} is where the server takes off or lands: clear that place"
    if len(over):
        listed = ", ".join(f"keep_out_m.{number}" for number in over)
        yield f"no fence for {listed}: the flight passes over or under, and fences have no altitude"


# --- degrees --------------------------------------------------------------------------------------


def _plane(flight: Flight, origin_deg: tuple[float, float] | None) -> LocalPlane:
    origin = origin_deg or flight.origin_deg
    if origin is None:
        allowed = "give --origin LAT,LON, the degrees of (0, 0)"
        raise input_error(flight.source, "origin_deg", "is not known", allowed)
    if not (abs(origin[0]) <= _LARGEST_LATITUDE and abs(origin[1]) <= 180):
        allowed = f"must be within ±{_LARGEST_LATITUDE:g} and ±180 degrees"
        raise input_error(flight.source, "origin_deg", f"got {list(origin)}", allowed)
    return LocalPlane(*origin)


def _degrees(plane: LocalPlane, position_m: Array, source: str) -> list[float]:
    """Return latitude and longitude to a millimetre."""
    latitude, longitude = plane.degrees(float(position_m[0]), float(position_m[1]))
    if abs(latitude) > _LARGEST_LATITUDE:
        allowed = f"positions must be within ±{_LARGEST_LATITUDE:g} degrees of latitude"
        raise input_error(source, "origin_deg", f"a position is at {latitude:.4g}", allowed)
    return [round(latitude, 8), round(longitude, 8)]


def _item(step: Step, number: int, plane: LocalPlane, ground_m: float, source: str) -> Table:
    frame = _NO_POSITION
    params: list[float | None] = [0.0] * 7
    match step.command:
        case Command.DELAY:
            params[:4] = [float(step.seconds), -1.0, -1.0, -1.0]  # not until a time of day
        case Command.CHANGE_SPEED:
            params[:3] = [1.0, step.speed_m_per_s, -1.0]  # over ground; as much throttle as needed
        case _:
            frame = _RELATIVE_ALTITUDE
            altitude = round(float(step.position_m[2]) - ground_m, 3)
            place = _degrees(plane, step.position_m, source)
            params = [float(step.seconds), 0.0, 0.0, None, *place, altitude]  # any heading
    return {
        "type": "SimpleItem",
        "command": int(step.command),
        "frame": frame,
        "params": params,
        "autoContinue": True,
        "doJumpId": number,
    }


def _polygon(box: Array, plane: LocalPlane, source: str) -> Table:
    x0, y0, x1, y1 = box
    corners = floats([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
    polygon = [_degrees(plane, corner, source) for corner in corners]
    return {"version": 1, "inclusion": False, "polygon": polygon}
