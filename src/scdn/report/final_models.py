"""The final models of a study: every score, which classes they confuse, and their calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from scdn.arrays import Array, floats
from scdn.record.headline_metric import Headline
from scdn.report.number_format import mean_with_std
from scdn.report.plotly_figures import PlotlyFigure
from scdn.report.statistics import mean_and_std
from scdn.report.study import Study
from scdn.report.theme import MethodStyle

_MOST_CELLS = 400  # of a confusion matrix that have their number written into them


@dataclass(frozen=True, eq=False)
class FinalModels:
    """The final models of one method, over all its seeds.

    `confusion` and `reliability` pool the test rows of all seeds. They are empty in a regression.
    """

    method: str
    seeds: int
    scores: dict[str, str]  # by label: the mean and its deviation
    classes: Sequence[str]
    confusion: Array  # rows of a class (first index) that were taken for a class
    reliability: Array  # a line per bin: mean confidence, accuracy, rows


def final_models(study: Study) -> list[FinalModels]:
    """Return the final models of every method whose runs have recorded an evaluation."""
    models = []
    for method in study.methods:
        runs = [run for run in study.runs if run.method == method]
        ends = [(run.end or {}).get("evaluation") for run in runs]
        known = [end for end in ends if isinstance(end, dict)]
        if known:
            models.append(_pooled(method, known, study))
    return models


def _pooled(method: str, known: Sequence[dict[str, Any]], study: Study) -> FinalModels:
    names = dict.fromkeys(name for end in known for name in end.get("scores") or {})
    scores = {}
    for name in names:
        shown = study.metrics.get(name) or Headline(name, True, "", name)
        values = [end["scores"].get(name) for end in known]
        summary = mean_and_std([math.nan if value is None else value for value in values])
        scores[shown.axis_label] = "–" if summary is None else mean_with_std(*summary[:2])
    classes = known[0].get("classes") or []
    alike = [end for end in known if end.get("classes") == classes]  # parts of one data set
    matrices = [floats(end["confusion"]) for end in alike if end.get("confusion")]
    confusion = np.sum(matrices, axis=0) if matrices else np.zeros((0, 0))
    bins = [entry for end in alike for entry in end.get("reliability") or ()]
    return FinalModels(method, len(known), scores, classes, confusion, _pooled_bins(bins))


def _pooled_bins(entries: Sequence[dict[str, Any]]) -> Array:
    """Return the bins of several runs together: their borders are multiples of 1/15."""
    pooled: dict[int, list[dict[str, Any]]] = {}
    for entry in entries:
        pooled.setdefault(math.ceil(15 * entry["confidence"]), []).append(entry)
    lines = []
    for _, alike in sorted(pooled.items()):
        rows = floats([entry["rows"] for entry in alike])
        means = [
            float(np.average(floats([entry[key] for entry in alike]), weights=rows))
            for key in ("confidence", "accuracy")
        ]
        lines.append([*means, float(rows.sum())])
    return floats(lines).reshape(-1, 3)


def plotly_confusion(models: FinalModels) -> PlotlyFigure:
    """Return a heat map: a line per class, shaded by the share of its rows that went to each."""
    of_class = models.confusion.sum(axis=1, keepdims=True)
    shares = models.confusion / np.maximum(of_class, 1)
    names = [escape(name) for name in models.classes]
    written = models.confusion.size <= _MOST_CELLS
    heat: PlotlyFigure = {
        "type": "heatmap", "z": shares.round(4).tolist(), "x": names, "y": names,
        "customdata": models.confusion.astype(int).tolist(), "zmin": 0, "zmax": 1,
        "colorscale": [[0, "@paper"], [1, "@active"]], "showscale": False, "xgap": 1, "ygap": 1,
        "hovertemplate": "%{y} taken for %{x}: %{customdata} rows, %{z:.1%}<extra></extra>",
    }  # fmt: skip
    if written:
        heat |= {"texttemplate": "%{customdata}", "textfont": {"size": 11}}
    return {
        "data": [heat],
        "layout": {
            "xaxis": {"title": {"text": "predicted class"}, "type": "category", "showgrid": False},
            "yaxis": {"title": {"text": "true class"}, "type": "category", "showgrid": False,
                      "autorange": "reversed", "automargin": True},
            "margin": {"l": 60, "r": 18, "t": 12, "b": 50},
        },
    }  # fmt: skip


def plotly_reliability(
    models: Sequence[FinalModels], styles: dict[str, MethodStyle]
) -> PlotlyFigure:
    """Return accuracy against confidence, a line per method; the diagonal is a calibrated model."""
    data = [
        {"type": "scatter", "mode": "lines+markers", "name": escape(of.method), "meta": of.method,
         "x": of.reliability[:, 0].round(4).tolist(), "y": of.reliability[:, 1].round(4).tolist(),
         "customdata": of.reliability[:, 2].astype(int).tolist(), "showlegend": False,
         "line": {"color": f"@{styles[of.method].colour}", "width": 2.2},
         "marker": {"symbol": styles[of.method].symbol, "size": 7},
         "hovertemplate": "confidence %{x:.2f}: accuracy %{y:.2f}, %{customdata} rows"}
        for of in models
        if len(of.reliability)
    ]  # fmt: skip
    diagonal = {"type": "line", "x0": 0, "y0": 0, "x1": 1, "y1": 1, "layer": "below",
                "line": {"color": "@faint", "width": 1, "dash": "2px,4px"}}  # fmt: skip
    return {
        "data": data,
        "layout": {
            "xaxis": {"title": {"text": "confidence of the model"}, "range": [0, 1]},
            "yaxis": {"title": {"text": "accuracy of its rows"}, "range": [0, 1.02]},
            "margin": {"l": 58, "r": 18, "t": 12, "b": 46},
            "shapes": [diagonal],
            "hovermode": "closest",
        },
    }
