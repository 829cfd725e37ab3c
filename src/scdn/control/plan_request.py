"""A plan request: one round's problem as outsiders write it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Strict

from scdn.arrays import Array, IntArray
from scdn.control.exact.allowed_boxes import allowed_corners
from scdn.control.problem import RoundProblem
from scdn.errors import Fault, InputError, input_error
from scdn.file_io import Table, apply_settings, read_document
from scdn.scenario import (
    DeviceSettings,
    Momentum,
    Movement,
    Proximal,
    Radio,
    RoundLearningSettings,
    Scenario,
    Weights,
)
from scdn.scenario.field_types import (
    Box,
    FrozenModel,
    SchemaVersion,
    Vector3,
    WholeNumber,
    required_setting,
    setting,
)
from scdn.scenario.rules import device_faults, outside_region_faults, site_faults, theorem_faults
from scdn.scenario.validation import validate_document
from scdn.theory import MOMENTUM, PROXIMAL, SGD


def _default(name: str) -> object:
    return Scenario.model_fields[name].default


class RequestServer(FrozenModel):
    """Where the server stands before the round."""

    position_m: Vector3 = required_setting("x, y, z")


class PlanRequest(FrozenModel):
    """One round's problem; absent fields take the defaults of a scenario."""

    schema_version: SchemaVersion = setting(1, "form of this file", alias="schema")
    region_m: Vector3 = required_setting("the server's limits")
    keep_out_m: Annotated[tuple[Box, ...], Strict(False)] = setting(
        (), "boxes x0, y0, z0, x1, y1, z1 whose interior is forbidden"
    )
    candidates_m: Annotated[tuple[Vector3, ...], Strict(False)] | None = setting(
        None, "if a list, the only places for the server"
    )
    server: RequestServer = required_setting("the server before the round")
    radio: Radio = setting(Radio(), "the channel")
    max_delay_s: float = setting(_default("max_delay_s"), "a report's time limit", gt=0)
    max_iterations: WholeNumber = setting(
        _default("max_iterations"), "most local iterations", ge=0, le=100_000
    )
    integer_iterations: bool = setting(_default("integer_iterations"), "whole iterations")
    weights: Weights = setting(Weights(), "of the objective's terms")
    movement: Movement = setting(Movement(), "the server's energy")
    learning: RoundLearningSettings = setting(RoundLearningSettings(), "constants of learning")
    devices: Annotated[tuple[DeviceSettings, ...], Strict(False)] = required_setting("may be empty")


def _faults(request: PlanRequest) -> Iterator[Fault]:
    yield from site_faults(request)
    yield from outside_region_faults(
        "server.position_m", request.server.position_m, request.region_m
    )
    yield from _ceiling_faults(request)
    floor = request.movement.min_flight_m
    if not len(allowed_corners(request.region_m, floor, request.keep_out_m)):
        allowed = "must leave a place for the server"
        yield Fault("keep_out_m", "covers all of the region", allowed, ("region_m", "movement"))
    yield from device_faults(request.devices, request.region_m)


def _ceiling_faults(request: PlanRequest) -> Iterator[Fault]:
    """Candidates that are all at the ceiling are no choice for a server that is below it."""
    ceiling, places = request.region_m[2], request.candidates_m
    if places and request.server.position_m[2] < ceiling and all(p[2] >= ceiling for p in places):
        allowed = f"needs one below the ceiling, {ceiling:g} m, unless the server is there"
        yield Fault("candidates_m", "all at the ceiling", allowed, ("region_m", "server"))


def read_request(
    source: str | Path, settings: Iterable[str] = (), *, strict: bool = False
) -> PlanRequest:
    """The request in a JSON or TOML file (`-`: standard input), with `key.path=value` settings."""
    document = apply_settings(read_document(source), settings)
    return make_request(document, str(source), strict=strict)


