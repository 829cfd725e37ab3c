"""Recorded metrics, and the headline score: the one that tables and charts show first."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Headline:
    """A recorded metric and how to show it."""

    metric: str  # its name in the metrics of an event
    higher_is_better: bool
    unit: str  # "%" or ""
    label: str  # of axes and table columns

    @property
    def axis_label(self) -> str:
        """The label with its unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    def format(self, value: float) -> str:
        """Return a value as short text, such as `93.1 % top-3`."""
        name = _SHORT_NAMES.get(self.metric, self.metric)
        return f"{value:.1f} % {name}" if self.unit == "%" else f"{name} {value:.4f}"

    def format_target(self, value: float) -> str:
        """Return a value to be reached as short text, such as `95 % top-3`."""
        name = _SHORT_NAMES.get(self.metric, self.metric)
        return f"{value:.6g} % {name}" if self.unit == "%" else f"{name} {value:.6g}"

    def reaches(self, value: float, target: float) -> bool:
        """Return whether a value is at least as good as a target; NaN never is."""
        return value >= target if self.higher_is_better else value <= target


BUILT_IN = (  # the first of these that a run has recorded is its headline
    Headline("top3", True, "%", "Top-3 accuracy"),
    Headline("top1", True, "%", "Top-1 accuracy"),
    Headline("macro_f1", True, "", "Macro-F1"),
    Headline("auc", True, "", "AUC"),
    Headline("ece", False, "", "Expected calibration error"),
    Headline("mse", False, "", "Mean squared error"),
    Headline("mae", False, "", "Mean absolute error"),
    Headline("r2", True, "", "R²"),
    Headline("test_loss", False, "", "Test loss"),
    Headline("train_loss", False, "", "Training loss"),
)
_SHORT_NAMES = {
    "top3": "top-3",
    "top1": "top-1",
    "macro_f1": "macro-F1",
    "auc": "AUC",
    "ece": "calibration error",
    "mse": "MSE",
    "mae": "MAE",
    "r2": "R²",
}
_FALLBACK = next(known for known in BUILT_IN if known.metric == "test_loss")


def headline(start: Mapping[str, Any], metrics: Collection[str]) -> Headline:
    """Return the headline of a run with this start event that has recorded these metrics.

    It is the start event's `score`. Runs of earlier versions may have none: then it is the top-3
    accuracy of a classifier and the mean squared error of a regression.
    """
    score = start.get("score")
    if isinstance(score, dict) and score.get("metric") in metrics:
        return _recorded(score)
    return next((known for known in BUILT_IN if known.metric in metrics), _FALLBACK)


def metrics_of_run(start: Mapping[str, Any]) -> dict[str, Headline]:
    """Return every metric that a run with this start event may record, by name."""
    further = [*(start.get("metrics") or ()), *([start["score"]] if start.get("score") else ())]
    return {known.metric: known for known in (*BUILT_IN, *map(_recorded, further))}


def _recorded(entry: Mapping[str, Any]) -> Headline:
    name = str(entry["metric"])
    label = next((known.label for known in BUILT_IN if known.metric == name), _label(name))
    return Headline(name, bool(entry["higher_is_better"]), str(entry["unit"]), label)


def _label(name: str) -> str:
    text = name.replace("_", " ").replace("-", " ")
    return text[:1].upper() + text[1:]
