"""What messages between the server and a device take: bits, airtime and joules, by direction."""

from __future__ import annotations

from dataclasses import astuple, dataclass


@dataclass(frozen=True)
class RadioUse:
    """Messages of one device; `RadioUse()` is none, and uses can be added and multiplied."""

    bits_sent: float = 0.0
    bits_received: float = 0.0
    sending_s: float = 0.0
    receiving_s: float = 0.0
    transmission_j: float = 0.0  # of the device
    server_transmission_j: float = 0.0

    @property
    def airtime_s(self) -> float:
        """Return the time of both directions."""
        return self.sending_s + self.receiving_s

    def __add__(self, other: RadioUse) -> RadioUse:
        return RadioUse(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __mul__(self, times: int) -> RadioUse:
        return RadioUse(*(times * value for value in astuple(self)))


@dataclass(frozen=True)
class ReportUse:
    """The messages of one report: as planned, and those of sending embeddings once more.

    Embeddings after a step are sent again whenever the step is shortened. A plan counts one sending
    of them.
    """

    planned: RadioUse = RadioUse()
    again: RadioUse = RadioUse()

    def use(self, sendings: int) -> RadioUse:
        """Return what is used if embeddings after the step are sent so many times."""
        return self.planned + self.again * (sendings - 1)
