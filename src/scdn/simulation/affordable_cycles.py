"""The cycles of an asynchronous round that batteries can pay for.

A cycle is paid for when it begins: what it may take at the most is reserved until its report
arrives, which may be in a later round.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from scdn.learning.asynchronous_schedule import PartyCycle
from scdn.scenario import Electronics

_MANY = 1_000_000  # cycles, where one costs nothing


@dataclass(frozen=True)
class CycleCost:
    """The most that a cycle may take, if embeddings are sent up to so many times after its step."""

    electronics: Electronics
    sendings: int

    def reserve_j(self, cycle: PartyCycle) -> float:
        """Return the joules of the cycle's work."""
        use = cycle.report.use(self.sendings)
        sending_j = use.transmission_j + self.electronics.circuit_w * use.airtime_s
        return cycle.processing_j + sending_j

    def price_j(self, cycle: PartyCycle) -> float:
        """Return the joules of its work, and of idle power until it ends."""
        unplanned_s = cycle.report.use(self.sendings).airtime_s - cycle.report.planned.airtime_s
        idle_j = self.electronics.idle_w * (cycle.seconds + unplanned_s)
        return self.reserve_j(cycle) + idle_j


class AffordableCycles(NamedTuple):
    """The cycles of a round, and how many each party with a battery may begin."""

    cycles: dict[str, PartyCycle]
    begins: dict[str, int]


def affordable_cycles(
    levels_j: Mapping[str, float],
    cycles: Mapping[str, PartyCycle],
    running: Mapping[str, PartyCycle],
    resting: Collection[str],
    cost: CycleCost,
) -> AffordableCycles:
    """Return the cycles that batteries with these levels can pay for.

    Parties that are `resting` because of their batteries end the cycle that they are in.
    """
    ending = {name: running[name] for name in resting if name in running}
    chosen, begins = {**cycles, **ending}, dict.fromkeys(ending, 0)
    for name in set(chosen) & set(levels_j):
        left_j = levels_j[name] - (cost.reserve_j(running[name]) if name in running else 0.0)
        if name not in begins:
            price_j = cost.price_j(chosen[name])
            begins[name] = int(min(max(left_j, 0.0) / price_j, _MANY)) if price_j > 0 else _MANY
        if left_j < 0 or (name not in running and not begins[name]):
            del chosen[name], begins[name]
    return AffordableCycles(chosen, begins)


def reserved_j(running: Mapping[str, PartyCycle], cost: CycleCost) -> dict[str, float]:
    """Return what is reserved for the cycles that are running."""
    return {name: cost.reserve_j(cycle) for name, cycle in running.items()}
