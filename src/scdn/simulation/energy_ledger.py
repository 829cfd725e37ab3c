"""The energy ledger of a run: joules by term, seconds, bits and device rounds.

A device round is one device in one round: `present_rounds` counts those in which the device was
there when the round began, `active_rounds` those in which the plan made it take part (also where it
then left or its link failed).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from scdn.simulation.outcome import Outcome
from scdn.simulation.server_compute import ServerCompute
from scdn.world.movement_models import MovementJ


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
    bits_received: float = 0.0
    circuit_j: float = 0.0
    idle_j: float = 0.0
    server_compute_j: float = 0.0
    server_compute_s: float = 0.0
    server_transmission_j: float = 0.0
    server_airtime_s: float = 0.0
    present_rounds: int = 0
    active_rounds: int = 0

    def add(
        self, outcome: Outcome, movement: MovementJ, compute: ServerCompute, latency_s: float
    ) -> None:
        """Add a round."""
        self.transmission_j += float(outcome.transmission_j.sum())
        self.processing_j += float(outcome.processing_j.sum())
        self.hover_j += float(movement.hover)
        self.climb_j += float(movement.climb)
        self.lateral_j += float(movement.lateral)
        self.bits_sent += float(outcome.bits_sent.sum())
        self.bits_received += float(outcome.bits_received.sum())
        self.circuit_j += float(outcome.circuit_j.sum())
        self.idle_j += float(outcome.idle_j.sum())
        self.latency_s += latency_s
        self.server_compute_j += compute.joules
        self.server_compute_s += compute.seconds
        self.server_transmission_j += float(outcome.server_transmission_j.sum())
        self.server_airtime_s += float(outcome.receiving_s.sum())
        self.present_rounds += len(outcome.active)
        self.active_rounds += int(outcome.active.sum())

    def totals(self) -> dict[str, Any]:
        """Return every sum, the totals, and the joules per device round.

        `present_device_j` is what all devices spent, divided by `present_rounds`;
        `active_device_j` is the same, divided by `active_rounds`.
        """
        movement = self.hover_j + self.climb_j + self.lateral_j
        devices = self.transmission_j + self.processing_j + self.circuit_j + self.idle_j
        server = self.server_compute_j + self.server_transmission_j
        return {
            **asdict(self),
            "movement_j": movement,
            "total_j": devices + movement + server,
            "present_device_j": devices / max(1, self.present_rounds),
            "active_device_j": devices / max(1, self.active_rounds),
        }
