"""A round of a mission: the plan that buys progress at the price that the goal allows.

A plan costs C and brings G progress. If later rounds are like this one, the least cost to a target
has the plan with the least C/G, and the worth of a unit of progress is that very ratio:
Dinkelbach's algorithm plans at a worth, takes the plan's ratio as the next one, and ends after a
few plans. C is priced joules, and where time matters a price of seconds: then devices may compute
faster than their deadline asks for. Two prices follow from the mission's goal and limits:

- The worth of progress is raised where the target would not be reached in the rounds that are left,
  or as far as the budget allows, if the best model is asked for.
- The price of a second is raised until the deadline is kept, or as far as the budget allows, if the
  least time is asked for.

Every plan is solved to its proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scdn.arrays import Array
from scdn.control.plan import Plan
from scdn.control.problem import RoundProblem
from scdn.control.round_option import RoundOption
from scdn.mission.forecast import staleness_share
from scdn.mission.option_worth import (
    fixed_j,
    gain_share,
    overhead_j,
    problems_by_worth,
    seconds_in_place,
)
from scdn.scenario import Prices
from scdn.scenario.mission_settings import Goal

SETTLED = 0.05  # relative change of the worth at which it is not planned again
MOST_PLANS = 4  # for the least ratio
MOST_RAISES = 8  # of a price, by FACTOR, then halving the interval of its logarithm
FACTOR = 4.0
CLOSE = 1.2  # factor between prices at which the search for one ends
HIGHEST_WHEN_LATE = 16.0  # times the least ratio; forecasts are noisy
HIGHEST_FOR_BEST = 1e3  # times the least ratio, while joules are left
FOR_BEST = 100.0  # times the least ratio, for the best model without a budget
HIGHEST_TIME_PRICE = 100.0  # times the joules per second of the plan that does without it
RESERVE = 1.5  # times the joules to the target that are expected, where the budget is limited
FOR_SOMEBODY = (10.0, 1e3, 1e6)  # times the worth at which nobody trains
FIRST_WORTH = 1.0  # priced joules per unit of progress, before anything is known
FIRST_SERVING_ROUNDS = 10.0


@dataclass(frozen=True, eq=False)
class MissionRound:
    """What the plan of a round needs to know about its mission.

    Attributes
    ----------
    gains
        (N, τ^g + 1): the progress that each device adds, by its number of iterations.
    base
        The progress that the round brings anyway.
    prices, server_factor
        Of a joule, by who spends it; in plans a joule of the server, whose battery may be scarce,
        costs so many times as much.
    goal
        What is to be least, or best.
    rounds_left
        The rounds of the run that are left, this one included.
    progress, progress_left
        What has been made, and what is missing to the target, if there is one.
    fixed_j, overhead_j, circuit_j
        Priced joules of a round, and of each device that takes part, which its problem does not
        count: of messages beyond the plan's, and of its circuit while it sends. With the
        scenario's own bits per number and duration.
    joules_spent, joules_left
        Priced; what is left of the budget, if there is one.
    fixed_s, least_s
        Seconds of a round beside the devices' work, and the least that a round lasts.
    seconds_left
        Until the deadline, if there is one.
    worth_j
        Priced joules of a unit of progress: of the last round; where `fixed_worth`, as it is.
    power
        The loss is progress^(-1/power).
    options
        Durations and bits to choose from; none: those of the problem.
    may_be_late
        Whether the server may go on without slow devices, whose reports are then used later.
    working
        Devices that are late from an earlier round, and still work on their reports.
    paces
        (N,): how many times as long as planned each device takes, where that is measured.
    hearing
        The part of a device's gain that comes from its fresh embeddings, and not from its update.
    staleness_exponent
        What a late update is worth: see `staleness_share`.
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
    circuit_j: float = 0.0
    joules_spent: float = 0.0
    joules_left: float | None = None
    fixed_s: float = 0.0
    least_s: float = 0.0
    seconds_left: float | None = None
    worth_j: float | None = None
    fixed_worth: bool = False
    power: float = 3.0
    options: tuple[RoundOption, ...] = ()
    server_factor: float = 1.0
    may_be_late: bool = False
    working: frozenset[str] = frozenset()
    paces: Array | None = None
    hearing: float = 0.0
    staleness_exponent: float = 0.5

    def expected_gains(
        self, iterations: Array, ids: Sequence[str], staleness: Mapping[str, int]
    ) -> Array:
        """Return the progress that devices add which took these iterations; reports may be late."""
        gains = self.gains[np.arange(len(ids)), np.rint(iterations).astype(np.int64)]
        heard = np.where(iterations > 0, self.hearing, 0.0)
        shares = staleness_share([staleness.get(n, 0) for n in ids], self.staleness_exponent)
        return np.where(shares == 1, gains, heard + (gains - heard) * shares)


