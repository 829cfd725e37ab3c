"""The plan request: one round's problem as a file or table, checked and made a `RoundProblem`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Strict

from scdn.arrays import Array
from scdn.control.cut_off import cut_off_faults
from scdn.control.exact.allowed_boxes import allowed_corners
from scdn.control.problem import DEVICE_COLUMNS, RoundProblem
from scdn.errors import Fault, InputError, input_error
from scdn.file_io import Table, apply_settings, read_document
from scdn.scenario import DeviceSettings, Movement, Radio, RoundLearningSettings, Scenario, Weights
from scdn.scenario.field_types import (
    Box,
    FrozenModel,
    SchemaVersion,
    Vector3,
    WholeNumber,
    required_setting,
    setting,
)
from scdn.scenario.round_settings import report_limit_s
from scdn.scenario.rules import (
    device_faults,
    duration_faults,
    outside_region_faults,
    site_faults,
    site_warnings,
    theorem_faults,
)
from scdn.scenario.validation import validate_document
from scdn.world.device_optimizers import optimizer_columns
from scdn.world.geometry import closed_at_faces
from scdn.world.movement_models import movement_model


def _default(name: str) -> object:
    return Scenario.model_fields[name].default


class RequestServer(FrozenModel):
    """The server before the round."""

    position_m: Vector3 = required_setting("x, y, z")


class PlanRequest(FrozenModel):
    """One round's problem; absent fields take the defaults of a scenario."""

    schema_version: SchemaVersion = setting(1, "form of this file", alias="schema")
    region_m: Vector3 = required_setting("size of the region the server may be in")
    keep_out_m: Annotated[tuple[Box, ...], Strict(False)] = setting(
        (), "boxes x0, y0, z0, x1, y1, z1 that the server must not be in"
    )
    candidates_m: Annotated[tuple[Vector3, ...], Strict(False)] | None = setting(
        None, "if a list, the only positions for the server"
    )
    server: RequestServer = required_setting("the server before the round")
    radio: Radio = setting(Radio(), "the channel")
    max_delay_s: float = setting(_default("max_delay_s"), "time limit of a report", gt=0)
    round_s: float | None = setting(
        None,
        "time that the server stays at its position in the round, after its flight there",
        gt=0,
        le=1e9,
    )
    max_iterations: WholeNumber = setting(
        _default("max_iterations"), "largest number of local iterations", ge=0, le=100_000
    )
    integer_iterations: bool = setting(
        _default("integer_iterations"), "whether iterations are whole numbers"
    )
    weights: Weights = setting(Weights(), "weights of the objective's terms")
    movement: Movement = setting(Movement(), "how the server moves, and its energy")
    learning: RoundLearningSettings = setting(RoundLearningSettings(), "constants of the learning")
    devices: Annotated[tuple[DeviceSettings, ...], Strict(False)] = required_setting("may be empty")


def _request_faults(request: PlanRequest) -> Iterator[Fault]:
    yield from site_faults(
        request.region_m, request.keep_out_m, request.candidates_m, request.movement
    )
    yield from duration_faults(request.radio, request.movement, request.round_s)
    yield from outside_region_faults(
        "server.position_m", request.server.position_m, request.region_m
    )
    yield from _ceiling_faults(request)
    floor = movement_model(request.movement, request.round_s).min_flight_m
    boxes = closed_at_faces(request.keep_out_m, request.region_m)
    anywhere = request.candidates_m is None and request.movement.model != "mast"
    if anywhere and not len(allowed_corners(request.region_m, floor, boxes)):
        allowed = "must leave the server an allowed position"
        yield Fault("keep_out_m", "covers the whole region", allowed, ("region_m", "movement"))
    yield from device_faults(request.devices, request.region_m)


def _ceiling_faults(request: PlanRequest) -> Iterator[Fault]:
    """Check that a server below the ceiling has a candidate below it: it cannot climb there."""
    ceiling, candidates = request.region_m[2], request.candidates_m or ()
    below = request.server.position_m[2] < ceiling
    if candidates and below and all(position[2] >= ceiling for position in candidates):
        allowed = f"needs a position below it, since the server starts below {ceiling:g} m"
        yield Fault("candidates_m", "are all at the ceiling", allowed, ("region_m", "server"))


