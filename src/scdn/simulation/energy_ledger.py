"""The energy ledger of a run: joules by term, seconds and bits."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from scdn.simulation.outcome import Outcome
from scdn.world.energy import MovementJ


@dataclass
class Ledger:
    """Sums over the rounds of a run so far; the fields are its whole state."""

    transmission_j: float = 0.0
    processing_j: float = 0.0
    hover_j: float = 0.0
    climb_j: float = 0.0
    lateral_j: float = 0.0
    latency_s: float = 0.0
    bits_sent: float = 0.0

    def add(self, outcome: Outcome, movement: MovementJ, latency_s: float) -> None:
        """Add a round."""
        self.transmission_j += float(outcome.transmission_j.sum())
        self.processing_j += float(outcome.processing_j.sum())
        self.hover_j += float(movement.hover)
        self.climb_j += float(movement.climb)
        self.lateral_j += float(movement.lateral)
        self.bits_sent += float(outcome.bits.sum())
        self.latency_s += latency_s

    def totals(self) -> dict[str, Any]:
        """Return every sum, with the totals of the server's movement and of all joules."""
        movement = self.hover_j + self.climb_j + self.lateral_j
        total = self.transmission_j + self.processing_j + movement
        return {**asdict(self), "movement_j": movement, "total_j": total}
