"""Algorithm 3's first step: a feasible point [x]^0."""

from __future__ import annotations

import numpy as np

from scdn.arrays import Array
from scdn.control.algorithm3.monomial_approximation import Point
from scdn.control.algorithm3.program_constants import FAINT, TINY, ProgramConstants
from scdn.control.problem import RoundProblem


def feasible_point(constants: ProgramConstants) -> Point:
    """Return [x]^0: no iterations, full power, the server in place, auxiliaries as defined.

    At a face of the region the server starts a little inside: a coordinate of 0 has no logarithm,
    and one near 0 next to no slope. χ^L and P^A start above their definitions (a tenth of the
    region, a climb of a tenth); condensed at 0 they would hold the server where it is.
    """
    problem, lower, upper = constants.problem, constants.lower, constants.upper
    size, before = problem.region_m, problem.server_m
    margin = constants.settings.start_margin * size
    server = np.clip(before, margin, size - margin)
    distance_sq = np.maximum(((server - problem.position_m) ** 2).sum(axis=1), lower["distance_sq"])
    height = np.maximum(np.abs(server[2] - problem.position_m[:, 2]), TINY)
    sine = height / np.sqrt(distance_sq)
    angle = constants.los_slope * (sine + sine**3 / 6)
    exponential = np.maximum(constants.los_offset - angle, 1e-6)
    los = 1 / (1 + constants.los_scale * exponential)
    power = 0.999 * upper["power"]
    excess = constants.los_loss * los + constants.nlos_loss * (1 - los)
    delay = _surrogate_delay(problem, power, excess * distance_sq**constants.half_exponent)
    active = np.minimum(1.0, 0.99 * problem.max_delay_s / np.maximum(delay, FAINT))
    iterations = np.minimum(constants.settings.start_iterations, upper["iterations"])
    climb = max((size[2] - before[2]) / (size[2] - server[2]) - 1, 0.1)
    lateral = max(np.hypot(*(server - before)[:2]), 0.1 * size[:2].min())
    point: dict[str, Array] = {
        "power": power,
        "cpu": np.minimum(np.sqrt(lower["cpu"] * upper["cpu"]), 2 * lower["cpu"]),
        "iterations": iterations,
        "active": active,
        "distance_sq": distance_sq,
        "height": height,
        "idle_iterations": iterations * (1 - active),
        "los_slack": np.maximum(angle + exponential - constants.los_offset, 1e-6),
        "los_exponential": exponential,
        "los": los,
        "nlos": 1 - los,
        "x": server[0],
        "y": server[1],
        "z": server[2],
        "lateral_sq": np.array(lateral**2),
        "climb": np.array(climb),
        "climb_slack": np.array(1e-3),
        "climb_factor": np.array(1 + climb),
    }
    return {name: np.maximum(point[name], lower[name]) for name in point}


def _surrogate_delay(problem: RoundProblem, power: Array, loss: Array) -> Array:
    """Return E^Tx/P of app_eq:post_pade_energy_tx; `loss` includes the noise."""
    bits = 2 * problem.payload_bits * np.log(2.0) / problem.bandwidth_hz
    return bits * loss * (3 * loss + 2 * power) / (power * (6 * loss + power))
