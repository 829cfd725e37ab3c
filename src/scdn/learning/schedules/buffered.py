"""Go on after the first reports: the others are used in the round in which they arrive."""

from __future__ import annotations

from collections.abc import Mapping

from scdn.learning.schedules.schedule_base import Schedule
from scdn.learning.virtual_clock import Arrival, PartyCycle


class BufferedSchedule(Schedule):
    """Ends a round after the first `learning.buffer_reports` reports (FedBuff's buffer, K).

    A device that has reported waits for the next plan. One that has not goes on, and its report is
    one of the first of a later round: an update that it computed from what the server knew when it
    began. Its staleness is the number of times that the server was updated since. A report that is
    dropped does not count as one of the K.
    """

    name = "buffered"

    def collect(
        self, cycles: Mapping[str, PartyCycle], devices: int, begins: Mapping[str, int]
    ) -> list[Arrival]:
        """Advance the clock to the last report that the server waits for."""
        return self.clock.first_reports(cycles, self.reports_needed(devices), begins)

    def reports_needed(self, devices: int) -> int:
        """Return K; by default three quarters of the devices, and at least one fewer than all.

        Parties have different features, and what is not heard is imputed: with half of them, more
        rounds are needed (docs/learning.md).
        """
        return self.learning.buffer_reports or max(1, min(-(-3 * devices // 4), devices - 1))
