"""The scale on which progress is counted, and how scores follow from losses.

Losses of these models fall as a power of the rounds, so that loss^-POWER rises by about as much in
a late round as in an early one. Gains on this scale add up, over parties and over rounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

POWER = 3.0  # the loss falls as rounds^(-1/3), on MNIST from the first round to the last
LEAST_LOSS_SHARE = 1e-4  # of the first loss; a smaller loss counts as this


def progress(loss: float, first_loss: float) -> float:
    """Return the progress at a loss: 1 at the first loss, and more at a smaller one."""
    return max(loss / max(first_loss, _TINY), LEAST_LOSS_SHARE) ** -POWER


def loss_at(progress_made: float, first_loss: float) -> float:
    """Return the loss at which so much progress has been made."""
    return float(first_loss * max(progress_made, 1e-9) ** (-1 / POWER))


_TINY = 1e-300
RECENCY = 0.8  # weight of a round against the next one
USUAL_SLOPE = 1.5  # of the logarithm of a score's error against that of the loss
SLOPE_LIMITS = (0.3, 4.0)  # it is positive: a smaller loss is a better score
SLOPE_PRIOR_WEIGHT = 0.5  # weight of the usual slope, in rounds a factor of e apart


@dataclass
class ScoreFit:
    """A monotone fit from the loss on validation rows to a score on the same rows.

    The logarithm of the score's error is a straight line in that of the loss. `perfect` is the
    score without any error.
    """

    perfect: float
    rows: int
    losses: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)

    def observe(self, loss: float, score: float) -> None:
        """Add a round."""
        if math.isfinite(loss) and math.isfinite(score) and loss > 0:
            self.losses.append(loss)
            self.errors.append(max(abs(self.perfect - score), self._smallest_error))

    @property
    def _smallest_error(self) -> float:
        """Half a row, in a score of shares; or next to nothing."""
        return 0.5 / self.rows * abs(self.perfect) if self.perfect else 1e-12

    def loss_for(self, score: float) -> float | None:
        """Return the loss at which a score is expected; None before the first round."""
        if not self.losses:
            return None
        intercept, slope = self._line()
        error = max(abs(self.perfect - score), self._smallest_error)
        return math.exp((math.log(error) - intercept) / slope)

    def score_error(self, loss: float) -> float:
        """Return the error of the score that is expected at a loss."""
        intercept, slope = self._line()
        return math.exp(intercept + slope * math.log(max(loss, _TINY)))

    def standard_error(self, error: float) -> float:
        """Return the standard error of a score with this error, from the number of rows."""
        if self.perfect == 0:
            return error / math.sqrt(self.rows)
        share = min(error / abs(self.perfect), 1.0)
        return abs(self.perfect) * math.sqrt(share * (1 - share) / self.rows)

    def _line(self) -> tuple[float, float]:
        x, y = np.log(self.losses), np.log(self.errors)
        weights = RECENCY ** np.arange(len(x) - 1, -1, -1)
        weights = weights / weights.sum()
        x0, y0 = float(weights @ x), float(weights @ y)
        covariance = float(weights @ ((x - x0) * (y - y0))) * len(x)
        variance = float(weights @ (x - x0) ** 2) * len(x)
        slope = (covariance + SLOPE_PRIOR_WEIGHT * USUAL_SLOPE) / (variance + SLOPE_PRIOR_WEIGHT)
        slope = min(max(slope, SLOPE_LIMITS[0]), SLOPE_LIMITS[1])
        return y0 - slope * x0, slope

    def state_dict(self) -> dict[str, Any]:
        """Return the rounds so far."""
        return {"losses": self.losses, "errors": self.errors}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        self.losses, self.errors = list(state["losses"]), list(state["errors"])
