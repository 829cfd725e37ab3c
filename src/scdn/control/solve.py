"""Solve a round's problem with any of the solvers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Literal, get_args

import numpy as np

from scdn.arrays import Array
from scdn.control.evaluation import Decision
from scdn.control.exact.best_option import solve_best_exact
from scdn.control.exact.branch_and_bound import MAX_BOXES, ExactResult, solve_exact
from scdn.control.gsp import gsp
from scdn.control.max_vfl import max_vfl
from scdn.control.plan import Plan, make_plan
from scdn.control.problem import RoundProblem
from scdn.job_pool import map_ordered

Solver = Literal["exact", "paper", "greedy", "gsp", "greedy-matched", "gsp-matched"]
SOLVERS: tuple[Solver, ...] = get_args(Solver)

# Absurd numbers overflow quietly; a plan whose objective is not finite is refused.
_overflow = np.errstate(over="ignore", invalid="ignore", divide="ignore")

_HEURISTICS: dict[str, Callable[[RoundProblem], Decision]] = {
    "greedy": max_vfl,
    "gsp": gsp,
    "greedy-matched": partial(max_vfl, matched=True),
    "gsp-matched": partial(gsp, matched=True),
}


@_overflow
def solve(
    problem: RoundProblem,
    solver: Solver = "exact",
    *,
    gap: float = 1e-4,
    time_limit_s: float = math.inf,
    max_boxes: int = MAX_BOXES,
    warm_start: Array | None = None,
) -> Plan:
    """Return a plan for the round.

    Parameters
    ----------
    problem
        The round's problem; `problem_of` makes one from a plan request.
    solver
        `exact`: the global optimum with a proof. `paper`: Algorithm 3, as found and repaired.
        `greedy`: everything at its maximum, the server stays. `gsp`: the server at the position
        with the least mean delay, everything else at its maximum. The `-matched` ones take the
        least power and clock for the same iterations.
    gap
        Relative gap at which `exact` stops.
    time_limit_s, max_boxes
        Time or boxes of positions after which `exact` returns the best plan so far. With a limit
        of boxes, plans do not depend on the machine's speed.
    warm_start
        A server position that `exact` tries first.
    """
    start = time.perf_counter()
    if solver == "exact":
        optimum = solve_exact(
            problem, gap, time_limit_s=time_limit_s, max_boxes=max_boxes, warm_start=warm_start
        )
        return _exact_plan(problem, optimum, time.perf_counter() - start)
    if solver == "paper":
        return _algorithm3_plan(problem)
    decision = _HEURISTICS[solver](problem)
    return make_plan(problem, solver, "heuristic", decision, time.perf_counter() - start)


@_overflow
def solve_best(
    options: Sequence[RoundProblem],
    *,
    gap: float = 1e-4,
    time_limit_s: float = math.inf,
    max_boxes: int = MAX_BOXES,
    warm_start: Array | None = None,
) -> Plan:
    """Return the best plan over several variants of a round's problem, with one proof for all.

    The plan's `problem` is the variant that it is of, and its lower bound holds for every variant.
    The other parameters are those of `solve`.
    """
    start = time.perf_counter()
    best = solve_best_exact(
        options, gap, time_limit_s=time_limit_s, max_boxes=max_boxes, warm_start=warm_start
    )
    return _exact_plan(options[best.index], best.result, time.perf_counter() - start)


def _exact_plan(problem: RoundProblem, optimum: ExactResult, seconds: float) -> Plan:
    return make_plan(
        problem,
        "exact",
        optimum.status,
        optimum.decision,
        seconds,
        lower_bound=optimum.lower_bound,
        boxes=optimum.boxes,
    )


def _algorithm3_plan(problem: RoundProblem) -> Plan:
    from scdn.control.algorithm3.algorithm3 import solve_algorithm3  # CVXPY takes a second to load

    start = time.perf_counter()
    result = solve_algorithm3(problem)
    seconds = time.perf_counter() - start
    repaired = make_plan(problem, "paper", "heuristic", result.repaired, seconds)
    history = tuple(result.surrogate.tolist())
    return make_plan(
        problem, "paper", "heuristic", result.raw, seconds, history=history, repaired=repaired
    )


def solve_many(
    problems: Iterable[RoundProblem], solver: Solver = "exact", *, gap: float = 1e-4, jobs: int = 1
) -> Iterator[Plan]:
    """Yield plans for many problems, in order, from `jobs` processes."""
    solve_one = partial(solve, solver=solver, gap=gap)
    return map_ordered(solve_one, problems, workers=jobs, chunk_size=16, start_method=None)


def warm_up(problem: RoundProblem | None = None) -> None:
    """Load the compiled kernels, so that the first plan's time does not include it.

    They are those of the paper's model, or of a problem's link model, movement and boxes.
    """
    from scdn.control.plan_request import make_request, problem_of

    if problem is not None:
        solve_exact(problem.take(np.arange(min(len(problem), 2))), max_boxes=100)
        return
    server = {"position_m": [1.0, 1.0, 1.0]}
    devices = [{"id": "a", **server}, {"id": "b", "position_m": [1.0, 1.0, 0.0]}]
    request = make_request({"region_m": [9, 9, 9], "server": server, "devices": devices})
    solve_exact(problem_of(request))
