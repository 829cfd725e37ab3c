"""Schedules: for which reports the server waits in a round, one file for each.

`Schedule` tells how to add one of your own. `synchronous.py` is the paper's, `asynchronous.py` is
VAFL's, with `buffered.py` the server goes on after the first reports, and with `planned.py` each
round's plan says after how many.
"""

from scdn.learning.schedules.asynchronous import AsynchronousSchedule
from scdn.learning.schedules.buffered import BufferedSchedule
from scdn.learning.schedules.planned import PlannedSchedule
from scdn.learning.schedules.schedule_base import Schedule
from scdn.learning.schedules.synchronous import SynchronousSchedule
from scdn.registry import Registry

__all__ = [
    "SCHEDULES",
    "AsynchronousSchedule",
    "BufferedSchedule",
    "PlannedSchedule",
    "Schedule",
    "SynchronousSchedule",
    "register_schedule",
    "schedule",
]

SCHEDULES: Registry[type[Schedule]] = Registry("schedule", Schedule, of_classes=True)
register_schedule, schedule = SCHEDULES.register, SCHEDULES.get

for _built_in in (SynchronousSchedule, AsynchronousSchedule, BufferedSchedule, PlannedSchedule):
    register_schedule(_built_in)
