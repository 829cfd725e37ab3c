"""The data of a study's charts, before any drawing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from scdn.arrays import floats
from scdn.report.results import BaselineLevel, Chart, Curve, EnergyLedger, MethodTotal
from scdn.report.statistics import MethodValues, final_values, mean_and_std
from scdn.report.study import Study

_BUDGET_POINTS = 160  # along a curve over joules or seconds
_TARGET = "target"  # label of its line
_LABEL_SPACING = 0.085  # between the labels of two baselines, as a fraction of the chart's height


def study_charts(study: Study) -> list[Chart]:
    """Return every chart that has a curve: scores by what they cost, then the rounds."""
    charts = (*_budget_charts(study), *_round_charts(study), *_mission_charts(study))
    return [chart for chart in charts if chart.lines]


def budget_chart_names(study: Study) -> list[str]:
    """Return the names of the charts over joules and over seconds, those of targets first."""
    return [
        budget
        if metric == study.headline.metric
        else f"{budget}_{re.sub(r'[^0-9a-zA-Z_]', '_', metric)}"
        for metric in _budget_metrics(study)
        for budget in ("joules", "seconds")
    ]


def _budget_metrics(study: Study) -> list[str]:
    """Return the metrics of the targets, and the headline metric."""
    return list(dict.fromkeys([*(t.metric for t in study.targets), study.headline.metric]))


def _round_charts(study: Study) -> Iterator[Chart]:
    headline, rows = study.headline, _rows_before_divergence(study)
    metric, y_label = headline.metric, headline.axis_label
    baselines = study.baselines()
    ended = " A mean is over the runs that have not ended." * _lengths_differ(study)
    yield _chart("metric", f"{headline.label} over rounds",
                 f"On the test rows, after each round.{ended}",
                 "round", y_label, _over_rounds(study, metric, rows), baselines)  # fmt: skip
    future = f"future_{metric}"
    if future in rows:
        both = rows[rows[future].notna() & rows[metric].notna()]
        lines = [*_over_rounds(study, metric, both), *_over_rounds(study, future, both, True)]
        yield _chart("future", f"{headline.label} after an exit: cached and future rows",
                     "Solid: test rows that departed devices had embedded. Dashed: rows they never "
                     "embedded. From the first exit on.",
                     "round", y_label, lines, _nearby(baselines, lines),
                     solid="cached", dashed="future")  # fmt: skip
    yield _chart("iterations", "Local iterations",
                 "Executed and reported in time, mean over the devices present.",
                 "round", "iterations per device",
                 _over_rounds(study, "executed_iterations", rows), from_zero=True)  # fmt: skip
    yield _chart("processing", "Processing energy per device",
                 "Mean over the devices present, each round.", "round", "J per device",
                 _over_rounds(study, "processing_j_per_device", rows), from_zero=True)  # fmt: skip


def _mission_charts(study: Study) -> Iterator[Chart]:
    """Yield what missions expected of each round and what came of it, and what progress is worth.

    These are recorded by methods that plan by progress only.
    """
    rows = _rows_before_divergence(study)
    lines = [*_over_rounds(study, "validation_loss", rows),
             *_over_rounds(study, "expected_loss", rows, dashed=True)]  # fmt: skip
    yield _chart("forecast", "Forecast of the loss",
                 "On validation rows, after each round. Dashed: as expected when it was planned.",
                 "round", "validation loss", lines, solid="measured", dashed="expected",
                 )  # fmt: skip
    yield _chart("worth", "What progress is worth",
                 "The most that a plan of the round pays for a unit of progress.",
                 "round", "J per unit of progress",
                 _over_rounds(study, "worth_j", rows), from_zero=True)  # fmt: skip


def _lengths_differ(study: Study) -> bool:
    """Return whether runs of a method differ in their number of rounds."""
    lengths: dict[str, set[int]] = {}
    for run in study.runs:
        lengths.setdefault(run.method, set()).add(len(run.rounds))
    return any(len(of_method) > 1 for of_method in lengths.values())


def _budget_charts(study: Study) -> Iterator[Chart]:
    """Yield the scores against joules and simulated seconds, with the targets as lines."""
    names = iter(budget_chart_names(study))
    for metric in _budget_metrics(study):
        shown = study.metrics.get(metric, study.headline)
        baselines = study.baselines() if metric == study.headline.metric else {}
        values = [target.value for target in study.targets if target.metric == metric]
        targets = {f"{_TARGET}{f' {n}' * (len(values) > 1)}": v for n, v in enumerate(values, 1)}
        for budget, column in (("joules", "cumulative_joules"), ("seconds", "cumulative_s")):
            lines = list(_over_budget(study, metric, column, log_x=budget == "joules"))
            yield _chart(next(names), f"{shown.label} against {budget}",
                         "The last value reached, median over seeds; the band has half of them. "
                         "A run that has ended keeps its last value.",
                         f"cumulative {budget}", shown.axis_label,
                         lines, _nearby(baselines, lines) | targets,
                         log_x=budget == "joules")  # fmt: skip


def _rows_before_divergence(study: Study) -> pd.DataFrame:
    """Return the rounds of each method before a run of it diverged.

    A mean over the runs that are left would show the method better than it is.
    """
    ends = dict.fromkeys(study.methods, math.inf)
    for run in study.runs:
        if (run.method, run.seed) in study.diverged:
            last = run.rounds[-1]["round"] if run.rounds else -1
            ends[run.method] = min(ends[run.method], last)
    return study.rows[study.rows["round"] <= study.rows["method"].map(ends)]


def _chart(
    name: str, title: str, about: str, x_label: str, y_label: str, curves: Iterable[Curve],
    baselines: dict[str, float] | None = None, from_zero: bool = False,
    log_x: bool = False, solid: str = "", dashed: str = "",
) -> Chart:  # fmt: skip
    lines = list(curves)
    low, high = _axis_range(lines, (baselines or {}).values(), from_zero, "%" in y_label)
    levels = _spaced(baselines or {}, low, high)
    return Chart(name, title, about, x_label, y_label, low, high, lines, levels,
                 log_x, solid, dashed)  # fmt: skip


def _nearby(baselines: dict[str, float], lines: Sequence[Curve]) -> dict[str, float]:
    """Return the baselines close enough not to squeeze the curves together."""
    values = floats([value for line in lines for value in line.y] or [0])
    low, high = values.min(), values.max()
    margin = 0.5 * (high - low)
    return {label: v for label, v in baselines.items() if low - margin <= v <= high + margin}


def _over_rounds(
    study: Study, column: str, rows: pd.DataFrame, dashed: bool = False
) -> Iterator[Curve]:
    if column not in rows:
        return
    for method in study.methods:
        known = rows[(rows["method"] == method) & rows[column].notna()]
        if len(known):
            by_round = known.groupby("round")[column]
            mean, std = floats(by_round.mean()), floats(by_round.std(ddof=1))
            low = high = None
            if np.isfinite(std).any():
                std = np.nan_to_num(std)
                low, high = (mean - std).tolist(), (mean + std).tolist()
            x = (floats(list(by_round.groups)) + 1).tolist()  # people count rounds from 1
            yield Curve(method, x, mean.tolist(), low, high, dashed)


def _over_budget(study: Study, metric: str, column: str, log_x: bool) -> Iterator[Curve]:
    """Yield the median over seeds of the last value reached, where every seed has one."""
    if metric not in study.rows:
        return
    rows, complete = _rows_before_divergence(study), _complete_methods(study)
    for method in study.methods:
        known = rows[rows["method"] == method].dropna(subset=[metric, column])
        seeds = known["seed"].nunique()
        if log_x:
            known = known[known[column] > 0]
        runs = [(floats(run[column]), floats(run[metric])) for _, run in known.groupby("seed")]
        if not runs or len(runs) < seeds:
            continue
        start, ends = max(x[0] for x, _ in runs), [x[-1] for x, _ in runs]
        end = max(ends) if method in complete else min(ends)
        space = np.geomspace if log_x else np.linspace
        grid = runs[0][0] if len(runs) == 1 else space(start, end, _BUDGET_POINTS)
        if start >= end:  # a single round, or seeds whose budgets do not overlap
            grid = floats([end])
        values = np.stack([y[np.maximum(np.searchsorted(x, grid, "right") - 1, 0)]
                           for x, y in runs])  # fmt: skip
        low, median, high = np.quantile(values, (0.25, 0.5, 0.75), axis=0).tolist()
        several = len(runs) > 1
        yield Curve(method, grid.tolist(), median, low if several else None,
                    high if several else None, step=True)  # fmt: skip


def _complete_methods(study: Study) -> set[str]:
    """Return the methods of which every run has come to its end: their last values are final."""
    incomplete = {run.method for run in study.runs
                  if run.end is None or run.end.get("status", "done") != "done"}  # fmt: skip
    return set(study.methods) - incomplete


def _axis_range(
    lines: Sequence[Curve], baselines: Iterable[float], from_zero: bool, percent: bool
) -> tuple[float, float]:
    if not lines:
        return 0.0, 1.0
    edges = [edge for line in lines for edge in (line.low or line.y, line.high or line.y)]
    values = np.concatenate([*map(floats, edges), floats(list(baselines))])
    low, high = float(values.min()), float(values.max())
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    low, high = (0.0 if from_zero else low - margin), high + margin
    return (max(low, -1.0), min(high, 101.0)) if percent else (low, high)


def _spaced(baselines: dict[str, float], low: float, high: float) -> list[BaselineLevel]:
    """Place the labels from the lowest up, each at its value or just above the one below."""
    step, last = _LABEL_SPACING * (high - low), -np.inf
    levels = []
    for label, value in sorted(baselines.items(), key=lambda baseline: baseline[1]):
        last = max(value, last + step)
        levels.append(BaselineLevel(label, value, last, label.startswith(_TARGET)))
    excess = last - (high - step / 3) if levels else 0.0
    if excess <= 0:
        return levels
    # The labels at the top would leave the chart: move them down together.
    return [
        replace(level, name_at=level.name_at - excess) if level.name_at > high - 3 * step else level
        for level in levels
    ]


def energy_ledger(study: Study) -> EnergyLedger:
    """Return the joules of every method by term."""
    terms = {
        term.removesuffix("_j"): [
            result.mean for result in _totals(study, final_values(study.rows, f"cumulative_{term}"))
        ]
        for term in study.counted_terms
    }
    totals = _totals(study, final_values(study.rows, "cumulative_joules"))
    return EnergyLedger(list(study.methods), terms, totals)


def _totals(study: Study, values: MethodValues) -> list[MethodTotal]:
    return [
        MethodTotal(method, *(mean_and_std(values.get(method, {}).values()) or (0.0, None, 0)))
        for method in study.methods
    ]
