"""A study: runs of one scenario with several methods and seeds, compared with each other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from scdn.errors import input_error
from scdn.record.headline_metric import BUILT_IN, Headline, headline
from scdn.record.round_totals import TERMS
from scdn.record.run_reader import Run
from scdn.record.run_tables import rounds_frame
from scdn.report.results import Measure, MethodResult
from scdn.report.statistics import (
    MethodValues,
    PairedDifference,
    final_values,
    mean_and_std,
    mean_values,
    paired_difference,
    total_values,
    values_at_equal_budget,
)

DEFAULT_REFERENCE = "sc-dn"
_BASELINES = {"trivial": "trivial", "best_party": "best party", "centralised": "centralised"}


@dataclass(frozen=True, eq=False)
class Study:
    """Comparable runs, their rounds as a table, and notes on what limits the comparison."""

    runs: Sequence[Run]
    rows: pd.DataFrame
    methods: Sequence[str]  # the reference first
    headline: Headline
    notes: Sequence[str]

    @classmethod
    def from_runs(cls, runs: Sequence[Run], reference: str | None = None) -> Study:
        """Put runs together; refuse those that cannot be compared."""
        started = [run for run in runs if run.rounds]
        kept, notes = _distinct(started)
        if not kept:
            source = str(runs[0].folder) if runs else "report"
            raise input_error(source, "runs", "none has finished a round", "needs at least one")
        methods = sorted({run.method for run in kept})
        if reference is not None and reference not in methods:
            allowed = f"must be one of {', '.join(methods)}"
            raise input_error("--reference", reference, "no run has this method", allowed)
        first = reference or (DEFAULT_REFERENCE if DEFAULT_REFERENCE in methods else methods[0])
        if reference is None and first != DEFAULT_REFERENCE:
            notes.append(f"There is no {DEFAULT_REFERENCE} run: {first} is the reference.")
        rows = rounds_frame(kept)
        recorded = [column for column in rows if rows[column].notna().any()]
        notes += _endings(kept, len(runs) - len(started))
        ordered = [first, *(method for method in methods if method != first)]
        return cls(kept, rows, ordered, headline(kept[0].start, recorded), notes)

    @property
    def reference(self) -> str:
        """The method that the others are compared with."""
        return self.methods[0]

    @property
    def seeds(self) -> list[int]:
        """All seeds, sorted."""
        return sorted({run.seed for run in self.runs})

    def baselines(self) -> dict[str, float]:
        """Return the headline scores of the baselines that were recorded, by label."""
        scores = {label: list(self._baseline(key)) for key, label in _BASELINES.items()}
        return {label: sum(known) / len(known) for label, known in scores.items() if known}

    def _baseline(self, key: str) -> Iterator[float]:
        for run in self.runs:
            score = _baseline_scores(run, key).get(self.headline.metric)
            if isinstance(score, int | float) and math.isfinite(score):
                yield float(score)

    def measures(self) -> list[Measure]:
        """Return every quantity by which the methods are compared, the headline score first."""
        return [measure for measure in self._measures() if measure.values]

    def _measures(self) -> Iterator[Measure]:
        rows = self.rows
        yield from self._headline_measures()
        yield self._measure("j", "Energy", "J", -1, final_values(rows, "cumulative_joules"), True)
        yield self._measure("s", "Time", "s", -1, final_values(rows, "cumulative_s"), True)
        for other in BUILT_IN:
            if other.metric != self.headline.metric:
                values = final_values(rows, other.metric)
                yield self._measure(other.metric, other.label, other.unit, _sign(other), values)
        for term in TERMS:
            label = f"{term.removesuffix('_j').replace('_', ' ').capitalize()} energy"
            yield self._measure(term, label, "J", -1, final_values(rows, f"cumulative_{term}"))
        yield self._measure("per_device", "Processing energy per device and round", "J", -1,
                            mean_values(rows, "processing_j_per_device"))  # fmt: skip
        yield self._measure("iterations", "Iterations executed per device and round", "", 0,
                            mean_values(rows, "executed_iterations"))  # fmt: skip
        yield self._measure("bits", "Sent", "bits", -1, total_values(rows, "bits_sent"))

    def _headline_measures(self) -> Iterator[Measure]:
        """Yield the headline score at the end, on future rows, and at equal joules and seconds."""
        metric, label = self.headline.metric, self.headline.label
        shown = (self.headline.unit, _sign(self.headline))
        final = self._diverged_as_trivial(final_values(self.rows, metric))
        yield self._measure(metric, label, *shown, final, True)
        future = self._diverged_as_trivial(final_values(self.rows, f"future_{metric}"))
        yield self._measure(f"future_{metric}", f"{label}, future", *shown, future, True)
        rows = self._rows_without_diverged()
        for key, column in (("joules", "cumulative_joules"), ("seconds", "cumulative_s")):
            values = values_at_equal_budget(rows, metric, column)
            several = len(self.methods) > 1
            yield self._measure(key, f"{label} at equal {key}", *shown, values, several)

    def _measure(
        self, key: str, label: str, unit: str, better: int, values: MethodValues, main: bool = False
    ) -> Measure:
        results = [self._result(method, values, better) for method in self.methods]
        return Measure(key, label, unit, better, main, [r for r in results if r is not None])

    def _result(self, method: str, values: MethodValues, better: int) -> MethodResult | None:
        by_seed = values.get(method, {})
        known = mean_and_std(by_seed.values())
        if known is None:
            return None
        result = MethodResult(method, *known)
        if method == self.reference:
            return result
        paired = paired_difference(by_seed, values.get(self.reference, {}))
        if paired is None:
            return result
        return MethodResult(method, *known, paired.difference, paired.low, paired.high,
                            paired.p_t, paired.p_flip, _verdict(paired, better))  # fmt: skip

    def _rows_without_diverged(self) -> pd.DataFrame:
        diverged = {(run.method, run.seed) for run in self.runs if _diverged(run)}
        pairs = zip(self.rows["method"], self.rows["seed"], strict=True)
        return self.rows[[pair not in diverged for pair in pairs]]

    def _diverged_as_trivial(self, values: MethodValues) -> MethodValues:
        """Score diverged runs as the trivial predictor, not by what they had reached before."""
        scored = {method: dict(by_seed) for method, by_seed in values.items()}
        for run in self.runs:
            trivial = _baseline_scores(run, "trivial").get(self.headline.metric)
            if _diverged(run) and trivial is not None and run.seed in scored.get(run.method, {}):
                scored[run.method][run.seed] = float(trivial)
        return scored


def _sign(metric: Headline) -> int:
    return 1 if metric.higher_is_better else -1


def _verdict(paired: PairedDifference, better: int) -> str:
    if paired.p_t is None:
        return "one seed: no verdict"
    if not paired.significant:
        return "no clear difference"
    if better == 0:
        return "different"
    return "better" if paired.difference * better > 0 else "worse"


def _baseline_scores(run: Run, key: str) -> dict[str, Any]:
    return (run.start.get("baselines") or {}).get(key) or {}


def _distinct(runs: Iterable[Run]) -> tuple[list[Run], list[str]]:
    """Keep one run per method and seed; refuse two of different scenarios."""
    kept: dict[tuple[str, int], Run] = {}
    notes: list[str] = []
    for run in runs:
        first = kept.setdefault((run.method, run.seed), run)
        if first is run:
            continue
        if run.scenario != first.scenario:
            raise input_error(str(run.folder), f"{run.method}, seed {run.seed}",
                              f"its scenario differs from that of {first.folder}",
                              "runs of one method and seed must share a scenario")  # fmt: skip
        notes.append(f"{run.method}, seed {run.seed} is a duplicate: {run.folder} is left out.")
    scenarios = [run.scenario for run in kept.values()]
    keys = {key for scenario in scenarios for key in scenario} - {"method", "seed"}
    different = sorted(k for k in keys if any(s.get(k) != scenarios[0].get(k) for s in scenarios))
    if different:
        notes.append(f"The runs' scenarios differ in {', '.join(different)}.")
    return list(kept.values()), notes


def _diverged(run: Run) -> bool:
    return run.end is not None and run.end.get("status") == "diverged"


def _endings(runs: Iterable[Run], empty: int) -> Iterator[str]:
    """Note the runs that did not end as planned, and those without a round."""
    for run in runs:
        status = "unfinished" if run.end is None else run.end.get("status", "done")
        if status == "done":
            continue
        rounds = f"{len(run.rounds)} round{'s' * (len(run.rounds) != 1)}"
        verb = "diverged" if status == "diverged" else f"is {status}"
        scored = ": it is scored as the trivial predictor" if status == "diverged" else ""
        yield f"{run.method}, seed {run.seed} {verb} after {rounds}{scored}."
    if empty:
        yield f"{empty} run{'s' * (empty != 1)} without a finished round left out."
