"""The table of methods as plain text, for a terminal."""

from __future__ import annotations

from scdn.report.number_format import decimals, mean_with_std, signed
from scdn.report.results import MethodResult
from scdn.report.study import Study


def text_table(study: Study) -> str:
    """Return a row per method: mean ± standard deviation, and the difference to the reference."""
    shown = [measure for measure in study.measures() if measure.main]
    results = [{result.method: result for result in measure.values} for measure in shown]
    rows = [
        ["method", *(f"{m.label} ({m.unit})" if m.unit else m.label for m in shown)],
        *([method, *(_cell(of.get(method)) for of in results)] for method in study.methods),
    ]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def _cell(result: MethodResult | None) -> str:
    if result is None:
        return "–"
    text = mean_with_std(result.mean, result.std)
    if result.difference is None or result.p_t is None:
        return text
    difference = signed(result.difference, decimals(result.mean, result.std))
    return f"{text} ({difference}, p {result.p_t:.2g})"
