"""Max VFL: everything at its maximum, the server stays where it is."""

from __future__ import annotations

import numpy as np

from scdn.arrays import Array
from scdn.control.problem import Decision, RoundProblem


def max_vfl(problem: RoundProblem, *, matched: bool = False) -> Decision:
    """All who can report in time at full power do, with the most iterations their clock allows."""
    return at_maximum(problem, problem.server_m, matched=matched)


def at_maximum(
    problem: RoundProblem,
    server_m: Array,
    *,
    matched: bool = False,
    iterations: Array | None = None,
) -> Decision:
    """Everything at its maximum with the server at `server_m`; who is out of reach is off.

    `matched` keeps the iterations but takes the least power and clock that suffice. `iterations`
    are run in place of the most that a clock allows.
    """
    least = problem.least_power(server_m)
    active = least <= problem.max_power_w
    if iterations is None:
        iterations = problem.most_iterations()
        if problem.integer_iterations:
            iterations = np.floor(iterations * (1 + 1e-12))
    iterations = np.where(active, iterations, 0.0)
    power = np.where(active, least if matched else problem.max_power_w, 0.0)
    clock = problem.least_cpu_hz(iterations)
    if not matched:
        clock = np.where(active, problem.cpu_max_hz, clock)
    return Decision(server_m, active, iterations, power, clock)
