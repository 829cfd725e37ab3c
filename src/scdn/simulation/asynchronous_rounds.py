"""An asynchronous round of a simulation: the cycles of its devices, and their arrivals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scdn.control.plan import Plan
from scdn.learning.asynchronous_schedule import PartyCycle, train_arrivals
from scdn.learning.local_optimizers import NO_STEPS
from scdn.simulation.battery_rounds import cycles_within_batteries
from scdn.simulation.outcome import Outcome, RoundResult
from scdn.simulation.radio_bill import with_steps

if TYPE_CHECKING:
    from scdn.simulation.loop import Simulation


def train_arrivals_of(simulation: Simulation, plan: Plan, outcome: Outcome) -> RoundResult:
    """Train parties and server as reports arrive, until there are as many as devices."""
    began_s = simulation.clock.now_s
    cycles = cycles_within_batteries(
        simulation, plan, outcome, party_cycles(simulation, plan, outcome)
    )
    arrivals = simulation.clock.next_arrivals(cycles.cycles, len(plan.problem), cycles.begins)
    steps = train_arrivals(
        simulation.model,
        simulation.round,
        simulation.server_steps(),
        arrivals,
        simulation.most_steps,
    )
    arrivals = with_steps(arrivals, steps, simulation.model.present)
    simulation.clock.postpone(arrivals)
    outcome = outcome.with_arrivals(plan.problem, arrivals)
    return RoundResult(outcome, simulation.clock.now_s - began_s, steps, arrivals)


def party_cycles(simulation: Simulation, plan: Plan, outcome: Outcome) -> dict[str, PartyCycle]:
    """Return the cycle that each party would begin now, when nobody waits for the others."""
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
