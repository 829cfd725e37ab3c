"""Damping: parties that train at once overshoot together, so they apply a fraction of an update."""

from __future__ import annotations

from scdn.scenario import LearningSettings

UPDATE_FRACTIONS = tuple(2 ** (-half / 2) for half in range(13))  # "fitted" tries 1 down to 1/64


def fixed_fraction(learning: LearningSettings, training_parties: int) -> float | None:
    """Return the fraction of updates to apply; None: it is fitted after the training."""
    damping = learning.damping
    if damping == "none" or training_parties == 0:
        return 1.0
    if damping == "active":
        return 1 / training_parties
    return None if damping == "fitted" else float(damping)
