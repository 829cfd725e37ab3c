"""One way in to all solvers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Literal, get_args

from scdn.arrays import Array
from scdn.control.exact.branch_and_bound import solve_exact
from scdn.control.gsp import gsp
from scdn.control.max_vfl import max_vfl
from scdn.control.plan import Plan, make_plan
from scdn.control.problem import Decision, RoundProblem

Solver = Literal["exact", "paper", "greedy", "gsp", "greedy-matched", "gsp-matched"]
SOLVERS: tuple[Solver, ...] = get_args(Solver)

_RULES: dict[str, Callable[[RoundProblem], Decision]] = {
    "greedy": max_vfl,
    "gsp": gsp,
    "greedy-matched": partial(max_vfl, matched=True),
    "gsp-matched": partial(gsp, matched=True),
}


def solve(
    problem: RoundProblem,
    solver: Solver = "exact",
    *,
    gap: float = 1e-4,
    time_limit_s: float = math.inf,
    warm_start: Array | None = None,
) -> Plan:
    """A plan for the round.

    Parameters
    ----------
    problem
        What is given; `scdn.control.plan_request` makes one from a plan request.
    solver
        `exact`: the global optimum with a proof. `paper`: its Algorithm 3, raw and repaired.
        `greedy`: everything at its maximum, the server stays. `gsp`: the server at the spot with
        the least mean delay, all else at its maximum. The `-matched` ones take the least power and
        clock for the same iterations.
    gap
        How closely `exact` proves its answer, relative.
    time_limit_s
        When `exact` stops with the best plan so far.
    warm_start
        A server position that `exact` tries first.
    """
    start = time.perf_counter()
    if solver == "exact":
        found = solve_exact(problem, gap, time_limit_s=time_limit_s, warm_start=warm_start)
        seconds = time.perf_counter() - start
        return make_plan(
            problem,
            solver,
            found.status,
            found.decision,
            seconds,
            lower_bound=found.lower_bound,
            boxes=found.boxes,
        )
    if solver == "paper":
        return _paper(problem)
    decision = _RULES[solver](problem)
    return make_plan(problem, solver, "heuristic", decision, time.perf_counter() - start)


def _paper(problem: RoundProblem) -> Plan:
    from scdn.control.algorithm3.algorithm3 import solve_algorithm3  # CVXPY takes a second to load

    start = time.perf_counter()
    found = solve_algorithm3(problem)
    seconds = time.perf_counter() - start
    repaired = make_plan(problem, "paper", "heuristic", found.repaired, seconds)
    return make_plan(
        problem,
        "paper",
        "heuristic",
        found.raw,
        seconds,
        history=tuple(float(value) for value in found.surrogate),
        repaired=repaired,
    )


def solve_many(
    problems: Iterable[RoundProblem],
    solver: Solver = "exact",
    *,
    gap: float = 1e-4,
    jobs: int = 1,
) -> Iterator[Plan]:
    """Plans for many problems, in order, on `jobs` processes."""
    one = partial(solve, solver=solver, gap=gap)
    if jobs <= 1:
        yield from map(one, problems)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(one, problems, chunksize=16)


def warm_up() -> None:
    """Loads the compiled kernels, so that the first plan's time is its own."""
    from scdn.control.plan_request import make_request, problem_of

    place = {"position_m": [1.0, 1.0, 1.0]}
    devices = [{"id": "a", **place}, {"id": "b", "position_m": [1.0, 1.0, 0.0]}]
    solve_exact(
        problem_of(make_request({"region_m": [9, 9, 9], "server": place, "devices": devices}))
    )
