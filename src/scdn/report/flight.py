"""Where the server goes and how long it stays, from a recorded run or from the plan of a round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scdn.arrays import Array, floats
from scdn.control.plan_request import PlanRequest, problem_of, read_request, request_for_round
from scdn.control.problem import RoundProblem
from scdn.errors import InputError, faults_from_pydantic, input_error
from scdn.file_io import read_document
from scdn.record.round_totals import finite_number
from scdn.record.run_reader import EVENTS, Event, Run, read_run
from scdn.report.flight_path import flight_path
from scdn.scenario import Movement, Scenario
from scdn.scenario.field_types import Vector3
from scdn.scenario.validation import validate_document
from scdn.world.geometry import server_start

# What flights depend on; the rest of a recorded scenario may be another version's.
_SETTINGS = (
    "region_m", "keep_out_m", "candidates_m", "round_s", "movement", "server", "origin_deg", "seed",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Stop:
    """A position of the server: the way there from the one before, and the stay."""

    path_m: Array  # (k, 3), from the position before to this one; (1, 3) if it is the same
    stay_s: float

    @property
    def position_m(self) -> Array:
        """Return where the server stays."""
        return np.asarray(self.path_m[-1])


@dataclass(frozen=True, eq=False)
class Flight:
    """The server's stops; consecutive ones differ.

    Attributes
    ----------
    way_back_m
        The way from the last stop to the start (k, 3); empty if there is none.
    keep_out_m
        Boxes x0, y0, z0, x1, y1, z1: (K, 6).
    origin_deg
        Latitude and longitude of (0, 0), if known.
    """

    source: str
    movement: Movement
    start_m: Array
    stops: Sequence[Stop]
    way_back_m: Array
    region_m: Array = field(default_factory=lambda: np.full(3, np.inf))
    keep_out_m: Array = field(default_factory=lambda: np.zeros((0, 6)))
    origin_deg: tuple[float, float] | None = None


def read_flight(source: str, *, request: str | None = None, stay_s: float | None = None) -> Flight:
    """Return the flight of a run's folder, or of a plan in a file (`-`: standard input).

    `request` is the plan's request. `stay_s` replaces how long the server stays in each round.
    """
    if source != "-" and Path(source).is_dir():
        if request is not None:
            allowed = "leave it out: a run has its scenario"
            raise input_error("scdn flight", "--request", "belongs to a plan", allowed)
        return flight_of_run(read_run(source), stay_s)
    planned = None if request is None else read_request(request)
    return _flight_of_plan(_read_plan(source), source, planned, stay_s)


# --- from a run -----------------------------------------------------------------------------------


def flight_of_run(run: Run, stay_s: float | None = None) -> Flight:
    """Return the flight of all rounds of a run.

    A round lasts for the flight and the stay, so the stay is what the flight leaves.
    """
    source = str(run.folder / EVENTS)
    if not run.rounds:
        raise input_error(source, "rounds", "the run has none", "needs at least one")
    recorded = {name: run.scenario[name] for name in _SETTINGS if name in run.scenario}
    scenario = validate_document(Scenario, recorded, source, lambda _: ())
    start = here = server_start(scenario)
    stops: list[Stop] = []
    for event in run.rounds:
        there = _position(event, here)
        problem, moves = _problem_at(scenario, here), bool((there != here).any())
        flight_s = float(problem.flight_s(there)) if moves else 0.0
        stay = _stay_s(event, flight_s, scenario) if stay_s is None else stay_s
        if stops and not moves:
            stops[-1] = replace(stops[-1], stay_s=stops[-1].stay_s + stay)
        else:
            stops.append(Stop(_way(problem, there), stay))
        here = there
    return Flight(
        source,
        scenario.movement,
        start,
        stops,
        flight_path(_problem_at(scenario, here), start),
        floats(scenario.region_m),
        floats(scenario.keep_out_m).reshape(-1, 6),
        scenario.origin_deg,
    )


def _position(event: Event, before: Array) -> Array:
    position = (event.get("server") or {}).get("position_m")
    return before if position is None else floats(position)


def _stay_s(event: Event, flight_s: float, scenario: Scenario) -> float:
    latency = finite_number(event, "latency_s")
    return scenario.round_s or 0.0 if math.isnan(latency) else max(latency - flight_s, 0.0)


def _problem_at(scenario: Scenario, server_m: Array) -> RoundProblem:
    """Return a problem whose server is at a position, for its flights: it has no devices."""
    return problem_of(request_for_round(scenario, [], server_m.tolist()))


def _way(problem: RoundProblem, there: Array) -> Array:
    """Return the way to a position; straight where walls leave none."""
    here = problem.server_m
    if (here == there).all():
        return here[None]
    path = flight_path(problem, there)
    return path if len(path) else np.stack([here, there])


# --- from a plan ----------------------------------------------------------------------------------


class _PlannedServer(BaseModel):
    model_config = ConfigDict(allow_inf_nan=False)
    position_m: Vector3
    path_m: Annotated[tuple[Vector3, ...], Field(min_length=1)] | None = None


class _PlannedDevice(BaseModel):
    id: str


class _PlanForm(BaseModel):
    """What is needed of a plan's answer; it may have anything else."""

    server: _PlannedServer
    devices: tuple[_PlannedDevice, ...] = ()


def _read_plan(source: str) -> _PlanForm:
    document = read_document(source)
    if "server" in document and "objective" not in document:
        remedy = "give the answer of `scdn plan --json`"
        raise input_error(source, "file", "is not a plan, but a request or a scenario", remedy)
    try:
        return _PlanForm.model_validate(document)
    except ValidationError as error:
        raise InputError(source, faults_from_pydantic(error, _PlanForm)) from None


def _flight_of_plan(
    plan: _PlanForm, source: str, request: PlanRequest | None, stay_s: float | None
) -> Flight:
    position = floats(plan.server.position_m)
    path = position[None] if plan.server.path_m is None else floats(plan.server.path_m)
    if request is None:
        if not (path[:, 2] > 0).any():
            allowed = "give --request, which says whether it flies"
            raise input_error(source, "server.position_m", "is on the ground", allowed)
        stops = [Stop(path, stay_s or 0.0)]
        return Flight(source, Movement(), np.asarray(path[0]), stops, path[::-1])
    if [device.id for device in plan.devices] != [device.id for device in request.devices]:
        allowed = "must be those of the request: give the request of this plan"
        raise input_error(source, "devices", "are others", allowed)
    problem = problem_of(request)
    way = _way(problem, position) if plan.server.path_m is None else path
    stay = (request.round_s or 0.0) if stay_s is None else stay_s
    return Flight(
        source,
        request.movement,
        problem.server_m,
        [Stop(way, stay)],
        flight_path(replace(problem, server_m=position), problem.server_m),
        problem.region_m,
        floats(request.keep_out_m).reshape(-1, 6),
    )
