"""A round of a simulation within its batteries: the plan, the devices' cycles, and the bill.

Where the server does not wait for all reports, a cycle is paid for when it begins: what it may take
at the most is reserved until its report arrives, which may be in a later round.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scdn.arrays import floats
from scdn.control.plan import Plan
from scdn.control.problem import RoundProblem
from scdn.control.solve import Solver
from scdn.learning.radio_use import RadioUse, ReportUse
from scdn.learning.virtual_clock import PartyCycle
from scdn.methods import RoundContext
from scdn.mission.battery_rations import device_rations
from scdn.scenario import Electronics
from scdn.simulation.batteries import Budget
from scdn.simulation.outcome import Outcome, realise_at_worst
from scdn.simulation.plan_within_batteries import least_of_options_j, plan_within_batteries
from scdn.simulation.radio_bill import add_electronics
from scdn.simulation.round_options import round_options
from scdn.simulation.server_compute import ServerCompute, most_server_work, server_compute
from scdn.simulation.waited_reports import longest_wait_s, waits_for_all
from scdn.simulation.worst_case import ReportReserve, WorstCase, most_sendings, most_used
from scdn.world.movement_models import MovementJ

if TYPE_CHECKING:
    from scdn.simulation.loop import Simulation

_MANY = 1_000_000  # cycles, where one costs nothing


def plan_round_within_batteries(
    simulation: Simulation, problem: RoundProblem, context: RoundContext
) -> tuple[Plan, Solver | None]:
    """Return the method's plan of the round, or one that batteries can pay for."""
    budget = _budget(simulation)
    if simulation.mission is not None:
        rounds = simulation.mission.expected_rounds
        rations = device_rations(budget.devices_j, problem.survival, rounds)
        budget = replace(budget, rations_j=rations)
    return plan_within_batteries(
        simulation.method,
        problem,
        context,
        budget,
        partial(_reserve, simulation),
        partial(worst_case, simulation, problem),
    )


def worst_case(simulation: Simulation, problem: RoundProblem, plan: Plan) -> WorstCase:
    """Return the most that a round with this plan may take.

    A round without waiting for all may have as many reports as devices. For the server, these may
    all be the longest and most expensive ones, and come one after another if devices report again.
    """
    scenario, schedule = simulation.scenario, simulation.schedule
    outcome = realise_at_worst(plan, scenario.fading)
    reports = simulation.report_uses(plan, outcome)
    trains, sendings = simulation.step_counts(plan) > 0, most_sendings(scenario.learning)
    outcome = outcome.with_uses(most_used(reports, trains, sendings))
    compute = _most_compute(simulation, plan)
    flight_s = float(problem.flight_s(plan.server_m))
    longest_s = work_s = outcome.latency_s
    sending_j = float(outcome.server_transmission_j.sum())
    if not waits_for_all(simulation, plan):
        clock = schedule.clock
        running = {name: cycle.report.use(sendings) for name, cycle in clock.running.items()}
        running_j = [use.server_transmission_j for use in running.values()]
        dearest = max([0.0, *outcome.server_transmission_j, *running_j])
        sending_j = len(problem) * float(dearest)
        if schedule.restarts_at_once:
            ends_s = max((due_s - clock.now_s for due_s in clock.due_s.values()), default=0.0)
            longest_s = max(ends_s, 0.0) + len(problem) * work_s / scenario.radio.duty_cycle
            work_s *= math.ceil(len(problem) / max(1, int(outcome.active.sum())))
        else:
            longest_s = work_s = _longest_wait_s(simulation, plan, outcome, reports, running)
    stay_s = simulation.time_in_place(plan, longest_s + compute.seconds)
    latency_s = flight_s + simulation.time_in_place(plan, work_s + compute.seconds)
    times_as_long = 1.0 if scenario.round_s is None else stay_s / scenario.round_s
    return WorstCase(
        add_electronics(outcome, scenario.electronics, latency_s),
        problem.movement_j(plan.server_m).staying_longer(times_as_long),
        times_as_long,
        compute.joules + sending_j,
        flight_s + stay_s,
    )


def _longest_wait_s(
    simulation: Simulation,
    plan: Plan,
    worst: Outcome,
    reports: Sequence[ReportUse],
    running: Mapping[str, RadioUse],
) -> float:
    """Return the most that the reports of a round may take, where devices do not begin again.

    `worst` is what devices that begin now may take in place of what their `reports` plan, and
    `running` what the messages of the others may take.
    """
    ids, clock = plan.problem.ids, simulation.schedule.clock
    planned_s = floats([report.planned.airtime_s for report in reports])
    unplanned_s = dict(zip(ids, (worst.airtime_s - planned_s).tolist(), strict=True))
    for name, use in running.items():
        unplanned_s[name] = use.airtime_s - clock.running[name].report.planned.airtime_s
    spent_s = (worst.airtime_s + worst.compute_s) / simulation.scenario.radio.duty_cycle
    cycles_s = {ids[n]: float(spent_s[n]) for n in np.flatnonzero(worst.active)}
    return longest_wait_s(plan, clock, cycles_s, unplanned_s)


