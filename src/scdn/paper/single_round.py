"""One round of a drawn network as a job: its problem, and the plans of both solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from scdn.control.evaluation import Decision, evaluate
from scdn.control.exact.branch_and_bound import ExactResult, solve_exact
from scdn.control.plan_request import problem_of, request_for_round
from scdn.control.problem import RoundProblem
from scdn.paper.artefact import ArtefactSpec
from scdn.paper.summaries import rounded_list
from scdn.paper.sweep import ArtefactJob
from scdn.scenario import Scenario
from scdn.world.fleet import initial_fleet
from scdn.world.geometry import server_start

if TYPE_CHECKING:
    from scdn.control.algorithm3.algorithm3 import Algorithm3Result

STARTS = ("centre", "random", "origin", "max", "random-edge")
NEVER_S = 1e9  # recorded as the delay of a report that never arrives
_GAP = 1e-4  # to which optima are proven
_SMALLEST_GAP = 1e-9  # below this, rounding errors prevent a proof
_MAX_BOXES = 100_000  # enough, unless a device is only just in reach
AT_PLACE_M = 1.0  # a position this close to a place counts as being there


def scenario_job(
    key: str,
    function: Callable[..., dict[str, Any]],
    spec: ArtefactSpec,
    settings: Iterable[str],
    **arguments: Any,
) -> ArtefactJob:
    """Return a job on the artefact's scenario with these settings, and further arguments."""
    scenario = spec.scenario(settings).model_dump(mode="json", by_alias=True)
    return ArtefactJob(key, function, {"scenario": scenario, **arguments})


def first_round_problem(scenario: Scenario) -> RoundProblem:
    """Return the first round's problem: the fleet as its seed draws it, nothing learned yet."""
    devices = initial_fleet(scenario).to_devices()
    return problem_of(request_for_round(scenario, devices, tuple(server_start(scenario))))


def run_algorithm3(problem: RoundProblem, **settings: Any) -> Algorithm3Result:
    """Solve the problem with the paper's Algorithm 3."""
    from scdn.control.algorithm3.algorithm3 import (  # pages are written without CVXPY
        Algorithm3Settings,
        solve_algorithm3,
    )

    return solve_algorithm3(problem, Algorithm3Settings(**settings))


def solve_closely(problem: RoundProblem) -> ExactResult:
    """Solve the problem exactly, to a gap relative to the objective without inactive devices.

    What inactive devices cost is a constant that may hide everything else.
    """
    rough = solve_exact(problem, _GAP, max_boxes=_MAX_BOXES)
    inactive = problem.convergence(np.zeros(len(problem)))[~rough.decision.active].sum()
    objective = evaluate(problem, rough.decision).objective
    rest = objective - problem.weights.convergence * float(inactive)
    if inactive == 0 or rest <= 0:
        return rough
    gap = max(_GAP * rest / objective, _SMALLEST_GAP)
    return solve_exact(problem, gap, max_boxes=_MAX_BOXES)


def decision_numbers(problem: RoundProblem, decision: Decision) -> dict[str, Any]:
    """Return a decision as the plain numbers that figures show; 0 for inactive devices."""
    active = decision.active
    delay = np.minimum(evaluate(problem, decision).delay_s, NEVER_S)
    return {
        "active": [bool(flag) for flag in active],
        "iterations": rounded_list(decision.iterations),
        "power_w": rounded_list(np.where(active, decision.power_w, 0.0)),
        "delay_s": rounded_list(np.where(active, delay, 0.0)),
        "server_m": rounded_list(decision.server_m),
    }
