"""Rules between several values of a scenario or plan request, and Theorem 1's conditions."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from scdn.errors import Fault, format_value
from scdn.scenario.definition import Scenario
from scdn.scenario.learning_settings import LearningSettings
from scdn.scenario.network_settings import DeviceGroup
from scdn.scenario.round_settings import (
    DeviceSettings,
    Momentum,
    Movement,
    Proximal,
    Radio,
    RotaryWing,
)
from scdn.targets import RECORDED_METRICS, parse_target
from scdn.theory.theorem_1_conditions import MOMENTUM_LIMIT, learning_rate_limit

Coordinates = Sequence[float]

_MAX_SIZE_M = 1e8


def site_faults(
    region_m: Coordinates,
    keep_out_m: Sequence[Coordinates],
    candidates_m: Sequence[Coordinates] | None,
    movement: Movement,
) -> Iterator[Fault]:
    """Yield the faults of the region, the keep-out boxes and the candidate positions."""
    for axis, size in enumerate(region_m):
        if not 0 < size <= _MAX_SIZE_M:
            yield _wrong_value(f"region_m.{axis}", size, f"must be > 0 and ≤ {_MAX_SIZE_M:g}")
    for index, box in enumerate(keep_out_m):
        if any(low > high for low, high in zip(box[:3], box[3:], strict=True)):
            allowed = "must be x0, y0, z0, x1, y1, z1 with the first corner not above the second"
            yield _wrong_value(f"keep_out_m.{index}", box, allowed)
    cruise_m = (movement.rotary_wing or RotaryWing()).cruise_m
    if movement.model == "landing" and cruise_m >= region_m[2]:
        allowed = f"must be below the region's height of {region_m[2]:g} m"
        field = "movement.rotary_wing.cruise_m"
        yield _wrong_value(field, cruise_m, allowed, "region_m", "movement")
    if candidates_m is None:
        return

    if not candidates_m:
        allowed = "needs at least one position, or must be left out"
        yield Fault("candidates_m", "got an empty list", allowed)
    elif all(_candidate_fault(c, region_m, keep_out_m, movement) for c in candidates_m):
        allowed = "needs one in the region, outside every keep-out box, on the ground or in flight"
        related = ("region_m", "keep_out_m", "movement")
        yield Fault("candidates_m", "no position is allowed", allowed, related)


def duration_faults(radio: Radio, movement: Movement, round_s: float | None) -> Iterator[Fault]:
    """Yield a fault if a setting counts by the round's duration and there is none."""
    if round_s is not None:
        return
    if radio.duty_cycle < 1:
        fault = f"is needed for radio.duty_cycle = {radio.duty_cycle:g}"
        yield Fault("round_s", fault, "must be the seconds of a round", ("radio.duty_cycle",))
    if movement.model in ("rotary-wing", "landing", "rover"):
        fault = f"is needed for movement.model = {movement.model}"
        yield Fault("round_s", fault, "must be the seconds of a round", ("movement.model",))


def site_warnings(
    region_m: Coordinates,
    keep_out_m: Sequence[Coordinates],
    candidates_m: Sequence[Coordinates] | None,
    movement: Movement,
    server_m: Coordinates | None,
) -> Iterator[Fault]:
    """Yield a start inside a keep-out box, and candidates that the server cannot use."""
    stays = movement.model == "mast" and candidates_m is None
    if server_m is not None and not stays and _is_kept_out(server_m, region_m, keep_out_m):
        allowed = "it has to leave it, and cannot come back"
        yield Fault("server.position_m", "is inside a keep-out box", allowed)
    for index, candidate in enumerate(candidates_m or ()):
        fault = _candidate_fault(candidate, region_m, keep_out_m, movement)
        if fault:
            yield Fault(f"candidates_m.{index}", fault, "the server does not use it")


def _candidate_fault(
    position: Coordinates,
    region_m: Coordinates,
    keep_out_m: Sequence[Coordinates],
    movement: Movement,
) -> str | None:
    """Return why the server cannot be at a candidate position, if it cannot."""
    if not _is_inside(position, region_m):
        return "is outside the region"
    if _is_kept_out(position, region_m, keep_out_m):
        return "is inside a keep-out box"
    flies = movement.model in ("paper", "rotary-wing")
    if flies and 0 < position[2] < movement.min_flight_m:
        return f"is below the least flight altitude of {movement.min_flight_m:g} m"
    if movement.model == "rover" and position[2] > 0:
        return "is above the ground, where a rover cannot be"
    return None


