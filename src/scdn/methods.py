"""A method is three choices: a controller, a memory of departed devices, and a schedule.

Register one of your own with `register(Method(...))`, or name it `package.module:METHOD` where a
method is asked for. A controller is a function of the round's problem and of `Notes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from scdn.arrays import Array
from scdn.control.gsp import least_delay_position
from scdn.control.max_vfl import at_maximum
from scdn.control.plan import Plan, make_plan
from scdn.control.problem import Decision, RoundProblem
from scdn.control.solve import solve
from scdn.registry import Registry

Schedule = Literal["synchronous", "asynchronous"]

PLAN_GAP = 1e-3  # to which runs prove their plans; a tenth of a percent of the objective


@dataclass(frozen=True, eq=False)
class RoundContext:
    """What a controller may know beside the problem."""

    warm_start: Array | None = None  # where the server stands, or a place worth trying
    iterations: Array | None = None  # for rivals: what each device is to run


Controller = Callable[[RoundProblem, RoundContext], Plan]


@dataclass(frozen=True)
class Method:
    """Who decides a round, what is kept of the departed, and when parties train."""

    name: str
    controller: Controller
    memory: str = "keep"
    schedule: Schedule = "synchronous"
    rival: bool = False  # takes SC-DN's mean iterations of the same round
    about: str = ""


# --- controllers ----------------------------------------------------------------------------------


def exact_controller(problem: RoundProblem, notes: RoundContext) -> Plan:
    """The round's problem, solved to a proven gap."""
    return solve(problem, "exact", gap=PLAN_GAP, warm_start=notes.warm_start)


def algorithm3_controller(problem: RoundProblem, _: RoundContext) -> Plan:
    """Algorithm 3, repaired where its plan breaks the true model."""
    plan = solve(problem, "paper")
    if plan.evaluation.violations and plan.repaired is not None:
        return replace(plan.repaired, solve_seconds=plan.solve_seconds)
    return plan


def heuristic_controller(
    problem: RoundProblem, notes: RoundContext, *, move: bool, matched: bool
) -> Plan:
    """Everything at its maximum, or with the least that suffices (`matched`)."""
    place = least_delay_position(problem) if move else problem.server_m
    decision = at_maximum(problem, place, matched=matched, iterations=notes.iterations)
    return _heuristic(problem, decision, "gsp" if move else "greedy")


def _heuristic(problem: RoundProblem, decision: Decision, solver: str) -> Plan:
    return make_plan(problem, solver, "heuristic", decision, 0.0)


# --- the methods by name --------------------------------------------------------------------------

_stay = partial(heuristic_controller, move=False, matched=False)
_stay_matched = partial(heuristic_controller, move=False, matched=True)
_best = partial(heuristic_controller, move=True, matched=False)
_best_matched = partial(heuristic_controller, move=True, matched=True)

METHODS: Registry[Method] = Registry("method", Method)


def register_method(method: Method) -> Method:
    """Make a method known by its name."""
    return METHODS.register(method.name, method)


def methods() -> tuple[Method, ...]:
    """Return all registered methods."""
    return tuple(METHODS)


def method(name: str) -> Method:
    """Return the method of this name, or the one that `package.module:NAME` names."""
    return METHODS.get(name)


for _method in (
    Method("sc-dn", exact_controller, about="the round's problem solved exactly; embeddings kept"),
    Method("sc-dn-paper", algorithm3_controller, about="the paper's Algorithm 3; embeddings kept"),
    Method("sc-dn-greedy", _stay, about="everything at its maximum; embeddings kept"),
    Method("max-vfl", _stay, about="everything at its maximum, the server stays"),
    Method("max-vfl-matched", _stay_matched, about="its iterations, least power and clock"),
    Method("gsp", _best, rival=True, about="the server where the mean delay is least"),
    Method("gsp-matched", _best_matched, rival=True, about="the same, least power and clock"),
    Method("vafl", _stay, schedule="asynchronous", rival=True, about="nobody waits"),
    Method(
        "vafl-matched",
        _stay_matched,
        schedule="asynchronous",
        rival=True,
        about="the same, least power and clock",
    ),
    Method(
        "zoc", exact_controller, memory="zero-out", about="as sc-dn, but the departed are forgotten"
    ),
    Method(
        "zoc-paper",
        algorithm3_controller,
        memory="zero-out",
        about="as sc-dn-paper, the departed forgotten",
    ),
    Method("zoc-greedy", _stay, memory="zero-out", about="as max-vfl, the departed forgotten"),
    Method(
        "sc-dn-dropout",
        exact_controller,
        memory="dropout",
        about="as sc-dn, trained to do without some",
    ),
):
    register_method(_method)


# --- rivals' iterations ---------------------------------------------------------------------------


def rival_iterations(mean: float, limit: Array, draws: Array) -> Array:
    """Whole iterations with this mean, floor or ceiling by `luck`; never above `most`."""
    floor = np.floor(mean)
    return np.minimum(floor + (draws < mean - floor), np.floor(limit * (1 + 1e-12)))
