"""Rules that tie several values of a scenario or a request together, and Theorem 1's conditions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

from scdn.errors import Fault, format_value
from scdn.scenario.definition import Scenario
from scdn.scenario.network_settings import DeviceGroup
from scdn.scenario.round_settings import DeviceSettings, Momentum, Movement, Proximal
from scdn.theory.theorem_1_conditions import MOMENTUM_LIMIT, learning_rate_limit

Coordinates = Sequence[float]

_LARGEST_M = 1e8


class Site(Protocol):
    """What a scenario and a plan request have in common: a region with obstacles and places."""

    @property
    def region_m(self) -> tuple[float, float, float]:
        """Its size."""

    @property
    def keep_out_m(self) -> Sequence[tuple[float, float, float, float, float, float]]:
        """Boxes the server must not be in."""

    @property
    def movement(self) -> Movement:
        """The server's limits in the air."""

    @property
    def candidates_m(self) -> Sequence[tuple[float, float, float]] | None:
        """The only places for the server, if given."""


def site_faults(site: Site) -> Iterator[Fault]:
    """Faults of the region, the keep-out boxes and the candidate places."""
    for axis, size in enumerate(site.region_m):
        if not 0 < size <= _LARGEST_M:
            yield Fault(
                f"region_m.{axis}", f"got {format_value(size)}", f"must be > 0 and ≤ {_LARGEST_M:g}"
            )
    for index, box in enumerate(site.keep_out_m):
        if any(low > high for low, high in zip(box[:3], box[3:], strict=True)):
            allowed = "must be x0, y0, z0, x1, y1, z1 with the first corner not above the second"
            yield Fault(f"keep_out_m.{index}", f"got {format_value(box)}", allowed)
    if site.candidates_m is None:
        return
    if not site.candidates_m:
        yield Fault(
            "candidates_m", "got an empty list", "needs at least one place, or leave it out"
        )
        return
    if not any(_free(place, site) for place in site.candidates_m):
        allowed = "needs one in the region, outside every keep-out box, on the ground or flying"
        of = ("region_m", "keep_out_m", "movement")
        yield Fault("candidates_m", "no place is allowed", allowed, of)


def _free(place: Coordinates, site: Site) -> bool:
    inside = all(0 <= x <= size for x, size in zip(place, site.region_m, strict=True))
    flies = place[2] == 0 or place[2] >= site.movement.min_flight_m
    boxes = site.keep_out_m
    return (
        inside
        and flies
        and not any(all(b[i] < place[i] < b[i + 3] for i in range(3)) for b in boxes)
    )


def outside_region_faults(field: str, place: Coordinates, region_m: Coordinates) -> Iterator[Fault]:
    """A fault if `place` is not in the region."""
    if not all(0 <= x <= size for x, size in zip(place, region_m, strict=True)):
        allowed = f"must be inside 0 … {format_value(list(region_m))}"
        yield Fault(field, f"got {format_value(list(place))}", allowed, ("region_m",))


def device_faults(devices: Sequence[DeviceSettings], region_m: Coordinates) -> Iterator[Fault]:
    """Faults of listed devices: names, places, clocks, step sizes."""
    seen: set[str] = set()
    for index, device in enumerate(devices):
        where = f"devices.{index}"
        if device.id in seen:
            yield Fault(f"{where}.id", f"got {format_value(device.id)} again", "must be unique")
        seen.add(device.id)
        yield from outside_region_faults(f"{where}.position_m", device.position_m, region_m)
        if device.cpu_min_hz > device.cpu_max_hz:
            found, most = f"got {format_value(device.cpu_min_hz)}", format_value(device.cpu_max_hz)
            of = (f"{where}.cpu_max_hz",)
            yield Fault(f"{where}.cpu_min_hz", found, f"must be ≤ cpu_max_hz = {most}", of)
        match device.optimizer:
            case Proximal(mu=mu) if device.learning_rate * mu >= 1:
                yield _too_fast(where, device.learning_rate, mu)


def _too_fast(where: str, rate: float, mu: float) -> Fault:
    allowed, of = (
        f"times mu = {format_value(mu)} must be < 1",
        (f"{where}.optimizer", f"{where}.mu"),
    )
    return Fault(f"{where}.learning_rate", f"got {format_value(rate)}", allowed, of)


