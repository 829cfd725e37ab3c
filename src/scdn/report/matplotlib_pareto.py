"""The Pareto view with Matplotlib: scores against cost, runs small and means of methods large."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from scdn.report.matplotlib_network import escape_mathtext
from scdn.report.matplotlib_style import legend_below, new_figure, style_axes, use_log_scale
from scdn.report.palette import MARKERS
from scdn.report.results import ParetoChart, ParetoPoint
from scdn.report.theme import LIGHT, MethodStyle

_UNITS = {"joules": "J", "seconds": "s"}


def draw_pareto(
    chart: ParetoChart, cost: str, styles: dict[str, MethodStyle], log_x: bool | None = None
) -> Figure:
    """Draw the scores against `joules` or `seconds`; by default on the scale that suits them."""
    unit = f" ({chart.unit})" if chart.unit else ""
    figure = new_figure(f"{chart.label} against {cost}, at the end of a run")
    axes = figure.add_subplot()
    style_axes(axes, f"{cost} ({_UNITS[cost]})", f"{chart.label}{unit}")
    axes.grid(color=LIGHT["grid"])
    for value in chart.targets:
        axes.axhline(value, color=LIGHT["ink"], lw=1.2, ls=(0, (6, 3)))
        _label(axes, f"target {value:.6g}", (1.01, value), ("axes fraction", "data"), va="center")
    for bound in chart.bounds if cost == "joules" else ():
        axes.axvline(bound.joules, color=LIGHT["server"], lw=1.2, ls=(0, (2, 2)))
        text = f" bound of {bound.method}: {bound.joules:.3g} J"
        _label(axes, text, (bound.joules, 0.02), ("data", "axes fraction"), va="bottom")
    means = {point.method: point for point in chart.means}
    for line in chart.fronts:
        if line.cost == cost:
            points = [means[method] for method in line.methods]
            axes.plot([getattr(p, cost) for p in points], [p.score for p in points],
                      color=LIGHT["faint"], lw=5, alpha=0.4, drawstyle="steps-post",
                      solid_capstyle="round", zorder=1)  # fmt: skip
    for point in (*chart.runs, *chart.means):
        _draw_point(axes, point, cost, LIGHT[styles[point.method].colour], chart)
    if (cost in chart.log_costs) if log_x is None else log_x:
        use_log_scale(axes)
    _legend(figure, chart, styles, cost)
    return figure


def _label(axes: Any, text: str, at: tuple[float, float], coordinates: Any, **options: Any) -> None:
    axes.annotate(escape_mathtext(text), at, xycoords=coordinates, fontsize=8,
                  color=LIGHT["muted"], **options)  # fmt: skip


def _draw_point(axes: Any, point: ParetoPoint, cost: str, colour: str, chart: ParetoChart) -> None:
    """Draw a mean large, a run small, and a run that is not done hollow."""
    mean, done = point.seed is None, point.status == "done"
    axes.plot([getattr(point, cost)], [point.score], ls="none", marker=_marker(point, chart),
              ms=11 if mean else 5.5, color=colour, alpha=1 if mean else 0.65,
              mfc=colour if done else "none", mec=LIGHT["paper"] if mean else colour,
              zorder=3 if mean else 2)  # fmt: skip


def _marker(point: ParetoPoint, chart: ParetoChart) -> str:
    return MARKERS[chart.settings.index(point.setting) % len(MARKERS)]


def _legend(figure: Figure, chart: ParetoChart, styles: dict[str, MethodStyle], cost: str) -> None:
    """Name the colours, then the shapes of settings, then what is large and what the front is."""
    firsts = {point.method: point for point in reversed(chart.runs)}
    entries = [
        Line2D([], [], ls="none", marker=_marker(firsts[method], chart), ms=7,
               color=LIGHT[style.colour], label=escape_mathtext(method))
        for method, style in styles.items() if method in firsts
    ]  # fmt: skip
    if len(chart.settings) > 1:
        entries += [
            Line2D([], [], ls="none", marker=MARKERS[n % len(MARKERS)], ms=6, color=LIGHT["muted"],
                   label=escape_mathtext(setting))
            for n, setting in enumerate(chart.settings)
        ]  # fmt: skip
    entries.append(Line2D([], [], ls="none", marker="o", ms=10, color=LIGHT["faint"],
                          label="mean over seeds"))  # fmt: skip
    if any(line.cost == cost for line in chart.fronts):
        entries.append(Line2D([], [], color=LIGHT["faint"], lw=5, alpha=0.4,
                              label="Pareto front of the means"))  # fmt: skip
    legend_below(figure, entries, per_row=4)
