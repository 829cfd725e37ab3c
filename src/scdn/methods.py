"""A method is three choices: a controller, a memory of departed devices, and a schedule.

Register one of your own with `register_method(Method(...))`, or name it `package.module:NAME` where
a method is asked for. `scdn check` tests it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from scdn.arrays import Array
from scdn.control.gsp import least_delay_position
from scdn.control.max_vfl import at_maximum
from scdn.control.oort import PartyUtilities, oort
from scdn.control.plan import Plan, make_plan
from scdn.control.problem import RoundProblem
from scdn.control.solve import solve, solve_best
from scdn.mission.late_offers import offer_with_late_reports
from scdn.mission.round_search import MissionRound, best_offer
from scdn.registry import Registry
from scdn.rng import generator
from scdn.scenario import Scenario

VALIDATION_SHARE = 0.1  # of the training rows, on which a mission judges its progress
PLAN_GAP = 1e-3  # relative gap to which runs prove their plans
PLAN_BOXES = 50_000  # after which runs take the best plan so far; hard problems need about 5,000


@dataclass(frozen=True, eq=False)
class RoundContext:
    """What a controller knows beside the round's problem."""

    warm_start: Array | None = None  # the server's position before the round
    iterations: Array | None = None  # of each device, for rivals
    mission: MissionRound | None = None  # goal and forecast, for methods that plan by progress
    utilities: PartyUtilities | None = None  # measured so far, for methods that use them
    round: int = 0
    rng: np.random.Generator = field(default_factory=partial(generator, 0, "controller"))


# Called in every round, and again where a plan takes more than batteries have; must return a plan
# that keeps every limit but the delay. The same problem and context must give the same plan, and
# neither may be changed. Draw from the context's `rng`: it follows from the run's seed and the
# round, and begins anew with every call.
Controller = Callable[[RoundProblem, RoundContext], Plan]


@dataclass(frozen=True)
class Method:
    """A way to run the rounds of a scenario.

    Attributes
    ----------
    name
        Its name in scenarios, commands and reports.
    controller
        Plans a round: position, power, clock, iterations, and which devices are active.
    memory
        The name of the memory, which says what is kept of departed devices.
    schedule
        The name of the schedule, which says for which reports of a round the server waits.
    rival
        Whether `RoundContext.iterations` holds SC-DN's mean iterations of the same round.
    about
        One line for lists of methods.
    uses_importance
        Whether plans depend on the devices' importance or on statistics of their gradients, so that
        devices send embeddings of the sample that both are estimated on.
    uses_progress
        Whether plans depend on `RoundContext.mission`: the server measures progress in every round,
        and forecasts it.
    uses_utilities
        Whether plans depend on `RoundContext.utilities`: the server measures progress in every
        round.
    """

    name: str
    controller: Controller
    memory: str = "keep"
    schedule: str = "synchronous"
    rival: bool = False
    about: str = ""
    uses_importance: bool = True
    uses_progress: bool = False
    uses_utilities: bool = False

    def __post_init__(self) -> None:
        if self.uses_progress and self.schedule not in ("synchronous", "planned"):
            allowed = "its schedule must be synchronous or planned"
            raise ValueError(f"{self.name} plans by progress: {allowed}")

    @property
    def measures_progress(self) -> bool:
        """Return whether the server measures what each party's update contributes."""
        return self.uses_progress or self.uses_utilities


# --- controllers ----------------------------------------------------------------------------------


def exact_controller(problem: RoundProblem, context: RoundContext) -> Plan:
    """Solve the round's problem to a proven gap."""
    return solve(
        problem, "exact", gap=PLAN_GAP, max_boxes=PLAN_BOXES, warm_start=context.warm_start
    )


def mission_controller(problem: RoundProblem, context: RoundContext) -> Plan:
    """Buy progress at the price that the mission's goal allows, each plan to a proven gap."""
    if context.mission is None:
        raise ValueError("the context of a mission must have its goal and forecast")
    exact = partial(solve_best, gap=PLAN_GAP, max_boxes=PLAN_BOXES, warm_start=context.warm_start)
    waiting = best_offer(problem, context.mission, exact)
    offer = offer_with_late_reports(problem, context.mission, exact, waiting) or waiting
    return replace(offer.plan, worth_j=offer.worth)


def algorithm3_controller(problem: RoundProblem, _: RoundContext) -> Plan:
    """Run Algorithm 3; return its repaired plan where its own breaks the true model."""
    plan = solve(problem, "paper")
    if plan.evaluation.violations and plan.repaired is not None:
        return replace(plan.repaired, solve_seconds=plan.solve_seconds)
    return plan


