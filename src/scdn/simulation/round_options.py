"""The options of a mission's round: durations times bits per number."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from scdn.control.plan import Plan
from scdn.control.problem import RoundProblem
from scdn.control.round_option import RoundOption
from scdn.mission.option_worth import GAIN_SHARES
from scdn.scenario import Scenario
from scdn.scenario.round_settings import report_limit_s

if TYPE_CHECKING:
    from scdn.simulation.loop import Simulation


def round_options(simulation: Simulation, problem: RoundProblem) -> tuple[RoundOption, ...]:
    """Return what a mission may choose from in a round; nothing with other methods.

    While a report is late, numbers keep the bits that it began with.
    """
    method, scenario = simulation.method, simulation.scenario
    if not method.uses_progress:
        return ()
    working = bool(simulation.schedule.clock.running)
    payloads = {
        bits: problem.payload_bits
        if bits == scenario.learning.number_bits
        else simulation.data.payload_bits(
            problem.connections, problem.survival, method.uses_importance, bits
        )
        for bits in scenario.round_bits
    }
    own_bits = float(np.sum(problem.payload_bits))
    own_limit_s = option_limit_s(scenario, 1.0)
    own_seconds = _seconds(scenario, 1.0, own_limit_s)
    idle_w = scenario.mission_prices.device * scenario.electronics.idle_w * len(problem)
    best_share = max(GAIN_SHARES[bits] for bits in scenario.round_bits)
    options = []
    for duration, bits in product(scenario.mission.durations, scenario.round_bits):
        if working and bits != simulation.model.parties.number_bits:
            continue
        limit_s = option_limit_s(scenario, duration)
        seconds = _seconds(scenario, duration, limit_s)
        options.append(
            RoundOption(
                duration,
                bits,
                limit_s,
                payloads[bits],
                stay=1.0 if scenario.round_s is None else duration,
                gain_share=GAIN_SHARES[bits] / best_share,
                sent_share=float(np.sum(payloads[bits])) / own_bits if own_bits else 1.0,
                delay_share=limit_s / own_limit_s,
                idle_j=idle_w * (seconds - own_seconds),
                seconds=seconds,
            )
        )
    return tuple(options)


def option_limit_s(scenario: Scenario, duration: float) -> float:
    """Return the time limit of a report in a round of this duration."""
    round_s = None if scenario.round_s is None else duration * scenario.round_s
    return report_limit_s(duration * scenario.max_delay_s, scenario.radio, round_s)


def _seconds(scenario: Scenario, duration: float, limit_s: float) -> float:
    """Return how long a round is expected to take, without its flight."""
    work_s = scenario.learning.compute_deadline_s + limit_s
    return work_s if scenario.round_s is None else max(duration * scenario.round_s, work_s)


def chosen_bits(scenario: Scenario, plan: Plan) -> int:
    """Return the bits per number of a plan's round."""
    option = plan.problem.option
    return scenario.learning.number_bits if option is None else option.number_bits


def chosen_round_s(scenario: Scenario, plan: Plan) -> float | None:
    """Return how long the server stays in place in a plan's round; None: as long as it takes."""
    option = plan.problem.option
    if scenario.round_s is None or option is None:
        return scenario.round_s
    return scenario.round_s * option.duration
