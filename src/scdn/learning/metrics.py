"""Metrics: scores of the model on test rows, the built-in ones and users' own."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from scdn.arrays import Array
from scdn.data import Dataset
from scdn.data.catalog import own_metric
from scdn.data.dataset import TaskKind, trivial_score
from scdn.errors import input_error
from scdn.learning.losses import row_losses
from scdn.registry import Registry
from scdn.scenario import LearningSettings

MAX_TOP = 3  # the paper's accuracy counts a label among the three likeliest
CALIBRATION_BINS = 15  # as is usual since C. Guo et al., "On Calibration of Modern Neural Networks"
MOST_CLASSES_OF_TOP1 = 10  # with more, the score is the paper's top-3
UNEVEN = 3.0  # classes are, if one has more than so many times the rows of another

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
        hits = likeliest_classes(outputs)[:, : self.k] == targets[:, None]
        return 100 * float(hits.any(1).double().mean())


def likeliest_classes(outputs: Tensor) -> Tensor:
    """Return the three likeliest classes of each row, the likeliest first."""
    return outputs.topk(min(MAX_TOP, outputs.shape[-1]), dim=-1).indices


class MeanSquaredError(Metric):
    """The mean squared error of a regression."""

    name = "mse"
    higher_is_better = False

    def compute(self, outputs: Tensor, targets: Tensor) -> float:
        """Return the mean over rows."""
        return float(row_losses(outputs, targets, "regression").double().mean())


class MeanAbsoluteError(Metric):
    """The mean absolute error of a regression."""

    name = "mae"
    higher_is_better = False

    def compute(self, outputs: Tensor, targets: Tensor) -> float:
        """Return the mean over rows."""
        return float((outputs[:, 0].double() - targets.double()).abs().mean())


class RSquared(Metric):
    """R², the share of the targets' variance that a regression explains; 0 for their mean.

    Of targets that are all equal, 1 if they are met and 0 if not.
    """

    name = "r2"

    def compute(self, outputs: Tensor, targets: Tensor) -> float:
        """Return one minus the squared error as a share of that of the mean."""
        exact = targets.double()
        error = float((outputs[:, 0].double() - exact).square().sum())
        total = float((exact - exact.mean()).square().sum())
        if total == 0:
            return float(error == 0)
        return 1 - error / total


class MacroF1(Metric):
    """The mean of the classes' F1, for classes of very different size; from 0 to 1, as usual.

    F1 is the harmonic mean of precision and recall. A class that is neither among the labels nor
    predicted does not count.
    """

    name = "macro_f1"

    def compute(self, outputs: Tensor, targets: Tensor) -> float:
        """Return the mean over classes."""
        check_classes(self.name, targets)
        predicted, classes = outputs.argmax(-1), outputs.shape[-1]
        hits = targets[predicted == targets].bincount(minlength=classes).double()
        named = targets.bincount(minlength=classes) + predicted.bincount(minlength=classes)
        return float((2 * hits / named)[named > 0].mean())


class AreaUnderCurve(Metric):
    """The area under the ROC curve, of each class against all others, averaged; 0.5 is chance.

    For one class it is the probability that a row of the class is thought likelier to belong to it
    than a row of another class. Classes without a row, or that all rows belong to, do not count.
    """

    name = "auc"

    def compute(self, outputs: Tensor, targets: Tensor) -> float:
        """Return the mean over classes, or NaN if all rows are of one class."""
        check_classes(self.name, targets)
        ranks = np.stack([mean_ranks(column) for column in log_odds(outputs).numpy().T], axis=1)
        members = one_hot(targets.cpu(), outputs.shape[-1]).numpy().astype(float)
        of_class, rows = members.sum(0), len(members)
        counted = (of_class > 0) & (of_class < rows)
        if not counted.any():
            return math.nan
        above = (ranks * members).sum(0) - of_class * (of_class + 1) / 2
        return float((above[counted] / (of_class * (rows - of_class))[counted]).mean())


def mean_ranks(values: Array) -> Array:
    """Return ranks from 1 on; equal values share their mean rank."""
    _, number, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = counts.cumsum() - (counts - 1) / 2
    return np.asarray(ranks[number])


class CalibrationError(Metric):
    """The expected calibration error: how far confidence is from accuracy, from 0 to 1.

    Confidence is the likeliest class's probability. Rows are put into 15 bins of equal width by it;
    the distance of each bin's mean confidence from its accuracy is averaged over all rows.
    """

    name = "ece"
    higher_is_better = False

    def compute(self, outputs: Tensor, targets: Tensor) -> float:
        """Return the mean distance."""
        check_classes(self.name, targets)
        bins = calibration_bins(outputs, targets)
        return sum(b.rows * abs(b.confidence - b.accuracy) for b in bins) / max(len(targets), 1)


class CalibrationBin(NamedTuple):
    """Rows of similar confidence: its mean, and the share of rows whose label was the likeliest."""

    confidence: float
    accuracy: float
    rows: int


def calibration_bins(outputs: Tensor, targets: Tensor) -> list[CalibrationBin]:
    """Return the bins that have a row, from the least confident on."""
    confidence, predicted = probabilities(outputs).max(-1)
    hits = (predicted == targets.cpu()).double()
    index = (confidence * CALIBRATION_BINS).ceil().long().clamp(1, CALIBRATION_BINS) - 1
    return [
        CalibrationBin(float(confidence[own].mean()), float(hits[own].mean()), int(own.sum()))
        for own in (index == n for n in range(CALIBRATION_BINS))
        if own.any()
    ]


def probabilities(outputs: Tensor) -> Tensor:
    """Return the probabilities of the classes, in double precision on the CPU."""
    return outputs.double().softmax(-1).cpu()


def log_odds(outputs: Tensor) -> Tensor:
    """Return the logarithms of the odds of each class, which tell apart probabilities near 1."""
    logits = outputs.double().cpu()
    columns = []
    for n in range(logits.shape[-1]):
        others = torch.cat([logits[:, :n], logits[:, n + 1 :]], dim=1)
        columns.append(logits[:, n] - others.logsumexp(-1))
    return torch.stack(columns, dim=1)


def check_classes(name: str, targets: Tensor) -> None:
    """Refuse targets that are numbers, for a metric of classes."""
    if targets.is_floating_point():
        raise input_error("metric", name, "got a regression", "needs classes")


METRICS: Registry[Metric] = Registry("metric", Metric)
register_metric = METRICS.register


def metric(name: str) -> Metric:
    """Return the metric of this name, or the object that `package.module:NAME` names."""
    entry = METRICS.get(name)
    if entry.name in RESERVED_NAMES:
        raise input_error("learning", "metrics", f"{name} is called {entry.name}", "is reserved")
    return entry


_BY_TASK: dict[TaskKind, tuple[Metric, ...]] = {
    "classification": (TopK(1), TopK(3), MacroF1()),
    "regression": (MeanSquaredError(), MeanAbsoluteError(), RSquared()),
}
for _metric in (*_BY_TASK["classification"], *_BY_TASK["regression"]):
    register_metric(_metric)
register_metric(AreaUnderCurve())
register_metric(CalibrationError())


def further_metrics(learning: LearningSettings) -> list[Metric]:
    """Return the metrics of a run beside its task's: the scenario's, then the data set's own.

    The first of them is the score that reports show.
    """
    own = own_metric(learning.dataset)
    names = (*learning.metrics, *([own] if own else ()))
    return list({entry.name: entry for entry in map(metric, names)}.values())


def headline_metric(learning: LearningSettings, dataset: Dataset, named: Sequence[str]) -> Metric:
    """Return the score that reports show first.

    It is the first of `further_metrics`; else of those `named` (by targets); else the mean squared
    error of a regression, the macro-F1 of uneven classes, the top-1 accuracy of up to ten classes
    and the top-3 accuracy of more.
    """
    known = {entry.name: entry for entry in _BY_TASK[dataset.task]}
    for entry in (*further_metrics(learning), *(known[name] for name in named if name in known)):
        return entry
    if dataset.task == "regression":
        return known["mse"]
    rows = np.bincount(dataset.train_y, minlength=len(dataset.classes))
    if rows.max() > UNEVEN * rows.min():
        return known["macro_f1"]
    return known["top1" if len(dataset.classes) <= MOST_CLASSES_OF_TOP1 else "top3"]


def recorded_names(task: TaskKind, further: Sequence[Metric] = ()) -> tuple[str, ...]:
    """Return the names of the metrics that a run of this task records every round."""
    names = (entry.name for entry in (*_BY_TASK[task], *further))
    return tuple(dict.fromkeys((*names, "test_loss", "train_loss")))


def scores(
    outputs: Tensor, targets: Tensor, task: TaskKind, further: Sequence[Metric] = ()
) -> dict[str, float]:
    """Return `test_loss`, the metrics of the task and further ones.

    The task's are `top1`, `top3` and `macro_f1`, or `mse`, `mae` and `r2`. Further ones are left
    out once the loss is not finite: the run has diverged.
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
    metrics = (*_BY_TASK[dataset.task], *further)
    values = {entry.name: float(entry.compute(outputs, targets)) for entry in metrics}
    finite = {name: value for name, value in values.items() if math.isfinite(value)}
    return finite | trivial_score(dataset)  # which breaks ties by the frequency of classes


def _checked_value(entry: Metric, outputs: Tensor, targets: Tensor) -> float:
    value = float(entry.compute(outputs, targets))
    if not math.isfinite(value):
        raise input_error("metric", entry.name, f"returned {value}", "must return a finite number")
    return value
