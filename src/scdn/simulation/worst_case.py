"""The most that a planned round may take of everybody's battery.

Nobody leaves, channels are as bad as they can be for a report that still arrives, and every step is
shortened as often as it can be, so that embeddings are sent again each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scdn.arrays import Array, Mask, floats
from scdn.learning.radio_use import RadioUse, ReportUse
from scdn.learning.round_protocol import RoundProtocol, bits_of
from scdn.learning.round_training import MAX_SHORTENINGS
from scdn.scenario import LearningSettings, Scenario
from scdn.simulation.outcome import Outcome
from scdn.world.movement_models import MovementJ


@dataclass(frozen=True, eq=False)
class WorstCase:
    """A round at its most expensive; `compute_j` is the server's computing."""

    outcome: Outcome
    movement: MovementJ
    stays: float  # how many times as long as planned the server stays in place
    compute_j: float
    latency_s: float

    @property
    def device_j(self) -> Array:
        """Return what each device may spend."""
        return self.outcome.device_j

    @property
    def server_j(self) -> float:
        """Return what the server may spend."""
        sending = float(self.outcome.server_transmission_j.sum())
        return float(self.movement.total) + self.compute_j + sending


@dataclass(frozen=True, eq=False)
class ReportReserve:
    """What a report may take beside its planned sending.

    Attributes
    ----------
    repeats
        (N,): the bits that each device may send, relative to those of its planned report.
    circuit_w
        The power of a device's radio while it sends or receives.
    fades
        Whether channels are drawn, so that any report may take as long as the limit.
    """

    repeats: Array
    circuit_w: float
    fades: bool

    @classmethod
    def create(cls, scenario: Scenario, protocol: RoundProtocol, with_table: Mask) -> ReportReserve:
        """Return the reserve of devices that add a part of their table to a report, or not."""
        repeats = np.ones(len(with_table))
        if scenario.learning.payload == "protocol":
            parts = [protocol.parts(1, 0, with_table=table) for table in (False, True)]
            most = most_sendings(scenario.learning)
            factors = [bits_of(up, "up", most) / max(1, bits_of(up, "up")) for up in parts]
            repeats = floats(factors)[with_table.astype(np.int64)]
        return cls(repeats, scenario.electronics.circuit_w, scenario.fading.mode != "none")


def most_sendings(learning: LearningSettings) -> int:
    """Return how often embeddings may be sent after a step: again whenever it is shortened."""
    return MAX_SHORTENINGS + 2 if learning.step == "searched" else 1


def most_used(reports: Sequence[ReportUse], trains: Mask, sendings: int) -> list[RadioUse]:
    """Return the most that each report may use.

    A device that does not train sends its first sample if the server has none.
    """
    return [
        report.use(sendings, sends_first_sample=not trains[n]) for n, report in enumerate(reports)
    ]
