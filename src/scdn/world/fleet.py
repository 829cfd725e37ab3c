"""The fleet: devices as arrays of positions, hardware, optimisers and lifetimes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from scdn.arrays import Array, IntArray, floats
from scdn.rng import generator
from scdn.scenario import (
    CustomOptimizer,
    DeviceGroup,
    ListedDevice,
    OptimizerKind,
    Scenario,
)
from scdn.world.decibels import dbm_to_w
from scdn.world.device_optimizers import optimizer_columns

_OPTIONAL = ("bandwidth_hz", "battery_j")  # columns with NaN where a device has no number
OPTIMIZERS: tuple[OptimizerKind, ...] = get_args(OptimizerKind)  # SGD, PROXIMAL, MOMENTUM


@dataclass(frozen=True, eq=False)
class Fleet:
    """Devices, one per entry of every array; the fields are those of a `ListedDevice`."""

    id: NDArray[np.object_]
    kind: NDArray[np.object_]
    position_m: Array
    max_power_w: Array
    min_power_w: Array
    wall_loss_db: Array
    payload_bits: Array
    bandwidth_hz: Array  # NaN where the radio's holds
    cpu_min_hz: Array
    cpu_max_hz: Array
    capacitance: Array
    connections: Array
    flops_per_cycle: Array
    learning_rate: Array
    optimizer: IntArray  # an index into OPTIMIZERS
    optimizer_value: Array  # mu, rho, or 0
    custom_optimizer: NDArray[np.object_]  # its name; "" for the optimizers of OPTIMIZERS
    weibull_shape: Array
    weibull_scale_rounds: Array
    battery_j: Array  # NaN where it is unlimited

    def __len__(self) -> int:
        return len(self.id)

    def take(self, which: NDArray[Any]) -> Fleet:
        """Return the devices that a mask or an array of indices selects."""
        return Fleet(**{f.name: getattr(self, f.name)[which] for f in fields(self)})

    @staticmethod
    def concatenate(fleets: Sequence[Fleet]) -> Fleet:
        """Join fleets into one, in order."""
        names = [f.name for f in fields(Fleet)]
        return Fleet(**{n: np.concatenate([getattr(fleet, n) for fleet in fleets]) for n in names})

    @staticmethod
    def from_devices(devices: Sequence[ListedDevice]) -> Fleet:
        """Make a fleet of listed devices."""

        def column(name: str) -> Array:
            return np.array([getattr(device, name) for device in devices], dtype=np.float64)

        optimizer, optimizer_value = optimizer_columns(devices)
        special = {
            "id": string_array(device.id for device in devices),
            "kind": string_array(device.kind for device in devices),
            "position_m": column("position_m").reshape(-1, 3),
            "optimizer": optimizer,
            "optimizer_value": optimizer_value,
            "custom_optimizer": string_array(
                device.optimizer.name if isinstance(device.optimizer, CustomOptimizer) else ""
                for device in devices
            ),
        }
        plain = {f.name: column(f.name) for f in fields(Fleet) if f.name not in special}
        return Fleet(**special, **plain)  # type: ignore[arg-type]

    def to_devices(self) -> list[ListedDevice]:
        """Return the devices one by one: the inverse of `from_devices`."""
        return [self._device(index) for index in range(len(self))]

    def _device(self, index: int) -> ListedDevice:
        special = ("id", "kind", "position_m", *_OPTIONAL)
        plain = [f.name for f in fields(self) if f.name not in special and "optim" not in f.name]
        optional = {name: float(getattr(self, name)[index]) for name in _OPTIONAL}
        return ListedDevice.model_validate(
            {
                "id": self.id[index],
                "kind": self.kind[index],
                "position_m": self.position_m[index].tolist(),
                **{name: None if np.isnan(x) else x for name, x in optional.items()},
                "optimizer": self._optimizer_settings(index),
                **{name: float(getattr(self, name)[index]) for name in plain},
            }
        )

    def _optimizer_settings(self, index: int) -> dict[str, Any]:
        if self.custom_optimizer[index]:
            return {"kind": "custom", "name": self.custom_optimizer[index]}
        kind, number = OPTIMIZERS[self.optimizer[index]], float(self.optimizer_value[index])
        parameters = {"proximal": {"mu": number}, "momentum": {"rho": number}}
        return {"kind": kind, **parameters.get(kind, {})}

    def bandwidth_or(self, radio_hz: float) -> Array:
        """Return each device's bandwidth: its own, or the radio's where it has none."""
        return np.where(np.isnan(self.bandwidth_hz), radio_hz, self.bandwidth_hz)


def string_array(texts: Iterable[str]) -> NDArray[np.object_]:
    """Make an array of texts that can be indexed like the columns of numbers."""
    return np.array([*texts], dtype=object)


def initial_fleet(scenario: Scenario) -> Fleet:
    """Return the devices present at the start: the listed ones, then each group's."""
    drawn = [
        draw_group(group, group.count, generator(scenario.seed, "fleet", index), scenario.region_m)
        for index, group in enumerate(scenario.fleet)
    ]
    return Fleet.concatenate([Fleet.from_devices(scenario.devices), *drawn])