def make_request(document: Table, source: str = "request", *, strict: bool = False) -> PlanRequest:
    """The request in a table; `strict` refuses what is outside Theorem 1's conditions."""
    if {"fleet", "churn", "method", "profile"} & set(document):
        raise input_error(
            source, "file", "is a scenario", "scdn scenario request writes a round of it"
        )
    request = validate_document(PlanRequest, document, source, _faults)
    if strict:
        outside_theorem = list(_theorem_faults(request))
        if outside_theorem:
            raise InputError(source, outside_theorem)
    return request


def request_for_round(
    scenario: Scenario, devices: Sequence[DeviceSettings], server_m: Sequence[float]
) -> PlanRequest:
    """The request for a round of a scenario: these devices are there, the server is here."""
    constants = {
        name: getattr(scenario.learning, name) for name in RoundLearningSettings.model_fields
    }
    rows = [{name: getattr(d, name) for name in DeviceSettings.model_fields} for d in devices]
    x, y, z = (float(c) for c in server_m)
    return PlanRequest(
        region_m=scenario.region_m,
        keep_out_m=scenario.keep_out_m,
        candidates_m=scenario.candidates_m,
        server=RequestServer(position_m=(x, y, z)),
        radio=scenario.radio,
        max_delay_s=scenario.max_delay_s,
        max_iterations=scenario.max_iterations,
        integer_iterations=scenario.integer_iterations,
        weights=scenario.weights,
        movement=scenario.movement,
        learning=RoundLearningSettings(**constants),
        devices=tuple(DeviceSettings(**row) for row in rows),
    )


def _theorem_faults(request: PlanRequest) -> Iterator[Fault]:
    most_steps = request.learning.steps_per_iteration * request.max_iterations
    return theorem_faults(request.devices, most_steps)


def request_warnings(request: PlanRequest) -> list[str]:
    """One line for each device outside Theorem 1's conditions."""
    return [str(fault) for fault in _theorem_faults(request)]


def problem_of(request: PlanRequest) -> RoundProblem:
    """The request as plain numbers."""
    devices, radio = request.devices, request.radio

    def column(name: str) -> Array:
        return np.array([getattr(device, name) for device in devices], dtype=np.float64)

    kinds, numbers = _optimizers(devices)
    bandwidth = [
        radio.bandwidth_hz if device.bandwidth_hz is None else device.bandwidth_hz
        for device in devices
    ]
    return RoundProblem(
        region_m=np.array(request.region_m),
        server_m=np.array(request.server.position_m),
        radio=radio,
        weights=request.weights,
        movement=request.movement,
        learning=request.learning,
        max_delay_s=request.max_delay_s,
        max_iterations=request.max_iterations,
        integer_iterations=request.integer_iterations,
        keep_out_m=np.array(request.keep_out_m, dtype=np.float64).reshape(-1, 6),
        candidates_m=None if request.candidates_m is None else np.array(request.candidates_m),
        ids=tuple(device.id for device in devices),
        position_m=column("position_m").reshape(-1, 3),
        max_power_w=column("max_power_w"),
        payload_bits=column("payload_bits"),
        bandwidth_hz=np.array(bandwidth, dtype=np.float64),
        cpu_min_hz=column("cpu_min_hz"),
        cpu_max_hz=column("cpu_max_hz"),
        capacitance=column("capacitance"),
        connections=column("connections"),
        flops_per_cycle=column("flops_per_cycle"),
        importance=column("importance"),
        survival=column("survival"),
        learning_rate=column("learning_rate"),
        smoothness=column("smoothness"),
        gradient_bound_sq=column("gradient_bound_sq"),
        gradient_variance=column("gradient_variance"),
        optimizer=kinds,
        optimizer_value=numbers,
    )


def _optimizers(devices: Sequence[DeviceSettings]) -> tuple[IntArray, Array]:
    kinds = np.full(len(devices), SGD, dtype=np.int64)
    numbers = np.zeros(len(devices))
    for index, device in enumerate(devices):
        match device.optimizer:
            case Proximal(mu=mu):
                kinds[index], numbers[index] = PROXIMAL, mu
            case Momentum(rho=rho):
                kinds[index], numbers[index] = MOMENTUM, rho
    return kinds, numbers
