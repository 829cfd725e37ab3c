"""A mission during a run: what has been made and spent, and what the next round should know.

`MissionControl` is created before round 0. In every round the simulation calls `begin_round`
before it plans, and `observe` with what happened. `ended` says why the run is over, if it is.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from scdn.control.problem import RoundProblem
from scdn.control.round_option import RoundOption
from scdn.errors import input_error
from scdn.learning.metrics import METRICS, further_metrics
from scdn.mission.battery_rations import ServerBatteryPrice
from scdn.mission.forecast import MeasuredProgress, ProgressForecast
from scdn.mission.learning_curve import POWER, ScoreFit, loss_at, progress
from scdn.mission.round_search import MissionRound
from scdn.scenario import LearningSettings, Scenario
from scdn.targets import Target, parse_target, parse_targets

WEIGHT_OF_LATEST_COSTS = 0.5  # weight of the latest round in costs that are expected
SURE = 1.64  # standard errors above the target at which a run ends: 95 % confidence
CONFIRMED = 2  # rounds running
FIRST_ROUNDS = 5  # expected to the target, before anything is known


class MissionOverError(Exception):
    """Raised when the budget or the deadline does not allow another round; the run is over."""


@dataclass(frozen=True)
class RoundCosts:
    """What a round took: priced joules, seconds, and what its problem did not count.

    `fixed_j` are priced joules of the round, and `overhead_j` those of all devices that took part,
    beyond the plan's; `circuit_j` are those of their circuits while they sent. `compute_j` and
    `fixed_s` are priced joules and seconds of the server's computing.
    """

    joules: float
    seconds: float
    fixed_j: float
    overhead_j: float
    circuit_j: float
    compute_j: float
    fixed_s: float


@dataclass
class MissionControl:
    """The state of a mission between two rounds."""

    scenario: Scenario
    target: Target | None
    fit: ScoreFit | None
    forecast: ProgressForecast
    first_loss: float
    loss: float
    worth_j: float | None = None
    joules: float = 0.0
    seconds: float = 0.0
    fixed_j: float = 0.0
    overhead_j: float = 0.0
    fixed_s: float = 0.0
    circuit_j: float = 0.0
    rounds: int = 0
    times_reached: int = 0
    server_price: ServerBatteryPrice = field(default_factory=ServerBatteryPrice)
    round: MissionRound | None = None  # what the plan of the current round knew

    @classmethod
    def create(cls, scenario: Scenario, first_loss: float, validation_rows: int) -> MissionControl:
        """Return the mission of a scenario before round 0."""
        target = mission_target(scenario)
        if target is not None and target.value > 1 == perfect_score(
            target.metric, scenario.learning
        ):
            fault = f"got {target}, and the best value of {target.metric} is not known"
            raise input_error("mission", "target", fault, "must be at most 1, or have the unit %")
        fit = (
            None
            if target is None
            else ScoreFit(perfect_score(target.metric, scenario.learning), validation_rows)
        )
        forecast = ProgressForecast()
        worth = scenario.mission.worth_j
        return cls(scenario, target, fit, forecast, first_loss, first_loss, worth)

    # --- before a round -------------------------------------------------------------------------

    @property
    def progress(self) -> float:
        """Return the progress made so far, by the loss on validation rows."""
        return progress(self.loss, self.first_loss)

    @property
    def progress_left(self) -> float | None:
        """Return the progress that is missing to the target; None without one."""
        if self.target is None or self.fit is None:
            return None
        loss = self.fit.loss_for(self.target.value)
        if loss is None:
            return self.forecast.base * min(self.rounds_left, FIRST_ROUNDS)
        return max(progress(loss, self.first_loss) - self.progress, 0.0)

    @property
    def rounds_left(self) -> int:
        """Return the rounds of the run that are left."""
        return max(self.scenario.learning.rounds - self.rounds, 1)

    @property
    def seconds_left(self) -> float | None:
        """Return the time until the deadline, if there is one."""
        deadline = self.scenario.mission.deadline_s
        return None if deadline is None else max(deadline - self.seconds, 0.0)

    @property
    def expected_rounds(self) -> int:
        """Return the rounds until the expected end, if progress and spending go on as so far."""
        left, missing = float(self.rounds_left), self.progress_left
        made = self.progress - 1
        if self.scenario.mission.goal != "best" and missing is not None and made > 0:
            left = min(left, missing / made * self.rounds + CONFIRMED)
        if self.joules_left is not None and self.joules > 0:
            left = min(left, self.joules_left / self.joules * self.rounds)
        return max(math.ceil(left), 1)

    @property
    def joules_left(self) -> float | None:
        """Return what is left of the budget, if there is one."""
        budget = self.scenario.mission.budget_j
        return None if budget is None else max(budget - self.joules, 0.0)

    def begin_round(
        self,
        problem: RoundProblem,
        options: Sequence[RoundOption] = (),
        paces: Sequence[float] | None = None,
        working: Collection[str] = (),
    ) -> MissionRound:
        """Return what the next round's plan needs to know; `options` are those of the round.

        `paces` says how many times as long as planned each device takes, where that is measured,
        and `working` are the devices that are late.
        """
        settings = self.scenario.mission
        self.round = MissionRound(
            gains=self.forecast.gains(problem.ids, self.rounds, problem.max_iterations),
            base=self.forecast.base,
            prices=self.scenario.mission_prices,
            server_factor=self.server_price.factor,
            goal=settings.goal,
            rounds_left=self._rounds_with_server(),
            progress=self.progress,
            progress_left=self.progress_left,
            fixed_j=self.fixed_j,
            overhead_j=self.overhead_j,
            circuit_j=self.circuit_j,
            joules_spent=self.joules,
            joules_left=self.joules_left,
            fixed_s=self.fixed_s,
            least_s=self.scenario.round_s or 0.0,
            seconds_left=self.seconds_left,
            worth_j=settings.worth_j or self.worth_j,
            fixed_worth=settings.worth_j is not None,
            power=POWER,
            options=self._in_time(options),
            may_be_late=self.may_be_late,
            working=frozenset(working),
            paces=None if paces is None else np.array(paces),
            hearing=self.forecast.hearing / max(1, len(problem)),
            staleness_exponent=self.forecast.staleness_exponent,
        )
        return self.round

    @property
    def may_be_late(self) -> bool:
        """Return whether the server may go on without slow devices: where seconds have a price."""
        settings = self.scenario.mission
        in_a_hurry = settings.goal == "time" or settings.deadline_s is not None
        return settings.schedule == "auto" and in_a_hurry

    def _in_time(self, options: Sequence[RoundOption]) -> tuple[RoundOption, ...]:
        """Return the options that end before the deadline; the shortest, if none does."""
        deadline = self.scenario.mission.deadline_s
        if deadline is None or not options:
            return tuple(options)
        shortest_s = min(option.seconds for option in options)
        left_s = max(deadline - self.seconds, shortest_s)
        return tuple(option for option in options if option.seconds <= left_s)

    def _rounds_with_server(self) -> int:
        """Return the rounds that are left, if the server's battery is enough for them."""
        flown = self.server_price.rounds
        return self.rounds_left if flown is None else max(min(self.rounds_left, int(flown)), 1)

    # --- after a round --------------------------------------------------------------------------

    def observe(
        self,
        iterations: Mapping[str, float],
        contributions: Mapping[str, float],
        held_out_losses: tuple[float, ...],
        scores: Mapping[str, float],
        costs: RoundCosts,
        ids: tuple[str, ...],
        gain_share: float = 1.0,
        staleness: Mapping[str, int] | None = None,
        working: Collection[str] = (),
    ) -> dict[str, Any]:
        """Take a round into account; return the entry `forecast` of its event.

        `gain_share` is the part of the expected progress that the round's option leaves.
        `staleness` is that of each report, where they were not waited for, and `working` are the
        devices that are late after the round.
        """
        offer = self.round
        if offer is None:
            raise RuntimeError("a round must begin before it is observed")
        most = offer.gains.shape[1] - 1
        taken = np.array([iterations.get(name, 0.0) for name in ids])
        expected = gain_share * offer.expected_gains(taken, ids, staleness or {})
        base = gain_share * offer.base
        expected_loss = loss_at(self.progress + base + float(expected.sum()), self.first_loss)
        measured = MeasuredProgress(
            before=self.progress,
            after=self.progress
            + (progress(scores["loss"], self.first_loss) - self.progress) / gain_share,
            contributions=contributions,
            update_share=update_share(held_out_losses),
            iterations={name: count for name, count in iterations.items() if count > 0},
            present=len(ids),
            staleness=staleness or {},
            working=working,
        )
        gains = self.forecast.observe(measured, self.rounds, most)
        self.loss = scores["loss"]
        if self.fit is not None and self.target is not None:
            self.fit.observe(self.loss, scores[self.target.metric])
        self._spend(costs, len(measured.iterations))
        self.times_reached = self.times_reached + 1 if self._is_surely_reached() else 0
        self.rounds += 1
        late = {} if staleness is None else {"staleness_exponent": self.forecast.staleness_exponent}
        return {
            "expected_loss": expected_loss,
            "validation_loss": self.loss,
            "expected": {n: float(g) for n, g in zip(ids, expected, strict=True) if n in gains},
            "measured": {name: gain_share * gain for name, gain in gains.items()},
            "base": base,
            "exponent": self.forecast.exponent,
            "worth_j": self.worth_j,
            **late,
        }

    def _spend(self, costs: RoundCosts, taking_part: int) -> None:
        self.joules += costs.joules
        self.seconds += costs.seconds
        weight = WEIGHT_OF_LATEST_COSTS if self.rounds else 1.0
        self.fixed_j += weight * (costs.fixed_j - self.fixed_j)
        self.fixed_s += weight * (costs.fixed_s - self.fixed_s)
        if taking_part:
            per_device = costs.overhead_j / taking_part
            self.overhead_j += weight * (per_device - self.overhead_j)
            self.circuit_j += weight * (costs.circuit_j / taking_part - self.circuit_j)

    def _is_surely_reached(self) -> bool:
        if self.fit is None or self.target is None or not self.fit.losses:
            return False
        error = self.fit.score_error(self.loss)
        allowed = abs(self.fit.perfect - self.target.value)
        return error + SURE * self.fit.standard_error(error) <= allowed

    @property
    def ended(self) -> str | None:
        """Return why the mission is over; None as long as it is not."""
        if self.scenario.mission.goal != "best" and self.times_reached >= CONFIRMED:
            return f"the target {self.target} is reached"
        return None

    def check_limits(self, joules: float, seconds: float) -> None:
        """End the mission if its budget or deadline does not allow a round that may take this."""
        settings = self.scenario.mission
        if self.joules_left is not None and joules > self.joules_left:
            raise MissionOverError(
                f"the budget of {settings.budget_j:g} J is used up: {self.joules_left:.4g} J are "
                f"left, and another round may take {joules:.4g} J"
            )
        if self.seconds_left is not None and seconds > self.seconds_left:
            raise MissionOverError(
                f"no round is left before the deadline at {settings.deadline_s:g} s: "
                f"{self.seconds_left:.4g} s are left, and another round may take {seconds:.4g} s"
            )

    # --- state ----------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return everything that the next round needs."""
        values = {name: getattr(self, name) for name in _STATE}
        fit = None if self.fit is None else self.fit.state_dict()
        return {
            **values,
            "forecast": self.forecast.state_dict(),
            "fit": fit,
            "server_price": asdict(self.server_price),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        for name in _STATE:
            setattr(self, name, state[name])
        self.forecast = ProgressForecast.from_state_dict(state["forecast"])
        self.server_price = ServerBatteryPrice(**state["server_price"])
        if self.fit is not None:
            self.fit.load_state_dict(state["fit"])


_STATE = (
    "first_loss",
    "loss",
    "worth_j",
    "joules",
    "seconds",
    "fixed_j",
    "overhead_j",
    "fixed_s",
    "circuit_j",
    "rounds",
    "times_reached",
)


def mission_target(scenario: Scenario) -> Target | None:
    """Return the mission's own target, or the hardest of the scenario's of the first metric."""
    if scenario.mission.target is not None:
        return parse_target(scenario.mission.target)
    targets = parse_targets(scenario.targets)
    if not targets:
        return None
    alike = [target for target in targets if target.metric == targets[0].metric]
    perfect = perfect_score(targets[0].metric, scenario.learning)
    return min(alike, key=lambda target: abs(perfect - target.value))


def perfect_score(name: str, learning: LearningSettings) -> float:
    """Return the value of a metric without any error; of a user's own with no unit it is 1."""
    if name in ("train_loss", "test_loss"):
        return 0.0
    known = {entry.name: entry for entry in (*METRICS, *further_metrics(learning))}
    if name not in known:  # a run refuses it, and names those that it records
        return 1.0
    entry = known[name]
    if not entry.higher_is_better:
        return 0.0
    if entry.unit == "%":
        return 100.0
    return 1.0


def update_share(held_out_losses: tuple[float, ...]) -> float:
    """Return the part of a round's fall of the loss that is due to the parties' updates."""
    if len(held_out_losses) < 3:
        return 0.5
    before, stepped, after = held_out_losses
    updates, server = max(before - stepped, 0.0), max(stepped - after, 0.0)
    return updates / (updates + server) if updates + server > 0 else 0.0
