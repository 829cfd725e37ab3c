"""The problem of one round (P^r) as arrays: the fleet, what the devices report, the scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scdn.arrays import Array, IntArray, floats
from scdn.control.problem import RoundProblem
from scdn.scenario import DeviceSettings, RoundLearningSettings, Scenario
from scdn.world.fleet import Fleet
from scdn.world.geometry import closed_at_faces
from scdn.world.movement_models import movement_model


@dataclass(frozen=True, eq=False)
class DeviceReports:
    """What the devices of a round transmit to the server before it plans; one entry each."""

    fleet: Fleet  # the devices that are present: positions and hardware
    survival: Array
    payload_bits: Array
    connections: Array
    learning_rate: Array
    optimizer: IntArray
    optimizer_value: Array
    smoothness: Array
    gradient_bound_sq: Array
    gradient_variance: Array
    global_smoothness: float


def reported(values: Mapping[str, float], ids: Sequence[str], field: str) -> Array:
    """Return one value per device; devices that report none have the default of a request."""
    default = DeviceSettings.model_fields[field].default
    return floats([values.get(name, default) for name in ids])


def build_problem(
    scenario: Scenario,
    reports: DeviceReports,
    importance: Array,
    server_m: Array,
    initial_loss: float,
) -> RoundProblem:
    """Return the problem of a round, with the server at `server_m` when it begins."""
    fleet, radio, candidates = reports.fleet, scenario.radio, scenario.candidates_m
    learning = {
        name: getattr(scenario.learning, name) for name in RoundLearningSettings.model_fields
    }
    learning |= {"initial_loss": initial_loss, "global_smoothness": reports.global_smoothness}
    return RoundProblem(
        region_m=floats(scenario.region_m),
        server_m=np.array(server_m),
        radio=radio,
        weights=scenario.objective_weights,
        movement=movement_model(scenario.movement, scenario.round_s),
        learning=RoundLearningSettings(**learning),
        max_delay_s=scenario.report_limit_s,
        max_iterations=scenario.max_iterations,
        integer_iterations=scenario.integer_iterations,
        keep_out_m=closed_at_faces(scenario.keep_out_m, scenario.region_m),
        candidates_m=None if candidates is None else floats(candidates),
        ids=tuple(fleet.id.tolist()),
        position_m=fleet.position_m,
        max_power_w=fleet.max_power_w,
        min_power_w=fleet.min_power_w,
        wall_loss_db=fleet.wall_loss_db,
        payload_bits=reports.payload_bits,
        bandwidth_hz=fleet.bandwidth_or(radio.bandwidth_hz),
        cpu_min_hz=fleet.cpu_min_hz,
        cpu_max_hz=fleet.cpu_max_hz,
        capacitance=fleet.capacitance,
        connections=reports.connections,
        flops_per_cycle=fleet.flops_per_cycle,
        importance=importance,
        survival=reports.survival,
        learning_rate=reports.learning_rate,
        smoothness=reports.smoothness,
        gradient_bound_sq=reports.gradient_bound_sq,
        gradient_variance=reports.gradient_variance,
        optimizer=reports.optimizer,
        optimizer_value=reports.optimizer_value,
    )
