"""A round of a simulation in which the server does not wait for all: cycles and their arrivals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scdn.control.plan import Plan
from scdn.learning.local_optimizers import NO_STEPS
from scdn.learning.virtual_clock import PartyCycle
from scdn.simulation.battery_rounds import cycles_within_batteries
from scdn.simulation.outcome import Outcome, RoundResult
from scdn.simulation.radio_bill import with_steps

if TYPE_CHECKING:
    from scdn.simulation.loop import Simulation


def run_arrivals(simulation: Simulation, plan: Plan, outcome: Outcome) -> RoundResult:
    """Train parties and server on the reports that the schedule collects in this round."""
    schedule = simulation.schedule
    began_s = schedule.clock.now_s
    cycles = cycles_within_batteries(
        simulation, plan, outcome, party_cycles(simulation, plan, outcome)
    )
    arrivals = schedule.collect(cycles.cycles, len(plan.problem), cycles.begins)
    steps = simulation.train_arrivals(plan, outcome, arrivals)
    arrivals = with_steps(arrivals, steps, plan.problem.ids, one_each=schedule.trains_alone)
    schedule.end_round(arrivals)
    outcome = outcome.with_arrivals(plan.problem, arrivals)
    return RoundResult(outcome, schedule.clock.now_s - began_s, steps, arrivals)


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
