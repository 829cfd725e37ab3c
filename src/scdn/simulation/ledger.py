"""The energy ledger: joules by term, over a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from scdn.simulation.outcome import Outcome
from scdn.world.energy import MovementJ


@dataclass
class Ledger:
    """Totals so far. `add` takes a round, `totals` answers, the fields are all there is to save."""

    transmission_j: float = 0.0
    processing_j: float = 0.0
    hover_j: float = 0.0
    climb_j: float = 0.0
    lateral_j: float = 0.0
    latency_s: float = 0.0
    bits_sent: float = 0.0

    def add(self, outcome: Outcome, movement: MovementJ, latency_s: float) -> None:
        """Books a round."""
        self.transmission_j += float(outcome.transmission_j.sum())
        self.processing_j += float(outcome.processing_j.sum())
        self.hover_j += float(movement.hover)
        self.climb_j += float(movement.climb)
        self.lateral_j += float(movement.lateral)
        self.bits_sent += float(outcome.bits.sum())
        self.latency_s += latency_s

    def totals(self) -> dict[str, Any]:
        """Every sum, and those of all joules of the server and of everybody."""
        movement = self.hover_j + self.climb_j + self.lateral_j
        total = self.transmission_j + self.processing_j + movement
        return {**asdict(self), "movement_j": movement, "total_j": total}
