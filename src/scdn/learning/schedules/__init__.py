"""Schedules: for which reports the server waits in a round, one file for each.

`Schedule` tells how to add one of your own. `synchronous.py` is the paper's, `asynchronous.py` is
VAFL's, and with `buffered.py` the server goes on after the first reports.
"""

from scdn.learning.schedules.asynchronous import AsynchronousSchedule
from scdn.learning.schedules.buffered import BufferedSchedule
from scdn.learning.schedules.schedule_base import Schedule
from scdn.learning.schedules.synchronous import SynchronousSchedule
from scdn.registry import Registry

__all__ = [
    "SCHEDULES",
    "AsynchronousSchedule",
    "BufferedSchedule",
    "Schedule",
    "SynchronousSchedule",
    "register_schedule",
    "schedule",
]

SCHEDULES: Registry[type[Schedule]] = Registry("schedule", Schedule, of_classes=True)
register_schedule, schedule = SCHEDULES.register, SCHEDULES.get

for _built_in in (SynchronousSchedule, AsynchronousSchedule, BufferedSchedule):
    register_schedule(_built_in)
