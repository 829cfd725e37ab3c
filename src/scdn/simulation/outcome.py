"""The outcome of a round: which devices report in time, and what every device spends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scdn.arrays import Array, Mask
from scdn.control.plan import Plan
from scdn.control.problem import RoundProblem
from scdn.learning.asynchronous_schedule import Arrival, PartyCycle
from scdn.learning.step_rule import StepTaken
from scdn.scenario import Fading, Radio
from scdn.world.churn import link_failed
from scdn.world.fading import ChannelDraws, drawn_path_loss
from scdn.world.path_loss import link_losses, path_loss


@dataclass(frozen=True, eq=False)
class Outcome:
    """What happened in a round; one entry per device that was present when it began."""

    active: Mask  # as planned
    leaving: Mask  # left during the round
    failed: Mask  # its report came too late
    delay_s: Array  # NaN where nothing was sent
    compute_s: Array
    transmission_j: Array
    processing_j: Array
    bits: Array
    executed_iterations: Array  # whole ones whose report came in time; 0 without such a report

    @property
    def trains(self) -> Mask:
        """Return which devices trained and reported in time."""
        return self.active & ~self.leaving & ~self.failed

    @property
    def latency_s(self) -> float:
        """Return the time until the slowest report; late ones are given up at the limit."""
        spent = (self.compute_s + self.delay_s)[self.active & ~self.leaving]
        return float(spent.max()) if len(spent) else 0.0

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
            transmission_j=np.where(departed, 0.0, transmission),
            bits=np.where(late | departed, 0.0, self.bits),
            executed_iterations=np.where(late | departed, 0.0, self.executed_iterations),
        )

    def with_arrivals(self, problem: RoundProblem, arrivals: Sequence[Arrival]) -> Outcome:
        """Return the outcome with costs and iterations of an asynchronous round's finished cycles.

        Devices that leave have spent the processing of the cycle that they were in.
        """

        def total(amount: Callable[[PartyCycle], float]) -> Array:
            sums = dict.fromkeys(problem.ids, 0.0)
            for arrival in arrivals:
                sums[arrival.name] += amount(arrival.cycle)
            return np.array([sums[name] for name in problem.ids])

        processing_j = total(lambda cycle: cycle.processing_j)
        steps = total(lambda cycle: 0 if cycle.late else cycle.local_steps.count)

        return replace(
            self,
            transmission_j=total(lambda cycle: cycle.transmission_j),
            processing_j=np.where(self.leaving, self.processing_j, processing_j),
            bits=total(lambda cycle: cycle.bits),
            executed_iterations=steps / problem.learning.steps_per_iteration,
        )


@dataclass(frozen=True, eq=False)
class RoundResult:
    """A trained round: its outcome, its duration without the server's computing, its steps."""

    outcome: Outcome
    latency_s: float
    steps: Sequence[StepTaken]  # one, or one per arrival that trained
    arrivals: Sequence[Arrival] | None = None  # of an asynchronous round


def realise(
    plan: Plan, leaving: Mask, fading: Fading, draws: ChannelDraws | None = None
) -> Outcome:
    """Return the outcome of a plan under the true channel.

    The true channel is the mean one without the plan's margin, or a drawn one. A device that leaves
    has computed but does not send. A device whose report would take longer than the limit gives up
    at the limit, after spending its energy.
    """
    problem, decision = plan.problem, plan.decision
    loss = _true_path_loss(plan, problem.radio, fading, draws)
    sends = decision.active & ~leaving
    delay = np.where(sends, problem.delay_s(decision.power_w, loss), np.nan)
    failed = sends & link_failed(np.where(sends, delay, 0.0), problem.max_delay_s)
    on_air = np.where(failed, problem.max_delay_s, delay)
    cycles = problem.cycles(decision.iterations)
    busy = decision.active & (cycles > 0)
    return Outcome(
        active=decision.active,
        leaving=leaving,
        failed=failed,
        delay_s=on_air,
        compute_s=np.divide(cycles, decision.cpu_hz, out=np.zeros(len(cycles)), where=busy),
        transmission_j=np.where(sends, decision.power_w * np.nan_to_num(on_air), 0.0),
        processing_j=np.where(decision.active, plan.evaluation.processing_j, 0.0),
        bits=np.where(sends & ~failed, problem.payload_bits, 0.0),
        executed_iterations=np.where(sends & ~failed, np.rint(decision.iterations), 0.0),
    )


def _true_path_loss(plan: Plan, radio: Radio, fading: Fading, draws: ChannelDraws | None) -> Array:
    without_margin = radio.model_copy(update={"margin_db": 0.0})
    if draws is None:
        return path_loss(plan.server_m, plan.problem.position_m, without_margin)
    losses = link_losses(plan.server_m, plan.problem.position_m, without_margin)
    return drawn_path_loss(losses, draws, fading)
