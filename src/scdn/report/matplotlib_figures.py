"""The report's charts as PNG images, drawn with Matplotlib."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatter, MaxNLocator

from scdn.file_io import make_folder, write_atomic
from scdn.report.charts import energy_ledger, study_charts
from scdn.report.matplotlib_network import draw_flight, draw_presence, escape_mathtext
from scdn.report.network_history import NetworkHistory
from scdn.report.number_format import mean_with_std
from scdn.report.results import Chart, Curve, EnergyLedger
from scdn.report.study import Study
from scdn.report.theme import LIGHT, MethodStyle, method_styles

_WIDTH, _HEIGHT, _DPI = 7.2, 4.3, 150
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
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DPI)
    return buffer.getvalue()


def figures(study: Study) -> Iterator[tuple[str, Figure]]:
    """Yield the figures by name; those of the network show the first run, the reference's."""
    styles = method_styles(study.methods)
    for chart in study_charts(study):
        yield chart.name, _draw_chart(chart, styles)
    yield "energy", _draw_ledger(energy_ledger(study))
    shown = next(run for run in study.runs if run.rounds)
    history = NetworkHistory.from_run(shown)
    if history.devices:
        size = (_WIDTH, min(9.0, max(2.6, 1.5 + 0.24 * len(history.devices))))
        figure = new_figure(f"Devices over rounds: {history.label}", size)
        draw_presence(figure, history)
        yield "presence", figure
    if any(history.server_m):
        figure = new_figure(f"The server's path: {history.label}", (_WIDTH, 5.6))
        draw_flight(figure, history)
        yield "flight", figure


def new_figure(title: str, size: tuple[float, float] = (_WIDTH, _HEIGHT)) -> Figure:
    """Return an empty figure with a title."""
    figure = Figure(figsize=size, facecolor=LIGHT["paper"], layout="constrained")
    FigureCanvasAgg(figure)
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.1)  # type: ignore[union-attr, call-arg]
    figure.suptitle(escape_mathtext(title), x=0.02, ha="left", fontsize=12.5, weight="bold",
                    color=LIGHT["ink"])  # fmt: skip
    return figure


def style_axes(axes: Any, x_label: str, y_label: str) -> None:
    """Label the axes and keep their frame in the background."""
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(LIGHT["faint"])
    axes.set_xlabel(x_label, color=LIGHT["muted"], fontsize=9.5)
    axes.set_ylabel(y_label, color=LIGHT["muted"], fontsize=9.5)
    axes.tick_params(colors=LIGHT["muted"], labelsize=9, length=0)
    axes.set_axisbelow(True)


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
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(LogFormatter())
        axes.xaxis.set_minor_formatter(LogFormatter(minor_thresholds=(2, 0.7)))
        axes.tick_params(which="minor", colors=LIGHT["muted"], labelsize=9, length=0)
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
    rows = math.ceil(len(entries) / 5)
    figure.legend(handles=entries, loc="outside lower left", ncols=math.ceil(len(entries) / rows),
                  frameon=False, fontsize=9, labelcolor=LIGHT["ink"])  # fmt: skip


def _draw_ledger(ledger: EnergyLedger) -> Figure:
    figure = new_figure("Energy by term", (_WIDTH, 1.5 + 0.42 * len(ledger.methods)))
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
