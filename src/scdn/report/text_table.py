"""The table of methods as plain text, for a terminal."""

from __future__ import annotations

from scdn.report.number_format import decimals, mean_with_std, number, signed
from scdn.report.results import TOO_FEW_SEEDS, Measure, MethodResult
from scdn.report.statistics import LEAST_SEEDS
from scdn.report.study import Study


def text_table(study: Study) -> str:
    """Return a row per method: a value over its seeds, and the difference to the reference.

    Below are the baselines, which need no network and have a score alone; and a line where there
    are too few seeds for a verdict.
    """
    shown = [measure for measure in study.measures() if measure.main]
    rows = [
        ["method", *map(_heading, shown)],
        *([method, *(_cell(measure, method) for measure in shown)] for method in study.methods),
        *(
            [f"{label} (no network)", *(_baseline_cell(study, measure, s) for measure in shown)]
            for label, s in study.baselines().items()
        ),
    ]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    if any(result.verdict == TOO_FEW_SEEDS for measure in shown for result in measure.values):
        lines.append(f"{TOO_FEW_SEEDS} better from worse: {LEAST_SEEDS} common seeds are the least")
    return "\n".join(line.rstrip() for line in lines)


def _baseline_cell(study: Study, measure: Measure, score: float) -> str:
    return number(score) if measure.key == study.headline.metric else "–"


def _heading(measure: Measure) -> str:
    about = ", ".join(filter(None, (measure.unit, "median" * measure.ranked)))
    return f"{measure.label} ({about})" if about else measure.label


def _cell(measure: Measure, method: str) -> str:
    result = next((result for result in measure.values if result.method == method), None)
    if result is None:
        return "–"
    text = _value(measure, result)
    against = [] if result.p is None else [f"p {result.p:.2g}"]
    if result.centre is not None and result.difference is not None:
        against.insert(0, signed(result.difference, decimals(result.mean or 0.0, result.std)))
    return f"{text} ({', '.join(against)})" if against else text


def _value(measure: Measure, result: MethodResult) -> str:
    if result.mean is not None:
        return mean_with_std(result.mean, result.std)
    median = [] if result.median is None else [number(result.median)]
    failed = [f"{measure.failure} ({result.failed} of {result.seeds})"] if result.failed else []
    return ", ".join([*median, *failed])
