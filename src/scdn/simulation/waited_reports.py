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

    The round ends when the last of those that the plan waits for, and that begin now, reports, or
    would have if it were not cut off. If all of them are late from earlier rounds, it ends with the
    first of them, and at once if those that were to begin have left. All reports that are due until
    then count, whoever sends them.
    """
    if plan.waits_for is None:
        return None
    due_s = {name: _due_s(clock, name, cycle) for name, cycle in cycles.items()}
    waited_s = {name: due_s[name] for name in plan.waits_for if name in due_s}
    begin_s = [at_s for name, at_s in waited_s.items() if name not in clock.running]
    if not begin_s and len(waited_s) < len(plan.waits_for):
        return 0
    ends_s = max(begin_s) if begin_s else min(waited_s.values())
    return sum(at_s <= ends_s for at_s in due_s.values())


def longest_wait_s(
    plan: Plan, clock: VirtualClock, cycles_s: Mapping[str, float], unplanned_s: Mapping[str, float]
) -> float:
    """Return the most that it may take until the reports are there that end a round.

    `cycles_s` is how long the cycle of each device may take that begins one now, and `unplanned_s`
    by how much what each sends beyond its plan may prolong the round. Devices that were measured to
    be slower than planned take longer.
    """
    cycles_s = {name: clock.pace(name) * seconds for name, seconds in cycles_s.items()}
    running_s = {n: _due_s(clock, n, cycle) - clock.now_s for n, cycle in clock.running.items()}
    if plan.waits_for is None:
        prolonged = [seconds + unplanned_s[name] for name, seconds in running_s.items()]
        return max([0.0, *prolonged, *cycles_s.values()])
    begin_s = [s for n, s in cycles_s.items() if n in plan.waits_for and n not in running_s]
    first_s = min((s for n, s in running_s.items() if n in plan.waits_for), default=0.0)
    others_s = [s for n, s in unplanned_s.items() if n in running_s or n not in plan.waits_for]
    return max(begin_s, default=max(first_s, 0.0)) + max(others_s, default=0.0)


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