def draw_group(
    group: DeviceGroup,
    count: int,
    draw: np.random.Generator,
    region_m: tuple[float, float, float],
    first_number: int = 1,
) -> Fleet:
    """Draw `count` devices of a group, named from `kind-first_number` on.

    Each device has its own row of random numbers, so that more devices do not change the first.
    """
    uniforms = draw.uniform(0.0, 1.0, (count, 11))

    def uniform(column: int, limits: tuple[float, float]) -> Array:
        return limits[0] + uniforms[:, column] * (limits[1] - limits[0])

    def one_of(column: int, options: Array | IntArray) -> NDArray[Any]:
        return options[(uniforms[:, column] * len(options)).astype(np.int64)]

    def same(number: float) -> Array:
        return np.full(count, number)

    x0, y0, x1, y1 = group.area_m or (0.0, 0.0, region_m[0], region_m[1])
    sides = ((x0, x1), (y0, y1), group.altitude_m)
    walls, battery = group.wall_loss_db, group.battery_j or (np.nan, np.nan)
    wall_draw, battery_draw = draw.spawn(2)
    kinds = np.array([OPTIMIZERS.index(kind) for kind in group.optimizers], dtype=np.int64)
    optimizer = one_of(9, kinds)
    mu, rho = uniform(7, group.mu), uniform(8, group.rho)
    return Fleet(
        id=string_array(f"{group.kind}-{first_number + i}" for i in range(count)),
        kind=string_array([group.kind] * count),
        position_m=np.stack([uniform(axis, side) for axis, side in enumerate(sides)], axis=1),
        max_power_w=10 ** (uniform(3, group.max_power_dbm) / 10) * 1e-3,
        min_power_w=same(0.0 if group.min_power_dbm is None else dbm_to_w(group.min_power_dbm)),
        wall_loss_db=walls[0] + wall_draw.uniform(0.0, 1.0, count) * (walls[1] - walls[0]),
        payload_bits=same(group.payload_bits),
        bandwidth_hz=same(np.nan if group.bandwidth_hz is None else group.bandwidth_hz),
        cpu_min_hz=same(group.cpu_min_hz),
        cpu_max_hz=uniform(4, group.cpu_max_hz),
        capacitance=uniform(5, group.capacitance),
        connections=same(group.connections),
        flops_per_cycle=uniform(6, group.flops_per_cycle),
        learning_rate=same(group.learning_rate),
        optimizer=optimizer,
        optimizer_value=np.choose(optimizer, [np.zeros(count), mu, rho]),
        custom_optimizer=string_array([""] * count),
        weibull_shape=one_of(10, floats(group.weibull_shapes)),
        weibull_scale_rounds=same(group.weibull_scale_rounds),
        battery_j=battery[0] + battery_draw.uniform(0.0, 1.0, count) * (battery[1] - battery[0]),
    )
