"""The table of methods as plain text, for a terminal."""

from __future__ import annotations

from scdn.report.statistics import compare, spread
from scdn.report.study import Study
from scdn.report.words import decimals, number, signed


def as_text(study: Study) -> str:
    """A row per method: mean ± standard deviation, and the difference to the reference."""
    shown = [measure for measure in study.measures() if measure.main]
    heads = ["method"] + [
        f"{m.metric.label}{f' ({m.metric.unit})' if m.metric.unit else ''}" for m in shown
    ]
    rows = [heads]
    for method in study.methods:
        row = [method]
        for measure in shown:
            found = spread(measure.values.get(method, {}).values())
            if found is None:
                row.append("–")
                continue
            places = decimals(found)
            text = number(found.mean, places)
            if found.std is not None:
                text += f" ± {number(found.std, places)}"
            if method != study.reference:
                theirs = measure.values.get(study.reference, {})
                paired = compare(measure.values[method], theirs)
                if paired is not None and paired.p_t is not None:
                    text += f" ({signed(paired.difference, places)}, p {paired.p_t:.2g})"
            row.append(text.replace("<sup>", "^").replace("</sup>", ""))
        rows.append(row)
    widths = [max(len(row[k]) for row in rows) for k in range(len(heads))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)
