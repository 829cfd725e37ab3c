"""What a finished model is worth on the test rows: every score, its confusions, its calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from scdn.data.dataset import TaskKind
from scdn.learning.metrics import (
    METRICS,
    Metric,
    calibration_bins,
    likeliest_classes,
    scores,
)
from scdn.learning.tensors import single_threaded
from scdn.learning.vertical_model import VerticalModel

_ONCE = ("auc", "ece")  # of classifiers: they take longer than the scores of every round


def evaluate_model(model: VerticalModel, classes: Sequence[str]) -> dict[str, Any] | None:
    """Return the scores of the current models, or None if their outputs are not finite."""
    model.exchange()
    with single_threaded():
        server = model.server
        outputs, targets = server.predict(), server.test_targets
        return final_scores(outputs, targets, server.task, classes, server.further_metrics)


def final_scores(
    outputs: Tensor,
    targets: Tensor,
    task: TaskKind,
    classes: Sequence[str] = (),
    further: Sequence[Metric] = (),
) -> dict[str, Any] | None:
    """Return `rows` and `scores`; of a classifier also `classes`, `confusion` and `reliability`.

    `confusion` counts the rows of each class (outer list) that were taken for each class (inner
    list). `reliability` has, for rows of similar confidence, its mean, their accuracy and number.
    A score that these rows do not define, such as the AUC of a single class, is None. There is no
    result if outputs are not finite.
    """
    if not bool(outputs.isfinite().all()):
        return None
    if task == "regression":
        return {"rows": len(targets), "scores": scores(outputs, targets, task, further)}
    once = [METRICS.get(name) for name in _ONCE]
    values = {entry.name: entry.compute(outputs, targets) for entry in once}
    shown = {name: value if math.isfinite(value) else None for name, value in values.items()}
    return {
        "rows": len(targets),
        "scores": {**shown, **scores(outputs, targets, task, further)},
        "classes": [str(name) for name in classes],
        "confusion": confusion(outputs, targets).tolist(),
        "reliability": [bin_._asdict() for bin_ in calibration_bins(outputs, targets)],
    }


def confusion(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return how many rows of each class (row) were taken for each class (column)."""
    width = outputs.shape[-1]
    pairs = targets * width + likeliest_classes(outputs)[:, 0]
    return torch.bincount(pairs, minlength=width * width).reshape(width, width)
