"""A round of a simulation in which the server waits for all reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scdn.control.plan import Plan
from scdn.simulation.outcome import Outcome, RoundResult

if TYPE_CHECKING:
    from scdn.simulation.loop import Simulation


def run_together(simulation: Simulation, plan: Plan, outcome: Outcome) -> RoundResult:
    """Train parties and server on all reports of the round at once."""
    step = simulation.train_together(plan, outcome)
    outcome = simulation.apply_missing_reports(plan, outcome)
    reports = zip(plan.problem.ids, simulation.report_uses(plan, outcome), strict=True)
    outcome = outcome.with_uses([report.use_in(step, name) for name, report in reports])
    simulation.schedule.clock.advance(outcome.latency_s)
    return RoundResult(outcome, outcome.latency_s, [step])
