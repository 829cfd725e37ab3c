"""The report's charts in plotly's form; a colour is `@name`, or `@name/opacity`."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np

from scdn.arrays import Array
from scdn.report.curves import Bars, Chart, Line
from scdn.report.theme import Look
from scdn.report.words import amount

Plot = dict[str, Any]

_MARKED = 12  # markers along a line


def curve_plot(chart: Chart, seen: dict[str, Look]) -> Plot:
    """Lines with their bands, and the levels to compare with."""
    data = [trace for line in chart.lines for trace in _traces(line, seen[line.method])]
    names = [_level_name(level.label, level.value, level.name_at) for level in chart.levels]
    rules = [
        {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": level.value, "y1": level.value,
         "line": {"color": "@faint", "width": 1, "dash": "2px,4px"}, "layer": "below"}
        for level in chart.levels
    ]  # fmt: skip
    return {
        "data": data,
        "layout": {
            "xaxis": {"title": {"text": chart.x_label}, "showgrid": False,
                      **({"tickformat": "d"} if chart.x_label == "round" else {})},
            "yaxis": {"title": {"text": chart.y_label}, "range": list(chart.y_range)},
            "margin": {"l": 58, "r": 118 if names else 18, "t": 30, "b": 46},
            "annotations": names,
            "shapes": rules,
            "hovermode": "x unified" if chart.x_label == "round" else "closest",
        },
    }  # fmt: skip


def _level_name(label: str, value: float, at: float) -> Plot:
    return {
        "xref": "paper", "x": 1, "xanchor": "left", "xshift": 6, "y": at, "yanchor": "middle",
        "showarrow": False, "text": f"{label} {value:.3g}", "font": {"size": 11, "color": "@muted"},
    }  # fmt: skip


def _traces(line: Line, look: Look) -> Iterator[Plot]:
    shape = "hv" if line.step else "linear"
    if line.std is not None:
        upper, lower = line.mean + line.std, line.mean - line.std
        edge = {"width": 0, "shape": shape}
        band = {"type": "scatter", "mode": "lines", "x": numbers(line.x), "line": edge,
                "hoverinfo": "skip", "showlegend": False, "meta": line.method}  # fmt: skip
        yield band | {"y": numbers(lower)}
        opacity = 0.07 if line.future else 0.14
        yield band | {"y": numbers(upper), "fill": "tonexty",
                      "fillcolor": f"@{look.colour}/{opacity}"}  # fmt: skip
    kind = f"{line.method}, future" if line.future else line.method
    yield {
        "type": "scatter", "mode": "lines+markers", "x": numbers(line.x), "y": numbers(line.mean),
        "name": escape(kind), "meta": line.method, "showlegend": False,
        "line": {"color": f"@{look.colour}", "width": 2.2, "dash": _dash(look, line.future),
                 "shape": shape},
        "marker": {"symbol": look.symbol + ("-open" if line.future else ""), "size": 7,
                   "maxdisplayed": _MARKED, "color": f"@{look.colour}"},
        "customdata": None if line.std is None else numbers(line.std),
        "hovertemplate": "%{y:.4g}" + ("" if line.std is None else " ± %{customdata:.2g}"),
    }  # fmt: skip


def _dash(look: Look, future: bool) -> str:
    if look.matched:
        return "dashdot" if future else "dot"
    return "dash" if future else "solid"


def numbers(values: Array) -> list[float | None]:
    """Six digits are more than a screen shows; null where there is no number."""
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in values.tolist()]


def bar_plot(found: Bars) -> Plot:
    """A stacked bar per method, its total at the end."""
    names = [escape(method) for method in found.methods]
    data: list[Plot] = [
        {"type": "bar", "orientation": "h", "y": names, "x": joules, "name": term,
         "marker": {"color": f"@{term}", "line": {"color": "@paper", "width": 1}},
         "hovertemplate": f"{term}: %{{x:.4g}} J<extra></extra>"}
        for term, joules in found.terms.items()
    ]  # fmt: skip
    ends = [
        {"x": total.mean, "y": name, "xanchor": "left", "xshift": 5, "showarrow": False,
         "text": amount(total),
         "font": {"size": 12, "color": "@ink"}}
        for name, total in zip(names, found.totals, strict=True)
    ]  # fmt: skip
    most = max(total.mean for total in found.totals) or 1.0
    return {
        "data": data,
        "layout": {
            "barmode": "stack", "bargap": 0.38, "annotations": ends,
            "xaxis": {"title": {"text": "J per run, mean over seeds"}, "range": [0, 1.24 * most]},
            "yaxis": {"autorange": "reversed", "showgrid": False, "automargin": True,
                      "type": "category", "tickfont": {"size": 13, "color": "@ink"},
                      "ticksuffix": "  "},
            "margin": {"l": 20, "r": 12, "t": 44, "b": 46},
            "showlegend": True,
            "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom",
                       "traceorder": "normal"},
        },
    }  # fmt: skip
