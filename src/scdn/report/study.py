"""A study: runs of one scenario with several methods and seeds, compared with each other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from scdn.errors import input_error
from scdn.record.headline_metric import BUILT_IN, Headline, headline, metrics_of_run
from scdn.record.round_totals import (
    DEVICE_TERMS,
    OPTIONAL_TERMS,
    TERMS,
    RoundTotals,
    round_totals,
)
from scdn.record.run_reader import Event, Run
from scdn.record.run_tables import rounds_frame
from scdn.record.target_results import check_targets, recorded_targets, target_results
from scdn.report.method_comparison import MethodComparison
from scdn.report.results import Measure
from scdn.report.setting_differences import SettingDifferences, name_variants, setting_labels
from scdn.report.statistics import (
    final_values,
    mean_values,
    total_ratios,
    total_values,
    values_at_equal_budget,
)
from scdn.targets import Target

FIRST_METHODS = ("mission", "sc-dn")  # where no reference is named, the first of them is it
_COSTS = (  # of reaching a target: key, label, unit, and whether the first table shows it
    ("joules", "Energy", "J", True),
    ("seconds", "Time", "s", True),
    ("rounds", "Rounds", "", False),
    ("bits", "Sent and received", "bits", False),
)
_BASELINES = {"trivial": "trivial", "best_party": "best party", "centralised": "centralised"}


@dataclass(frozen=True, eq=False)
class Study:
    """Comparable runs, their rounds as a table, and notes on what limits the comparison."""

    runs: Sequence[Run]
    rows: pd.DataFrame
    methods: Sequence[str]  # the reference first
    headline: Headline
    targets: Sequence[Target]
    notes: Sequence[str]
    differences: SettingDifferences | None = None  # between the settings of the runs

    @classmethod
    def from_runs(
        cls,
        runs: Sequence[Run],
        reference: str | None = None,
        targets: Sequence[Target] | None = None,
    ) -> Study:
        """Put runs together; those of one method with different settings count as several.

        `targets` replace those of the runs' own scenarios.
        """
        started = [run for run in runs if run.rounds or _diverged(run)]
        named, differences = name_variants(started)
        kept, notes = _distinct(named)
        notes += [] if differences is None else [differences.note]
        if not any(run.rounds for run in kept):
            source = str(runs[0].folder) if runs else "report"
            raise input_error(source, "runs", "none has finished a round", "needs at least one")
        methods = sorted({run.method for run in kept})
        if reference is not None:  # of several variants, the first
            variants = [name for name in methods if name.startswith(f"{reference}, ")]
            reference = next(iter(variants), reference)
        if reference is not None and reference not in methods:
            allowed = f"must be one of {', '.join(methods)}"
            raise input_error("--reference", reference, "no run has this method", allowed)
        ordered = _ordered(methods, reference)
        if reference is None and ordered[0].partition(", ")[0] not in FIRST_METHODS:
            missing = " or ".join(FIRST_METHODS)
            notes.append(f"There is no {missing} run: {ordered[0]} is the reference.")
        kept.sort(key=lambda run: (ordered.index(run.method), run.seed))
        notes += _endings(kept, len(runs) - len(started))
        rows = rounds_frame(kept)
        recorded = [column for column in rows if rows[column].notna().any()]
        if targets is None:
            targets = list(dict.fromkeys(t for run in kept for t in recorded_targets(run)))
        shown = headline(kept[0].start, recorded)
        study = cls(kept, rows, ordered, shown, targets, notes, differences)
        check_targets(targets, study.metrics.keys() & set(recorded), "runs")
        return study

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

    @cached_property
    def metrics(self) -> dict[str, Headline]:
        """The metrics that a run of the study may have recorded, by name."""
        return {
            name: shown for run in self.runs for name, shown in metrics_of_run(run.start).items()
        }

    @property
    def counted_terms(self) -> list[str]:
        """The terms of the energy, without optional ones that no run counted."""
        return [term for term in TERMS if term not in OPTIONAL_TERMS or self.rows[term].any()]

    @cached_property
    def diverged(self) -> set[tuple[str, int]]:
        """The methods and seeds of runs that diverged."""
        return {(run.method, run.seed) for run in self.runs if _diverged(run)}

    @cached_property
    def settings(self) -> list[str]:
        """A name of each run's settings, in the order of the runs; empty where all are equal."""
        return setting_labels(self.runs)

    def target_results(self, run: Run) -> list[Event]:
        """Return whether and at what cost a run reached each of the study's targets."""
        return self._target_results[run.method, run.seed]

    @cached_property
    def _target_results(self) -> dict[tuple[str, int], list[Event]]:
        return {
            (run.method, run.seed): target_results(
                run.start,
                [] if _diverged(run) else run.rounds,  # such a run has reached nothing
                self.targets,
            )
            for run in self.runs
        }

    def totals(self, run: Run) -> RoundTotals:
        """Return what a run cost as a whole; nothing if it has no round."""
        return self._totals[run.method, run.seed]

    @cached_property
    def _totals(self) -> dict[tuple[str, int], RoundTotals]:
        return {
            (run.method, run.seed): sum(map(round_totals, run.rounds), RoundTotals())
            for run in self.runs
        }

    def measures(self) -> list[Measure]:
        """Return every quantity by which the methods are compared.

        The cost of reaching the targets comes first, then the headline score.
        """
        return [measure for measure in self._measures() if measure.values]

    def _measures(self) -> Iterator[Measure]:
        rows, compare = self.rows, MethodComparison(self.methods, self.diverged)
        yield from self._target_measures(compare)
        yield from self._headline_measures(compare)
        joules, seconds = (final_values(rows, f"cumulative_{name}") for name in ("joules", "s"))
        yield compare.measure("j", "Energy", "J", -1, joules, main=True)
        yield compare.measure("s", "Time", "s", -1, seconds, main=True)
        for other in BUILT_IN:
            if other.metric != self.headline.metric:
                values = final_values(rows, other.metric)
                yield compare.measure(other.metric, other.label, other.unit, _sign(other), values)
        for term in self.counted_terms:
            label = f"{term.removesuffix('_j').replace('_', ' ').capitalize()} energy"
            yield compare.measure(term, label, "J", -1, final_values(rows, f"cumulative_{term}"))
        for who, label in (("present", "device present"), ("active", "active device")):
            joules = total_ratios(rows, list(DEVICE_TERMS), who)
            yield compare.measure(f"{who}_device_j", f"Energy per {label} and round", "J", -1,
                                  joules)  # fmt: skip
        yield compare.measure("per_device", "Processing energy per device and round", "J", -1,
                              mean_values(rows, "processing_j_per_device"))  # fmt: skip
        yield compare.measure("iterations", "Iterations executed per device and round", "", 0,
                              mean_values(rows, "executed_iterations"))  # fmt: skip
        for bits, label in (
            ("bits", "Sent and received"),
            ("bits_sent", "Sent"),
            ("bits_received", "Received"),
        ):
            yield compare.measure(bits, label, "bits", -1, total_values(rows, bits))  # fmt: skip

    def _target_measures(self, compare: MethodComparison) -> Iterator[Measure]:
        """Yield what it cost to reach each target; a run that never got there is worst."""
        results = [(run, self.target_results(run)) for run in self.runs]
        for n, target in enumerate(self.targets):
            shown = self.metrics[target.metric].format_target(target.value)
            for key, label, unit, main in _COSTS:
                values: dict[str, dict[int, float]] = {}
                for run, reached in results:
                    cost = reached[n]["round" if key == "rounds" else key]
                    number = math.nan if cost is None else cost + (key == "rounds")
                    values.setdefault(run.method, {})[run.seed] = number
                yield compare.measure(f"{key}_to_{target}", f"{label} to {shown}", unit, -1, values,
                                      main=main, failure="not reached")  # fmt: skip

    def _headline_measures(self, compare: MethodComparison) -> Iterator[Measure]:
        """Yield the headline score at the end, on future rows, and at equal joules and seconds."""
        metric, label = self.headline.metric, self.headline.label
        shown = (self.headline.unit, _sign(self.headline))
        final, future = (final_values(self.rows, name) for name in (metric, f"future_{metric}"))
        yield compare.measure(metric, label, *shown, final, main=True)
        yield compare.measure(f"future_{metric}", f"{label}, future", *shown, future, main=True)
        rows = self._rows_without_diverged()
        for key, column in (("joules", "cumulative_joules"), ("seconds", "cumulative_s")):
            values = values_at_equal_budget(rows, metric, column)
            unfinished = any(math.isnan(v) for of in values.values() for v in of.values())
            yield compare.measure(
                key, f"{label} at equal {key}", *shown, values,
                main=len(self.methods) > 1 and not self.targets,
                failure="no round finished" if unfinished else None,
            )  # fmt: skip

    def _rows_without_diverged(self) -> pd.DataFrame:
        pairs = zip(self.rows["method"], self.rows["seed"], strict=True)
        return self.rows[[pair not in self.diverged for pair in pairs]]


