"""Wait for everybody: a round ends with its slowest report."""

from __future__ import annotations

from scdn.learning.schedules.schedule_base import Schedule


class SynchronousSchedule(Schedule):
    """Waits for every report of a round, and trains on all of them together.

    Everybody begins with the round and nothing is left of it, so that its end needs no clock.
    """

    name = "synchronous"
    waits_for_all = True
