"""The asynchronous schedule (VAFL): parties report when they are ready, on a virtual clock.

A party's cycle lasts as long as its computing and its report. When its report arrives, that party
and the server train against everybody's embeddings as they stand; nobody waits. A report that
takes longer than the limit is dropped: the cycle is spent and nothing changes. A recorded round
ends after as many arrivals as parties are present.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scdn.learning.local import Order
from scdn.learning.vertical import VerticalModel


@dataclass(frozen=True)
class Arrival:
    """A report: whose, when, how many others arrived since the last of this party."""

    name: str
    at_s: float
    staleness: int
    dropped: bool


@dataclass
class VirtualClock:
    """When each party will be ready next. Its fields are all there is to save."""

    now_s: float = 0.0
    due_s: dict[str, float] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)  # arrivals so far when it was last heard
    heard: int = 0

    def round(
        self, cycles_s: Mapping[str, float], late: frozenset[str] = frozenset()
    ) -> list[Arrival]:
        """The arrivals of one recorded round.

        `cycles_s` has the cycle of each party that takes part (not of those with nothing to do);
        reports of those in `late` are dropped. Whoever is new or pauses starts a cycle now.
        """
        for name in set(self.due_s) - set(cycles_s):
            del self.due_s[name]
        for name, cycle in cycles_s.items():
            self.due_s.setdefault(name, self.now_s + cycle)
            self.last.setdefault(name, self.heard)
        arrivals = []
        for _ in cycles_s:
            name = min(self.due_s, key=lambda party: (self.due_s[party], party))
            self.now_s = self.due_s[name]
            arrivals.append(Arrival(name, self.now_s, self.heard - self.last[name], name in late))
            if name not in late:
                self.heard += 1
            self.last[name] = self.heard
            self.due_s[name] = self.now_s + cycles_s[name]
        return arrivals


def train_as_they_arrive(
    model: VerticalModel,
    round_: int,
    orders: Mapping[str, Order],
    server_rate: float,
    arrivals: list[Arrival],
) -> None:
    """A recorded round: each arrival trains its party, and the server as many steps.

    There is nothing to damp: one party moves at a time.
    """
    for index, arrival in enumerate(arrivals):
        order = orders.get(arrival.name)
        if arrival.dropped or order is None or order.steps == 0:
            continue
        server = Order(order.steps, server_rate)
        model.train(round_, {arrival.name: order}, server, moving=1, arrival=index)
