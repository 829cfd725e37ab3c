"""The report's charts as Plotly figures; a colour is `@name` or `@name/opacity` of the theme."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np

from scdn.report.number_format import mean_with_std
from scdn.report.results import Chart, Curve, EnergyLedger
from scdn.report.theme import MethodStyle

PlotlyFigure = dict[str, Any]

_MARKERS_PER_LINE = 12
_FEW_ROUNDS = 12


def plotly_chart(chart: Chart, styles: dict[str, MethodStyle]) -> PlotlyFigure:
    """Return the curves with their bands, and the baselines as horizontal lines."""
    data = [
        trace for line in chart.lines for trace in _traces(line, styles[line.method], chart.dashed)
    ]
    names = [_baseline_label(level.label, level.value, level.name_at) for level in chart.levels]
    rules = [
        {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": level.value, "y1": level.value,
         "line": {"color": "@ink", "width": 1.4, "dash": "8px,4px"} if level.target
         else {"color": "@faint", "width": 1, "dash": "2px,4px"}, "layer": "below"}
        for level in chart.levels
    ]  # fmt: skip
    return {
        "data": data,
        "layout": {
            "xaxis": {"title": {"text": chart.x_label}, "showgrid": False,
                      **({"type": "log", "dtick": "D2"} if chart.log_x else {}),
                      **(_whole_rounds(chart) if chart.x_label == "round" else {})},
            "yaxis": {"title": {"text": chart.y_label}, "range": [chart.low, chart.high]},
            "margin": {"l": 58, "r": 118 if names else 18, "t": 30, "b": 46},
            "annotations": names,
            "shapes": rules,
            "hovermode": "x unified" if chart.x_label == "round" else "closest",
        },
    }  # fmt: skip


def _whole_rounds(chart: Chart) -> PlotlyFigure:
    """Return ticks at whole rounds; Plotly would put some between if there are few."""
    few = max((len(line.x) for line in chart.lines), default=0) <= _FEW_ROUNDS
    return {"tickformat": "d", "dtick": 1} if few else {"tickformat": "d"}


def _baseline_label(label: str, value: float, at: float) -> PlotlyFigure:
    return {
        "xref": "paper", "x": 1, "xanchor": "left", "xshift": 6, "y": at, "yanchor": "middle",
        "showarrow": False, "text": f"{label} {value:.3g}", "font": {"size": 11, "color": "@muted"},
    }  # fmt: skip


def _traces(line: Curve, style: MethodStyle, dashed: str) -> Iterator[PlotlyFigure]:
    shape = "hv" if line.step else "linear"
    band_text = ""
    if line.low is not None and line.high is not None:
        band_text = " (%{customdata[0]:.4g} … %{customdata[1]:.4g})"
        edge = {"width": 0, "shape": shape}
        band = {"type": "scatter", "mode": "lines", "x": _rounded(line.x), "line": edge,
                "hoverinfo": "skip", "showlegend": False, "meta": line.method}  # fmt: skip
        yield band | {"y": _rounded(line.low)}
        opacity = 0.07 if line.dashed else 0.14
        yield band | {"y": _rounded(line.high), "fill": "tonexty",
                      "fillcolor": f"@{style.colour}/{opacity}"}  # fmt: skip
    kind = f"{line.method}, {dashed}" if line.dashed else line.method
    yield {
        "type": "scatter", "mode": "lines+markers", "x": _rounded(line.x), "y": _rounded(line.y),
        "name": escape(kind), "meta": line.method, "showlegend": False,
        "line": {"color": f"@{style.colour}", "width": 2.2, "dash": _dash(style, line.dashed),
                 "shape": shape},
        "marker": {"symbol": style.symbol + ("-open" if line.dashed else ""), "size": 7,
                   "maxdisplayed": _MARKERS_PER_LINE, "color": f"@{style.colour}"},
        "customdata": None if line.low is None or line.high is None
        else list(zip(_rounded(line.low), _rounded(line.high), strict=True)),
        "hovertemplate": "%{y:.4g}" + band_text,
    }  # fmt: skip


def _dash(style: MethodStyle, dashed: bool) -> str:
    if style.matched:
        return "dashdot" if dashed else "dot"
    return "dash" if dashed else "solid"


def _rounded(values: list[float]) -> list[float | None]:
    """Round to six digits, more than a screen shows; None where a value is not finite."""
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in values]


def plotly_ledger(ledger: EnergyLedger) -> PlotlyFigure:
    """Return a stacked bar per method, with its total at the end."""
    names = [escape(method) for method in ledger.methods]
    data: list[PlotlyFigure] = [
        {"type": "bar", "orientation": "h", "y": names, "x": joules, "name": term.replace("_", " "),
         "marker": {"color": f"@{term}", "line": {"color": "@paper", "width": 1}},
         "hovertemplate": f"{term.replace('_', ' ')}: %{{x:.4g}} J<extra></extra>"}
        for term, joules in ledger.terms.items()
    ]  # fmt: skip
    ends = [
        {"x": total.mean, "y": name, "xanchor": "left", "xshift": 5, "showarrow": False,
         "text": mean_with_std(total.mean, total.std),
         "font": {"size": 12, "color": "@ink"}}
        for name, total in zip(names, ledger.totals, strict=True)
    ]  # fmt: skip
    largest = max(total.mean for total in ledger.totals) or 1.0
    return {
        "data": data,
        "layout": {
            "barmode": "stack", "bargap": 0.38, "annotations": ends,
            "xaxis": {"title": {"text": "J per run, mean over seeds"},
                      "range": [0, 1.24 * largest]},
            "yaxis": {"autorange": "reversed", "showgrid": False, "automargin": True,
                      "type": "category", "tickfont": {"size": 13, "color": "@ink"},
                      "ticksuffix": "  "},
            "margin": {"l": 20, "r": 12, "t": 44, "b": 46},
            "showlegend": True,
            "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom",
                       "traceorder": "normal"},
        },
    }  # fmt: skip
