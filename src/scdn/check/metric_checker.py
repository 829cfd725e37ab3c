"""The checker of metrics: finite scores that agree with the quality of predictions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import get_args

import torch
from torch import Tensor

from scdn.check.user_code import call, collect
from scdn.data.dataset import TaskKind
from scdn.learning.metrics import RESERVED_NAMES, Metric

_ROWS, _CLASSES = 60, 5


def check_metric(metric: Metric, task: TaskKind | None = None) -> list[str]:
    """Return the problems of a metric; without a task, it must suit one of the two."""
    if isinstance(metric, type) and issubclass(metric, Metric):
        return [f"It is the class {metric.__name__}; create an object of it: {metric.__name__}()."]
    if not isinstance(metric, Metric):
        return [f"It is a {type(metric).__name__}; subclass scdn.learning.metrics.Metric."]
    tasks = get_args(TaskKind) if task is None else (task,)
    by_task = [collect(_scores(metric, name)) for name in tasks]
    return [*collect(_attributes(metric)), *min(by_task, key=len)]


def _attributes(metric: Metric) -> Iterator[str]:
    name = getattr(metric, "name", "")
    if not isinstance(name, str) or not name or name in RESERVED_NAMES:
        yield f"Its name is {name!r}; give it one that events do not use for something else."
    if not isinstance(metric.higher_is_better, bool):
        yield "Its higher_is_better is not a bool; say True or False."
    if metric.unit not in ("%", ""):
        yield f'Its unit is {metric.unit!r}; use "%" or "".'


def _scores(metric: Metric, task: TaskKind) -> Iterator[str]:
    good, poor, targets = _predictions(task)
    situation = f"For a {task}, compute"
    before = (good.clone(), targets.clone())
    value = _score(situation, metric, good, targets)
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield f"{situation} returned a {type(value).__name__}; return a float."
        return
    if not math.isfinite(value):
        yield f"{situation} returned {value}; return a finite number."
        return
    if not (torch.equal(before[0], good) and torch.equal(before[1], targets)):
        yield f"{situation} changed its arguments; copy them before writing to them."
    if metric.unit == "%" and not 0 <= value <= 100:
        yield f"{situation} returned {value:g}; a percentage must be between 0 and 100."
    if _score(situation, metric, good, targets) != value:
        yield f"{situation} gave two scores for the same rows; keep no state and draw nothing."
    order = torch.arange(_ROWS - 1, -1, -1)
    turned = _score(situation, metric, good[order], targets[order])
    if not math.isclose(turned, value, rel_tol=1e-5, abs_tol=1e-8):
        yield f"{situation} depends on the order of rows; score each row alike."
    worse = _score(situation, metric, poor, targets)
    if not (value > worse if metric.higher_is_better else value < worse):
        claim = "higher" if metric.higher_is_better else "lower"
        yield (
            f"{situation} scored good predictions {value:g} and poor ones {worse:g}, but {claim} "
            f"is declared better; set higher_is_better = {not metric.higher_is_better}, or mend it."
        )


def _score(situation: str, metric: Metric, outputs: Tensor, targets: Tensor) -> float:
    advice = "it must take outputs (rows, width) and targets (rows,)"
    return call(situation, advice, metric.compute, outputs, targets)


def _predictions(task: TaskKind) -> tuple[Tensor, Tensor, Tensor]:
    """Return good outputs, poor outputs and targets."""
    draw = torch.Generator().manual_seed(0)
    noise = torch.randn(_ROWS, _CLASSES, generator=draw)
    if task == "regression":
        truth = torch.rand(_ROWS, generator=draw)
        return truth[:, None] + 0.01 * noise[:, :1], truth[:, None] + noise[:, :1], truth
    classes = torch.arange(_ROWS) % _CLASSES
    right = torch.nn.functional.one_hot(classes, _CLASSES).float()
    return noise + 8 * right, noise - 8 * right, classes