@dataclass(frozen=True, eq=False)
class Offer:
    """A plan at a worth of progress and a price of seconds; what it costs and what it brings."""

    plan: Plan
    worth: float
    second_price: float
    joules: float
    seconds: float
    gain: float
    serving_rounds: float

    @property
    def ratio(self) -> float:
        """Return the cost per unit of progress: priced joules and, at their price, seconds."""
        cost = self.joules + self.second_price * self.seconds
        return max(cost, 1e-300) / max(self.gain, 1e-300)

    def joules_for(self, progress: float) -> float:
        """Return the joules of so much progress, if later rounds are like this one."""
        return self.joules * self.rounds_for(progress)

    def seconds_for(self, progress: float) -> float:
        """Return the seconds of so much progress, if later rounds are like this one."""
        return self.seconds * self.rounds_for(progress)

    def rounds_for(self, progress: float) -> float:
        """Return the rounds of so much progress; it takes one at least."""
        return max(progress / max(self.gain, 1e-300), 1.0)


Solve = Callable[[Sequence[RoundProblem]], Plan]  # the best plan over variants of a problem


def best_offer(problem: RoundProblem, mission: MissionRound, solve: Solve) -> Offer:
    """Return the plan of a round at the prices that the goal allows."""
    search = _PriceSearch(problem, mission, solve)
    if mission.fixed_worth:
        return search.offer(mission.worth_j or FIRST_WORTH, search.first_serving_rounds)
    cheapest = search.least_ratio()
    if mission.goal == "best" or mission.progress_left is None:
        return search.best_within_limits(search.in_time(cheapest))
    priced = search.fastest_within_budget(cheapest) if mission.goal == "time" else cheapest
    if mission.goal != "time" or mission.joules_left is not None:  # else nothing is faster
        priced = search.in_time(priced)
    return search.with_enough_progress(priced)


