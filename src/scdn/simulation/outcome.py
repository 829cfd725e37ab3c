"""The outcome of a round: which devices report in time, and what every device spends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from scdn.arrays import Array, Mask, floats
from scdn.control.plan import Plan
from scdn.control.problem import RoundProblem
from scdn.learning.radio_use import RadioUse
from scdn.learning.step_rule import StepTaken
from scdn.learning.virtual_clock import Arrival, PartyCycle
from scdn.rng import generator
from scdn.scenario import Fading, Scenario
from scdn.world.churn import link_failed
from scdn.world.decibels import db_to_ratio
from scdn.world.fading import ChannelDraws, draw_channel, drawn_path_loss
from scdn.world.link_models import link_model, path_loss

_TOLERANCE = 1e-9  # relative, against rounding error


@dataclass(frozen=True, eq=False)
class Outcome:
    """What happened in a round; one entry per device that was present when it began."""

    active: Mask  # as planned
    leaving: Mask  # left during the round
    failed: Mask  # its report came too late
    path_loss: Array  # the true one
    delay_s: Array  # of the report as planned; NaN where nothing was sent
    compute_s: Array
    processing_j: Array
    executed_iterations: Array  # whole ones whose report came in time; 0 without such a report
    bits_sent: Array
    bits_received: Array
    sending_s: Array
    receiving_s: Array
    transmission_j: Array
    server_transmission_j: Array  # of the server, to each device
    circuit_j: Array
    idle_j: Array

    @property
    def trains(self) -> Mask:
        """Return which devices trained and reported in time."""
        return self.active & ~self.leaving & ~self.failed

    @property
    def device_j(self) -> Array:
        """Return what each device spent."""
        return self.transmission_j + self.processing_j + self.circuit_j + self.idle_j

    @property
    def airtime_s(self) -> Array:
        """Return how long each device sent and received."""
        return self.receiving_s + self.sending_s

    @property
    def latency_s(self) -> float:
        """Return the time until the slowest device is done; late reports end at the limit."""
        spent = self.receiving_s + self.compute_s + self.sending_s
        taking_part = self.active & ~self.leaving
        return float(spent[taking_part].max()) if taking_part.any() else 0.0

    def uses(self) -> list[RadioUse]:
        """Return what the messages of each device took."""
        columns = (getattr(self, field.name).tolist() for field in fields(RadioUse))
        return [RadioUse(*values) for values in zip(*columns, strict=True)]

    def with_uses(self, uses: Sequence[RadioUse]) -> Outcome:
        """Return the outcome with messages that took this of each device."""
        columns: dict[str, Any] = {
            field.name: floats([getattr(use, field.name) for use in uses])
            for field in fields(RadioUse)
        }
        return replace(self, **columns)

    def with_missing_reports(self, plan: Plan, late: Mask, departed: Mask) -> Outcome:
        """Return the outcome after some devices missed the deadline and others left."""
        late, departed = late & self.trains, departed & self.active & ~self.leaving
        limit, power = plan.problem.max_delay_s, plan.decision.power_w
        delay = np.where(departed, np.nan, np.where(late, limit, self.delay_s))
        transmission = np.where(late, power * limit, self.transmission_j)
        return replace(
            self,
            leaving=self.leaving | departed,
            failed=(self.failed | late) & ~departed,
            delay_s=delay,
            sending_s=np.nan_to_num(delay),
            transmission_j=np.where(departed, 0.0, transmission),
            bits_sent=np.where(late | departed, 0.0, self.bits_sent),
            executed_iterations=np.where(late | departed, 0.0, self.executed_iterations),
        )

    def with_arrivals(
        self,
        problem: RoundProblem,
        arrivals: Sequence[Arrival],
        late: Mapping[str, PartyCycle] | None = None,
    ) -> Outcome:
        """Return the outcome with costs and iterations of the cycles that ended in a round.

        Devices that leave have spent the processing of the cycle that they were in: of the one in
        `late`, if they began it in an earlier round.
        """
        begun_j = {name: cycle.processing_j for name, cycle in (late or {}).items()}
        planned_j = dict(zip(problem.ids, self.processing_j.tolist(), strict=True))
        given_up_j = floats([begun_j.get(name, planned_j[name]) for name in problem.ids])
        uses = dict.fromkeys(problem.ids, RadioUse())
        processing_j, steps = dict.fromkeys(problem.ids, 0.0), dict.fromkeys(problem.ids, 0)
        for arrival in arrivals:
            name, cycle = arrival.name, arrival.cycle
            uses[name] += arrival.radio
            processing_j[name] += cycle.processing_j
            steps[name] += 0 if cycle.late else cycle.local_steps.count
        spent = floats(list(processing_j.values()))
        return replace(
            self.with_uses(list(uses.values())),
            processing_j=np.where(self.leaving, given_up_j, spent),
            executed_iterations=floats(list(steps.values())) / problem.learning.steps_per_iteration,
        )


@dataclass(frozen=True, eq=False)
class RoundResult:
    """A trained round: its outcome, its duration without the server's computing, its steps."""

    outcome: Outcome
    latency_s: float
    steps: Sequence[StepTaken]  # one, or one per arrival that trained
    arrivals: Sequence[Arrival] | None = None  # unless all reports were waited for

    def contributions(self) -> dict[str, float]:
        """Return by how much each party's updates lowered the loss, where that is measured."""
        gains: dict[str, float] = {}
        for step in self.steps:
            for name, gain in step.contributions.items():
                gains[name] = gains.get(name, 0.0) + gain
        return gains