def _most_compute(simulation: Simulation, plan: Plan) -> ServerCompute:
    """Return the most that the server's computing may take in the next round."""
    scenario, server = simulation.scenario, simulation.model.server
    devices, together = len(plan.problem), waits_for_all(simulation, plan)
    alone = simulation.schedule.trains_alone
    work = most_server_work(
        scenario.learning,
        scenario.learning.steps_per_iteration * scenario.max_iterations,
        arrivals=max(devices, 1) if alone else 1,
        parties=1 if alone else devices,
        heard_held_out=server.heard_held_out_rows(),
        measures_progress=simulation.method.measures_progress,
        trains_ahead=simulation.schedule.trains_ahead and not together,
    )
    return server_compute(work, server.fusion.connections, scenario.server)


def cycles_within_batteries(
    simulation: Simulation, plan: Plan, outcome: Outcome, cycles: Mapping[str, PartyCycle]
) -> AffordableCycles:
    """Return those of these cycles that can be paid for.

    Devices that rest because of their batteries end the cycle that they are in. Where the server
    does not wait for them, all that rest do: they are late, and have been working.
    """
    ids, levels = plan.problem.ids, simulation.batteries.levels(simulation.fleet)
    resting = np.array([reason == "battery" for reason in plan.reasons()], dtype=np.bool_)
    if not simulation.schedule.restarts_at_once:
        resting = np.array([name not in cycles for name in ids], dtype=np.bool_)
    return affordable_cycles(
        {name: level for name, level in zip(ids, levels, strict=True) if np.isfinite(level)},
        cycles,
        simulation.schedule.clock.running,
        plan.problem.selected_ids(resting & ~outcome.leaving),
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
    batteries, fleet, before = simulation.batteries, simulation.fleet, _budget(simulation)
    outcome = batteries.spend(fleet, outcome, movement, compute)
    budget = _budget(simulation)
    if simulation.mission is not None and np.isfinite(before.server_j):
        spent_j = before.server_j - budget.server_j
        rounds = simulation.mission.expected_rounds
        simulation.mission.server_price.observe(before.server_j, spent_j, rounds)
    if np.isfinite(budget.devices_j).any():
        options = round_options(simulation, problem)
        least_j = least_of_options_j(problem, options, partial(_reserve, simulation))
        leaving = simulation.trace.leaving(simulation.round) & simulation.present
        busy = set(simulation.schedule.clock.running) | set(simulation.trace.fleet.id[leaving])
        used_up = problem.selected_ids(budget.devices_j < least_j)
        batteries.exits = [name for name in used_up if name not in busy]
    return outcome


def _budget(simulation: Simulation) -> Budget:
    return simulation.batteries.budget(simulation.fleet, late_reports_j(simulation))


def late_reports_j(simulation: Simulation) -> dict[str, float]:
    """Return the most that the reports of late devices may take, by device."""
    return reserved_j(simulation.schedule.clock.running, _cycle_cost(simulation))


def _cycle_cost(simulation: Simulation) -> CycleCost:
    scenario = simulation.scenario
    return CycleCost(scenario.electronics, most_sendings(scenario.learning))


def _reserve(simulation: Simulation, problem: RoundProblem) -> ReportReserve:
    bits = None if problem.option is None else problem.option.number_bits
    protocol = simulation.data.round_protocol(simulation.method.uses_importance, bits)
    return ReportReserve.create(simulation.scenario, protocol, simulation.sends_tables(problem))


# --- cycles ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CycleCost:
    """The most that a cycle may take, if embeddings are sent up to so many times after its step."""

    electronics: Electronics
    sendings: int

    def reserve_j(self, cycle: PartyCycle) -> float:
        """Return the joules of the cycle's work."""
        use = cycle.report.use(self.sendings)
        sending_j = use.transmission_j + self.electronics.circuit_w * use.airtime_s
        return cycle.processing_j + sending_j

    def price_j(self, cycle: PartyCycle) -> float:
        """Return the joules of its work, and of idle power until it ends."""
        unplanned_s = cycle.report.use(self.sendings).airtime_s - cycle.report.planned.airtime_s
        idle_j = self.electronics.idle_w * (cycle.seconds + unplanned_s)
        return self.reserve_j(cycle) + idle_j


class AffordableCycles(NamedTuple):
    """The cycles of a round, and how many each party with a battery may begin."""

    cycles: dict[str, PartyCycle]
    begins: dict[str, int]


def affordable_cycles(
    levels_j: Mapping[str, float],
    cycles: Mapping[str, PartyCycle],
    running: Mapping[str, PartyCycle],
    resting: Collection[str],
    cost: CycleCost,
) -> AffordableCycles:
    """Return the cycles that batteries with these levels can pay for.

    Parties that are `resting` end the cycle that they are in.
    """
    ending = {name: running[name] for name in resting if name in running}
    chosen, begins = {**cycles, **ending}, dict.fromkeys(ending, 0)
    for name in set(chosen) & set(levels_j):
        left_j = levels_j[name] - (cost.reserve_j(running[name]) if name in running else 0.0)
        if name not in begins:
            price_j = cost.price_j(chosen[name])
            begins[name] = int(min(max(left_j, 0.0) / price_j, _MANY)) if price_j > 0 else _MANY
        if left_j < 0 or (name not in running and not begins[name]):
            del chosen[name], begins[name]
    return AffordableCycles(chosen, begins)


def reserved_j(running: Mapping[str, PartyCycle], cost: CycleCost) -> dict[str, float]:
    """Return what is reserved for the cycles that are running."""
    return {name: cost.reserve_j(cycle) for name, cycle in running.items()}
