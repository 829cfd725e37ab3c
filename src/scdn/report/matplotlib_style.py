"""The look of every Matplotlib figure: title, axes, scales and legend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatter

from scdn.report.matplotlib_network import escape_mathtext
from scdn.report.theme import LIGHT

WIDTH, HEIGHT = 7.2, 4.3


def new_figure(title: str, size: tuple[float, float] = (WIDTH, HEIGHT)) -> Figure:
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


def use_log_scale(axes: Any) -> None:
    """Draw the horizontal axis on a logarithmic scale, with plain numbers."""
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(LogFormatter())
    axes.xaxis.set_minor_formatter(LogFormatter(minor_thresholds=(2, 0.7)))
    axes.tick_params(which="minor", colors=LIGHT["muted"], labelsize=9, length=0)


def legend_below(figure: Figure, entries: Sequence[Line2D], per_row: int) -> None:
    """Place a legend below the axes, in rows of equal length."""
    rows = math.ceil(len(entries) / per_row)
    figure.legend(handles=list(entries), loc="outside lower left",
                  ncols=math.ceil(len(entries) / rows), frameon=False, fontsize=9,
                  labelcolor=LIGHT["ink"])  # fmt: skip
