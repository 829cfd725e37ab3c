"""A round of a simulation within its batteries: the plan, asynchronous cycles, and the bill."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from scdn.control.plan import Plan
from scdn.control.problem import RoundProblem
from scdn.control.solve import Solver
from scdn.learning.asynchronous_schedule import PartyCycle
from scdn.methods import RoundContext
from scdn.simulation.affordable_cycles import (
    AffordableCycles,
    CycleCost,
    affordable_cycles,
    reserved_j,
)
from scdn.simulation.batteries import Budget
from scdn.simulation.outcome import Outcome, realise_at_worst
from scdn.simulation.plan_within_batteries import least_report_j, plan_within_batteries
from scdn.simulation.radio_bill import add_electronics
from scdn.simulation.server_compute import ServerCompute
from scdn.simulation.worst_case import ReportReserve, WorstCase, most_sendings, most_used
from scdn.world.movement_models import MovementJ

if TYPE_CHECKING:
    from scdn.simulation.loop import Simulation


def plan_round_within_batteries(
    simulation: Simulation, problem: RoundProblem, context: RoundContext
) -> tuple[Plan, Solver | None]:
    """Return the method's plan of the round, or one that batteries can pay for."""
    return plan_within_batteries(
        simulation.method,
        problem,
        context,
        _budget(simulation),
        _reserve(simulation, problem),
        partial(worst_case, simulation, problem),
    )


def worst_case(simulation: Simulation, problem: RoundProblem, plan: Plan) -> WorstCase:
    """Return the most that a round with this plan may take.

    An asynchronous round lasts until there are as many reports as devices.
    """
    scenario = simulation.scenario
    outcome = realise_at_worst(plan, scenario.fading)
    reports = simulation.report_uses(plan, outcome)
    trains, sendings = simulation.step_counts(plan) > 0, most_sendings(scenario.learning)
    outcome = outcome.with_uses(most_used(reports, trains, sendings))
    work_s = outcome.latency_s
    if simulation.method.schedule == "asynchronous":
        work_s *= math.ceil(len(problem) / max(1, int(outcome.active.sum())))
    compute_j, compute_s = simulation.batteries.expected_compute
    stay_s = simulation.time_in_place(work_s + compute_s)
    latency_s = float(problem.flight_s(plan.server_m)) + stay_s
    times_as_long = 1.0 if scenario.round_s is None else stay_s / scenario.round_s
    return WorstCase(
        add_electronics(outcome, scenario.electronics, latency_s),
        problem.movement_j(plan.server_m).staying_longer(times_as_long),
        times_as_long,
        compute_j,
        latency_s,
    )


def cycles_within_batteries(
    simulation: Simulation, plan: Plan, outcome: Outcome, cycles: Mapping[str, PartyCycle]
) -> AffordableCycles:
    """Return the cycles of an asynchronous round that can be paid for."""
    ids, levels = plan.problem.ids, simulation.batteries.levels(simulation.fleet)
    reasons = np.array(plan.reasons(), dtype=object)
    return affordable_cycles(
        {name: level for name, level in zip(ids, levels, strict=True) if np.isfinite(level)},
        cycles,
        simulation.clock.running,
        plan.problem.selected_ids((reasons == "battery") & ~outcome.leaving),
        _cycle_cost(simulation),
    )


def pay(
    simulation: Simulation,
    problem: RoundProblem,
    outcome: Outcome,
    movement: MovementJ,
    compute: ServerCompute,
) -> Outcome:
    """Take a round from the batteries, and find the devices that leave because of it.

    These can never again pay for a report, and are not in the middle of a cycle.
    """
    batteries, fleet = simulation.batteries, simulation.fleet
    outcome = batteries.spend(fleet, outcome, movement, compute)
    budget = _budget(simulation)
    if np.isfinite(budget.devices_j).any():
        least_j = least_report_j(problem, _reserve(simulation, problem))
        leaving = simulation.trace.leaving(simulation.round) & simulation.present
        busy = set(simulation.clock.running) | set(simulation.trace.fleet.id[leaving])
        used_up = problem.selected_ids(budget.devices_j < least_j)
        batteries.exits = [name for name in used_up if name not in busy]
    return outcome


def _budget(simulation: Simulation) -> Budget:
    reserved = reserved_j(simulation.clock.running, _cycle_cost(simulation))
    return simulation.batteries.budget(simulation.fleet, reserved)


def _cycle_cost(simulation: Simulation) -> CycleCost:
    scenario = simulation.scenario
    return CycleCost(scenario.electronics, most_sendings(scenario.learning))


def _reserve(simulation: Simulation, problem: RoundProblem) -> ReportReserve:
    protocol = simulation.data.round_protocol(simulation.method.uses_importance)
    return ReportReserve.create(simulation.scenario, protocol, simulation.sends_tables(problem))
