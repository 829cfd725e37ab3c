"""How far parties go along their updates: as their rates say, or as the server finds best."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from scdn.learning.local_optimizers import halved_rate
from scdn.scenario import LearningSettings

MAX_RATE_CHANGE = 4.0  # of the learning rates from round to round, where the step is searched
RETRIES = 6  # by how many such factors rates rise again that have become too small


@dataclass(frozen=True)
class StepTaken:
    """How far parties went along their updates: 1 is all the way, at the rate they trained with."""

    length: float
    shortenings: int = 0  # times the true loss was higher than before, and the step was shortened
    diverged: tuple[str, ...] = ()  # parties whose update was not finite, and was not applied
    rates: Mapping[str, float] = field(default_factory=dict)  # times the length, by party
    contributions: Mapping[str, float] = field(default_factory=dict)  # to the fall of the loss
    held_out_losses: tuple[float, ...] = ()  # before, after the step, after the server's training
    sendings: int = 1  # of embeddings after the step, by each party that reports
    first_samples: frozenset[str] = frozenset()  # parties without an update that send a sample


@dataclass
class StepRule:
    """The scenario's `step`, and the learning rates that have been found so far.

    `rate_scale` multiplies the scenario's learning rates where the step is searched.
    """

    learning: LearningSettings
    rate_scale: float = 1.0

    @property
    def is_searched(self) -> bool:
        """Return whether the server searches the step on rows that nobody trained on."""
        return self.learning.step == "searched"

    def rate_factor(self, round_index: int) -> float:
        """Return by what the scenario's learning rates are multiplied in a round."""
        if self.is_searched:
            return self.rate_scale
        return halved_rate(1.0, round_index, self.learning.halve_rate_every)

    def fixed_length(self, training: Collection[str], began: int | None) -> float | None:
        """Return the length of the step; None: it is chosen once the parties have trained.

        Parties that train at once overshoot together, which a shorter step damps; `began` is their
        number, where some are lost on the way.
        """
        damping = self.learning.damping
        if not training:
            return 1.0
        if self.learning.step != "rate":
            return None
        if damping == "active":
            return 1 / (began or len(training))
        return 1.0 if damping == "none" else float(damping)

    def adapt(self, step: StepTaken, parties: int, steps_per_round: int = 1) -> None:
        """Raise the rates after a step beyond the whole update, and lower them after a short one.

        So many parties that train at once overshoot together, and a length down to 1/parties only
        damps that. In one round, with so many steps, the rates change by no more than a factor of
        `MAX_RATE_CHANGE`.
        """
        if not (self.is_searched and parties):
            return
        limit = MAX_RATE_CHANGE ** (1 / steps_per_round)
        length = 0.0 if step.diverged else step.length
        change = max(length, 1.0) if length * parties >= 1 else length * parties
        self.rate_scale *= min(max(change, 1 / limit), limit)

    def retry_rates(self, *, too_small: bool) -> None:
        """Try other rates after a round in which training was worth its cost on no device.

        They fall from round to round, until they are too small for anybody, and start high again.
        """
        if self.is_searched:
            self.rate_scale *= MAX_RATE_CHANGE**RETRIES if too_small else 1 / MAX_RATE_CHANGE
