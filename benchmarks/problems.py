"""Random problems of one round, for the benchmarks: the same size, family and seed, the same one.

default     the contract's defaults; devices uniform in the 100 m cube, half of them on the ground;
            hardware, importance, survival and optimizers drawn
worth it    the same with the initial loss scaled by N/10: the bound spreads that loss over N
            devices, so by default the more devices, the less each is worth hearing
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from scdn.control.plan_request import make_request, problem_of
from scdn.control.problem import RoundProblem
from scdn.scenario import DeviceSettings
from scdn.theory import MOMENTUM, PROXIMAL, SGD

Family = Literal["default", "worth it"]
FAMILIES: tuple[Family, ...] = get_args(Family)
SIDE = 100.0
_SAME = (  # as the contract has it for every device
    "payload_bits",
    "cpu_min_hz",
    "cpu_max_hz",
    "capacitance",
    "connections",
    "learning_rate",
    "smoothness",
    "gradient_variance",
)


def random_problem(devices: int, seed: int, family: Family = "default") -> RoundProblem:
    """One round with so many random devices and the server in the middle."""
    middle = {"position_m": [SIDE / 2] * 3}
    empty = problem_of(make_request({"region_m": [SIDE] * 3, "server": middle, "devices": []}))
    learning = empty.learning
    if family == "worth it":
        scaled = learning.initial_loss * devices / 10
        learning = learning.model_copy(update={"initial_loss": scaled})
    same = {name: np.full(devices, DeviceSettings.model_fields[name].default) for name in _SAME}
    draw = np.random.default_rng([devices, seed])
    place = draw.uniform(0, SIDE, (devices, 3))
    place[::2, 2] = 0
    kind = draw.choice([SGD, PROXIMAL, MOMENTUM], devices)
    mu, rho = draw.uniform(0.1, 0.5, devices), draw.uniform(0.05, 0.28, devices)
    return replace(
        empty,
        learning=learning,
        count=devices,
        ids=tuple(f"d{index}" for index in range(devices)),
        position_m=place,
        bandwidth_hz=np.full(devices, empty.radio.bandwidth_hz),
        max_power_w=10 ** draw.uniform(-0.7, -0.5, devices),  # 23 to 25 dBm
        flops_per_cycle=draw.uniform(0.0038, 0.0072, devices),
        importance=draw.uniform(1, 5, devices),
        survival=draw.uniform(0.9, 1, devices),
        gradient_bound_sq=draw.uniform(0.005, 0.06, devices),
        optimizer=kind,
        optimizer_value=np.where(kind == PROXIMAL, mu, np.where(kind == MOMENTUM, rho, 0.0)),
        **same,
    )
