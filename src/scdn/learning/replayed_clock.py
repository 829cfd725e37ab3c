"""A clock on which reports arrive in the order of an earlier run, simulated or federated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from scdn.errors import input_error
from scdn.learning.virtual_clock import Arrival, VirtualClock

WEIGHT = 0.5  # of the latest cycle in a party's pace


class RecordedArrival(NamedTuple):
    """When a party's report arrived, and whether it was dropped."""

    name: str
    at_s: float
    dropped: bool


@dataclass
class ReplayedClock(VirtualClock):
    """A virtual clock whose cycles end as recorded."""

    recorded: Sequence[RecordedArrival] = field(default=(), kw_only=True)
    replayed: int = field(default=0, kw_only=True)

    def _next_arrival(self) -> Arrival:
        """Advance to the end of the next cycle that was recorded."""
        recorded = self.next_recorded()
        self.now_s = recorded.at_s
        arrival = self._arrival(recorded.name)
        cycle = arrival.cycle
        arrival = replace(arrival, cycle=replace(cycle, late=cycle.late or recorded.dropped))
        self._measure_pace(arrival)
        return arrival

    def _measure_pace(self, arrival: Arrival) -> None:
        """Compare how long a party's cycle took, until now, with its plan.

        A report that is dropped says when it was given up, and not how fast its party is.
        """
        if arrival.cycle.late:
            return
        name, planned_s = arrival.name, arrival.cycle.seconds
        took_s = self.now_s - (self.due_s[name] - planned_s)
        if planned_s > 0 and took_s > 0:
            pace = took_s / planned_s
            self.paces[name] = (1 - WEIGHT) * self.paces.get(name, pace) + WEIGHT * pace

    def next_recorded(self) -> RecordedArrival:
        """Return the next report that was recorded; it must be of a party that works."""
        if self.replayed >= len(self.recorded):
            problem = f"has {len(self.recorded)} reports, and the run goes on"
            raise input_error("scenario", "churn.arrivals", problem, "must be of a run as long")
        recorded = self.recorded[self.replayed]
        if recorded.name not in self.due_s:
            problem = f"report {self.replayed + 1} is of {recorded.name}, which is not working"
            raise input_error("scenario", "churn.arrivals", problem, "must be of the same scenario")
        self.replayed += 1
        return recorded

    def state_dict(self) -> dict[str, Any]:
        """Return the clock as values that JSON can hold."""
        paces = dict(self.paces)
        return {**super().state_dict(), "replayed": self.replayed, "paces": paces}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        super().load_state_dict(state)
        self.replayed = state["replayed"]
        self.paces = dict(state.get("paces", {}))  # not in runs of earlier versions
