"""Wait for as many reports as the round's plan says: for all of them, or for the first ones."""

from __future__ import annotations

from collections.abc import Mapping

from scdn.learning.schedules.schedule_base import Schedule
from scdn.learning.virtual_clock import Arrival, PartyCycle


class PlannedSchedule(Schedule):
    """Ends a round after the first `reports` reports, a number that each round's plan chooses.

    With None it waits for all. What it does with late reports is what the schedule `buffered` does.
    It does not wait for a slow device in place of one that is cut off.
    A round of which all reports are waited for, and in which nobody is late from an earlier one, is
    a synchronous round and needs no clock.
    """

    name = "planned"
    reports: int | None = None  # set before each round; None: all

    def collect(
        self, cycles: Mapping[str, PartyCycle], devices: int, begins: Mapping[str, int]
    ) -> list[Arrival]:
        """Advance the clock to the last report that the plan waits for."""
        count = devices if self.reports is None else self.reports
        return self.clock.first_reports(cycles, count, begins, replaces_dropped=False)
