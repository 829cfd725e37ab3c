"""One round of a drawn network as a job: its problem, and what solvers make of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from scdn.control.exact.branch_and_bound import ExactResult, exact
from scdn.control.problem import Decision, RoundProblem, evaluate
from scdn.control.request import problem_of, request_of
from scdn.paper.artefact import Setting
from scdn.paper.digits import short
from scdn.paper.jobs import Job
from scdn.scenario import Scenario, make_scenario
from scdn.world.fleet import initial_fleet
from scdn.world.geometry import server_start

if TYPE_CHECKING:
    from scdn.control.algorithm3.algorithm import GeometricResult

STARTS = ("centre", "random", "origin", "max", "random-edge")
GAP = 1e-4  # to which optima are proven
_FINEST = 1e-9  # below it rounding is in the way
_BOXES = 100_000  # enough, but where a device is only just in reach
NEVER_S = 1e9  # stands for a report that never ends
GROUND_M = 1.0  # so near is there


def network_job(key: str, work: str, setting: Setting, settings: Iterable[str], **more: Any) -> Job:
    """A job on the network of the artefact's scenario with these settings."""
    scenario = setting.scenario(settings).model_dump(mode="json", by_alias=True)
    return Job(key, work, {"scenario": scenario, **more})


def scenario_of(arguments: Mapping[str, Any]) -> Scenario:
    """A job's scenario."""
    return make_scenario(arguments["scenario"])


def drawn_problem(scenario: Scenario) -> RoundProblem:
    """The first round: the fleet as its seed draws it, nothing learned or measured yet."""
    devices = initial_fleet(scenario).listed()
    return problem_of(request_of(scenario, devices, tuple(server_start(scenario))))


def algorithm_3(problem: RoundProblem, **how: Any) -> GeometricResult:
    """The paper's solver."""
    from scdn.control.algorithm3.algorithm import (  # a page needs no CVXPY
        GeometricSettings,
        geometric,
    )

    return geometric(problem, GeometricSettings(**how))


def optimal(problem: RoundProblem) -> ExactResult:
    """The optimum, closely enough that what a device costs by being off hides nothing."""
    rough = exact(problem, GAP, max_boxes=_BOXES)
    idle = problem.convergence(np.zeros(len(problem)))[~rough.decision.active].sum()
    whole = evaluate(problem, rough.decision).objective
    rest = whole - problem.weights.convergence * float(idle)
    if idle == 0 or rest <= 0:
        return rough
    return exact(problem, max(GAP * rest / whole, _FINEST), max_boxes=_BOXES)


def described(problem: RoundProblem, decision: Decision) -> dict[str, Any]:
    """A decision in the plain numbers that figures show; who is off neither sends nor waits."""
    on = decision.active
    delay = np.minimum(evaluate(problem, decision).delay_s, NEVER_S)
    return {
        "active": [bool(active) for active in on],
        "iterations": short(decision.iterations),
        "power_w": short(np.where(on, decision.power_w, 0.0)),
        "delay_s": short(np.where(on, delay, 0.0)),
        "server_m": short(decision.server_m),
    }


def landed(moved_m: float, height_m: float) -> bool:
    """Whether the server has kept its xy-position and come down to the ground."""
    return moved_m <= GROUND_M and height_m <= GROUND_M
