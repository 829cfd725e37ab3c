"""What messages between the server and a device take: bits, airtime and joules, by direction."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from scdn.learning.step_rule import StepTaken


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
    """The messages of one report.

    Attributes
    ----------
    planned
        All of them, embeddings after the step once.
    again
        Those that are repeated whenever the step is shortened.
    diverged
        Those of a party whose training diverged.
    first_sample
        The sample of a party without an update, of which the server has none.
    """

    planned: RadioUse = RadioUse()
    again: RadioUse = RadioUse()
    diverged: RadioUse = RadioUse()
    first_sample: RadioUse = RadioUse()

    def use(
        self, sendings: int, *, diverged: bool = False, sends_first_sample: bool = False
    ) -> RadioUse:
        """Return what is used if embeddings after the step are sent so many times."""
        used = self.diverged if diverged else self.planned + self.again * (sendings - 1)
        return used + self.first_sample if sends_first_sample else used

    def use_in(self, step: StepTaken, name: str) -> RadioUse:
        """Return what a party of this name uses in a round with this step."""
        return self.use(
            step.sendings,
            diverged=name in step.diverged,
            sends_first_sample=name in step.first_samples,
        )
