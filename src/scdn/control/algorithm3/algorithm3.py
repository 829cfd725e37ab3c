"""The paper's Algorithm 3: a sequence of geometric programs P′, each around the last solution.

Faithful to the appendix, so its answer is only as good as the paper's approximations; `repair`
turns it into a plan that holds under the true model, and `evaluate` says what either is worth.
What had to be decided where the paper is silent stands in docs/paper-notes.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scdn.arrays import Array
from scdn.control.algorithm3.geometric_program import GeometricProgram
from scdn.control.algorithm3.gp_model import (
    Algorithm3Settings,
    ProgramConstants,
    feasible_point,
    program_constants,
)
from scdn.control.algorithm3.monomial_approximation import Point
from scdn.control.algorithm3.repair import repair
from scdn.control.problem import Decision, RoundProblem, evaluate

__all__ = ["Algorithm3Result", "Algorithm3Settings", "repair", "solve_algorithm3"]


@dataclass(frozen=True, eq=False)
class Algorithm3Result:
    """What Algorithm 3 found, and what can be done with it."""

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
    """Algorithm 3 from the server's present place."""
    if len(problem) == 0:
        return _nobody(problem)
    # numbers beyond a float's range end the iterations early, not the program
    with np.errstate(all="ignore"):
        return _iterate(problem, settings)


def _iterate(problem: RoundProblem, settings: Algorithm3Settings) -> Algorithm3Result:
    given = program_constants(problem, settings)
    point = feasible_point(given)
    program = GeometricProgram(given, point)
    surrogate, true, change, solver = list[float](), list[float](), list[float](), ""
    converged = False
    while len(surrogate) < settings.iterations and not converged:
        found = program.solve(point)
        if found is None:  # keep the last good iterate
            break
        objective, after, solver = found
        change.append(_change(given, point, after))
        converged = change[-1] < settings.tolerance
        point = after
        surrogate.append(objective)
        true.append(evaluate(problem, repair(problem, _decision(given, point))).objective)
    raw = _decision(given, point)
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


def _change(given: ProgramConstants, before: Point, after: Point) -> float:
    """The largest change of a control, each relative to its range."""
    controls = given.upper.items()
    return max(float(np.max(np.abs(after[n] - before[n]) / limit)) for n, limit in controls)


def _decision(given: ProgramConstants, point: Point) -> Decision:
    """The controls of an iterate; solver tolerance beyond a limit is cut off."""
    problem = given.problem
    place = np.array([point[axis] for axis in "xyz"])
    return Decision(
        server_m=np.clip(place, 0.0, problem.region_m),
        active=point["active"] >= given.settings.active_from,
        iterations=np.clip(point["iterations"], 0.0, problem.max_iterations),
        power_w=np.clip(point["power"], 0.0, problem.max_power_w),
        cpu_hz=np.clip(point["cpu"], problem.cpu_min_hz, problem.cpu_max_hz),
    )


def _nobody(problem: RoundProblem) -> Algorithm3Result:
    """Without devices the server only has to land: sinking is free, hovering cheapest low."""
    place = problem.server_m * [1.0, 1.0, 0.0]
    none = np.zeros(0)
    raw = Decision(place, none.astype(bool), none, none, none)
    repaired = repair(problem, raw)
    return Algorithm3Result(raw, repaired, none, none, none, none, True, 0, "")
