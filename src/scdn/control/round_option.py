"""A round's duration and the bits per number, as one option of several for the same round."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scdn.arrays import Array

if TYPE_CHECKING:
    from scdn.control.problem import RoundProblem


@dataclass(frozen=True, eq=False)
class RoundOption:
    """A choice of duration and bits, and what follows from it for the round's problem.

    Attributes
    ----------
    duration
        Multiple of the scenario's `max_delay_s` and, where that is given, of `round_s`.
    number_bits
        Bits of each number in tables that are sent.
    max_delay_s, payload_bits
        Time limit of a report, and the bits of each device's report, (N,).
    stay
        Time in place, relative to the scenario's; 1 where that has no `round_s`.
    gain_share
        The part of the expected progress that is left when numbers are rounded so; 1 for the best
        bits to choose from.
    sent_share, delay_share
        The bits of a report and its time limit, relative to the scenario's own.
    idle_j
        Priced joules that all devices draw beyond those of the scenario's own duration; negative
        where the round is shorter.
    seconds
        Expected duration of the round, without its flight.
    """

    duration: float
    number_bits: int
    max_delay_s: float
    payload_bits: Array
    stay: float = 1.0
    gain_share: float = 1.0
    sent_share: float = 1.0
    delay_share: float = 1.0
    idle_j: float = 0.0
    seconds: float = 0.0

    def of(self, problem: RoundProblem) -> RoundProblem:
        """Return a problem of the scenario's own duration and bits under this option."""
        movement = problem.movement
        if self.stay != 1.0:
            hover_j, ground_j = self.stay * movement.hover_j, self.stay * movement.ground_j
            movement = replace(movement, hover_j=hover_j, ground_j=ground_j)
        return replace(
            problem,
            max_delay_s=self.max_delay_s,
            payload_bits=self.payload_bits,
            movement=movement,
            option=self,
        )
