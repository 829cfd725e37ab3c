"""The clock of a federation in which nobody waits: a cycle ends when its device says so."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scdn.federation.remote_parties import RemoteParties
from scdn.learning.replayed_clock import ReplayedClock
from scdn.learning.virtual_clock import Arrival, PartyCycle


@dataclass
class ObservedClock(ReplayedClock):
    """A clock that runs with real time, and waits for devices that work.

    A device that will not report, because it has disconnected or did not begin, has its report
    dropped, and begins again in the next round. With recorded arrivals, reports are taken in their
    order and at their times.

    Attributes
    ----------
    heard, dropped
        Parties that were ready in this round, and those whose report was dropped.
    """

    remote: RemoteParties = field(kw_only=True)
    clock: Callable[[], float] = field(default=time.monotonic, kw_only=True)
    heard: set[str] = field(default_factory=set, kw_only=True)
    dropped: set[str] = field(default_factory=set, kw_only=True)
    _zero_s: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._zero_s = self.clock() - self.now_s

    def begin_round(self) -> None:
        """Forget who was heard in the round before."""
        self.heard, self.dropped = set(), set()

    def drop(self, names: Collection[str]) -> None:
        """Note that the reports of these parties could not be used."""
        self.heard -= set(names)
        self.dropped |= set(names)

    def restart(self) -> None:
        """Let the time be as it is: what has passed since the last report does not count."""
        self._zero_s = self.clock() - self.now_s

    def advance(self, *seconds: float) -> None:
        """Let this time pass, which is computed and not measured."""
        super().advance(*seconds)
        self._zero_s -= sum(seconds)

    def _next_arrival(self) -> Arrival:
        """Wait until the next device is ready to report."""
        recorded = self.next_recorded() if self.recorded else None
        wanted = self.due_s if recorded is None else [recorded.name]
        name, reply = self.remote.messenger.next_finished(list(wanted))
        self.now_s = max(self.now_s, self.clock() - self._zero_s)
        if recorded is not None:
            self.now_s = recorded.at_s
        arrival = self._arrival(name)
        if reply is None:
            self.drop([name])
            return replace(arrival, cycle=replace(arrival.cycle, late=True))
        self._measure_pace(arrival)
        self.heard.add(name)
        self.remote.ready[name] = reply
        return arrival

    def _begin_all(self, cycles: Mapping[str, PartyCycle], left: dict[str, int]) -> None:
        """Begin cycles, but none of a device whose report was dropped in this round."""
        ready = {name: cycle for name, cycle in cycles.items() if name not in self.dropped}
        super()._begin_all(ready, left)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the time; devices begin their cycles again."""
        super().load_state_dict(state)
        self.due_s, self.running = {}, {}
        self.restart()
