"""The plan of a round: the method's own, or a fallback where that one breaks a limit."""

from __future__ import annotations

import time
import warnings
from copy import deepcopy
from dataclasses import replace

import numpy as np

from scdn.control.plan import Plan, make_plan
from scdn.control.problem import RoundProblem
from scdn.control.solve import Solver, solve
from scdn.errors import input_error
from scdn.methods import (
    PLAN_BOXES,
    PLAN_GAP,
    Method,
    RoundContext,
    exact_controller,
    mission_controller,
)

FALLBACKS: tuple[Solver, ...] = ("greedy-matched", "exact")  # tried in this order


def plan_round(
    method: Method, problem: RoundProblem, context: RoundContext
) -> tuple[Plan, Solver | None]:
    """Return a plan that keeps every limit but the delay, and the fallback that made it, if any.

    A report that would be late fails when the round is realised, and that is recorded; every other
    broken limit would make the round impossible. A controller whose package is missing is an error.
    """
    began = time.perf_counter()
    try:
        plan = method.controller(problem, replace(context, rng=deepcopy(context.rng)))
        if not plan.problem.integer_iterations:
            plan = _with_whole_iterations(plan)
        if _is_feasible(plan):
            return replace(plan, solve_seconds=time.perf_counter() - began), None
    except ImportError as error:  # every round would lack it
        fault = f"needs a package that is not installed ({error})"
        raise input_error("method", method.name, fault, "install it") from error
    except Exception as error:  # a user's controller and its solver may raise anything
        if method.controller in (exact_controller, mission_controller):
            raise
        warnings.warn(f"{method.name}: {error}", stacklevel=2)
    return _fallback_plan(problem)


def _fallback_plan(problem: RoundProblem) -> tuple[Plan, Solver]:
    for solver in FALLBACKS:
        plan = solve(problem, solver, gap=PLAN_GAP, max_boxes=PLAN_BOXES)
        if _is_feasible(plan):
            return plan, solver
    constraint = plan.evaluation.violations[0].constraint
    raise input_error("plan", constraint, "no plan keeps it", "check region and keep-outs")


def _is_feasible(plan: Plan) -> bool:
    return all(broken.constraint == "max_delay_s" for broken in plan.evaluation.violations)


def _with_whole_iterations(plan: Plan) -> Plan:
    """Round the iterations of a relaxed plan, and raise the clocks that these need."""
    problem, decision = plan.problem, plan.decision
    iterations = np.minimum(np.rint(decision.iterations), np.floor(problem.most_iterations()))
    cpu_hz = np.maximum(decision.cpu_hz, problem.least_cpu_hz(iterations))
    rounded = decision._replace(iterations=iterations, cpu_hz=cpu_hz)
    return make_plan(problem, plan.solver, "heuristic", rounded, 0.0)