def _is_kept_out(
    position: Coordinates, region_m: Coordinates, keep_out_m: Sequence[Coordinates]
) -> bool:
    """Return whether a position is inside a box; boxes are closed at the region's faces."""

    def is_within(box: Coordinates, axis: int) -> bool:
        low, high = box[axis], box[axis + 3]
        above = low < position[axis] or low <= 0
        return low < high and above and (position[axis] < high or high >= region_m[axis])

    return any(all(is_within(box, axis) for axis in range(3)) for box in keep_out_m)


def _is_inside(position: Coordinates, region_m: Coordinates) -> bool:
    return all(0 <= x <= size for x, size in zip(position, region_m, strict=True))


def outside_region_faults(
    field: str, position: Coordinates, region_m: Coordinates
) -> Iterator[Fault]:
    """Yield a fault if the position is outside the region."""
    if not _is_inside(position, region_m):
        allowed = f"must be inside 0 … {format_value(list(region_m))}"
        yield _wrong_value(field, list(position), allowed, "region_m")


def device_faults(devices: Sequence[DeviceSettings], region_m: Coordinates) -> Iterator[Fault]:
    """Yield the faults of listed devices: duplicate ids, positions, clocks, learning rates."""
    seen: set[str] = set()
    for index, device in enumerate(devices):
        where = f"devices.{index}"
        if device.id in seen:
            yield Fault(f"{where}.id", f"got {format_value(device.id)} again", "must be unique")
        seen.add(device.id)
        yield from outside_region_faults(f"{where}.position_m", device.position_m, region_m)
        if device.cpu_min_hz > device.cpu_max_hz:
            allowed = f"must be ≤ cpu_max_hz = {format_value(device.cpu_max_hz)}"
            field, limit = f"{where}.cpu_min_hz", f"{where}.cpu_max_hz"
            yield _wrong_value(field, device.cpu_min_hz, allowed, limit)
        if device.min_power_w > device.max_power_w > 0:
            allowed = f"must be ≤ max_power_w = {format_value(device.max_power_w)}"
            field, limit = f"{where}.min_power_w", f"{where}.max_power_w"
            yield _wrong_value(field, device.min_power_w, allowed, limit)
        match device.optimizer:
            case Proximal(mu=mu) if device.learning_rate * mu >= 1:
                yield _learning_rate_fault(where, device.learning_rate, mu)


def _learning_rate_fault(where: str, rate: float, mu: float) -> Fault:
    allowed = f"times mu = {format_value(mu)} must be < 1"
    return _wrong_value(
        f"{where}.learning_rate", rate, allowed, f"{where}.optimizer", f"{where}.mu"
    )


def _wrong_value(field: str, value: object, allowed: str, *related: str) -> Fault:
    return Fault(field, f"got {format_value(value)}", allowed, related)


def scenario_faults(scenario: Scenario) -> Iterator[Fault]:
    """Yield the faults in how the values of a scenario fit together."""
    yield from site_faults(
        scenario.region_m, scenario.keep_out_m, scenario.candidates_m, scenario.movement
    )
    yield from duration_faults(scenario.radio, scenario.movement, scenario.round_s)
    yield from device_faults(scenario.devices, scenario.region_m)
    if scenario.server.position_m is not None:
        yield from outside_region_faults(
            "server.position_m", scenario.server.position_m, scenario.region_m
        )
    if 0 < scenario.server.cpu_hz < 1:
        allowed = "must be 0, if the server's computing is not counted, or ≥ 1"
        yield _wrong_value("server.cpu_hz", scenario.server.cpu_hz, allowed)
    for index, group in enumerate(scenario.fleet):
        yield from _group_faults(f"fleet.{index}", group, scenario.region_m)
    kinds = [group.kind for group in scenario.fleet]
    for index, kind in enumerate(kinds):
        if kind in kinds[:index]:
            yield Fault(f"fleet.{index}.kind", f"got {format_value(kind)} again", "must be unique")
    drawn_devices = sum(group.count for group in scenario.fleet)
    if not (drawn_devices or scenario.devices or scenario.devices_csv or scenario.churn.trace):
        allowed = "needs a [[fleet]] with count ≥ 1, or [[devices]]"
        related = ("devices", "devices_csv", "churn")
        yield Fault("fleet", "the scenario has no device", allowed, related)
    shares = [group.entry_share for group in scenario.fleet]
    if scenario.churn.entry_rate > 0 and shares and sum(shares) == 0:
        allowed = "a group must have entry_share > 0, or churn.entry_rate must be 0"
        yield Fault("fleet", "no device can enter", allowed, ("churn",))
    yield from _augmentation_faults(scenario.learning)
    yield from _round_option_faults(scenario)
    yield from _target_faults(scenario.targets, scenario.learning.metrics)
    yield from _mission_faults(scenario)


