"""The virtual clock of rounds in which the server does not wait for everybody.

A party's cycle lasts as long as what it receives, its computation and its report, by the plan that
it began with. The clock says whose report arrives when. A report that takes longer than the limit
is dropped: the cycle's energy is spent and nothing changes.

Where the server's computing time is counted, all of a round's is added at its end, and so is the
rest of its stay, if a round has a least duration: parties go on with their cycles meanwhile, and
their reports wait until the server is free.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.radio_use import RadioUse, ReportUse
from scdn.learning.step_rule import StepTaken


@dataclass(frozen=True)
class PartyCycle:
    """One party's computation and report, by the plan that it began with: steps, duration, cost."""

    local_steps: LocalSteps
    seconds: float
    late: bool = False
    processing_j: float = 0.0
    report: ReportUse = field(default_factory=ReportUse)
    sends_table: bool = False  # whether a part of the whole table is in the report


@dataclass(frozen=True)
class Arrival:
    """The arrival of a party's report.

    `staleness` counts how often the server was updated by others since the party's previous report,
    or since it began this cycle if it had to wait for the round.
    """

    name: str
    at_s: float
    staleness: int
    cycle: PartyCycle
    step: StepTaken | None = None  # once it has trained

    @property
    def radio(self) -> RadioUse:
        """Return what the messages of the cycle took; as planned before the step is taken."""
        report = self.cycle.report
        return report.planned if self.step is None else report.use_in(self.step, self.name)

    @property
    def unplanned_s(self) -> float:
        """Return how much longer than planned the messages of the cycle took."""
        return self.radio.airtime_s - self.cycle.report.planned.airtime_s

    def trains(self, present: Collection[str]) -> bool:
        """Return whether the party and the server train, if these parties are present."""
        cycle = self.cycle
        return not cycle.late and cycle.local_steps.count > 0 and self.name in present


