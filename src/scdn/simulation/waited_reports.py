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

    The round ends when the last of those that the plan waits for, and that begin now, reports. All
    reports that are due until then count, whoever sends them. It is one at least.
    """
    if plan.waits_for is None:
        return None
    due_s = {name: _due_s(clock, name, cycle) for name, cycle in cycles.items()}
    begins = [due_s[n] for n in plan.waits_for if n in due_s and n not in clock.running]
    ends_s = max(begins, default=clock.now_s)
    current = {**cycles, **{n: cycle for n, cycle in clock.running.items() if n in cycles}}
    in_time = [n for n, cycle in current.items() if not cycle.late and due_s[n] <= ends_s]
    return max(len(in_time), 1)


def _due_s(clock: VirtualClock, name: str, cycle: PartyCycle) -> float:
    """Return when a device is expected to report: the cycle that it is in, or the one it begins."""
    running = clock.running.get(name)
    if running is None:
        return clock.now_s + clock.pace(name) * cycle.seconds
    return clock.due_s[name] + (clock.pace(name) - 1) * running.seconds


def measured_paces(simulation: Simulation, names: Sequence[str]) -> list[float] | None:
    """Return how many times as long as planned each device takes; None where it is not measured."""
    clock = simulation.schedule.clock
    return [clock.pace(name) for name in names] if clock.paces else None
