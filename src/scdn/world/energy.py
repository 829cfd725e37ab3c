"""The energy of transmission, of processing and of the server's movement, in joules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, floats
from scdn.scenario import Movement


def transmission_j(power_w: ArrayLike, delay_s: ArrayLike) -> Array:
    """Return the energy of sending for `delay_s` at `power_w`, P·delay; 0 at power 0."""
    power, time = np.broadcast_arrays(floats(power_w), floats(delay_s))
    return np.multiply(power, time, out=np.zeros(power.shape), where=power > 0)


def cycles(
    steps: ArrayLike, batch_size: int, connections: ArrayLike, flops_per_cycle: ArrayLike
) -> Array:
    """Return the clock cycles of `steps` training steps: 3 FLOPs per connection and sample."""
    work = 3.0 * floats(steps) * batch_size * floats(connections)
    return work / floats(flops_per_cycle)


def processing_j(cycles_: ArrayLike, capacitance: ArrayLike, cpu_hz: ArrayLike) -> Array:
    """Return the energy of computing, capacitance/2·g² per cycle at a clock g."""
    return floats(cycles_) * floats(capacitance) / 2 * np.square(floats(cpu_hz))


def least_cpu_hz(cycles_: ArrayLike, deadline_s: float, cpu_min_hz: ArrayLike) -> Array:
    """Return the slowest clock that meets the deadline; it may exceed the device's fastest."""
    return np.maximum(floats(cycles_) / deadline_s, floats(cpu_min_hz))


class MovementJ(NamedTuple):
    """The server's energy in a round, by kind."""

    hover: Array
    climb: Array
    lateral: Array

    @property
    def total(self) -> Array:
        """Return the sum of the three."""
        return self.hover + self.climb + self.lateral


@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def movement_j(
    before_m: ArrayLike, after_m: ArrayLike, movement: Movement, ceiling_m: float
) -> MovementJ:
    """Return the energy of hovering at the new height, of climbing there and of flying sideways.

    Climbing to the ceiling takes infinite energy, and so does hovering many scales high; staying at
    the ceiling or sinking takes none.
    """
    before, after = floats(before_m), floats(after_m)
    z_before, z = np.broadcast_arrays(before[..., 2], after[..., 2])
    height = np.exp(z / movement.altitude_scale_m)
    hover = movement.hover_j * height if movement.hover_j else np.zeros_like(height)
    rises = z > z_before
    steepness = np.log(np.where(rises, ceiling_m - z_before, 1.0)) - np.log(
        np.where(rises, ceiling_m - z, 1.0)
    )
    climb = movement.climb_j * steepness if movement.climb_j else np.zeros_like(steepness)
    step = after[..., :2] - before[..., :2]
    lateral = movement.lateral_j_per_m * np.hypot(step[..., 0], step[..., 1])
    return MovementJ(hover, climb, lateral)
