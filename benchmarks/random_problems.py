"""Random problems of one round; the same size, family and seed give the same problem.

default     the contract's defaults; devices uniform in the 100 m cube, half of them on the ground;
            hardware, importance, survival and optimizers are random
worth it    the same with the initial loss scaled by N/10. The bound spreads that loss over N
            devices, so by default a device is worth less the more devices there are
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
_DEFAULTS = (  # fields with the contract's default on every device
    "payload_bits",
    "min_power_w",
    "wall_loss_db",
    "cpu_min_hz",
    "cpu_max_hz",
    "capacitance",
    "connections",
    "learning_rate",
    "smoothness",
    "gradient_variance",
)


def random_problem(devices: int, seed: int, family: Family = "default") -> RoundProblem:
    """Return a round with random devices and the server in the centre."""
    server = {"position_m": [SIDE / 2] * 3}
    empty = problem_of(make_request({"region_m": [SIDE] * 3, "server": server, "devices": []}))
    learning = empty.learning
    if family == "worth it":
        scaled = learning.initial_loss * devices / 10
        learning = learning.model_copy(update={"initial_loss": scaled})
    defaults = {
        name: np.full(devices, DeviceSettings.model_fields[name].default) for name in _DEFAULTS
    }
    rng = np.random.default_rng([devices, seed])
    position = rng.uniform(0, SIDE, (devices, 3))
    position[::2, 2] = 0  # half of the devices are on the ground
    kind = rng.choice([SGD, PROXIMAL, MOMENTUM], devices)
    mu, rho = rng.uniform(0.1, 0.5, devices), rng.uniform(0.05, 0.28, devices)
    return replace(
        empty,
        learning=learning,
        ids=tuple(f"d{index}" for index in range(devices)),
        position_m=position,
        bandwidth_hz=np.full(devices, empty.radio.bandwidth_hz),
        max_power_w=10 ** rng.uniform(-0.7, -0.5, devices),  # 23 to 25 dBm
        flops_per_cycle=rng.uniform(0.0038, 0.0072, devices),
        importance=rng.uniform(1, 5, devices),
        survival=rng.uniform(0.9, 1, devices),
        gradient_bound_sq=rng.uniform(0.005, 0.06, devices),
        optimizer=kind,
        optimizer_value=np.where(kind == PROXIMAL, mu, np.where(kind == MOMENTUM, rho, 0.0)),
        **defaults,
    )