class _PriceSearch:
    """The search for the prices of a round's progress and time."""

    def __init__(self, problem: RoundProblem, mission: MissionRound, solve: Solve) -> None:
        self.problem, self.mission, self.solve = problem, mission, solve
        self.first_serving_rounds = min(float(mission.rounds_left), FIRST_SERVING_ROUNDS)

    # --- plans ------------------------------------------------------------------------------------

    def offer(self, worth: float, serving_rounds: float, second_price: float = 0.0) -> Offer:
        """Return the best plan at these prices, with flights spread over so many rounds.

        A round in which nobody trains counts for nothing. Unless the worth is fixed, it is raised
        until somebody does, if anybody can.
        """
        offer = self._offer(worth, serving_rounds, second_price)
        if offer.plan.decision.active.any() or self.mission.fixed_worth:
            return offer
        for factor in FOR_SOMEBODY:
            raised = self._offer(factor * worth, serving_rounds, second_price)
            if raised.plan.decision.active.any():
                return raised
        return offer

    def _offer(self, worth: float, serving_rounds: float, second_price: float) -> Offer:
        mission = self.mission
        plan = self.solve(
            problems_by_worth(self.problem, mission, worth, serving_rounds, second_price)
        )
        option = plan.problem.option
        terms, iterations = plan.evaluation.terms, np.rint(plan.decision.iterations)
        joules = mission.prices.device * (terms["transmission_j"] + terms["processing_j"])
        joules += mission.prices.server * terms["movement_j"] + fixed_j(mission, option)
        joules += overhead_j(mission, option) * float(plan.decision.active.sum())
        chosen = mission.gains[np.arange(len(self.problem)), iterations.astype(np.int64)]
        gain = gain_share(option) * (mission.base + float(chosen.sum()))
        work_s = float(work_seconds(plan, mission.paces).max(initial=0.0))
        seconds = seconds_in_place(mission, option, work_s + mission.fixed_s)
        seconds += float(plan.problem.flight_s(plan.server_m)) / serving_rounds
        return Offer(plan, worth, second_price, joules, seconds, gain, serving_rounds)

    def least_ratio(self, second_price: float = 0.0, start: Offer | None = None) -> Offer:
        """Return the plan with the least cost per progress, by Dinkelbach's algorithm."""
        if start is None:
            worth, serving = self.mission.worth_j or FIRST_WORTH, self.first_serving_rounds
        else:
            cost = start.joules + second_price * start.seconds
            worth = max(cost / max(start.gain, 1e-300), 1e-300)
            serving = start.serving_rounds
        offer = self.offer(worth, serving, second_price)
        for _ in range(MOST_PLANS - 1):
            serving = self._serving_rounds(offer)
            settled = abs(offer.ratio / offer.worth - 1) < SETTLED
            if settled and abs(serving / offer.serving_rounds - 1) < 0.5:
                break
            offer = self.offer(max(offer.ratio, 1e-300), serving, second_price)
        return offer

    def _serving_rounds(self, offer: Offer) -> float:
        """Return the rounds that are expected to follow, over which a flight is spread."""
        mission, expected = self.mission, float(self.mission.rounds_left)
        if mission.progress_left is not None and mission.goal != "best":
            expected = min(expected, mission.progress_left / max(offer.gain, 1e-300))
        if mission.joules_left is not None:
            expected = min(expected, mission.joules_left / max(offer.joules, 1e-300))
        return max(expected, 1.0)

    # --- prices -----------------------------------------------------------------------------------

    def in_time(self, cheapest: Offer) -> Offer:
        """Return the plan at the least price of seconds at which the deadline is kept."""
        mission = self.mission
        if mission.seconds_left is None:
            return cheapest
        seconds_left, left = mission.seconds_left, mission.progress_left
        if mission.goal == "best" or left is None:

            def is_late(offer: Offer) -> bool:
                return offer.seconds * mission.rounds_left > seconds_left
        else:

            def is_late(offer: Offer) -> bool:
                return offer.seconds_for(left) > seconds_left

        return self._raise_second_price(cheapest, is_late)[1]

    def fastest_within_budget(self, cheapest: Offer) -> Offer:
        """Return the plan at the highest price of seconds that the budget allows."""
        mission, left = self.mission, self.mission.progress_left or 0.0
        if mission.joules_left is None:
            price = HIGHEST_TIME_PRICE * _joules_per_second(cheapest)
            return self.least_ratio(price, cheapest)
        budget = mission.joules_left / RESERVE
        return self._raise_second_price(cheapest, lambda o: o.joules_for(left) <= budget)[0]

    def _raise_second_price(
        self, cheapest: Offer, keeps_on: Callable[[Offer], bool]
    ) -> tuple[Offer, Offer]:
        first = _joules_per_second(cheapest)
        return _raise(
            cheapest,
            first,
            HIGHEST_TIME_PRICE * first,
            lambda price, last: self.least_ratio(price, last),
            keeps_on,
        )

    def with_enough_progress(self, offer: Offer) -> Offer:
        """Return the plan at the least worth with which the target is reached in time."""
        left, rounds = self.mission.progress_left or 0.0, self.mission.rounds_left
        return self._raise_worth(offer, HIGHEST_WHEN_LATE, lambda o: o.gain * rounds < left)[1]

    def best_within_limits(self, offer: Offer) -> Offer:
        """Return the plan that spends what is left of the budget in the rounds that are left."""
        mission = self.mission
        if mission.joules_left is None:
            if mission.goal != "best":
                return self._proportionate(offer)
            return self.offer(FOR_BEST * offer.ratio, offer.serving_rounds, offer.second_price)
        each = mission.joules_left / mission.rounds_left
        return self._raise_worth(offer, HIGHEST_FOR_BEST, lambda o: o.joules <= each)[0]

    def _raise_worth(
        self, offer: Offer, highest: float, keeps_on: Callable[[Offer], bool]
    ) -> tuple[Offer, Offer]:
        least = max(offer.ratio, 1e-300)
        return _raise(
            offer,
            least,
            highest * least,
            lambda worth, last: self.offer(worth, last.serving_rounds, last.second_price),
            keeps_on,
        )

    def _proportionate(self, least: Offer) -> Offer:
        """Without a target or a budget: spend as long as 1 % more energy buys 1 % less loss."""
        mission, rounds, offer = self.mission, self.mission.rounds_left, least
        for _ in range(MOST_PLANS - 1):
            joules = mission.joules_spent + rounds * offer.joules
            worth = joules / (mission.power * (mission.progress + rounds * offer.gain))
            worth = max(worth, 1e-300)
            if abs(worth / offer.worth - 1) < SETTLED:
                break
            offer = self.offer(worth, least.serving_rounds, least.second_price)
        return offer


def _raise(
    offer: Offer,
    first: float,
    highest: float,
    plan_at: Callable[[float, Offer], Offer],
    keeps_on: Callable[[Offer], bool],
) -> tuple[Offer, Offer]:
    """Raise a price from that of an offer while a condition holds.

    Return the last plan with which it holds, and the first one with which it does not; they are the
    same where it holds at no price, or at the highest.
    """
    if not keeps_on(offer):
        return offer, offer
    low, high, price, failed = offer, None, first, math.inf
    below = first / FACTOR
    for _ in range(MOST_RAISES):
        tried = plan_at(price, low)
        if keeps_on(tried):
            low, below = tried, price
        else:
            high, failed = tried, price
        if math.isinf(failed):
            if price >= highest:
                break
            price = min(FACTOR * price, highest)
        elif failed <= CLOSE * below:
            break
        else:
            price = math.sqrt(below * failed)
    return low, high or low


def work_seconds(plan: Plan, paces: Array | None) -> Array:
    """Return the seconds until each device has computed and reported; 0 for those that rest."""
    problem, decision = plan.problem, plan.decision
    computing = problem.cycles(decision.iterations) / np.maximum(decision.cpu_hz, 1e-300)
    sending = np.nan_to_num(plan.evaluation.delay_s)
    seconds = np.where(decision.active, computing + sending, 0.0)
    return seconds if paces is None else paces * seconds


def _joules_per_second(offer: Offer) -> float:
    return max(offer.joules, 1e-12) / max(offer.seconds, 1e-12)