@dataclass
class VirtualClock:
    """The cycles that are running, and when each of them ends.

    `update_count` counts how often reports have updated the server, and `updates_seen` has its
    value when a party last reported, or began a cycle after a wait. `paces` says how many times as
    long as planned the cycles of a party take, where that is measured.
    """

    now_s: float = 0.0
    update_count: int = 0
    due_s: dict[str, float] = field(default_factory=dict)
    running: dict[str, PartyCycle] = field(default_factory=dict)
    updates_seen: dict[str, int] = field(default_factory=dict)
    paces: dict[str, float] = field(default_factory=dict)
    on_begin: Callable[[dict[str, PartyCycle]], None] | None = field(
        default=None, repr=False, compare=False
    )  # called with the cycles that begin

    def pace(self, name: str) -> float:
        """Return a party's pace; where it is not known, the usual one."""
        return self.paces.get(name) or median(self.paces.values() or (1.0,))

    def next_arrivals(
        self, cycles: Mapping[str, PartyCycle], count: int, begins: Mapping[str, int] | None = None
    ) -> list[Arrival]:
        """Return the arrivals of `arrivals`, once all of them are there."""
        return list(self.arrivals(cycles, count, begins))

    def arrivals(
        self, cycles: Mapping[str, PartyCycle], count: int, begins: Mapping[str, int] | None = None
    ) -> Iterator[Arrival]:
        """Advance to the end of the next `count` cycles, or of all that there are; nobody waits.

        A party begins its next cycle when its report has been used, and each report updates the
        server.
        `cycles` has the cycle that each party would begin now. A party that is not in it, because
        it has nothing to do or has left, gives up its running cycle. `begins` is how many cycles a
        party may begin, where that is limited.
        """
        left = dict(begins or {})
        for name in self._begin_idle(cycles, left):
            self.updates_seen.setdefault(name, self.update_count)
        while self.due_s and count > 0:
            arrival, count = self._next_arrival(), count - 1
            self.update_count += not arrival.cycle.late
            self.updates_seen[arrival.name] = self.update_count
            self._end(arrival.name)
            yield arrival
            self._begin_all({arrival.name: cycles[arrival.name]}, left)

    def first_reports(
        self,
        cycles: Mapping[str, PartyCycle],
        count: int,
        begins: Mapping[str, int] | None = None,
        *,
        replaces_dropped: bool = True,
    ) -> list[Arrival]:
        """Advance until `count` reports have arrived in time, or nobody is working any more.

        Parties that have reported wait for the next call, and the others go on. All reports of a
        call update the server at once. `cycles` and `begins` are as for `next_arrivals`.
        `replaces_dropped` says whether to wait for another report in place of one that is dropped,
        and that was expected in time or among the first `count`.
        """
        for name in self._begin_idle(cycles, dict(begins or {})):
            self.updates_seen[name] = self.update_count
        first = () if replaces_dropped else sorted(self.due_s, key=self.due_s.__getitem__)[:count]
        arrivals: list[Arrival] = []
        while self.due_s and count > 0:
            arrival = self._next_arrival()
            cycle = arrival.cycle if replaces_dropped else self.running[arrival.name]
            count -= arrival.name in first or not cycle.late
            arrivals.append(arrival)
            self._end(arrival.name)
        self.update_count += any(not arrival.cycle.late for arrival in arrivals)
        return arrivals

    def advance(self, *seconds: float) -> None:
        """Let this time pass; parties go on with their cycles, and reports wait."""
        for duration_s in seconds:
            self.now_s += duration_s

    def postpone(self, arrivals: Iterable[Arrival]) -> None:
        """Move the ends of running cycles where more or less was sent than planned."""
        for arrival in arrivals:
            if arrival.name in self.due_s:
                self.due_s[arrival.name] += arrival.unplanned_s

    def wait_for(self, arrivals: Iterable[Arrival]) -> None:
        """Wait until all of this is sent, where it is more than planned."""
        ends_s = [arrival.at_s + arrival.unplanned_s for arrival in arrivals]
        self.now_s = max([self.now_s, *ends_s])

    def _begin_idle(self, cycles: Mapping[str, PartyCycle], left: dict[str, int]) -> set[str]:
        """Begin the cycles of parties that have none; return these parties."""
        for name in set(self.due_s) - set(cycles):
            self._end(name)
        idle = set(cycles) - set(self.due_s)
        self._begin_all({name: cycle for name, cycle in cycles.items() if name in idle}, left)
        return idle

    def _begin_all(self, cycles: Mapping[str, PartyCycle], left: dict[str, int]) -> None:
        """Begin these cycles as far as there is one left for each party."""
        for name, cycle in cycles.items():
            self._begin(name, cycle, left)
        begun = {name: cycle for name, cycle in cycles.items() if name in self.running}
        if self.on_begin is not None and begun:
            self.on_begin(begun)

    def _next_arrival(self) -> Arrival:
        """Advance to the end of the next cycle."""
        name = min(self.due_s, key=lambda party: (self.due_s[party], party))
        # Later than its end, if the server was still busy with the round before.
        self.now_s = max(self.now_s, self.due_s[name])
        return self._arrival(name)

    def _arrival(self, name: str) -> Arrival:
        """Return the arrival of a party's report now."""
        staleness = self.update_count - self.updates_seen[name]
        return Arrival(name, self.now_s, staleness, self.running[name])

    def _end(self, name: str) -> None:
        self.due_s.pop(name, None)
        self.running.pop(name, None)

    def _begin(self, name: str, cycle: PartyCycle, left: dict[str, int]) -> None:
        """Begin a party's next cycle, if there is one left for it."""
        if left.get(name, 1) < 1:
            self._end(name)
            return
        if name in left:
            left[name] -= 1
        self.due_s[name], self.running[name] = self.now_s + cycle.seconds, cycle

    def state_dict(self) -> dict[str, Any]:
        """Return the clock as values that JSON can hold."""
        return {
            "now_s": self.now_s,
            "update_count": self.update_count,
            "due_s": dict(self.due_s),
            "running": {name: asdict(cycle) for name, cycle in self.running.items()},
            "updates_seen": dict(self.updates_seen),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        self.now_s, self.update_count = state["now_s"], state["update_count"]
        self.due_s, self.updates_seen = dict(state["due_s"]), dict(state["updates_seen"])
        self.running = {name: _load_cycle(cycle) for name, cycle in state["running"].items()}


def _load_cycle(state: Mapping[str, Any]) -> PartyCycle:
    uses = {key: RadioUse(**use) for key, use in state["report"].items()}
    steps = LocalSteps(**state["local_steps"])
    return PartyCycle(**{**state, "local_steps": steps, "report": ReportUse(**uses)})
