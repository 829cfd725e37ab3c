"""The report's charts as still pictures."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from scdn.file_io import OutputError, write_atomic
from scdn.report.curves import Bars, Chart, Line, bars, charts
from scdn.report.figures_network import draw_flight, draw_presence
from scdn.report.journey import journey
from scdn.report.study import Study
from scdn.report.theme import LIGHT, Look, looks
from scdn.report.words import amount

_WIDTH, _HEIGHT, _DPI = 7.2, 4.3, 150
_MARKED = 12  # markers along a line


def write_figures(study: Study, folder: str | Path) -> list[Path]:
    """Every chart as a PNG in `folder`; the network's are of the reference's first seed."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{place}: cannot be made ({error.strerror})") from None
    written = []
    for name, figure in figures(study):
        write_atomic(place / f"{name}.png", png(figure))
        written.append(place / f"{name}.png")
    return written


def png(figure: Figure) -> bytes:
    """A picture as a file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DPI)
    return buffer.getvalue()


def figures(study: Study) -> Iterator[tuple[str, Figure]]:
    """The pictures by name; those of the network are of the reference's first seed."""
    seen = looks(study.methods)
    for chart in charts(study):
        yield chart.name, _curves(chart, seen)
    yield "energy", _energy(bars(study))
    shown = min((run for run in study.runs if run.method == study.reference), key=lambda r: r.seed)
    happened = journey(shown)
    if happened.members:
        size = (_WIDTH, min(9.0, max(2.6, 1.5 + 0.24 * len(happened.members))))
        figure = blank(f"Who came and went: {happened.label}", size)
        draw_presence(figure, happened)
        yield "presence", figure
    if any(happened.server_m):
        figure = blank(f"The server's path: {happened.label}", (_WIDTH, 5.6))
        draw_flight(figure, happened)
        yield "flight", figure


def blank(title: str, size: tuple[float, float] = (_WIDTH, _HEIGHT)) -> Figure:
    """An empty picture with its title."""
    figure = Figure(figsize=size, facecolor=LIGHT["paper"], layout="constrained")
    FigureCanvasAgg(figure)
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.1)  # type: ignore[union-attr, call-arg]
    figure.suptitle(plain(title), x=0.02, ha="left", fontsize=12.5, weight="bold",
                    color=LIGHT["ink"])  # fmt: skip
    return figure


def plain(text: str) -> str:
    """Text that is drawn as it is, not as mathematics."""
    return text.replace("$", r"\$")


def tidy(axes: Any, x_label: str, y_label: str) -> None:
    """Axes that stay in the background."""
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(LIGHT["faint"])
    axes.set_xlabel(x_label, color=LIGHT["muted"], fontsize=9.5)
    axes.set_ylabel(y_label, color=LIGHT["muted"], fontsize=9.5)
    axes.tick_params(colors=LIGHT["muted"], labelsize=9, length=0)
    axes.set_axisbelow(True)


def _curves(chart: Chart, seen: dict[str, Look]) -> Figure:
    figure = blank(chart.title)
    axes = figure.add_subplot()
    tidy(axes, chart.x_label, chart.y_label)
    axes.grid(axis="y", color=LIGHT["grid"])
    for level in chart.levels:
        axes.axhline(level.value, color=LIGHT["faint"], lw=1, ls=(0, (2, 3)))
        axes.annotate(f"{level.label} {level.value:.3g}", (1.01, level.name_at),
                      xycoords=("axes fraction", "data"), va="center", fontsize=8,
                      color=LIGHT["muted"])  # fmt: skip
    for line in chart.lines:
        _draw(axes, line, seen[line.method])
    if chart.x_label == "round":
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(*chart.y_range)
    _legend(figure, chart, seen)
    return figure


def _draw(axes: Any, line: Line, look: Look) -> None:
    colour = LIGHT[look.colour]
    if line.std is not None:
        axes.fill_between(line.x, line.mean - line.std, line.mean + line.std, color=colour,
                          alpha=0.06 if line.future else 0.13, lw=0,
                          step="post" if line.step else None)  # fmt: skip
    axes.plot(line.x, line.mean, color=colour, lw=1.9, ls=_dash(look, line.future),
              drawstyle="steps-post" if line.step else "default", marker=look.marker, ms=5,
              markevery=max(1, len(line.x) // _MARKED), mec=LIGHT["paper"], mew=0.8)  # fmt: skip


def _dash(look: Look, future: bool = False) -> Any:
    if look.matched:
        return "-." if future else ":"
    return (0, (4, 2)) if future else "-"


def _legend(figure: Figure, chart: Chart, seen: dict[str, Look]) -> None:
    entries = [
        Line2D([], [], color=LIGHT[seen[method].colour], ls=_dash(seen[method]), lw=1.9, ms=5,
               marker=seen[method].marker, label=plain(method))
        for method in dict.fromkeys(line.method for line in chart.lines)
    ]  # fmt: skip
    if any(line.future for line in chart.lines):
        entries += [Line2D([], [], color=LIGHT["ink"], label="cached"),
                    Line2D([], [], color=LIGHT["ink"], ls=(0, (4, 2)), label="future")]  # fmt: skip
    rows = math.ceil(len(entries) / 5)
    figure.legend(handles=entries, loc="outside lower left", ncols=math.ceil(len(entries) / rows),
                  frameon=False, fontsize=9, labelcolor=LIGHT["ink"])  # fmt: skip


def _energy(found: Bars) -> Figure:
    figure = blank("Energy by term", (_WIDTH, 1.5 + 0.42 * len(found.methods)))
    axes = figure.add_subplot()
    tidy(axes, "J per run, mean over seeds", "")
    axes.grid(axis="x", color=LIGHT["grid"])
    rows = range(len(found.methods))
    left = [0.0] * len(found.methods)
    for term, joules in found.terms.items():
        axes.barh(rows, joules, left=left, height=0.62, color=LIGHT[term], label=term,
                  edgecolor=LIGHT["paper"], lw=0.8)  # fmt: skip
        left = [a + b for a, b in zip(left, joules, strict=True)]
    for row, total in zip(rows, found.totals, strict=True):
        axes.annotate(amount(total), (total.mean, row), xytext=(5, 0),
                      textcoords="offset points", va="center", fontsize=8.5,
                      color=LIGHT["ink"])  # fmt: skip
    axes.set_yticks(rows, [plain(method) for method in found.methods], color=LIGHT["ink"])
    axes.invert_yaxis()
    axes.margins(x=0.2)
    figure.legend(loc="outside lower left", ncols=3, frameon=False, fontsize=9,
                  labelcolor=LIGHT["ink"])  # fmt: skip
    return figure
