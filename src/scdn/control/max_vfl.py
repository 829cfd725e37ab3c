"""Max VFL: power, clock and iterations at their maximum; the server stays where it is."""

from __future__ import annotations

import numpy as np

from scdn.arrays import Array
from scdn.control.evaluation import Decision
from scdn.control.problem import RoundProblem


def max_vfl(problem: RoundProblem, *, matched: bool = False) -> Decision:
    """Make every device in reach active, at full power and with the most iterations possible."""
    return at_maximum(problem, problem.server_m, matched=matched)


def at_maximum(
    problem: RoundProblem,
    server_m: Array,
    *,
    matched: bool = False,
    iterations: Array | None = None,
) -> Decision:
    """Set everything to its maximum with the server at `server_m`; devices out of reach are off.

    `matched` keeps the iterations but takes the least power and clock that suffice. `iterations`
    replaces the most that the clocks allow.
    """
    least_power = problem.least_power(server_m)
    active = least_power <= problem.max_power_w
    wanted = problem.iteration_limit() if iterations is None else iterations
    iterations = np.where(active, wanted, 0.0)
    power = np.where(active, least_power if matched else problem.max_power_w, 0.0)
    cpu_hz = problem.least_cpu_hz(iterations)
    if not matched:
        cpu_hz = np.where(active, problem.cpu_max_hz, cpu_hz)
    return Decision(server_m, active, iterations, power, cpu_hz)
