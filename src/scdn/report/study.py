"""Runs that are looked at together: one scenario, several methods and seeds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from scdn.errors import input_error
from scdn.record.frames import TERMS, frame
from scdn.record.read import Run
from scdn.report.statistics import ByMethod, at_equal, finals, means, sums

REFERENCE = "sc-dn"


@dataclass(frozen=True)
class Metric:
    """What is measured, in words."""

    key: str
    label: str
    unit: str = ""
    better: int = 0  # +1: more is better, -1: less is, 0: neither


METRICS = (
    Metric("top3", "Top-3 accuracy", "%", 1),
    Metric("top1", "Top-1 accuracy", "%", 1),
    Metric("mse", "Mean squared error", "", -1),
    Metric("test_loss", "Test loss", "", -1),
    Metric("train_loss", "Training loss", "", -1),
)


@dataclass(frozen=True)
class Measure:
    """One number per run; those of the `main` ones are in the first table."""

    metric: Metric
    values: ByMethod
    main: bool = False


@dataclass(frozen=True, eq=False)
class Study:
    """The runs, their rounds as a table, and what needs saying about them."""

    runs: Sequence[Run]
    rows: pd.DataFrame
    methods: Sequence[str]  # the reference first
    metric: Metric  # the one that counts
    notes: Sequence[str]

    @property
    def reference(self) -> str:
        """What the others are compared with."""
        return self.methods[0]

    @property
    def seeds(self) -> list[int]:
        """All seeds."""
        return sorted({run.seed for run in self.runs})

    def baselines(self) -> dict[str, float]:
        """The trivial predictor, the best single party and the ceiling, where they are given."""
        return {
            label: found
            for label, key in (
                ("trivial", "trivial"), ("best party", "best_party"), ("centralised", "centralised")
            )
            if not math.isnan(found := _mean(self._baseline(key)))
        }  # fmt: skip

    def _baseline(self, key: str) -> Iterator[float]:
        for run in self.runs:
            table = (run.start.get("baselines") or {}).get(key) or {}
            value = table.get(self.metric.key)
            if isinstance(value, int | float):
                yield float(value)

    def _ran_away(self, rows: pd.DataFrame) -> pd.Series:
        away = {(run.method, run.seed) for run in self.runs if _diverged(run)}
        pairs = zip(rows["method"], rows["seed"], strict=True)
        return pd.Series([pair in away for pair in pairs], index=rows.index, dtype=bool)

    def _scored(self, values: ByMethod, key: str) -> ByMethod:
        """Runs that ran away count as the trivial predictor, not with what they had before."""
        found = {method: dict(by_seed) for method, by_seed in values.items()}
        for run in self.runs:
            known = (run.start.get("baselines") or {}).get("trivial") or {}
            if _diverged(run) and key in known and run.seed in found.get(run.method, {}):
                found[run.method][run.seed] = float(known[key])
        return found

    def measures(self) -> list[Measure]:
        """Everything that methods are compared by."""
        return [m for m in self._measures() if _any_known(m.values)]

    def _measures(self) -> Iterator[Measure]:
        rows, metric = self.rows, self.metric
        yield Measure(metric, self._scored(finals(rows, metric.key), metric.key), True)
        future = Metric(f"future_{metric.key}", f"{metric.label}, future", metric.unit,
                        metric.better)  # fmt: skip
        yield Measure(future, self._scored(finals(rows, future.key), metric.key), True)
        for what, column in (("joules", "cumulative_joules"), ("seconds", "cumulative_s")):
            equal = Metric(what, f"{metric.label} at equal {what}", metric.unit, metric.better)
            whole = rows[~self._ran_away(rows)]
            yield Measure(equal, at_equal(whole, metric.key, column), len(self.methods) > 1)
        yield Measure(Metric("j", "Energy", "J", -1), finals(rows, "cumulative_joules"), True)
        yield Measure(Metric("s", "Time", "s", -1), finals(rows, "cumulative_s"), True)
        for other in METRICS:
            if other != metric:
                yield Measure(other, finals(rows, other.key))
        for term in TERMS:
            label = f"{term.removesuffix('_j').capitalize()} energy"
            yield Measure(Metric(term, label, "J", -1), finals(rows, f"cumulative_{term}"))
        per_device = Metric("per_device", "Processing energy per device and round", "J", -1)
        yield Measure(per_device, means(rows, "processing_j_per_device"))
        iterations = Metric("iterations", "Iterations per device and round")
        yield Measure(iterations, means(rows, "iterations"))
        yield Measure(Metric("bits", "Sent", "bits", -1), sums(rows, "bits_sent"))


def make_study(runs: Sequence[Run], reference: str | None = None) -> Study:
    """Puts runs together; refuses those that cannot be compared."""
    kept, notes = _distinct([run for run in runs if run.rounds])
    if not kept:
        where = str(runs[0].folder) if runs else "report"
        raise input_error(where, "runs", "no round is finished", "needs at least one")
    rows = frame(kept)
    methods = sorted({run.method for run in kept})
    if reference is not None and reference not in methods:
        raise input_error(
            "--reference", reference, "no such run", f"must be of {', '.join(methods)}"
        )
    first = reference or (REFERENCE if REFERENCE in methods else methods[0])
    if reference is None and first != REFERENCE:
        notes.append(f"There is no {REFERENCE} run: {first} is what the others are compared with.")
    metric = next((m for m in METRICS if m.key in rows and rows[m.key].notna().any()), METRICS[3])
    notes += _endings(kept, len(runs) - len([run for run in runs if run.rounds]))
    return Study(kept, rows, [first, *(m for m in methods if m != first)], metric, notes)


def _distinct(runs: Sequence[Run]) -> tuple[list[Run], list[str]]:
    """One run per method and seed; the same one found twice is taken once."""
    kept: dict[tuple[str, int], Run] = {}
    notes: list[str] = []
    for run in runs:
        other = kept.setdefault((run.method, run.seed), run)
        if other is not run:
            if run.scenario != other.scenario:
                found = f"is another scenario's than {other.folder}'s"
                raise input_error(str(run.folder), f"{run.method}, seed {run.seed}", found,
                             "must be one scenario's runs")  # fmt: skip
            notes.append(f"{run.method}, seed {run.seed} is there twice: {run.folder} is left out.")
    different = sorted(_differences([run.scenario for run in kept.values()]) - {"method", "seed"})
    if different:
        notes.append(f"The runs' scenarios differ in {', '.join(different)}.")
    return list(kept.values()), notes


def _differences(scenarios: Sequence[dict[str, Any]]) -> set[str]:
    first = scenarios[0] if scenarios else {}
    return {
        key for other in scenarios for key in {*first, *other} if first.get(key) != other.get(key)
    }


def _diverged(run: Run) -> bool:
    return run.end is not None and run.end.get("status") == "diverged"


def _endings(runs: Sequence[Run], empty: int) -> Iterator[str]:
    for run in runs:
        status = "has not ended" if run.end is None else run.end.get("status", "done")
        if status != "done":
            rounds = f"{len(run.rounds)} round{'s' * (len(run.rounds) != 1)}"
            verb = status if run.end is None else f"is {status}" if status == "stopped" else status
            scored = ": scored as the trivial predictor" if _diverged(run) else ""
            yield f"{run.method}, seed {run.seed} {verb}, after {rounds}{scored}."
    if empty:
        yield f"{empty} run{'s' * (empty != 1)} without a finished round left out."


def _mean(values: Iterator[float]) -> float:
    found = [value for value in values if math.isfinite(value)]
    return sum(found) / len(found) if found else math.nan


def _any_known(values: ByMethod) -> bool:
    return any(math.isfinite(v) for by_seed in values.values() for v in by_seed.values())
