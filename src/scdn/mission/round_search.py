"""A round of a mission: the plan that buys progress at the price that the goal allows.

A plan costs C priced joules and brings G progress. If later rounds are like this one, the least
energy to a target has the plan with the least C/G, and the worth of a unit of progress is that very
ratio: Dinkelbach's algorithm plans at a worth, takes the plan's ratio as the next one, and ends
after a few plans. A goal that needs more progress per round, or that has joules to spare, raises
the worth until its limit. Every plan is solved to its proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scdn.arrays import Array
from scdn.control.plan import Plan
from scdn.control.problem import RoundProblem
from scdn.control.worth import RoundWorth, problem_by_worth
from scdn.scenario import Prices
from scdn.scenario.mission_settings import Goal

SETTLED = 0.05  # relative change of the worth at which it is not planned again
MOST_PLANS = 4  # for the least ratio
MOST_RAISES = 6  # of the worth, by a factor of 2, then halving the interval
HIGHEST = 4.0  # times the least ratio, that a late mission pays; forecasts are noisy
HIGHEST_WITHIN_BUDGET = 1000.0  # times the least ratio, while joules are left
FIRST_WORTH = 1.0  # priced joules per unit of progress, before anything is known


@dataclass(frozen=True, eq=False)
class MissionRound:
    """What the plan of a round needs to know about its mission.

    Attributes
    ----------
    gains
        (N, τ^g + 1): the progress that each device adds, by its number of iterations.
    base
        The progress that the round brings anyway.
    fixed_j, overhead_j
        Priced joules of a round, and of each device that takes part, which its problem does not
        count.
    prices
        Of a joule, by who spends it.
    progress, progress_left
        What has been made, and what is missing to the target, if there is one.
    rounds_left
        The rounds of the run that are left, this one included.
    joules_spent, joules_left
        Priced; what is left of the budget, if there is one.
    worth_j
        Priced joules of a unit of progress: of the last round; where `fixed_worth`, as it is.
    power
        The loss is progress^(-1/power).
    """

    gains: Array
    base: float
    prices: Prices
    goal: Goal
    rounds_left: int
    progress: float = 1.0
    progress_left: float | None = None
    fixed_j: float = 0.0
    overhead_j: float = 0.0
    joules_spent: float = 0.0
    joules_left: float | None = None
    worth_j: float | None = None
    fixed_worth: bool = False
    power: float = 3.0


@dataclass(frozen=True, eq=False)
class Offer:
    """A plan at a worth, what it costs and what it brings."""

    plan: Plan
    worth_j: float
    joules: float
    gain: float
    serving_rounds: float

    @property
    def ratio(self) -> float:
        """Return the priced joules per unit of progress."""
        return max(self.joules, 1e-300) / max(self.gain, 1e-300)


Solve = Callable[[RoundProblem], Plan]


def best_offer(problem: RoundProblem, mission: MissionRound, solve: Solve) -> Offer:
    """Return the plan of a round at the worth that the goal allows."""
    serving = min(float(mission.rounds_left), 10.0)
    worth = mission.worth_j or FIRST_WORTH
    if mission.fixed_worth:
        return _offer(problem, mission, solve, worth, serving)
    offer = _least_ratio(problem, mission, solve, worth, serving)
    if mission.progress_left is None and mission.joules_left is None:
        return _proportionate(problem, mission, solve, offer)
    allowed = _limit(mission, offer)
    return offer if allowed is None else _raise(problem, mission, solve, offer, allowed)


def _offer(
    problem: RoundProblem, mission: MissionRound, solve: Solve, worth: float, serving: float
) -> Offer:
    takes_part = np.arange(mission.gains.shape[1]) > 0
    gains_j = worth * mission.gains - mission.overhead_j * takes_part
    by_worth = problem_by_worth(problem, RoundWorth(gains_j, mission.prices, serving))
    plan = solve(by_worth)
    weighted, iterations = plan.evaluation.weighted, np.rint(plan.decision.iterations)
    joules = sum(weighted[term] for term in ("transmission", "processing", "movement"))
    joules += mission.fixed_j + mission.overhead_j * float(plan.decision.active.sum())
    chosen = mission.gains[np.arange(len(problem)), iterations.astype(np.int64)]
    return Offer(plan, worth, joules, mission.base + float(chosen.sum()), serving)


def _least_ratio(
    problem: RoundProblem, mission: MissionRound, solve: Solve, worth: float, serving: float
) -> Offer:
    """Return the plan with the least joules per progress, by Dinkelbach's algorithm."""
    offer = _offer(problem, mission, solve, worth, serving)
    for _ in range(MOST_PLANS - 1):
        serving = _serving_rounds(mission, offer)
        settled = abs(offer.ratio / offer.worth_j - 1) < SETTLED
        if settled and abs(serving / offer.serving_rounds - 1) < 0.5:
            break
        offer = _offer(problem, mission, solve, offer.ratio, serving)
    return offer