def _augmentation_faults(learning: LearningSettings) -> Iterator[Fault]:
    """Yield a fault if augmented images would need pixels of other parties."""
    is_augmented = learning.augment_flip or learning.augment_shift
    if is_augmented and learning.split not in ("strips", "modality"):
        field = "learning.augment_flip" if learning.augment_flip else "learning.augment_shift"
        allowed = "needs split = strips or modality: pixels move sideways within a party's strip"
        yield Fault(field, f"got split = {learning.split}", allowed, ("learning.split",))


def _round_option_faults(scenario: Scenario) -> Iterator[Fault]:
    """Yield duplicate durations and bits of a mission, and bits where numbers are not rounded."""
    mission, learning = scenario.mission, scenario.learning
    if not mission.durations:
        yield Fault("mission.durations", "got an empty list", "needs at least one, such as 1")
    for name in ("durations", "bits"):
        values = getattr(mission, name)
        for index, value in enumerate(values):
            if value in values[:index]:
                field, fault = f"mission.{name}.{index}", f"got {format_value(value)} again"
                yield Fault(field, fault, "must be unique")
    if not mission.bits:
        return
    if learning.payload != "protocol":
        allowed = (
            "must be empty unless learning.payload is protocol: models have 32 bits per number"
        )
        yield _wrong_value("mission.bits", list(mission.bits), allowed, "learning.payload")
    elif learning.unheard == "known" and min(mission.bits) < 32:
        allowed = "needs learning.unheard = imputed, or 32: numbers are not rounded else"
        yield _wrong_value("mission.bits", list(mission.bits), allowed, "learning.unheard")


def _mission_faults(scenario: Scenario) -> Iterator[Fault]:
    """Yield a mission's target of an unknown metric, and a goal that lacks its target."""
    target = scenario.mission.target
    if target is not None:
        for fault in _target_faults((target,), scenario.learning.metrics):
            yield replace(fault, field="mission.target")
    if scenario.mission.goal == "time" and target is None and not scenario.targets:
        allowed = "needs a target, in mission.target or targets"
        yield Fault("mission.goal", 'got "time" without a target', allowed, ("targets",))


def _target_faults(targets: Sequence[str], metrics: Sequence[str]) -> Iterator[Fault]:
    """Yield duplicate targets, and targets of unknown metrics.

    Names of metrics that are a user's own code are known only when a run starts.
    """
    for index, text in enumerate(targets):
        field, name = f"targets.{index}", parse_target(text).metric
        if text in targets[:index]:
            yield Fault(field, f"got {format_value(text)} again", "must be unique")
        elif not (name in (*RECORDED_METRICS, *metrics) or any(":" in m for m in metrics)):
            close = difflib.get_close_matches(name, [*RECORDED_METRICS, *metrics], 1)
            hint = f"did you mean {close[0]}? " if close else ""
            allowed = f"{hint}must be one of {', '.join((*RECORDED_METRICS, *metrics))}"
            yield Fault(field, f"unknown metric {name}", allowed, ("learning.metrics",))


