"""When training counts as diverged."""

from __future__ import annotations

from collections.abc import Collection

from scdn.record.run_reader import Event

DIVERGENCE_FACTOR = 1e6  # training has diverged when a metric exceeds so many initial losses


class DivergedError(Exception):
    """Raised when training has diverged; the rounds recorded before stay."""


def check_finite(
    metrics: Event, initial_loss: float, own_metrics: Collection[str], round_index: int
) -> None:
    """Raise DivergedError if a metric of a round is not finite, or far too large.

    A user's own metric has a scale of its own, and no limit.
    """
    limit = DIVERGENCE_FACTOR * max(1.0, initial_loss)
    for table in (metrics, metrics.get("future", {}), *metrics.get("future_by", {}).values()):
        for name, value in table.items():
            if name in own_metrics:
                continue
            if isinstance(value, float) and not abs(value) <= limit:
                raise DivergedError(f"{name} is {value:g} after round {round_index + 1}")