def channel_draws(scenario: Scenario, round_index: int, present: Mask) -> ChannelDraws | None:
    """Draw the channels of a round for all devices of a trace; return those that are present."""
    if scenario.fading.mode == "none":
        return None
    draws = draw_channel(generator(scenario.seed, "fading", round_index), len(present))
    return ChannelDraws(*(values[present] for values in draws))


def realise(
    plan: Plan, leaving: Mask, fading: Fading, draws: ChannelDraws | None = None
) -> Outcome:
    """Return the outcome of a plan under the true channel.

    The true channel is the mean one without the plan's margin, or a drawn one. A device that leaves
    has computed but does not send. A device whose report would take longer than the limit gives up
    at the limit, after spending its energy.
    """
    return _outcome(plan, leaving, _true_path_loss(plan, fading, draws))


def realise_at_worst(plan: Plan, fading: Fading) -> Outcome:
    """Return the outcome of a plan if nobody leaves, and links are as bad as they can be.

    With a drawn channel, that is the greatest path loss at which a report is still in time.
    """
    loss = _true_path_loss(plan, fading, None)
    if fading.mode != "none":
        per_loss, power = plan.problem.least_power_per_loss(), plan.decision.power_w
        heard = (per_loss > 0) & (power > 0)
        loss = np.divide(power, per_loss * (1 + _TOLERANCE), out=loss, where=heard)
    return _outcome(plan, np.zeros(len(loss), dtype=np.bool_), loss)


def _outcome(plan: Plan, leaving: Mask, loss: Array) -> Outcome:
    problem, decision = plan.problem, plan.decision
    sends = decision.active & ~leaving
    delay = np.where(sends, problem.delay_s(decision.power_w, loss), np.nan)
    failed = sends & link_failed(np.where(sends, delay, 0.0), problem.max_delay_s)
    on_air = np.where(failed, problem.max_delay_s, delay)
    cycles = problem.cycles(decision.iterations)
    busy = decision.active & (cycles > 0)
    sending_s, nothing = np.where(sends, np.nan_to_num(on_air), 0.0), np.zeros(len(problem))
    return Outcome(
        active=decision.active,
        leaving=leaving,
        failed=failed,
        path_loss=loss,
        delay_s=on_air,
        compute_s=np.divide(cycles, decision.cpu_hz, out=np.zeros(len(cycles)), where=busy),
        processing_j=np.where(decision.active, plan.evaluation.processing_j, 0.0),
        executed_iterations=np.where(sends & ~failed, np.rint(decision.iterations), 0.0),
        bits_sent=np.where(sends & ~failed, problem.payload_bits, 0.0),
        bits_received=nothing,
        sending_s=sending_s,
        receiving_s=nothing,
        transmission_j=np.where(sends, decision.power_w * sending_s, 0.0),
        server_transmission_j=nothing,
        circuit_j=nothing,
        idle_j=nothing,
    )


def _true_path_loss(plan: Plan, fading: Fading, draws: ChannelDraws | None) -> Array:
    problem = plan.problem
    without_margin = problem.radio.model_copy(update={"margin_db": 0.0})
    if draws is None:
        return path_loss(plan.server_m, problem.position_m, without_margin, problem.wall_loss_db)
    losses = link_model(without_margin).losses(plan.server_m, problem.position_m)
    return drawn_path_loss(losses, draws, fading) * db_to_ratio(problem.wall_loss_db)