def scenario_faults(scenario: Scenario) -> Iterator[Fault]:
    """Every rule that ties several values of a scenario together."""
    yield from site_faults(scenario)
    yield from device_faults(scenario.devices, scenario.region_m)
    if scenario.server.position_m is not None:
        yield from outside_region_faults(
            "server.position_m", scenario.server.position_m, scenario.region_m
        )
    for index, group in enumerate(scenario.fleet):
        yield from _group_faults(f"fleet.{index}", group, scenario.region_m)
    kinds = [group.kind for group in scenario.fleet]
    for index, kind in enumerate(kinds):
        if kind in kinds[:index]:
            yield Fault(f"fleet.{index}.kind", f"got {format_value(kind)} again", "must be unique")
    drawn = sum(group.count for group in scenario.fleet)
    if not (drawn or scenario.devices or scenario.devices_csv or scenario.churn.trace):
        allowed = "needs a [[fleet]] with count ≥ 1, or [[devices]]"
        yield Fault("fleet", "no device", allowed, ("devices", "devices_csv", "churn"))
    shares = [group.entry_share for group in scenario.fleet]
    if scenario.churn.entry_rate > 0 and shares and sum(shares) == 0:
        allowed = "some group must have entry_share > 0, or churn.entry_rate must be 0"
        yield Fault("fleet", "nobody can enter", allowed, ("churn",))


def _group_faults(where: str, group: DeviceGroup, region_m: Coordinates) -> Iterator[Fault]:
    nonnegative, positive = (0.0, math.inf), (math.nextafter(0, 1), math.inf)
    limits = {
        "altitude_m": (0.0, region_m[2]),
        "max_power_dbm": (-1000.0, 1000.0),
        "cpu_max_hz": (group.cpu_min_hz, math.inf),
        "capacitance": nonnegative,
        "flops_per_cycle": positive,
        "mu": (math.nextafter(0, 1), math.nextafter(1, 0)),
        "rho": (math.nextafter(0, 1), math.nextafter(1, 0)),
    }
    for name, (least, most) in limits.items():
        low, high = getattr(group, name)
        if not least <= low <= high <= most:
            yield Fault(
                f"{where}.{name}",
                f"got {format_value([low, high])}",
                f"must be [low, high] with {least:.6g} ≤ low ≤ high ≤ {most:.6g}",
                ("region_m", f"{where}.cpu_min_hz"),
            )
    if group.area_m is not None:
        x0, y0, x1, y1 = group.area_m
        if not (0 <= x0 <= x1 <= region_m[0] and 0 <= y0 <= y1 <= region_m[1]):
            yield Fault(
                f"{where}.area_m",
                f"got {format_value(group.area_m)}",
                f"must be x0 ≤ x1 ≤ {region_m[0]:g}, y0 ≤ y1 ≤ {region_m[1]:g}, from 0",
                ("region_m",),
            )
    for index, shape in enumerate(group.weibull_shapes):
        if shape <= 0:
            yield Fault(
                f"{where}.weibull_shapes.{index}", f"got {format_value(shape)}", "must be > 0"
            )
    if "proximal" in group.optimizers and group.learning_rate * group.mu[1] >= 1:
        yield _too_fast(where, group.learning_rate, group.mu[1])


def theorem_faults(devices: Sequence[DeviceSettings], most_steps: int) -> Iterator[Fault]:
    """Devices outside Theorem 1's conditions: allowed, but its bound is not proven for them."""
    for index, device in enumerate(devices):
        where = f"devices.{index}"
        match device.optimizer:
            case Momentum(rho=rho):
                yield from _momentum_outside(f"{where}.optimizer.rho", rho)
            case Proximal(mu=mu):
                yield from _rate_outside(
                    f"{where}.learning_rate", device.learning_rate, mu, most_steps
                )


def scenario_theorem_faults(scenario: Scenario) -> Iterator[Fault]:
    """The same for a scenario's listed and drawn devices."""
    most_steps = scenario.learning.steps_per_iteration * scenario.max_iterations
    yield from theorem_faults(scenario.devices, most_steps)
    for index, group in enumerate(scenario.fleet):
        where = f"fleet.{index}"
        if "momentum" in group.optimizers:
            yield from _momentum_outside(f"{where}.rho", group.rho[1])
        if "proximal" in group.optimizers:
            rate, mu = group.learning_rate, group.mu[1]
            yield from _rate_outside(f"{where}.learning_rate", rate, mu, most_steps)


def _momentum_outside(field: str, rho: float) -> Iterator[Fault]:
    if rho >= MOMENTUM_LIMIT:
        yield Fault(field, f"got {format_value(rho)}", f"Theorem 1 needs < {MOMENTUM_LIMIT:.4f}")


def _rate_outside(field: str, rate: float, mu: float, steps: int) -> Iterator[Fault]:
    limit = learning_rate_limit(mu, steps)
    if rate >= limit:
        allowed = f"Theorem 1 needs < 1/(2·{steps}·{mu:g}) = {limit:.4g}"
        yield Fault(field, f"got {format_value(rate)}", allowed)
