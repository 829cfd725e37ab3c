"""Final scores against joules and seconds: runs, means of methods, and their Pareto front."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import fmean

from scdn.record.round_totals import finite_number
from scdn.report.comparison_groups import comparison_groups
from scdn.report.mission_results import mission_results
from scdn.report.results import CostBound, ParetoChart, ParetoFront, ParetoPoint
from scdn.report.study import Study

PARETO_COSTS = ("joules", "seconds")
_WIDE = 20.0  # costs that span more are drawn on a logarithmic scale


def pareto_chart(study: Study) -> ParetoChart:
    """Return what the Pareto view shows of a study: its headline score by what it cost."""
    headline = study.headline
    runs = list(_run_points(study))
    means = list(_mean_points(study, runs))
    bounds, notes = _bounds(study)
    missing = sorted({run.method for run in study.runs} - {mean.method for mean in means})
    if missing:
        notes.append(f"Without a mean, since a run of it is not done: {', '.join(missing)}.")
    return ParetoChart(
        headline.metric, headline.label, headline.unit, headline.higher_is_better,
        list(dict.fromkeys(study.settings)), runs, means, list(_fronts(study, means)), bounds,
        [target.value for target in study.targets if target.metric == headline.metric],
        [cost for cost in PARETO_COSTS if _wide_range(runs, cost)], notes,
    )  # fmt: skip


def front(points: Sequence[ParetoPoint], cost: str, higher_is_better: bool) -> list[ParetoPoint]:
    """Return the points that none beats in one of score and cost and equals in the other."""
    sign = -1 if higher_is_better else 1
    kept: list[ParetoPoint] = []
    for point in sorted(points, key=lambda p: (getattr(p, cost), sign * p.score)):
        equal = kept and (getattr(point, cost), point.score) == (
            getattr(kept[-1], cost), kept[-1].score,
        )  # fmt: skip
        if not kept or equal or sign * point.score < sign * kept[-1].score:
            kept.append(point)
    return kept


def _wide_range(runs: Sequence[ParetoPoint], cost: str) -> bool:
    values = [getattr(point, cost) for point in runs]
    return bool(values) and min(values) > 0 and max(values) > _WIDE * min(values)


def _run_points(study: Study) -> Iterator[ParetoPoint]:
    for n, (setting, run) in enumerate(zip(study.settings, study.runs, strict=True)):
        metric = study.headline.metric
        known = [finite_number(event.get("metrics") or {}, metric) for event in run.rounds]
        scores = [score for score in known if not math.isnan(score)]
        if scores:
            total = study.totals(run)
            status = "unfinished" if run.end is None else run.end.get("status", "done")
            yield ParetoPoint(run.method, setting, run.seed, scores[-1], total.joules,
                              total.seconds, status, n)  # fmt: skip


def _mean_points(study: Study, runs: Sequence[ParetoPoint]) -> Iterator[ParetoPoint]:
    """Yield the means of methods all of whose runs are done; others would look too good."""
    for method in study.methods:
        own = [point for point in runs if point.method == method]
        count = sum(run.method == method for run in study.runs)
        if own and len(own) == count and all(point.status == "done" for point in own):
            score, joules, seconds = (
                fmean(getattr(point, key) for point in own) for key in ("score", *PARETO_COSTS)
            )
            yield ParetoPoint(method, own[0].setting, None, score, joules, seconds)


def _fronts(study: Study, means: Sequence[ParetoPoint]) -> Iterator[ParetoFront]:
    for group in comparison_groups(study):
        own = [mean for mean in means if mean.method in group.names]
        for cost in PARETO_COSTS if len(own) > 1 else ():
            best = front(own, cost, study.headline.higher_is_better)
            yield ParetoFront(cost, group.setting, [point.method for point in best])


def _bounds(study: Study) -> tuple[list[CostBound], list[str]]:
    """Return the bounds of missions in joules; those in priced joules have no place on the axis."""
    results = mission_results(study.runs)
    settings = {run.method: s for s, run in zip(study.settings, study.runs, strict=True)}
    bounds, notes = [], []
    for method in dict.fromkeys(result.method for result in results):
        own = [result for result in results if result.method == method]
        known = [result.bound_j for result in own if result.bound_j is not None]
        if len(known) < len(own):
            continue
        if own[0].unit != "J":
            notes.append(f"The bound of {method} is not drawn: it is in priced joules.")
        else:
            bounds.append(CostBound(method, settings[method], min(known)))
    return bounds, notes
