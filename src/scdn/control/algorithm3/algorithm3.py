"""The paper's Algorithm 3: a sequence of geometric programs P′, each around the last solution.

It follows the appendix, so its answer is only as good as the paper's approximations; `repair` turns
it into a plan that holds under the true model. docs/paper-notes.md lists what had to be decided
where the paper is silent. The steps, in order:

1. `feasible_point` chooses [x]^0;
2. `posynomials` and `monomial_approximation` approximate P^r's sums by monomials around [x]^b;
3. `geometric_program` puts them into P′ and solves it with CVXPY, which gives [x]^{b+1};
4. steps 2 and 3 are repeated until two consecutive solutions agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scdn.arrays import Array
from scdn.control.algorithm3.feasible_point import feasible_point
from scdn.control.algorithm3.geometric_program import GeometricProgram
from scdn.control.algorithm3.monomial_approximation import Point
from scdn.control.algorithm3.program_constants import (
    Algorithm3Settings,
    ProgramConstants,
    program_constants,
)
from scdn.control.algorithm3.repair import repair
from scdn.control.evaluation import Decision, evaluate
from scdn.control.problem import RoundProblem

__all__ = ["Algorithm3Result", "Algorithm3Settings", "repair", "solve_algorithm3"]


@dataclass(frozen=True, eq=False)
class Algorithm3Result:
    """Algorithm 3's last solution, as found and repaired, and the course of its iterations."""

    raw: Decision  # relaxed iterations as found; α rounded at settings.active_from
    repaired: Decision
    relaxed_active: Array  # α as found
    surrogate: Array  # objective of P′ after each iteration
    true_objective: Array  # of the repaired decision after each iteration
    change: Array  # largest change of a control in each iteration, relative to its range
    converged: bool
    iterations: int
    solver: str  # of the last iteration; "" if none was needed


DEFAULT = Algorithm3Settings()


def solve_algorithm3(
    problem: RoundProblem, settings: Algorithm3Settings = DEFAULT
) -> Algorithm3Result:
    """Run Algorithm 3 from the server's present position."""
    if len(problem) == 0:
        return _without_devices(problem)
    # numbers beyond a float's range end the iterations early, not the program
    with np.errstate(all="ignore"):
        return _iterate(problem, settings)


def _iterate(problem: RoundProblem, settings: Algorithm3Settings) -> Algorithm3Result:
    constants = program_constants(problem, settings)
    point = feasible_point(constants)
    program = GeometricProgram(constants, point)
    surrogate, true, change, solver = list[float](), list[float](), list[float](), ""
    converged = False
    while len(surrogate) < settings.iterations and not converged:
        solution = program.solve(point)
        if solution is None:  # keep the last good iterate
            break
        change.append(_change(constants, point, solution.point))
        converged = change[-1] < settings.tolerance
        point, solver = solution.point, solution.solver
        surrogate.append(solution.objective)
        true.append(evaluate(problem, repair(problem, _decision(constants, point))).objective)
    raw = _decision(constants, point)
    return Algorithm3Result(
        raw=raw,
        repaired=repair(problem, raw),
        relaxed_active=point["active"],
        surrogate=np.array(surrogate),
        true_objective=np.array(true),
        change=np.array(change),
        converged=converged,
        iterations=len(surrogate),
        solver=solver,
    )


def _change(constants: ProgramConstants, before: Point, after: Point) -> float:
    """Return the largest change of a control, each relative to its range."""
    controls = constants.upper.items()
    return max(float(np.max(np.abs(after[n] - before[n]) / limit)) for n, limit in controls)


def _decision(constants: ProgramConstants, point: Point) -> Decision:
    """Return the controls of an iterate, clipped to their limits: solvers exceed them a little."""
    problem = constants.problem
    server = np.array([point[axis] for axis in "xyz"])
    return Decision(
        server_m=np.clip(server, 0.0, problem.region_m),
        active=point["active"] >= constants.settings.active_from,
        iterations=np.clip(point["iterations"], 0.0, problem.iteration_cap()),
        power_w=np.clip(point["power"], 0.0, problem.max_power_w),
        cpu_hz=np.clip(point["cpu"], problem.cpu_min_hz, problem.cpu_max_hz),
    )


def _without_devices(problem: RoundProblem) -> Algorithm3Result:
    """Land the server: sinking is free, and hovering is cheapest on the ground."""
    ground = problem.server_m * [1.0, 1.0, 0.0]
    none = np.zeros(0)
    raw = Decision(ground, none.astype(bool), none, none, none)
    repaired = repair(problem, raw)
    return Algorithm3Result(raw, repaired, none, none, none, none, True, 0, "")
