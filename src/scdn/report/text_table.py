"""The table of methods as plain text, for a terminal."""

from __future__ import annotations

from scdn.report.number_format import decimals, mean_with_std, number, signed
from scdn.report.results import Measure, MethodResult
from scdn.report.study import Study


def text_table(study: Study) -> str:
    """Return a row per method: a value over its seeds, and the difference to the reference."""
    shown = [measure for measure in study.measures() if measure.main]
    rows = [
        ["method", *map(_heading, shown)],
        *([method, *(_cell(measure, method) for measure in shown)] for method in study.methods),
    ]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def baseline_line(study: Study) -> str:
    """Return the scores that need no network, such as the centralised model's; empty if none."""
    scores = [f"{label} {study.headline.format(s)}" for label, s in study.baselines().items()]
    return f"without a network: {', '.join(scores)}" if scores else ""


def _heading(measure: Measure) -> str:
    about = ", ".join(filter(None, (measure.unit, "median" * measure.ranked)))
    return f"{measure.label} ({about})" if about else measure.label


def _cell(measure: Measure, method: str) -> str:
    result = next((result for result in measure.values if result.method == method), None)
    if result is None:
        return "–"
    text = _value(measure, result)
    p = result.p_rank if measure.ranked else result.p_t
    if p is None:
        return text
    if result.centre is None or result.difference is None:
        return f"{text} (p {p:.2g})"
    difference = signed(result.difference, decimals(result.mean or 0.0, result.std))
    return f"{text} ({difference}, p {p:.2g})"


def _value(measure: Measure, result: MethodResult) -> str:
    if result.mean is not None:
        return mean_with_std(result.mean, result.std)
    median = [] if result.median is None else [number(result.median)]
    failed = [f"{measure.failure} ({result.failed} of {result.seeds})"] if result.failed else []
    return ", ".join([*median, *failed])
