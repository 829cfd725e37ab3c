"""Rounds of a mission in which the server goes on without slow devices.

Such a round is shorter, and what a late device brings comes in a later round: if its report takes m
rounds, each of them gets one m-th of its gain and pays one m-th of its joules. Its update is
computed from what the server knew m - 1 rounds before, and is worth less by `staleness_share`, as
measured. Each late device gets the time, in rounds, at which its report is worth most per round.

Where seconds have no price, nothing is gained by not waiting.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scdn.arrays import Array, Mask, floats
from scdn.control.problem import RoundProblem
from scdn.control.round_option import RoundOption
from scdn.control.worth import RoundWorth, problem_by_worth
from scdn.mission.forecast import staleness_share
from scdn.mission.option_worth import fixed_j, gain_share, overhead_j, seconds_in_place
from scdn.mission.round_search import RESERVE, SETTLED, MissionRound, Offer, Solve, work_seconds
from scdn.mission.waiting import compute_deadlines, full_work_s, sets_to_wait_for
from scdn.scenario import Prices

ADVANTAGE = 0.9  # of the cost per progress of waiting for all, that must not be exceeded
MOST_ROUNDS = 40  # until a late report arrives
MARGIN = 0.9  # of the last round of a late report, so that it is in time for it
REFINEMENTS = 2  # plans beside the first, of the best set and deadline


def offer_with_late_reports(
    problem: RoundProblem, mission: MissionRound, solve: Solve, waiting: Offer
) -> Offer | None:
    """Return the best plan that does not wait for all, if the forecast prefers it to `waiting`."""
    if not mission.may_be_late or waiting.second_price <= 0:
        return None
    best: Offer | None = None
    chosen: _LateSearch | None = None
    paces = np.ones(len(problem)) if mission.paces is None else mission.paces
    for waited in sets_to_wait_for(problem, paces):
        slower_s = (paces * full_work_s(problem))[~waited]
        next_s = float(slower_s[slower_s > 0].min())
        for deadline_s in compute_deadlines(problem, waited):
            if deadline_s * float(paces[waited].max()) >= next_s:
                continue
            search = _LateSearch(problem, mission, solve, waited, deadline_s, waiting)
            offer = search.offer(waiting.worth)
            if offer is None or not _keeps_limits(offer, waiting, mission):
                continue
            if best is None or offer.ratio < best.ratio:
                best, chosen = offer, search
    if best is None or chosen is None:
        return None
    for _ in range(REFINEMENTS):
        if abs(best.ratio / best.worth - 1) < SETTLED:
            break
        refined = chosen.offer(max(best.ratio, 1e-300))
        if refined is None or refined.ratio >= best.ratio:
            break
        if not _keeps_limits(refined, waiting, mission):
            break
        best = refined
    return best if best.ratio <= ADVANTAGE * waiting.ratio else None


def _keeps_limits(late: Offer, waiting: Offer, mission: MissionRound) -> bool:
    """Return whether a plan keeps the limits of a mission no worse than waiting for all.

    To a target these are its rounds, budget and deadline; without one, it is to come as far.
    """
    left = mission.progress_left
    if mission.goal == "best" or left is None:
        return _progress_within(late, mission) >= _progress_within(waiting, mission)
    if late.rounds_for(left) > mission.rounds_left >= waiting.rounds_for(left):
        return False
    if mission.joules_left is not None:
        budget = mission.joules_left / RESERVE
        if late.joules_for(left) > max(budget, waiting.joules_for(left)):
            return False
    if mission.seconds_left is not None:
        return late.seconds_for(left) <= max(mission.seconds_left, waiting.seconds_for(left))
    return True


def _progress_within(offer: Offer, mission: MissionRound) -> float:
    """Return the progress of the whole rounds that the limits allow, if all are like this one."""
    rounds = float(mission.rounds_left)
    if mission.joules_left is not None:
        rounds = min(rounds, mission.joules_left // max(offer.joules, 1e-300))
    if mission.seconds_left is not None:
        rounds = min(rounds, mission.seconds_left // max(offer.seconds, 1e-300))
    return rounds * offer.gain


class _LateSearch:
    """Plans with one set of devices that are waited for, and their deadline."""

    def __init__(
        self,
        problem: RoundProblem,
        mission: MissionRound,
        solve: Solve,
        waited: Mask,
        deadline_s: float,
        waiting: Offer,
    ) -> None:
        self.problem, self.mission, self.solve = problem, mission, solve
        self.waited, self.deadline_s, self.waiting = waited, deadline_s, waiting
        self.paces = np.ones(len(problem)) if mission.paces is None else mission.paces
        self.pace = float(self.paces[waited].max())

    def offer(self, worth: float) -> Offer | None:
        """Return the best plan at this worth of progress; None if nobody is waited for in it."""
        mission, waiting = self.mission, self.waiting
        plan = self.solve(self._variants(worth))
        decision, option, terms = plan.decision, plan.problem.option, plan.evaluation.terms
        heard = decision.active & self.waited
        if not heard.any():
            return None
        seconds_each = work_seconds(plan, mission.paces)
        work_s = float(seconds_each[heard].max())
        seconds = seconds_in_place(mission, option, work_s + mission.fixed_s)
        flight_s = float(plan.problem.flight_s(plan.server_m)) / waiting.serving_rounds
        rounds = rounds_until_heard(seconds_each, work_s, seconds + flight_s)
        rounds = np.where(self.waited, 1.0, rounds)
        own_j = mission.prices.device * (
            plan.evaluation.transmission_j + plan.evaluation.processing_j
        )
        own_j = np.where(decision.active, own_j + overhead_j(mission, option), 0.0)
        joules = float((own_j / rounds).sum()) + fixed_j(mission, option)
        joules += mission.prices.server * terms["movement_j"]
        counts = np.rint(decision.iterations).astype(np.int64)
        gains = self._gains(rounds)[np.arange(len(self.problem)), counts]
        gain = gain_share(option) * (mission.base + float((gains / rounds).sum()))
        working = np.isin(plan.problem.ids, list(mission.working))
        late = (decision.active | working) & ~heard
        names = plan.problem.selected_ids(heard)
        plan = replace(plan, waits_for=tuple(names) if late.any() else None)
        return Offer(
            plan,
            worth,
            waiting.second_price,
            joules,
            seconds + flight_s,
            gain,
            waiting.serving_rounds,
        )

    def _gains(self, rounds: Array) -> Array:
        """Return what each report brings, by iterations, if it takes so many rounds."""
        gains = self.mission.gains
        heard = np.where(np.arange(gains.shape[1]) > 0, self.mission.hearing, 0.0)
        shares = staleness_share(rounds - 1, self.mission.staleness_exponent)
        return np.asarray(heard + (gains - heard) * shares[:, None])

    def _late_deadlines_s(self, rounds: Array, seconds: float) -> Array:
        """Return in what time devices must have computed, as planned, to report in these rounds."""
        ends_s = (rounds - 1) * seconds + MARGIN * self.pace * self.deadline_s
        return np.asarray(ends_s / self.paces)

    def _variants(self, worth: float) -> list[RoundProblem]:
        """Return the round's problem at this worth, for each of its options."""
        mission = self.mission
        options: tuple[RoundOption | None, ...] = mission.options or (None,)
        takes_part = np.arange(mission.gains.shape[1]) > 0
        variants = []
        for option in options:
            own = self.problem if option is None else option.of(self.problem)
            work_s = self.pace * (self.deadline_s + own.max_delay_s)
            seconds = seconds_in_place(mission, option, work_s + mission.fixed_s)
            rounds = self._rounds(own, option, worth, seconds)
            ends_s = self._late_deadlines_s(rounds, seconds)
            latest_s = own.learning.compute_deadline_s
            deadlines_s = np.where(self.waited, self.deadline_s, np.minimum(ends_s, latest_s))
            gains = worth * gain_share(option) * self._gains(rounds)
            gains = gains - overhead_j(mission, option) * takes_part
            cost_j = self.waiting.second_price * seconds
            if option is not None:
                cost_j += option.idle_j - worth * option.gain_share * mission.base
            variants.append((replace(own, deadlines_s=deadlines_s), gains, cost_j))
        best_j = np.max([gains for _, gains, _ in variants], axis=(0, 2), initial=0.0)[:, None]
        least_j = min(cost for *_, cost in variants)
        server_price = mission.server_factor * mission.prices.server
        prices = Prices(device=mission.prices.device, server=server_price)
        serving = self.waiting.serving_rounds
        return [
            problem_by_worth(
                variant, RoundWorth(gains_j, prices, serving, best_j, cost_j - least_j)
            )
            for variant, gains_j, cost_j in variants
        ]

    def _rounds(
        self, problem: RoundProblem, option: RoundOption | None, worth: float, seconds: float
    ) -> Array:
        """Return in how many rounds each report is worth most per round; 1 if it is waited for."""
        mission, deadline_s = self.mission, problem.learning.compute_deadline_s
        count, most = len(problem), mission.gains.shape[1] - 1
        best, best_value = np.ones(count), np.full(count, -np.inf)
        counts = np.repeat(floats(range(1, most + 1))[:, None], count, axis=1)
        power = np.minimum(problem.least_power(problem.server_m), problem.max_power_w)
        sending_j = mission.prices.device * power * problem.max_delay_s
        latest_s = deadline_s * float(self.paces.max())
        longest = min(int(np.ceil(latest_s / seconds)) + 1, MOST_ROUNDS)
        for rounds in range(2, max(longest, 2) + 1):
            ends_s = self._late_deadlines_s(np.full(count, float(rounds)), seconds)
            trial = replace(problem, deadlines_s=np.minimum(ends_s, deadline_s))
            clock = trial.least_cpu_hz(counts)
            joules = mission.prices.device * trial.processing_j(counts, clock) + sending_j
            gains = self._gains(np.full(count, float(rounds)))[:, 1:].T
            value = worth * gain_share(option) * gains - joules - overhead_j(mission, option)
            possible = (clock <= problem.cpu_max_hz) & (counts <= problem.iteration_cap())
            value = np.where(possible, value, -np.inf).max(axis=0) / rounds
            best, best_value = (
                np.where(value > best_value, rounds, best),
                np.maximum(value, best_value),
            )
        return np.where(self.waited, 1.0, np.maximum(best, 2.0))


def rounds_until_heard(seconds_each: Array, work_s: float, round_s: float) -> Array:
    """Return in which round a report arrives, if rounds end with `work_s` of work; 1: this one."""
    behind_s = np.maximum(seconds_each - work_s * (1 + 1e-9), 0.0)
    return np.asarray(1.0 + np.ceil(behind_s / max(round_s, 1e-300)))
