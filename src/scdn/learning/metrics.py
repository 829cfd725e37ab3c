"""Metrics: scores of the model on test rows, the built-in ones and users' own."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from scdn.data import Dataset
from scdn.data.catalog import own_metric
from scdn.data.dataset import TaskKind, trivial_score
from scdn.errors import input_error
from scdn.learning.losses import row_losses
from scdn.registry import Registry
from scdn.scenario import LearningSettings

MAX_TOP = 3  # the paper's accuracy counts a label among the three likeliest
RESERVED_NAMES = ("train_loss", "test_loss", "future", "future_by")  # by other keys of metrics


class Metric(ABC):
    """A score of the model on the test rows.

    To add a metric, subclass this, create one object of the class, and name it in a scenario:
    `learning.metrics = ["package.module:NAME"]`; or register it under a name. The first of
    `learning.metrics` becomes the score that reports show.

    Life cycle: one object serves all runs, so it must keep no state. Before the first round
    `compute` is called with the outputs of a predictor that sees no feature. After every round it
    is called with the outputs for all test rows; after an exit also once for each imputation of
    the departed devices' embeddings. The result is recorded under `name` beside the built-in
    metrics, and must be a finite number, except that a predictor without features may have none.
    """

    name: str
    higher_is_better: bool = True
    unit: Literal["%", ""] = ""

    @abstractmethod
    def compute(self, outputs: Tensor, targets: Tensor) -> float:
        """Return the score of outputs (rows, width) for targets (rows,).

        Outputs are logits, and targets class indices; in a regression the width is 1.
        """


class TopK(Metric):
    """The percentage of rows whose label is among the k likeliest classes."""

    unit = "%"

    def __init__(self, k: int) -> None:
        self.name = f"top{k}"
        self.k = k

    def compute(self, outputs: Tensor, targets: Tensor) -> float:
        """Return the percentage of hits."""
        likeliest = outputs.topk(min(MAX_TOP, outputs.shape[-1]), dim=-1).indices[:, : self.k]
        return 100 * float((likeliest == targets[:, None]).any(1).double().mean())


class MeanSquaredError(Metric):
    """The mean squared error of a regression."""

    name = "mse"
    higher_is_better = False

    def compute(self, outputs: Tensor, targets: Tensor) -> float:
        """Return the mean over rows."""
        return float(row_losses(outputs, targets, "regression").double().mean())


class MacroF1(Metric):
    """The mean of the classes' F1, for classes of very different size; from 0 to 1, as usual.

    F1 is the harmonic mean of precision and recall. A class that is neither among the labels nor
    predicted does not count.
    """

    name = "macro_f1"

    def compute(self, outputs: Tensor, targets: Tensor) -> float:
        """Return the mean over classes."""
        if targets.is_floating_point():
            raise input_error("metric", self.name, "got a regression", "needs classes")
        predicted, classes = outputs.argmax(-1), outputs.shape[-1]
        hits = targets[predicted == targets].bincount(minlength=classes).double()
        named = targets.bincount(minlength=classes) + predicted.bincount(minlength=classes)
        return float((2 * hits / named)[named > 0].mean())


METRICS: Registry[Metric] = Registry("metric", Metric)
register_metric = METRICS.register


def metric(name: str) -> Metric:
    """Return the metric of this name, or the object that `package.module:NAME` names."""
    entry = METRICS.get(name)
    if entry.name in RESERVED_NAMES:
        raise input_error("learning", "metrics", f"{name} is called {entry.name}", "is reserved")
    return entry


_BY_TASK: dict[TaskKind, tuple[Metric, ...]] = {
    "classification": (TopK(1), TopK(3)),
    "regression": (MeanSquaredError(),),
}
for _metrics in _BY_TASK.values():
    for _metric in _metrics:
        register_metric(_metric)
register_metric(MacroF1())


def further_metrics(learning: LearningSettings) -> list[Metric]:
    """Return the metrics of a run beside its task's: the scenario's, then the data set's own.

    The first of them is the score that reports show.
    """
    own = own_metric(learning.dataset)
    names = (*learning.metrics, *([own] if own else ()))
    return list({entry.name: entry for entry in map(metric, names)}.values())


def recorded_names(task: TaskKind, further: Sequence[Metric] = ()) -> tuple[str, ...]:
    """Return the names of the metrics that a run of this task records every round."""
    names = (entry.name for entry in (*_BY_TASK[task], *further))
    return tuple(dict.fromkeys((*names, "test_loss", "train_loss")))


def scores(
    outputs: Tensor, targets: Tensor, task: TaskKind, further: Sequence[Metric] = ()
) -> dict[str, float]:
    """Return `test_loss`, the task's metrics (`top1` and `top3`, or `mse`) and further ones.

    Further metrics are left out once the loss is not finite: the run has diverged.
    """
    loss = float(row_losses(outputs, targets, task).double().mean())
    values = {entry.name: entry.compute(outputs, targets) for entry in _BY_TASK[task]}
    if math.isfinite(loss):
        values |= {entry.name: _checked_value(entry, outputs, targets) for entry in further}
    return {"test_loss": loss} | values


def trivial_scores(dataset: Dataset, further: Sequence[Metric] = ()) -> dict[str, float]:
    """Return the test scores of a predictor that sees no feature, also by further metrics.

    It knows how often each class occurs among the training rows, or the mean of their targets.
    """
    targets = torch.from_numpy(np.asarray(dataset.test_y))
    if dataset.task == "classification":
        counts = np.bincount(dataset.train_y, minlength=len(dataset.classes))
        constant = np.log(np.maximum(counts, 0.5) / len(dataset.train_y))
    else:
        constant = dataset.train_y.mean(keepdims=True)
    outputs = torch.from_numpy(constant).expand(len(targets), -1)
    values = {entry.name: float(entry.compute(outputs, targets)) for entry in further}
    finite = {name: value for name, value in values.items() if math.isfinite(value)}
    return trivial_score(dataset) | finite


def _checked_value(entry: Metric, outputs: Tensor, targets: Tensor) -> float:
    value = float(entry.compute(outputs, targets))
    if not math.isfinite(value):
        raise input_error("metric", entry.name, f"returned {value}", "must return a finite number")
    return value