def _ordered(methods: Sequence[str], reference: str | None) -> list[str]:
    """Return the reference, then missions and SC-DN, then the other methods by name."""
    ranks = [*([] if reference is None else [reference]), *FIRST_METHODS]

    def rank(name: str) -> int:
        method = name.partition(", ")[0]  # of a variant
        known = [n for n, first in enumerate(ranks) if first in (name, method)]
        return known[0] if known else len(ranks)

    return sorted(methods, key=lambda name: (rank(name), name))


def _sign(metric: Headline) -> int:
    return 1 if metric.higher_is_better else -1


def _baseline_scores(run: Run, key: str) -> dict[str, Any]:
    return (run.start.get("baselines") or {}).get(key) or {}


def _distinct(runs: Iterable[Run]) -> tuple[list[Run], list[str]]:
    """Keep one run per method and seed; runs of different settings have different names."""
    kept: dict[tuple[str, int], Run] = {}
    notes: list[str] = []
    for run in runs:
        first = kept.setdefault((run.method, run.seed), run)
        if first is not run:
            notes.append(f"{run.method}, seed {run.seed} is a duplicate: {run.folder} is left out.")
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
        scored = ": it counts as worst in every comparison" if status == "diverged" else ""
        yield f"{run.method}, seed {run.seed} {verb} after {rounds}{scored}."
    if empty:
        yield f"{empty} run{'s' * (empty != 1)} without a finished round left out."
