"""Drawings as PNGs, and the elements that they share."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scdn.paper.artefact import Drawing
from scdn.report.matplotlib_style import new_figure
from scdn.report.palette import KINDS, MARKERS, MUTED, SERVER

Curve = Mapping[str, Any]  # "mean" and "std": two numbers, or two sequences of them

COLOURS = (*KINDS, SERVER, "#5f6b78")
SCORE_LIMITS = {"top3": (0.0, 100.0), "mse": (0.0, math.inf)}  # possible values of a score
_DPI = 110
_LOG_RATIO = 100.0  # largest over smallest value from which on an axis is logarithmic
_LOG_RATIO_SCORES = 2.0
_WITHOUT_PEAKS = 0.98  # the share of points that stays when peaks are left out


def draw_png(drawing: Drawing) -> bytes:
    """Return the drawing as a PNG."""
    figure = new_figure(drawing.title, drawing.size)
    drawing.draw(figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DPI, metadata={"Software": None})
    return buffer.getvalue()


def plot_band(
    axes: Any,
    x: Sequence[float],
    mean: Sequence[float],
    std: Sequence[float] | None,
    label: str,
    number: int,
    limits: tuple[float, float] = (-math.inf, math.inf),
    **style: Any,
) -> None:
    """Plot a line with markers and a band of one standard deviation, cut off at the limits.

    `number` chooses colour and marker.
    """
    colour = COLOURS[number % len(COLOURS)]
    line_style = {
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 4,
        "markevery": max(1, len(x) // 8),
        "linewidth": 1.6,
    } | style
    axes.plot(x, mean, color=colour, label=label, **line_style)
    if std is not None:
        below, above = clipped_deviations(mean, std, limits)
        low, high = np.subtract(mean, below), np.add(mean, above)
        axes.fill_between(x, low, high, color=colour, alpha=0.13, linewidth=0)


def clipped_deviations(mean: Any, std: Any, limits: tuple[float, float]) -> tuple[Any, Any]:
    """Return the deviations below and above the mean, cut off at the limits."""
    low, high = limits
    below = np.minimum(std, np.subtract(mean, low))
    return np.maximum(below, 0), np.maximum(np.minimum(std, np.subtract(high, mean)), 0)


def use_log_scale(axes: Any, along: str = "y") -> None:
    """Make x, y or both axes (xy) logarithmic, without minor ticks."""
    axes.set(**{f"{letter}scale": "log" for letter in along})
    axes.minorticks_off()


def add_legend(figure: Any, axes: Any = None, ncols: int = 3) -> None:
    """Put one legend below all panels: of every label, or of one panel's labels."""
    if axes is None:
        figure.legend(loc="outside lower right", ncols=ncols, fontsize=8, frameon=False)
    else:
        handles_and_labels = axes.get_legend_handles_labels()
        figure.legend(*handles_and_labels, fontsize=8, ncols=ncols, loc="outside lower center")


def add_reference_line(axes: Any, value: float, label: str) -> None:
    """Draw a horizontal line with its label beside the panel."""
    axes.axhline(value, color=MUTED, linewidth=1, linestyle=(0, (2, 3)))
    axes.annotate(
        textwrap.fill(label, 12), (1.01, value), xycoords=("axes fraction", "data"), ha="left",
        va="center", fontsize=8, color=MUTED,
    )  # fmt: skip


# --- axes limits ----------------------------------------------------------------------------------


def fit_score_axis(
    axes: Any,
    metric: str,
    curves: Mapping[str, Sequence[Curve]],
    diverged: set[str],
    trivial: float,
) -> None:
    """Fit a y axis to scores; name the curves that leave it because of divergence or a peak."""
    converged = [curve for name in curves if name not in diverged for curve in curves[name]]
    every = [curve for group in curves.values() for curve in group]
    fitted = [*(converged or every), _without_deviation([trivial])]
    if metric == "top3":
        fit_axis(axes, fitted, SCORE_LIMITS[metric], math.inf)
    else:
        fit_axis(axes, _without_peaks(fitted), SCORE_LIMITS[metric], _LOG_RATIO_SCORES)
    peaks = {
        name: max(np.max(curve["mean"], initial=0.0) for curve in group)
        for name, group in curves.items()
    }
    top = axes.get_ylim()[1]
    outside = [f"{name} to {peak:.3g}" for name, peak in peaks.items() if peak > top]
    if outside:
        text = textwrap.fill(f"off the scale: {', '.join(outside)}", 42)
        axes.set_title(text, fontsize=7.5, loc="left", color=MUTED)


def _without_peaks(curves: Sequence[Curve]) -> Sequence[Curve]:
    """Return the curves, or their means without the highest few if these double the range."""
    means = np.sort(np.concatenate([np.ravel(curve["mean"]) for curve in curves]))
    usual = means[means <= np.quantile(means, _WITHOUT_PEAKS, method="higher")]
    return [_without_deviation(usual)] if np.ptp(means) > 2 * np.ptp(usual) else curves


def _without_deviation(values: Any) -> Curve:
    return {"mean": values, "std": np.zeros(len(values))}


def fit_axis(
    axes: Any,
    curves: Sequence[Curve],
    limits: tuple[float, float] = (0.0, math.inf),
    log_ratio: float = _LOG_RATIO,
    zero: bool = False,
) -> None:
    """Fit a y axis to curves and their deviations, and to zero if `zero` is set.

    Where the largest value is more than `log_ratio` times the smallest mean, the axis is
    logarithmic above the smallest mean and linear from there to zero.
    """
    mean, std = (
        np.concatenate([np.ravel(curve[part]) for curve in curves]) for part in ("mean", "std")
    )
    below, above = clipped_deviations(mean, std, limits)
    low = 0.0 if zero else float(np.min(mean - below))
    high = float(np.max(mean + above, initial=0.0))
    smallest = float(np.min(mean[mean > 0], initial=high))
    if high > log_ratio * smallest:
        _use_log_scale_to_zero(axes, smallest, high)
    else:
        margin = 0.06 * (high - low) or 1.0
        axes.set_ylim(low - margin, high + margin)


def _use_log_scale_to_zero(axes: Any, smallest: float, largest: float) -> None:
    """Make the y axis logarithmic down to the smallest value, and linear from there to zero."""
    first = math.floor(math.log10(smallest))
    last = math.ceil(math.log10(largest))
    if last - first > 2:
        linear_below = 10.0**first
        powers = range(first, last + 1, math.ceil((last - first) / 6))
        ticks, names = [10.0**k for k in powers], [f"$10^{{{k}}}$" for k in powers]
    else:
        linear_below = 10.0**first * math.floor(smallest / 10.0**first)
        ticks = [digit * 10.0**k for k in range(first, last + 1) for digit in (1, 2, 4, 6)]
        ticks = [tick for tick in ticks if linear_below <= tick <= largest]
        names = [f"{tick:g}" for tick in ticks]
    decades = math.log10(largest / linear_below)
    axes.set_yscale("symlog", linthresh=linear_below, linscale=max(0.15, 0.1 * decades))
    axes.set_yticks([0.0, *ticks], ["0", *names])
    if label := axes.get_ylabel():
        axes.set_ylabel(f"{label}, log")
    axes.minorticks_off()
    axes.set_ylim(-0.3 * linear_below, largest * 10 ** (0.05 * decades))
