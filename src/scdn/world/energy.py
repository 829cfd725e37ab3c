"""The energy of transmission and of processing, in joules."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, floats


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


def least_cpu_hz(cycles_: ArrayLike, deadline_s: ArrayLike, cpu_min_hz: ArrayLike) -> Array:
    """Return the slowest clock that meets the deadline; it may exceed the device's fastest."""
    return np.maximum(floats(cycles_) / floats(deadline_s), floats(cpu_min_hz))