def heuristic_controller(
    problem: RoundProblem, context: RoundContext, *, move: bool, matched: bool
) -> Plan:
    """Set everything to its maximum, or to the least that suffices (`matched`).

    With `move` the server goes where the mean delay is least; otherwise it stays.
    """
    server_m = least_delay_position(problem) if move else problem.server_m
    decision = at_maximum(problem, server_m, matched=matched, iterations=context.iterations)
    return make_plan(problem, "gsp" if move else "greedy", "heuristic", decision, 0.0)


def oort_controller(problem: RoundProblem, context: RoundContext) -> Plan:
    """Choose devices by utility per joule, at the position of least mean delay."""
    if context.utilities is None or context.iterations is None:
        raise ValueError("the context of oort must have utilities and iterations")
    decision = oort(problem, context.utilities, context.iterations)
    return make_plan(problem, "oort", "heuristic", decision, 0.0)


def rival_iterations(mean: float, limit: Array, draws: Array) -> Array:
    """Return floor or ceiling of `mean`, drawn so that this is their mean, up to each limit."""
    floor = np.floor(mean)
    return np.minimum(floor + (draws < mean - floor), np.floor(limit * (1 + 1e-12)))


# --- the methods by name --------------------------------------------------------------------------

_heuristic = partial(Method, uses_importance=False)
_stay = partial(heuristic_controller, move=False, matched=False)
_stay_matched = partial(heuristic_controller, move=False, matched=True)
_move = partial(heuristic_controller, move=True, matched=False)
_move_matched = partial(heuristic_controller, move=True, matched=True)

METHODS: Registry[Method] = Registry("method", Method)


def register_method(method: Method) -> Method:
    """Register a method under its name, and return it."""
    return METHODS.register(method)


def methods() -> tuple[Method, ...]:
    """Return all registered methods."""
    return tuple(METHODS)


def method(name: str) -> Method:
    """Return the method of this name, or the one that `package.module:NAME` names."""
    return METHODS.get(name)


def with_validation_rows(scenario: Scenario) -> Scenario:
    """Return the scenario with rows to judge progress on, if its method plans by progress."""
    if scenario.learning.validation or not method(scenario.method).uses_progress:
        return scenario
    learning = scenario.learning.model_copy(update={"validation": VALIDATION_SHARE})
    return scenario.model_copy(update={"learning": learning})


for _method in (
    Method(
        "mission",
        mission_controller,
        schedule="planned",
        about="least energy for progress that is measured; embeddings kept",
        uses_importance=False,
        uses_progress=True,
    ),
    Method("sc-dn", exact_controller, about="the round's problem solved exactly; embeddings kept"),
    Method("sc-dn-paper", algorithm3_controller, about="the paper's Algorithm 3; embeddings kept"),
    _heuristic("sc-dn-greedy", _stay, about="everything at its maximum; embeddings kept"),
    _heuristic("max-vfl", _stay, about="everything at its maximum; the server stays"),
    _heuristic(
        "max-vfl-buffered",
        _stay,
        schedule="buffered",
        about="as max-vfl; the server goes on after three quarters of the reports",
    ),
    _heuristic(
        "max-vfl-matched", _stay_matched, about="the iterations of max-vfl; least power and clock"
    ),
    _heuristic(
        "gsp",
        _move,
        rival=True,
        about="everything at its maximum; the server at the least mean delay",
    ),
    _heuristic("gsp-matched", _move_matched, rival=True, about="as gsp; least power and clock"),
    _heuristic(
        "vafl", _stay, schedule="asynchronous", rival=True, about="asynchronous: nobody waits"
    ),
    _heuristic(
        "vafl-matched",
        _stay_matched,
        schedule="asynchronous",
        rival=True,
        about="as vafl; least power and clock",
    ),
    _heuristic(
        "oort",
        oort_controller,
        rival=True,
        about="as gsp-matched, with the half of the devices of most measured utility per joule",
        uses_utilities=True,
    ),
    Method(
        "zoc", exact_controller, memory="zero-out", about="as sc-dn; departed devices are removed"
    ),
    Method(
        "zoc-paper",
        algorithm3_controller,
        memory="zero-out",
        about="as sc-dn-paper; departed devices are removed",
    ),
    _heuristic(
        "zoc-greedy", _stay, memory="zero-out", about="as max-vfl; departed devices are removed"
    ),
    Method(
        "sc-dn-dropout",
        exact_controller,
        memory="dropout",
        about="as sc-dn; trained with devices left out at random",
    ),
):
    register_method(_method)
