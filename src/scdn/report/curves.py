"""What the charts show, before any drawing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scdn.arrays import Array, floats
from scdn.record.frames import TERMS
from scdn.report.statistics import Spread, finals, spread
from scdn.report.study import Study

_POINTS = 160  # along the budget of a curve over joules or seconds
_CLEARANCE = 0.085  # of a chart's height, between the names of two levels


@dataclass(frozen=True, eq=False)
class Line:
    """A method's mean, with the deviation over its seeds where there are several."""

    method: str
    x: Array
    mean: Array
    std: Array | None
    future: bool = False
    step: bool = False


@dataclass(frozen=True)
class Level:
    """Something to compare with, and where its name goes so that none covers another."""

    label: str
    value: float
    name_at: float


@dataclass(frozen=True, eq=False)
class Chart:
    """Lines over something."""

    name: str
    title: str
    about: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    levels: Sequence[Level]
    y_range: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Bars:
    """Joules per method: the mean over seeds by term, and the total's spread."""

    methods: Sequence[str]
    terms: dict[str, list[float]]
    totals: Sequence[Spread]


def charts(study: Study) -> list[Chart]:
    """Every chart for which there is something to show, in reading order."""
    return [chart for chart in _charts(study) if chart.lines]


def _charts(study: Study) -> Iterator[Chart]:
    metric, rows = study.metric, study.rows
    name = f"{metric.label} ({metric.unit})" if metric.unit else metric.label
    levels = study.baselines()
    yield _chart("metric", f"{metric.label} over rounds", "On the test rows, after each round.",
                 "round", name, _over_rounds(study, metric.key), levels)  # fmt: skip
    future = f"future_{metric.key}"
    if future in rows:
        both = rows[rows[future].notna() & rows[metric.key].notna()]
        lines = [*_over_rounds(study, metric.key, both), *_over_rounds(study, future, both, True)]
        yield _chart("future", "After an exit: cached and future",
                     "Solid: test rows that departed devices had embedded. Dashed: rows they never "
                     "saw. From the first exit on.",
                     "round", name, lines, _near(levels, lines))  # fmt: skip
    yield _chart("iterations", "Iterations", "Mean over the devices present.",
                 "round", "iterations per device",
                 _over_rounds(study, "iterations"), floor=True)  # fmt: skip
    yield _chart("processing", "Processing energy per device",
                 "Mean over the devices present, each round.", "round", "J per device",
                 _over_rounds(study, "processing_j_per_device"), floor=True)  # fmt: skip
    for key, column, words in (("joules", "cumulative_joules", "cumulative joules"),
                               ("seconds", "cumulative_s", "cumulative seconds")):  # fmt: skip
        yield _chart(key, f"{metric.label} against {key}",
                     "The last value reached, as far as every seed has come.",
                     words, name, _over_budget(study, column), levels)  # fmt: skip


def _chart(
    name: str, title: str, about: str, x_label: str, y_label: str, lines: Iterable[Line],
    levels: dict[str, float] | None = None, floor: bool = False,
) -> Chart:  # fmt: skip
    drawn = list(lines)
    low, high = _range(drawn, (levels or {}).values(), floor, "%" in y_label)
    return Chart(name, title, about, x_label, y_label, drawn,
                 _spaced(levels or {}, low, high), (low, high))  # fmt: skip


def _near(levels: dict[str, float], lines: Sequence[Line]) -> dict[str, float]:
    """The levels that do not squeeze the lines together."""
    seen = np.concatenate([line.mean for line in lines]) if lines else floats([0])
    low, high = seen.min(), seen.max()
    room = 0.5 * (high - low)
    return {label: v for label, v in levels.items() if low - room <= v <= high + room}


def _over_rounds(
    study: Study, column: str, rows: pd.DataFrame | None = None, future: bool = False
) -> Iterator[Line]:
    rows = study.rows if rows is None else rows
    if column not in rows:
        return
    for method in study.methods:
        known = rows[(rows["method"] == method) & rows[column].notna()]
        if len(known):
            by_round = known.groupby("round")[column]
            mean, std = by_round.mean(), by_round.std(ddof=1)
            yield Line(method, floats(mean.index), floats(mean), _deviation(floats(std)), future)


def _over_budget(study: Study, column: str) -> Iterator[Line]:
    key = study.metric.key
    if key not in study.rows:
        return
    for method in study.methods:
        known = study.rows[study.rows["method"] == method].dropna(subset=[key, column])
        runs = [(floats(run[column]), floats(run[key])) for _, run in known.groupby("seed")]
        if not runs:
            continue
        start, end = max(x[0] for x, _ in runs), min(x[-1] for x, _ in runs)
        grid = runs[0][0] if len(runs) == 1 else np.linspace(start, end, _POINTS)
        if start >= end:  # a single round, or seeds too far apart to share a stretch
            grid = floats([end])
        values = np.stack([y[np.maximum(np.searchsorted(x, grid, "right") - 1, 0)]
                           for x, y in runs])  # fmt: skip
        std = values.std(axis=0, ddof=1) if len(runs) > 1 else np.full(len(grid), np.nan)
        yield Line(method, grid, values.mean(axis=0), _deviation(std), step=True)


def _deviation(std: Array) -> Array | None:
    return np.nan_to_num(std) if np.isfinite(std).any() else None


def _range(
    lines: Sequence[Line], levels: Iterable[float], floor: bool, percent: bool
) -> tuple[float, float]:
    around = [line.mean + side * (0.0 if line.std is None else line.std)
              for line in lines for side in (-1, 1)]  # fmt: skip
    seen = np.concatenate([*around, floats(list(levels))]) if lines else floats([0, 1])
    low, high = float(seen.min()), float(seen.max())
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    low, high = (0.0 if floor else low - margin), high + margin
    return (max(low, -1.0), min(high, 101.0)) if percent else (low, high)


def _spaced(levels: dict[str, float], low: float, high: float) -> list[Level]:
    """Names from the lowest up, each at its level or just clear of the one below."""
    step, last, placed = _CLEARANCE * (high - low), -np.inf, []
    for label, value in sorted(levels.items(), key=lambda level: level[1]):
        last = max(value, last + step)
        placed.append(Level(label, value, last))
    over = last - (high - step / 3) if placed else 0.0
    if over > 0:  # pushed out at the top: the crowded ones move down together
        placed = [Level(lv.label, lv.value, lv.name_at - over if lv.name_at > high - 3 * step
                        else lv.name_at) for lv in placed]  # fmt: skip
    return placed


def bars(study: Study) -> Bars:
    """Where the joules went."""
    terms = {}
    for term in TERMS:
        totals = finals(study.rows, f"cumulative_{term}")
        known = [spread(totals[method].values()) for method in study.methods]
        terms[term.removesuffix("_j")] = [found.mean if found else 0.0 for found in known]
    joules = finals(study.rows, "cumulative_joules")
    whole = [spread(joules[method].values()) or Spread(0.0, None, 0) for method in study.methods]
    return Bars(study.methods, terms, whole)
