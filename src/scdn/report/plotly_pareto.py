"""The Pareto view of the HTML report, as a Plotly figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from scdn.report.palette import SYMBOLS
from scdn.report.plotly_figures import PlotlyFigure
from scdn.report.results import ParetoChart, ParetoPoint
from scdn.report.theme import MethodStyle


def plotly_pareto(chart: ParetoChart, cost: str, styles: dict[str, MethodStyle]) -> PlotlyFigure:
    """Return scores against `joules` or `seconds`: runs small, means of methods large."""
    unit = f" ({chart.unit})" if chart.unit else ""
    log = cost in chart.log_costs
    traces = [trace for method, style in styles.items()
              for trace in _points(chart, cost, method, style)]  # fmt: skip
    targets = [{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": value, "y1": value,
                "line": {"color": "@ink", "width": 1.4, "dash": "8px,4px"}, "layer": "below"}
               for value in chart.targets]  # fmt: skip
    labels: list[PlotlyFigure] = [
        {"xref": "paper", "x": 1, "xanchor": "left", "xshift": 6, "y": value, "showarrow": False,
         "text": f"target {value:.6g}", "font": {"size": 11, "color": "@muted"}}
        for value in chart.targets
    ]  # fmt: skip
    return {
        "data": [*_fronts(chart, cost), *_bounds(chart, cost), *traces],
        "layout": {
            "xaxis": {"title": {"text": cost}, **({"type": "log", "dtick": "D2"} if log else {})},
            "yaxis": {"title": {"text": f"{chart.label}{unit}"}},
            "margin": {"l": 58, "r": 118 if labels else 18, "t": 30, "b": 46},
            "shapes": targets, "annotations": labels, "hovermode": "closest",
        },
    }  # fmt: skip


def _points(
    chart: ParetoChart, cost: str, method: str, style: MethodStyle
) -> Iterator[PlotlyFigure]:
    runs = [point for point in chart.runs if point.method == method]
    means = [point for point in chart.means if point.method == method]
    for points, size, opacity in ((runs, 8, 0.6), (means, 16, 1.0)):
        if points:
            shapes = [SYMBOLS[chart.settings.index(p.setting) % len(SYMBOLS)] for p in points]
            symbols = [
                shape if point.status == "done" else f"{shape}-open"
                for shape, point in zip(shapes, points, strict=True)
            ]
            yield {
                "type": "scatter", "mode": "markers", "x": [getattr(p, cost) for p in points],
                "y": [p.score for p in points], "meta": method, "name": "", "showlegend": False,
                "text": [escape(_name(point)) for point in points],
                "marker": {"symbol": symbols, "size": size, "opacity": opacity,
                           "color": f"@{style.colour}", "line": {"color": "@paper", "width": 1}},
                "hovertemplate": "%{text}<br>%{y:.4g}, %{x:.4g} " + cost,
            }  # fmt: skip


def _name(point: ParetoPoint) -> str:
    about = "mean over seeds" if point.seed is None else f"seed {point.seed}"
    status = "" if point.status == "done" else f", {point.status}"
    return f"{point.method}, {about}{status}"


def _fronts(chart: ParetoChart, cost: str) -> Iterator[PlotlyFigure]:
    means = {point.method: point for point in chart.means}
    for front in chart.fronts:
        if front.cost == cost:
            points: Sequence[ParetoPoint] = [means[method] for method in front.methods]
            yield {
                "type": "scatter", "mode": "lines", "x": [getattr(p, cost) for p in points],
                "y": [p.score for p in points], "hoverinfo": "skip", "showlegend": False,
                "line": {"color": "@faint/0.4", "width": 7, "shape": "hv"},
            }  # fmt: skip


def _bounds(chart: ParetoChart, cost: str) -> Iterator[PlotlyFigure]:
    """Yield a vertical line per bound, labelled at its top."""
    scores = [*(point.score for point in chart.runs), *chart.targets]
    for bound in chart.bounds if cost == "joules" else ():
        yield {
            "type": "scatter", "mode": "lines+text", "x": [bound.joules] * 2,
            "y": [min(scores), max(scores)], "hoverinfo": "skip", "showlegend": False,
            "text": ["", f" bound of {escape(bound.method)}: {bound.joules:.3g} J"],
            "textposition": "top right", "textfont": {"size": 11, "color": "@muted"},
            "line": {"color": "@server", "width": 1.4, "dash": "2px,3px"},
        }  # fmt: skip
