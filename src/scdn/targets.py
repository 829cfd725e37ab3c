"""Targets: values of metrics that a run is asked to reach, written `top3=95`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

METRIC_RANGES = {
    "top3": (0.0, 100.0),
    "top1": (0.0, 100.0),
    "macro_f1": (0.0, 1.0),
    "auc": (0.0, 1.0),
    "ece": (0.0, 1.0),
    "mse": (0.0, math.inf),
    "mae": (0.0, math.inf),
    "r2": (-math.inf, 1.0),
    "test_loss": (0.0, math.inf),
    "train_loss": (0.0, math.inf),
}
# Metrics that runs may record without being asked.
RECORDED_METRICS = tuple(name for name in METRIC_RANGES if name not in ("auc", "ece"))


@dataclass(frozen=True)
class Target:
    """A value that a metric shall reach: at least or at most, as the metric's direction says."""

    metric: str
    value: float

    def __str__(self) -> str:
        return f"{self.metric}={float(self.value)!r}".removesuffix(".0")


def parse_target(text: str) -> Target:
    """Return the target that a text like `top3=95` describes; raise ValueError if it is none."""
    metric, _, number = (part.strip() for part in text.rpartition("="))
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not metric or not math.isfinite(value):
        raise ValueError("must be METRIC=NUMBER, such as top3=95")
    low, high = METRIC_RANGES.get(metric, (-math.inf, math.inf))
    if not low <= value <= high:
        limits = f"in {low:g} … {high:g}" if math.isfinite(high - low) else f"≥ {low:g}"
        if not math.isfinite(low):
            limits = f"≤ {high:g}"
        raise ValueError(f"{metric} must be {limits}")
    return Target(metric, value)


def parse_targets(texts: Iterable[str]) -> tuple[Target, ...]:
    """Return the targets that these texts describe, each once."""
    return tuple(dict.fromkeys(parse_target(text) for text in texts))
