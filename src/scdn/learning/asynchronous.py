"""The asynchronous schedule (VAFL): parties report when they are ready, on a virtual clock.

A party's cycle lasts as long as its computing and its report, by the orders that it began with.
When its report arrives, that party and the server train against everybody's embeddings as they
stand; nobody waits. A report that takes longer than the limit is dropped: the cycle is spent and
nothing changes. A recorded round ends after as many arrivals as parties are present.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from scdn.learning.local import Order
from scdn.learning.vertical import VerticalModel


@dataclass(frozen=True)
class Cycle:
    """One party's computing and report: what it does, how long it takes, what it costs."""

    order: Order
    seconds: float
    late: bool = False
    transmission_j: float = 0.0
    processing_j: float = 0.0
    bits: float = 0.0


@dataclass(frozen=True)
class Arrival:
    """A report: whose, when, how many others arrived since the last of this party."""

    name: str
    at_s: float
    staleness: int
    cycle: Cycle


@dataclass
class VirtualClock:
    """Who is at work on what, and until when."""

    now_s: float = 0.0
    heard: int = 0
    due_s: dict[str, float] = field(default_factory=dict)
    at_work: dict[str, Cycle] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)  # arrivals so far when it was last heard

    def round(self, cycles: Mapping[str, Cycle], arrivals: int) -> list[Arrival]:
        """The next `arrivals` reports; `cycles` has what each party would begin now.

        Who is not in it (it has nothing to do, or is gone) gives up what it is at.
        """
        for name in set(self.due_s) - set(cycles):
            del self.due_s[name], self.at_work[name]
        for name in set(cycles) - set(self.due_s):
            self._begin(name, cycles[name])
            self.last.setdefault(name, self.heard)
        found = []
        for _ in range(arrivals if cycles else 0):
            name = min(self.due_s, key=lambda party: (self.due_s[party], party))
            self.now_s, done = self.due_s[name], self.at_work[name]
            found.append(Arrival(name, self.now_s, self.heard - self.last[name], done))
            if not done.late:
                self.heard += 1
            self.last[name] = self.heard
            self._begin(name, cycles[name])
        return found

    def _begin(self, name: str, cycle: Cycle) -> None:
        self.due_s[name], self.at_work[name] = self.now_s + cycle.seconds, cycle

    def words(self) -> dict[str, Any]:
        """All there is to save."""
        return asdict(self)

    @classmethod
    def of(cls, words: Mapping[str, Any]) -> VirtualClock:
        """The clock as it was saved."""
        at_work = {
            name: Cycle(**{**cycle, "order": Order(**cycle["order"])})
            for name, cycle in words["at_work"].items()
        }
        return cls(**{**words, "at_work": at_work})


def train_as_they_arrive(
    model: VerticalModel, round_: int, server_rate: float, arrivals: list[Arrival]
) -> None:
    """A recorded round: each arrival trains its party, and the server as many steps."""
    for index, arrival in enumerate(arrivals):
        order = arrival.cycle.order
        if arrival.cycle.late or order.steps == 0 or arrival.name not in model.present:
            continue
        server = Order(order.steps, server_rate)
        model.train(round_, {arrival.name: order}, server, moving=1, arrival=index)
