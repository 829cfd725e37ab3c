"""A round of a simulation in which the server does not wait for all: cycles and their arrivals."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scdn.control.plan import Plan
from scdn.errors import input_error
from scdn.learning.local_optimizers import NO_STEPS
from scdn.learning.replayed_clock import RecordedArrival, ReplayedClock
from scdn.learning.step_rule import StepTaken
from scdn.learning.virtual_clock import Arrival, PartyCycle
from scdn.record.run_reader import read_run
from scdn.scenario import Scenario
from scdn.simulation.battery_rounds import cycles_within_batteries
from scdn.simulation.outcome import Outcome, RoundResult
from scdn.simulation.radio_bill import with_steps
from scdn.simulation.round_options import chosen_bits
from scdn.simulation.waited_reports import plan_reports

if TYPE_CHECKING:
    from scdn.simulation.loop import Simulation


def run_arrivals(simulation: Simulation, plan: Plan, outcome: Outcome) -> RoundResult:
    """Train parties and server on the reports that the schedule collects in this round."""
    schedule = simulation.schedule
    began_s = schedule.clock.now_s
    late = {} if schedule.restarts_at_once else dict(schedule.clock.running)
    cycles = cycles_within_batteries(
        simulation, plan, outcome, party_cycles(simulation, plan, outcome)
    )
    if schedule.trains_ahead:
        schedule.clock.on_begin = partial(begin_cycles, simulation, plan)
    plan_reports(simulation, plan, cycles.cycles)
    arrivals: list[Arrival] = []
    steps: list[StepTaken] = []
    for part in schedule.collect_parts(cycles.cycles, len(plan.problem), cycles.begins):
        steps += simulation.train_arrivals(plan, outcome, part)
        arrivals += part
    arrivals = with_steps(arrivals, steps, plan.problem.ids, one_each=schedule.trains_alone)
    schedule.end_round(arrivals)
    outcome = outcome.with_arrivals(plan.problem, arrivals, late)
    outcome = simulation.apply_missing_reports(plan, outcome)
    return RoundResult(outcome, schedule.clock.now_s - began_s, steps, arrivals)


def begin_cycles(simulation: Simulation, plan: Plan, cycles: Mapping[str, PartyCycle]) -> None:
    """Let parties begin to work, where they train before they report."""
    simulation.model.parties.number_bits = chosen_bits(simulation.scenario, plan)
    steps = {name: cycle.local_steps for name, cycle in cycles.items() if not cycle.late}
    simulation.model.begin_cycles(simulation.round, steps, simulation.most_steps)


def party_cycles(simulation: Simulation, plan: Plan, outcome: Outcome) -> dict[str, PartyCycle]:
    """Return the cycle that each party would begin now."""
    local_steps = simulation.local_steps(plan, outcome)
    reports = simulation.report_uses(plan, outcome)
    tables = simulation.sends_tables(plan.problem)
    working = outcome.active & ~outcome.leaving & (simulation.step_counts(plan) > 0)
    share = simulation.scenario.radio.duty_cycle  # after a report, devices are silent for the rest
    spent = outcome.compute_s + outcome.delay_s
    return {
        name: PartyCycle(
            local_steps.get(name, NO_STEPS),
            max(
                reports[n].planned.receiving_s + float(spent[n]),
                float(outcome.sending_s[n]) / share,
            ),
            bool(outcome.failed[n]),
            float(outcome.processing_j[n]),
            reports[n],
            bool(tables[n]),
        )
        for n, name in enumerate(plan.problem.ids)
        if working[n]
    }


def replay_arrivals(simulation: Simulation) -> None:
    """Let reports arrive as recorded, if the scenario says so."""
    if recorded := recorded_arrivals(simulation.scenario):
        simulation.schedule.clock = ReplayedClock(recorded=recorded)


def recorded_arrivals(scenario: Scenario) -> list[RecordedArrival]:
    """Return the reports of the run whose arrivals the scenario repeats, if there is one."""
    if scenario.churn.arrivals is None:
        return []
    rounds = read_run(Path(scenario.churn.arrivals)).rounds
    together = [event for event in rounds if "arrivals" not in event]
    if together or not rounds:  # a mission may have rounds of both kinds
        problem = f"has no arrivals in {len(together)} of {len(rounds)} rounds"
        allowed = "must be of a run that never waits for all reports"
        raise input_error(scenario.churn.arrivals, "churn.arrivals", problem, allowed)
    arrivals = [arrival for event in rounds for arrival in event["arrivals"]]
    return [RecordedArrival(a["id"], a["at_s"], a["dropped"]) for a in arrivals]
