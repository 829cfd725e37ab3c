"""The asynchronous schedule (VAFL): parties report when they are ready, on a virtual clock.

A party's cycle lasts as long as what it receives, its computation and its report, by the plan that
it began with. Where embeddings were sent more or fewer times than planned, the cycle that it is in
when the round ends lasts longer or shorter.
When its report arrives, that party and the server train against everybody's current embeddings;
nobody waits. A report that takes longer than the limit is dropped: the cycle's energy is spent and
nothing changes. A recorded round ends after as many arrivals as parties are present.

Where the server's computing time is counted, all of a round's is added at its end: parties go on
with their cycles meanwhile, and their reports wait until the server is free.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.radio_use import RadioUse, ReportUse
from scdn.learning.step_rule import StepTaken
from scdn.learning.vertical_model import VerticalModel


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
    """The arrival of a party's report; staleness counts other reports since its previous one."""

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

    def trains(self, present: Collection[str]) -> bool:
        """Return whether the party and the server train, if these parties are present."""
        cycle = self.cycle
        return not cycle.late and cycle.local_steps.count > 0 and self.name in present


@dataclass
class VirtualClock:
    """The cycles that are running, and when each of them ends."""

    now_s: float = 0.0
    report_count: int = 0
    due_s: dict[str, float] = field(default_factory=dict)
    running: dict[str, PartyCycle] = field(default_factory=dict)
    last_report: dict[str, int] = field(default_factory=dict)  # `report_count` at that time

    def next_arrivals(
        self, cycles: Mapping[str, PartyCycle], count: int, begins: Mapping[str, int] | None = None
    ) -> list[Arrival]:
        """Advance to the end of the next `count` cycles, or of all that there are.

        `cycles` has the cycle that each party would begin now. A party that is not in it, because
        it has nothing to do or has left, gives up its running cycle. `begins` is how many cycles a
        party may begin, where that is limited.
        """
        left = dict(begins or {})
        for name in set(self.due_s) - set(cycles):
            del self.due_s[name], self.running[name]
        for name in set(cycles) - set(self.due_s):
            self._begin(name, cycles[name], left)
            self.last_report.setdefault(name, self.report_count)
        arrivals: list[Arrival] = []
        while self.due_s and len(arrivals) < count:
            name = min(self.due_s, key=lambda party: (self.due_s[party], party))
            # Later than its end, if the server was still busy with the round before.
            self.now_s, cycle = max(self.now_s, self.due_s[name]), self.running[name]
            staleness = self.report_count - self.last_report[name]
            arrivals.append(Arrival(name, self.now_s, staleness, cycle))
            if not cycle.late:
                self.report_count += 1
            self.last_report[name] = self.report_count
            self._begin(name, cycles[name], left)
        return arrivals

    def postpone(self, arrivals: Iterable[Arrival]) -> None:
        """Move the ends of running cycles where more or less was sent than planned."""
        for arrival in arrivals:
            if arrival.name in self.due_s:
                unplanned_s = arrival.radio.airtime_s - arrival.cycle.report.planned.airtime_s
                self.due_s[arrival.name] += unplanned_s

    def _begin(self, name: str, cycle: PartyCycle, left: dict[str, int]) -> None:
        """Begin a party's next cycle, if there is one left for it."""
        if left.get(name, 1) < 1:
            self.due_s.pop(name, None)
            self.running.pop(name, None)
            return
        if name in left:
            left[name] -= 1
        self.due_s[name], self.running[name] = self.now_s + cycle.seconds, cycle

    def state_dict(self) -> dict[str, Any]:
        """Return the clock as values that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> VirtualClock:
        """Create the clock that `state_dict` was called on."""
        running = {name: _load_cycle(cycle) for name, cycle in state["running"].items()}
        return cls(**{**state, "running": running})


def _load_cycle(state: Mapping[str, Any]) -> PartyCycle:
    uses = {key: RadioUse(**use) for key, use in state["report"].items()}
    steps = LocalSteps(**state["local_steps"])
    return PartyCycle(**{**state, "local_steps": steps, "report": ReportUse(**uses)})


def arrival_server_steps(index: int, arrivals: int, steps: int) -> int:
    """Return the server's steps at arrival `index` (from 0) of so many, of the round's `steps`.

    The shares differ by at most one and add up to `steps`.
    """
    return (index + 1) * steps // arrivals - index * steps // arrivals


def train_arrivals(
    model: VerticalModel,
    round_index: int,
    server_steps: LocalSteps,
    arrivals: list[Arrival],
    batches: int,
) -> list[StepTaken]:
    """Train a recorded round: each arrival trains its party, and the server.

    By Adam, and with `arrival_steps = "shared"`, the server divides its `server_steps` among the
    arrivals; those of a late one lapse. Otherwise it takes as many as the arriving party. `batches`
    is the number that a synchronous round draws. Return the step of each arrival that trained.
    """
    by_adam = model.learning.server_optimizer == "adam"
    divides = by_adam or model.learning.arrival_steps == "shared"
    if divides and not arrivals:
        return [model.train(round_index, {}, server_steps, batches=batches, heard=())]
    steps_taken = []
    for index, arrival in enumerate(arrivals):
        steps = arrival.cycle.local_steps
        if not arrival.trains(model.present):
            continue
        count = steps.count
        if divides:
            count = arrival_server_steps(index, len(arrivals), server_steps.count)
        step = model.train(
            round_index,
            {arrival.name: steps},
            replace(server_steps, count=count),
            batches=batches if by_adam or model.server.heard is not None else None,
            training_parties=1,
            arrival=index,
            heard=[arrival.name],
            table_senders=[arrival.name] if arrival.cycle.sends_table else (),
        )
        steps_taken.append(step)
    return steps_taken
