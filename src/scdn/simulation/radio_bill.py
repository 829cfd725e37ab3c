"""The bill of a round's messages: what was really sent, by the protocol or by the paper.

By the protocol a device that is heard sends and receives the parts of `RoundProtocol`. A sending of
embeddings beyond the planned one takes further airtime at the planned power, after the report. A
device whose training diverged, or that had none, sends less than was planned. The
server sends to each device in the device's own band and over the same path, at `transmit_w`. By the
paper (`payload = "model"`) a device sends its model, and nothing comes back.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import repeat

import numpy as np

from scdn.arrays import Array
from scdn.control.plan import Plan
from scdn.learning.radio_use import RadioUse, ReportUse
from scdn.learning.round_protocol import MessagePart, bits_of
from scdn.learning.step_rule import StepTaken
from scdn.learning.virtual_clock import Arrival
from scdn.scenario import Electronics
from scdn.simulation.outcome import Outcome
from scdn.world import transmission

Parts = list[MessagePart]  # of one device's messages; empty where a report is billed as a model


def report_uses(
    plan: Plan, outcome: Outcome, parts: Sequence[Parts], sample_bits: int, transmit_w: float
) -> list[ReportUse]:
    """Return what each device's report takes, from an outcome in which nothing is received yet.

    A device that is not heard receives nothing, and one that leaves sends nothing. With a
    `transmit_w` of 0 the server's airtime and energy are not counted.
    """
    rates = _rates_from_server(plan, outcome, transmit_w)
    heard, powers = outcome.trains, plan.decision.power_w
    return [
        _report_use(sent, parts[n], sample_bits, float(powers[n]), float(rates[n]), transmit_w)
        if heard[n]
        else ReportUse(sent)
        for n, sent in enumerate(outcome.uses())
    ]


def _report_use(
    sent: RadioUse,
    parts: Parts,
    sample_bits: int,
    power_w: float,
    rate: float,
    transmit_w: float,
) -> ReportUse:
    if not (parts and sent.bits_sent):
        return ReportUse(sent, diverged=sent)

    def use(up: int, down: int) -> RadioUse:
        sending_s = up / sent.bits_sent * sent.sending_s
        receiving_s = float(transmission.delay(down, rate)) if transmit_w else 0.0
        joules = power_w * sending_s, transmit_w * receiving_s
        return RadioUse(up, down, sending_s, receiving_s, *joules)

    def use_of(chosen: Parts) -> RadioUse:
        return use(bits_of(chosen, "up"), bits_of(chosen, "down"))

    return ReportUse(
        use_of(parts),
        again=use_of([part for part in parts if part.moment == "step"]),
        diverged=use_of([part for part in parts if part.moment == "before"]),
        first_sample=use(sample_bits, 0),
    )


def _rates_from_server(plan: Plan, outcome: Outcome, transmit_w: float) -> Array:
    """Return the rate at which each device receives, over the true path in its own band."""
    problem = plan.problem
    snr = transmission.snr(transmit_w, outcome.path_loss, problem.noise_w)
    return transmission.rate(snr, problem.bandwidth_hz, problem.radio.rate_model)


def with_steps(
    arrivals: Sequence[Arrival],
    steps: Sequence[StepTaken],
    present: Collection[str],
    *,
    one_each: bool = True,
) -> list[Arrival]:
    """Return arrivals with their steps: each that trained has its own, or all have the same."""
    taken = iter(steps) if one_each else repeat(steps[0])
    return [
        replace(arrival, step=next(taken)) if arrival.trains(present) else arrival
        for arrival in arrivals
    ]


def add_electronics(outcome: Outcome, electronics: Electronics, latency_s: float) -> Outcome:
    """Add what devices draw beside their processor and antenna in a round of this duration."""
    return replace(
        outcome,
        circuit_j=electronics.circuit_w * outcome.airtime_s,
        idle_j=np.full(len(outcome.active), electronics.idle_w * latency_s),
    )
