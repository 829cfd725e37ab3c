"""How a round turns out: who reports in time, and what everybody spends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from scdn.arrays import Array, Mask
from scdn.control.plan import Plan
from scdn.learning.asynchronous import Arrival
from scdn.scenario.model import Fading, Radio
from scdn.world.channel import ChannelDraws, drawn_path_loss, path_loss, paths
from scdn.world.churn import link_failed


@dataclass(frozen=True, eq=False)
class Outcome:
    """One entry per device that was present when the round began."""

    active: Mask  # as planned
    leaving: Mask  # left during the round
    failed: Mask  # its report came too late
    delay_s: Array  # as it turned out; NaN where nothing was sent
    compute_s: Array
    transmission_j: Array
    processing_j: Array
    bits: Array

    @property
    def trains(self) -> Mask:
        """Whose work counts."""
        return self.active & ~self.leaving & ~self.failed

    @property
    def latency_s(self) -> float:
        """Until the slowest report: who is too late gives up at the limit."""
        spent = (self.compute_s + self.delay_s)[self.active & ~self.leaving]
        return float(spent.max()) if len(spent) else 0.0

    def with_missing(self, plan: Plan, late: Mask, gone: Mask) -> Outcome:
        """As it went: some did not answer in time (`late`), others left on the way (`gone`)."""
        late, gone = late & self.trains, gone & self.active & ~self.leaving
        limit, power = plan.problem.max_delay_s, plan.decision.power_w
        delay = np.where(gone, np.nan, np.where(late, limit, self.delay_s))
        silent = late | gone
        sent = np.where(gone, 0.0, np.where(late, power * limit, self.transmission_j))
        return replace(
            self,
            leaving=self.leaving | gone,
            failed=(self.failed | late) & ~gone,
            delay_s=delay,
            transmission_j=sent,
            bits=np.where(silent, 0.0, self.bits),
        )

    def of_arrivals(self, names: Sequence[str], arrivals: Sequence[Arrival]) -> Outcome:
        """What the cycles that ended cost; who left on the way has computed for nothing."""

        def total(term: str) -> Array:
            sums = dict.fromkeys(names, 0.0)
            for arrival in arrivals:
                sums[arrival.name] += getattr(arrival.cycle, term)
            return np.array([sums[name] for name in names])

        return replace(
            self,
            transmission_j=total("transmission_j"),
            processing_j=np.where(self.leaving, self.processing_j, total("processing_j")),
            bits=total("bits"),
        )


def carry_out(
    plan: Plan, leaving: Mask, fading: Fading, luck: ChannelDraws | None = None
) -> Outcome:
    """What the plan meets: the mean channel without the plan's margin, or a drawn one.

    Who leaves on the way has computed but does not send. A sender whose report would take too long
    gives up at the limit, its energy spent.
    """
    problem, decision = plan.problem, plan.decision
    loss = _true_loss(plan, problem.radio, fading, luck)
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
    )


def _true_loss(plan: Plan, radio: Radio, fading: Fading, luck: ChannelDraws | None) -> Array:
    bare = radio.model_copy(update={"margin_db": 0.0})
    if luck is None:
        return path_loss(plan.server_m, plan.problem.position_m, bare)
    return drawn_path_loss(paths(plan.server_m, plan.problem.position_m, bare), luck, fading)