def _serving_rounds(mission: MissionRound, offer: Offer) -> float:
    """Return the rounds that are expected to follow, over which a flight is spread."""
    expected = float(mission.rounds_left)
    if mission.progress_left is not None:
        expected = min(expected, mission.progress_left / max(offer.gain, 1e-300))
    if mission.joules_left is not None:
        expected = min(expected, mission.joules_left / max(offer.joules, 1e-300))
    return max(expected, 1.0)


def _limit(mission: MissionRound, least: Offer) -> Callable[[Offer], bool] | None:
    """Return whether an offer is within the goal's limit; None: the least ratio is the choice.

    The worth is raised as long as offers are within the limit, or until one is.
    """
    left, rounds, joules = mission.progress_left, mission.rounds_left, mission.joules_left
    if mission.goal == "best" or left is None:
        if joules is None:
            return lambda _: True
        if least.joules * rounds >= joules:
            return None
        return lambda offer: offer.joules * rounds <= joules
    if mission.goal == "time":
        if joules is None:
            return lambda _: True
        return lambda offer: offer.ratio * left <= joules
    if least.gain * rounds >= left:
        return None
    return lambda offer: offer.gain * rounds < left


def _raise(
    problem: RoundProblem,
    mission: MissionRound,
    solve: Solve,
    least: Offer,
    within: Callable[[Offer], bool],
) -> Offer:
    """Raise the worth as long as offers stay within a limit; return the last that does.

    The limit of the goal energy is to be too slow: there, the first that is not is returned.
    """
    must_cross = mission.goal == "energy" and mission.progress_left is not None
    low, high = least, None
    highest = HIGHEST * least.ratio
    for _ in range(MOST_RAISES):
        if high is None:
            worth = min(2 * max(low.worth_j, least.ratio), highest)
        else:
            worth = math.sqrt(low.worth_j * high.worth_j)
        if worth <= low.worth_j * (1 + SETTLED):
            break
        offer = _offer(problem, mission, solve, worth, low.serving_rounds)
        if within(offer):
            low = offer
        else:
            high = offer
        if high is not None and high.worth_j <= low.worth_j * (1 + 4 * SETTLED):
            break
    return high if must_cross and high is not None else low


def _proportionate(
    problem: RoundProblem, mission: MissionRound, solve: Solve, least: Offer
) -> Offer:
    """Without a target or a budget: spend as long as 1 % more energy buys 1 % less loss."""
    rounds, offer = mission.rounds_left, least
    for _ in range(MOST_PLANS - 1):
        joules = mission.joules_spent + rounds * offer.joules
        worth = joules / (mission.power * (mission.progress + rounds * offer.gain))
        worth = max(worth, 1e-300)
        if abs(worth / offer.worth_j - 1) < SETTLED:
            break
        offer = _offer(problem, mission, solve, worth, least.serving_rounds)
    return offer
