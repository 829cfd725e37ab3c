"""Drawings as PNGs, and what they have in common."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scdn.paper.artefact import Drawing
from scdn.pictures.palette import KINDS, MARKERS, MUTED, SERVER
from scdn.report.figures import blank, tidy

__all__ = [
    "COLOURS",
    "WITHIN",
    "band",
    "deviations",
    "fit",
    "fit_scores",
    "legend",
    "level",
    "logarithmic",
    "picture",
    "tidy",
]

Curve = Mapping[str, Any]  # a mean and its deviation: numbers, or one of each for every x

COLOURS = (*KINDS, SERVER, "#5f6b78")
WITHIN = {"top3": (0.0, 100.0), "mse": (0.0, math.inf)}  # what scores can be
_DPI = 110
_WIDE = 100.0  # times the least: a linear axis would hide it
_WIDE_SCORES = 2.0
_USUAL = 0.98  # of the points of all curves


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
    within: tuple[float, float] = (-math.inf, math.inf),
    **how: Any,
) -> None:
    """A line with its markers, and one standard deviation around it as far as values can be."""
    colour = COLOURS[number % len(COLOURS)]
    kind = {
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 4,
        "markevery": max(1, len(x) // 8),
        "linewidth": 1.6,
    } | how
    axes.plot(x, mean, color=colour, label=label, **kind)
    if std is not None:
        below, above = deviations(mean, std, within)
        low, high = np.subtract(mean, below), np.add(mean, above)
        axes.fill_between(x, low, high, color=colour, alpha=0.13, linewidth=0)


def deviations(mean: Any, std: Any, within: tuple[float, float]) -> tuple[Any, Any]:
    """How far one standard deviation goes below and above, inside what values can be."""
    low, high = within
    below = np.minimum(std, np.subtract(mean, low))
    return np.maximum(below, 0), np.maximum(np.minimum(std, np.subtract(high, mean)), 0)


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
    """A line to compare with, named beside the panel."""
    axes.axhline(value, color=MUTED, linewidth=1, linestyle=(0, (2, 3)))
    axes.annotate(
        textwrap.fill(label, 12), (1.01, value), xycoords=("axes fraction", "data"), ha="left",
        va="center", fontsize=8, color=MUTED,
    )  # fmt: skip


# --- limits ---------------------------------------------------------------------------------------


def fit_scores(
    axes: Any, metric: str, curves: Mapping[str, Sequence[Curve]], lost: set[str], trivial: float
) -> None:
    """A y axis for scores; who leaves it, because runs diverged or for a few rounds, is named."""
    calm = [curve for name in curves if name not in lost for curve in curves[name]]
    drawn = [*(calm or [c for some in curves.values() for c in some]), _exactly([trivial])]
    if metric == "top3":
        fit(axes, drawn, WITHIN[metric], math.inf)
    else:
        fit(axes, _without_peaks(drawn), WITHIN[metric], _WIDE_SCORES)
    peaks = {
        name: max(np.max(curve["mean"], initial=0.0) for curve in some)
        for name, some in curves.items()
    }
    top = axes.get_ylim()[1]
    off = [f"{name} to {peak:.3g}" for name, peak in peaks.items() if peak > top]
    if off:
        words = textwrap.fill(f"off the scale: {', '.join(off)}", 42)
        axes.set_title(words, fontsize=7.5, loc="left", color=MUTED)


def _without_peaks(curves: Sequence[Curve]) -> Sequence[Curve]:
    """The curves, or only their means without the highest few if these take most of the room."""
    means = np.sort(np.concatenate([np.ravel(curve["mean"]) for curve in curves]))
    usual = means[means <= np.quantile(means, _USUAL, method="higher")]
    return [_exactly(usual)] if np.ptp(means) > 2 * np.ptp(usual) else curves


def _exactly(values: Any) -> Curve:
    return {"mean": values, "std": np.zeros(len(values))}


def fit(
    axes: Any,
    curves: Sequence[Curve],
    within: tuple[float, float] = (0.0, math.inf),
    wide: float = _WIDE,
    zero: bool = False,
) -> None:
    """A y axis that holds the curves and their deviations, and zero if that is asked for.

    Where the most is more than `wide` times the least mean, it is logarithmic above the least and
    goes on to zero below it.
    """
    mean, std = (
        np.concatenate([np.ravel(curve[part]) for curve in curves]) for part in ("mean", "std")
    )
    below, above = deviations(mean, std, within)
    low = 0.0 if zero else float(np.min(mean - below))
    high = float(np.max(mean + above, initial=0.0))
    least = float(np.min(mean[mean > 0], initial=high))
    if high > wide * least:
        _stretch(axes, least, high)
    else:
        margin = 0.06 * (high - low) or 1.0
        axes.set_ylim(low - margin, high + margin)


def _stretch(axes: Any, least: float, most: float) -> None:
    """Logarithmic down to the least, and from there to zero."""
    power = math.floor(math.log10(least))
    last = math.ceil(math.log10(most))
    if last - power > 2:
        foot = 10.0**power
        powers = range(power, last + 1, math.ceil((last - power) / 6))
        ticks, names = [10.0**k for k in powers], [f"$10^{{{k}}}$" for k in powers]
    else:
        foot = 10.0**power * math.floor(least / 10.0**power)
        ticks = [digit * 10.0**k for k in range(power, last + 1) for digit in (1, 2, 4, 6)]
        ticks = [tick for tick in ticks if foot <= tick <= most]
        names = [f"{tick:g}" for tick in ticks]
    decades = math.log10(most / foot)
    axes.set_yscale("symlog", linthresh=foot, linscale=max(0.15, 0.1 * decades))
    axes.set_yticks([0.0, *ticks], ["0", *names])
    if label := axes.get_ylabel():
        axes.set_ylabel(f"{label}, log")
    axes.minorticks_off()
    axes.set_ylim(-0.3 * foot, most * 10 ** (0.05 * decades))
