"""Summary statistics as artefacts keep them, rounded to six digits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Summary = dict[str, float]  # mean, min, max, std
CurveSummary = dict[str, list[float]]  # mean and std, one value of each per point


def rounded(value: float, digits: int = 6) -> float:
    """Return the value with six digits, more than any table or figure shows."""
    return float(f"{value:.{digits}g}")


def rounded_list(values: ArrayLike) -> list[float]:
    """Return a list of rounded values."""
    return [rounded(value) for value in np.asarray(values, dtype=np.float64)]


def summarise(values: Iterable[float]) -> Summary:
    """Return mean, smallest, largest and standard deviation; zeros where there are no values."""
    array = np.fromiter(values, dtype=float)
    if not len(array):
        return {"mean": 0.0, "min": 0.0, "max": 0.0, "std": 0.0}
    summary = {
        "mean": array.mean(),
        "min": array.min(),
        "max": array.max(),
        "std": array.std(ddof=1) if len(array) > 1 else 0.0,
    }
    return {name: rounded(value) for name, value in summary.items()}


def mean_std(rows: ArrayLike) -> CurveSummary:
    """Return the columns' means and standard deviations; a single row has deviations of 0."""
    array = np.asarray(rows, dtype=np.float64)
    std = array.std(axis=0, ddof=1) if len(array) > 1 else np.zeros(array.shape[1:])
    return {"mean": rounded_list(array.mean(axis=0)), "std": rounded_list(std)}


def summarise_curves(curves: Sequence[Sequence[float]]) -> CurveSummary:
    """Return mean and standard deviation per point, over the curves that are long enough."""
    columns = [
        [curve[point] for curve in curves if len(curve) > point]
        for point in range(max(map(len, curves), default=0))
    ]
    summaries = [summarise(column) for column in columns]
    return {part: [summary[part] for summary in summaries] for part in ("mean", "std")}


def nested(function: Callable[..., Any], *axes: Iterable[Any]) -> dict[str, Any]:
    """Return the function's values for all combinations of keys, one level of dicts per axis."""
    first, *rest = axes
    return {
        str(key): nested(partial(function, key), *rest) if rest else function(key) for key in first
    }
