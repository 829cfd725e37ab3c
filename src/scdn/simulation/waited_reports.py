"""For how many reports a round waits: for all, or for as many as its plan asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from scdn.control.plan import Plan
from scdn.learning.replayed_clock import ReplayedClock
from scdn.learning.schedules import PlannedSchedule
from scdn.learning.virtual_clock import PartyCycle, VirtualClock

if TYPE_CHECKING:
    from scdn.simulation.loop import Simulation


def waits_for_all(simulation: Simulation, plan: Plan) -> bool:
    """Return whether a round is a synchronous one.

    Then nobody is late in it, nobody is late from an earlier one, and nobody measures who is slow.
    """
    schedule, mission = simulation.schedule, simulation.mission
    if isinstance(schedule, PlannedSchedule):
        measures = isinstance(schedule.clock, ReplayedClock)
        if measures and mission is not None and mission.may_be_late:
            return False  # the clock measures who is slow
        return plan.waits_for is None and not schedule.clock.running
    return schedule.waits_for_all


def plan_reports(simulation: Simulation, plan: Plan, cycles: Mapping[str, PartyCycle]) -> None:
    """Tell a schedule whose rounds are planned for how many reports to wait."""
    schedule = simulation.schedule
    if isinstance(schedule, PlannedSchedule):
        schedule.reports = reports_to_wait_for(plan, cycles, schedule.clock)


def reports_to_wait_for(
    plan: Plan, cycles: Mapping[str, PartyCycle], clock: VirtualClock
) -> int | None:
    """Return after how many reports the round ends; None if it waits for all.

    These are the reports of the devices that the plan waits for and that begin now, and those of
    devices at work that are due before. It is one at least.
    """
    if plan.waits_for is None:
        return None
    begin = {name: cycle for name, cycle in cycles.items() if name not in clock.running}
    waited = [begin[name] for name in plan.waits_for if name in begin]
    in_time = [cycle for cycle in waited if not cycle.late]
    lasts_s = [begin[n].seconds * clock.pace(n) for n in plan.waits_for if n in begin]
    ends_s = clock.now_s + max(lasts_s, default=0.0)
    due = [
        name
        for name, cycle in clock.running.items()
        if name in cycles and clock.due_s[name] + (clock.pace(name) - 1) * cycle.seconds <= ends_s
    ]
    return max(len(in_time) + len(due), 1)


def measured_paces(simulation: Simulation, names: Sequence[str]) -> list[float] | None:
    """Return how many times as long as planned each device takes; None where it is not measured."""
    clock = simulation.schedule.clock
    return [clock.pace(name) for name in names] if clock.paces else None