def read_request(
    source: str | Path, settings: Iterable[str] = (), *, strict: bool = False
) -> PlanRequest:
    """Read a request from a JSON or TOML file (`-`: standard input); apply `key=value` settings."""
    document = apply_settings(read_document(source), settings)
    return make_request(document, str(source), strict=strict)


def make_request(document: Table, source: str = "request", *, strict: bool = False) -> PlanRequest:
    """Check a table and make it a request; `strict` refuses what Theorem 1 does not cover."""
    if {"fleet", "churn", "method", "profile"} & set(document):
        remedy = "use `scdn scenario request` to write one of its rounds as a request"
        raise input_error(source, "file", "is a scenario, not a plan request", remedy)
    request = validate_document(PlanRequest, document, source, _request_faults)
    outside_theorem = list(_theorem_faults(request)) if strict else []
    if outside_theorem:
        raise InputError(source, outside_theorem)
    return request


SCENARIO_FIELDS = (  # that a request takes over as they are
    "region_m", "keep_out_m", "candidates_m", "radio", "max_delay_s", "round_s", "max_iterations",
    "integer_iterations", "movement",
)  # fmt: skip


def request_for_round(
    scenario: Scenario, devices: Sequence[DeviceSettings], server_m: Sequence[float]
) -> PlanRequest:
    """Make the request of a scenario's round, with these devices and the server's position."""

    def pick(settings: object, names: Iterable[str]) -> Table:
        return {name: getattr(settings, name) for name in names}

    x, y, z = map(float, server_m)
    learning = pick(scenario.learning, RoundLearningSettings.model_fields)
    rows = [pick(device, DeviceSettings.model_fields) for device in devices]
    return PlanRequest(
        **pick(scenario, SCENARIO_FIELDS),
        weights=scenario.objective_weights,
        server=RequestServer(position_m=(x, y, z)),
        learning=RoundLearningSettings(**learning),
        devices=tuple(DeviceSettings(**row) for row in rows),
    )


def _theorem_faults(request: PlanRequest) -> Iterator[Fault]:
    most_steps = request.learning.steps_per_iteration * request.max_iterations
    return theorem_faults(request.devices, most_steps)


def request_warnings(request: PlanRequest) -> list[str]:
    """Return one line for each position that cannot be used, or device outside Theorem 1."""
    faults = site_warnings(
        request.region_m,
        request.keep_out_m,
        request.candidates_m,
        request.movement,
        request.server.position_m,
    )
    cut_off = cut_off_faults(problem_of(request))
    return [str(fault) for fault in (*faults, *cut_off, *_theorem_faults(request))]


def problem_of(request: PlanRequest) -> RoundProblem:
    """Convert a request to a `RoundProblem`."""
    devices, radio = request.devices, request.radio

    def column(name: str) -> Array:
        return np.array([getattr(device, name) for device in devices], dtype=np.float64)

    optimizer, optimizer_value = optimizer_columns(devices)
    numbers = [name for name in DEVICE_COLUMNS if not name.startswith("optimizer")]
    columns: dict[str, Any] = {name: column(name) for name in numbers}
    own_bandwidth = columns["bandwidth_hz"]  # NaN where the radio's holds
    columns["bandwidth_hz"] = np.where(np.isnan(own_bandwidth), radio.bandwidth_hz, own_bandwidth)
    columns["position_m"] = columns["position_m"].reshape(-1, 3)
    return RoundProblem(
        region_m=np.array(request.region_m),
        server_m=np.array(request.server.position_m),
        radio=radio,
        weights=request.weights,
        movement=movement_model(request.movement, request.round_s),
        learning=request.learning,
        max_delay_s=report_limit_s(request.max_delay_s, radio, request.round_s),
        max_iterations=request.max_iterations,
        integer_iterations=request.integer_iterations,
        keep_out_m=closed_at_faces(request.keep_out_m, request.region_m),
        candidates_m=None if request.candidates_m is None else np.array(request.candidates_m),
        ids=tuple(device.id for device in devices),
        optimizer=optimizer,
        optimizer_value=optimizer_value,
        **columns,
    )
