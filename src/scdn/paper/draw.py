"""Drawings as PNGs, and what they have in common."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from scdn.paper.artefact import Drawing
from scdn.pictures.palette import KINDS, MARKERS, MUTED, SERVER
from scdn.report.figures import blank, tidy

__all__ = ["COLOURS", "band", "legend", "level", "logarithmic", "picture", "tidy"]

COLOURS = (*KINDS, SERVER, "#5f6b78")
_DPI = 110


def picture(drawing: Drawing) -> bytes:
    """The drawing as a PNG."""
    figure = blank(drawing.title, drawing.size)
    drawing.draw(figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DPI, metadata={"Software": None})
    return buffer.getvalue()


def band(
    axes: Any,
    x: Sequence[float],
    mean: Sequence[float],
    std: Sequence[float] | None,
    label: str,
    number: int,
    **how: Any,
) -> None:
    """A line with its markers, and one standard deviation around it."""
    colour = COLOURS[number % len(COLOURS)]
    kind = {"marker": MARKERS[number % len(MARKERS)], "markersize": 4, "linewidth": 1.6} | how
    axes.plot(x, mean, color=colour, label=label, markevery=max(1, len(x) // 8), **kind)
    if std is not None:
        low, high = np.subtract(mean, std), np.add(mean, std)
        axes.fill_between(x, low, high, color=colour, alpha=0.13, linewidth=0)


def logarithmic(axes: Any, along: str = "y") -> None:
    """Powers of ten along x, y or both (xy), with no ticks between them."""
    axes.set(**{f"{letter}scale": "log" for letter in along})
    axes.minorticks_off()


def legend(figure: Any, axes: Any = None, ncols: int = 3) -> None:
    """One for all panels, below them: of every label, or of one panel's where all have the same."""
    if axes is None:
        figure.legend(loc="outside lower right", ncols=ncols, fontsize=8, frameon=False)
    else:
        shown = axes.get_legend_handles_labels()
        figure.legend(*shown, fontsize=8, ncols=ncols, loc="outside lower center")


def level(axes: Any, value: float, label: str) -> None:
    """A line to compare with."""
    axes.axhline(value, color=MUTED, linewidth=1, linestyle=(0, (2, 3)))
    axes.annotate(
        label, (1, value), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=8,
        color=MUTED,
    )  # fmt: skip
