"""Devices' optimisers as the columns of numbers that the fleet and a round's problem hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scdn.arrays import Array, IntArray
from scdn.scenario import DeviceSettings, Momentum, Proximal
from scdn.theory import MOMENTUM, PROXIMAL, SGD


def optimizer_columns(devices: Sequence[DeviceSettings]) -> tuple[IntArray, Array]:
    """Return each device's optimiser as scdn.theory counts them, and its mu, rho, or 0."""
    kinds = np.full(len(devices), SGD, dtype=np.int64)
    numbers = np.zeros(len(devices))
    for index, device in enumerate(devices):
        match device.optimizer:
            case Proximal(mu=mu):
                kinds[index], numbers[index] = PROXIMAL, mu
            case Momentum(rho=rho):
                kinds[index], numbers[index] = MOMENTUM, rho
    return kinds, numbers