def _group_faults(where: str, group: DeviceGroup, region_m: Coordinates) -> Iterator[Fault]:
    above_0, below_1 = math.nextafter(0, 1), math.nextafter(1, 0)
    limits = {
        "altitude_m": (0.0, region_m[2]),
        "max_power_dbm": (-1000.0, 1000.0),
        "wall_loss_db": (-1000.0, 1000.0),
        "cpu_max_hz": (group.cpu_min_hz, math.inf),
        "capacitance": (0.0, math.inf),
        "flops_per_cycle": (above_0, math.inf),
        "mu": (above_0, below_1),
        "rho": (above_0, below_1),
    }
    if group.battery_j is not None:
        limits["battery_j"] = (0.0, 1e15)
    for name, (lower, upper) in limits.items():
        low, high = getattr(group, name)
        if not lower <= low <= high <= upper:
            allowed = f"must be [low, high] with {lower:.6g} ≤ low ≤ high ≤ {upper:.6g}"
            related = ("region_m", f"{where}.cpu_min_hz")
            yield _wrong_value(f"{where}.{name}", [low, high], allowed, *related)
    if group.area_m is not None:
        x0, y0, x1, y1 = group.area_m
        if not (0 <= x0 <= x1 <= region_m[0] and 0 <= y0 <= y1 <= region_m[1]):
            allowed = f"must be x0 ≤ x1 ≤ {region_m[0]:g}, y0 ≤ y1 ≤ {region_m[1]:g}, from 0"
            yield _wrong_value(f"{where}.area_m", group.area_m, allowed, "region_m")
    for index, shape in enumerate(group.weibull_shapes):
        if shape <= 0:
            yield _wrong_value(f"{where}.weibull_shapes.{index}", shape, "must be > 0")
    if group.min_power_dbm is not None and group.min_power_dbm > group.max_power_dbm[0]:
        allowed = f"must be ≤ max_power_dbm = {format_value(list(group.max_power_dbm))}"
        field, limit = f"{where}.min_power_dbm", f"{where}.max_power_dbm"
        yield _wrong_value(field, group.min_power_dbm, allowed, limit)
    if "proximal" in group.optimizers and group.learning_rate * group.mu[1] >= 1:
        yield _learning_rate_fault(where, group.learning_rate, group.mu[1])


def theorem_faults(devices: Sequence[DeviceSettings], max_steps: int) -> Iterator[Fault]:
    """Yield the devices outside Theorem 1's conditions, for which its bound is not proven."""
    for index, device in enumerate(devices):
        where = f"devices.{index}"
        match device.optimizer:
            case Momentum(rho=rho):
                yield from _momentum_faults(f"{where}.optimizer.rho", rho)
            case Proximal(mu=mu):
                rate = device.learning_rate
                yield from _learning_rate_faults(f"{where}.learning_rate", rate, mu, max_steps)


def scenario_theorem_faults(scenario: Scenario) -> Iterator[Fault]:
    """Yield the same faults for a scenario's listed and drawn devices.

    Where the step is searched, the learning rate is not the step that is taken. Runs then check in
    every round how far devices really went.
    """
    max_steps = scenario.learning.steps_per_iteration * scenario.max_iterations
    if scenario.learning.step == "searched":
        max_steps = 0  # any rate will do
    yield from theorem_faults(scenario.devices, max_steps)
    for index, group in enumerate(scenario.fleet):
        where = f"fleet.{index}"
        if "momentum" in group.optimizers:
            yield from _momentum_faults(f"{where}.rho", group.rho[1])
        if "proximal" in group.optimizers:
            rate, mu = group.learning_rate, group.mu[1]
            yield from _learning_rate_faults(f"{where}.learning_rate", rate, mu, max_steps)


def _momentum_faults(field: str, rho: float) -> Iterator[Fault]:
    if rho >= MOMENTUM_LIMIT:
        yield _wrong_value(field, rho, f"Theorem 1 needs < {MOMENTUM_LIMIT:.4f}")


def _learning_rate_faults(field: str, rate: float, mu: float, steps: int) -> Iterator[Fault]:
    limit = learning_rate_limit(mu, steps)
    if rate >= limit:
        allowed = f"Theorem 1 needs < 1/(2·{steps}·{mu:g}) = {limit:.4g}"
        yield _wrong_value(field, rate, allowed)
