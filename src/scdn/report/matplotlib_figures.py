"""The report's charts as PNG images, drawn with Matplotlib."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from scdn.file_io import make_folder, write_atomic
from scdn.report.charts import energy_ledger, study_charts
from scdn.report.matplotlib_network import draw_flight, draw_presence, escape_mathtext
from scdn.report.matplotlib_pareto import draw_pareto
from scdn.report.matplotlib_style import (
    WIDTH,
    legend_below,
    new_figure,
    style_axes,
    use_log_scale,
)
from scdn.report.network_history import NetworkHistory
from scdn.report.number_format import mean_with_std
from scdn.report.pareto import PARETO_COSTS, pareto_chart
from scdn.report.results import Chart, Curve, EnergyLedger
from scdn.report.study import Study
from scdn.report.theme import LIGHT, MethodStyle, method_styles

_DPI = 150
_MARKERS_PER_LINE = 12


def write_figures(study: Study, folder: str | Path) -> list[Path]:
    """Write every figure as a PNG into `folder`; return the paths."""
    target = Path(folder)
    make_folder(target)
    written = []
    for name, figure in figures(study):
        written.append(target / f"{name}.png")
        write_atomic(written[-1], png(figure))
    return written


def png(figure: Figure) -> bytes:
    """Return a figure as the bytes of a PNG file."""
    return picture(figure, "png")


def picture(figure: Figure, kind: Literal["png", "svg"]) -> bytes:
    """Return a figure as the bytes of a PNG or an SVG file; the text of an SVG stays text."""
    buffer = io.BytesIO()
    with rc_context({"svg.fonttype": "none"}):
        figure.savefig(buffer, format=kind, dpi=_DPI)
    return buffer.getvalue()


def figures(study: Study) -> Iterator[tuple[str, Figure]]:
    """Yield every figure by its name."""
    for name, draw in figure_drawers(study).items():
        yield name, draw()


def figure_drawers(study: Study, log_x: bool | None = None) -> dict[str, Callable[[], Figure]]:
    """Return what draws each figure, by its name; those of the network show the reference's run.

    `log_x` chooses the scale of the costs in the Pareto view; by default it follows from them.
    """
    styles, scores = method_styles(study.methods), pareto_chart(study)
    drawers: dict[str, Callable[[], Figure]] = {
        f"pareto_{cost}": partial(draw_pareto, scores, cost, styles, log_x) for cost in PARETO_COSTS
    }
    for chart in study_charts(study):
        drawers[chart.name] = partial(_draw_chart, chart, styles)
    drawers["energy"] = lambda: _draw_ledger(energy_ledger(study))
    history = NetworkHistory.from_run(next(run for run in study.runs if run.rounds))
    if history.devices:
        drawers["presence"] = partial(_draw_presence, history)
    if any(history.server_m):
        drawers["flight"] = partial(_draw_path, history)
    return drawers


def _draw_presence(history: NetworkHistory) -> Figure:
    size = (WIDTH, min(9.0, max(2.6, 1.5 + 0.24 * len(history.devices))))
    figure = new_figure(f"Devices over rounds: {history.label}", size)
    draw_presence(figure, history)
    return figure


def _draw_path(history: NetworkHistory) -> Figure:
    figure = new_figure(f"The server's path: {history.label}", (WIDTH, 5.6))
    draw_flight(figure, history)
    return figure


def _draw_chart(chart: Chart, styles: dict[str, MethodStyle]) -> Figure:
    figure = new_figure(chart.title)
    axes = figure.add_subplot()
    style_axes(axes, chart.x_label, chart.y_label)
    axes.grid(axis="y", color=LIGHT["grid"])
    for level in chart.levels:
        if level.target:
            axes.axhline(level.value, color=LIGHT["ink"], lw=1.2, ls=(0, (6, 3)))
        else:
            axes.axhline(level.value, color=LIGHT["faint"], lw=1, ls=(0, (2, 3)))
        axes.annotate(f"{level.label} {level.value:.3g}", (1.01, level.name_at),
                      xycoords=("axes fraction", "data"), va="center", fontsize=8,
                      color=LIGHT["muted"])  # fmt: skip
    for line in chart.lines:
        _draw_curve(axes, line, styles[line.method])
    if chart.x_label == "round":
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if chart.log_x:
        use_log_scale(axes)
    axes.set_ylim(chart.low, chart.high)
    _legend(figure, chart, styles)
    return figure


def _draw_curve(axes: Any, line: Curve, style: MethodStyle) -> None:
    colour = LIGHT[style.colour]
    if line.low is not None and line.high is not None:
        axes.fill_between(line.x, line.low, line.high, color=colour,
                          alpha=0.06 if line.dashed else 0.13, lw=0,
                          step="post" if line.step else None)  # fmt: skip
    axes.plot(line.x, line.y, color=colour, lw=1.9, ls=_dash(style, line.dashed),
              drawstyle="steps-post" if line.step else "default", marker=style.marker, ms=5,
              markevery=max(1, len(line.x) // _MARKERS_PER_LINE), mec=LIGHT["paper"],
              mew=0.8)  # fmt: skip


def _dash(style: MethodStyle, dashed: bool = False) -> Any:
    if style.matched:
        return "-." if dashed else ":"
    return (0, (4, 2)) if dashed else "-"


def _legend(figure: Figure, chart: Chart, styles: dict[str, MethodStyle]) -> None:
    entries = [
        Line2D([], [], color=LIGHT[styles[method].colour], ls=_dash(styles[method]), lw=1.9, ms=5,
               marker=styles[method].marker, label=escape_mathtext(method))
        for method in dict.fromkeys(line.method for line in chart.lines)
    ]  # fmt: skip
    if any(line.dashed for line in chart.lines):
        entries += [
            Line2D([], [], color=LIGHT["ink"], ls=dash, label=label)
            for dash, label in (("-", chart.solid), ((0, (4, 2)), chart.dashed))
        ]
    legend_below(figure, entries, per_row=5)


def _draw_ledger(ledger: EnergyLedger) -> Figure:
    figure = new_figure("Energy by term", (WIDTH, 1.5 + 0.42 * len(ledger.methods)))
    axes = figure.add_subplot()
    style_axes(axes, "J per run, mean over seeds", "")
    axes.grid(axis="x", color=LIGHT["grid"])
    rows = range(len(ledger.methods))
    left = [0.0] * len(ledger.methods)
    for term, joules in ledger.terms.items():
        axes.barh(rows, joules, left=left, height=0.62, color=LIGHT[term],
                  label=term.replace("_", " "), edgecolor=LIGHT["paper"], lw=0.8)  # fmt: skip
        left = [a + b for a, b in zip(left, joules, strict=True)]
    for row, total in zip(rows, ledger.totals, strict=True):
        axes.annotate(mean_with_std(total.mean, total.std), (total.mean, row), xytext=(5, 0),
                      textcoords="offset points", va="center", fontsize=8.5,
                      color=LIGHT["ink"])  # fmt: skip
    axes.set_yticks(
        rows, [escape_mathtext(method) for method in ledger.methods], color=LIGHT["ink"]
    )
    axes.invert_yaxis()
    axes.margins(x=0.2)
    figure.legend(loc="outside lower left", ncols=4, frameon=False, fontsize=9,
                  labelcolor=LIGHT["ink"])  # fmt: skip
    return figure
