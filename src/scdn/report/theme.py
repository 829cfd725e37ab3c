"""Colours of the report by name, in a light and a dark theme, and the style of each method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scdn.report.palette import DANGER, GRID, INK, KINDS, MARKERS, PAPER, SERVER, SHADE, SYMBOLS

_METHODS_LIGHT = (*KINDS, SERVER, "#5f6b78")
_METHODS_DARK = ("#4aa3df", "#2fc49a", "#e39cc4", "#d1ab4a", "#9bd4f5", "#a3a6e6", "#f08a4b",
                 "#a9b4bf")  # fmt: skip
_STYLES = len(_METHODS_LIGHT)

LIGHT = {
    "ink": INK, "muted": "#5f6b78", "faint": "#8a94a0", "grid": GRID, "paper": PAPER,
    "page": "#f6f7f9", "server": SERVER, "danger": DANGER, "good": "#00715a",
    "active": SHADE[1], "present": "#b9d3de", "failed": "#e69f00", "left": INK, "gone": "#eceff2",
    "transmission": "#e69f00", "processing": SHADE[1], "movement": "#b4bec8",
    "server_compute": "#7a5195",
    "server_transmission": "#cc79a7",
    "circuit": "#009e73",
    "idle": "#8c6d1f",
    **{f"method{n}": colour for n, colour in enumerate(_METHODS_LIGHT)},
}  # fmt: skip
DARK = {
    "ink": "#e8ecf0", "muted": "#9fabb7", "faint": "#7b8794", "grid": "#2b333c", "paper": "#171c22",
    "page": "#0f1317", "server": "#f08a4b", "danger": "#ff8a80", "good": "#4fd1ab",
    "active": "#3f9fc4", "present": "#2c4f5f", "failed": "#f0b429", "left": "#e8ecf0",
    "gone": "#20262d", "transmission": "#f0b429", "processing": "#3f9fc4", "movement": "#5c6772",
    "server_compute": "#b08cc9",
    "server_transmission": "#dfa3c4",
    "circuit": "#3fbf9a",
    "idle": "#c2a04a",
    **{f"method{n}": colour for n, colour in enumerate(_METHODS_DARK)},
}  # fmt: skip


@dataclass(frozen=True)
class MethodStyle:
    """How a method is drawn in every chart; those matched to another method are dotted."""

    colour: str  # a name in LIGHT and DARK
    marker: str
    symbol: str
    matched: bool


def method_styles(methods: Sequence[str]) -> dict[str, MethodStyle]:
    """Return a style for each method; `gsp-matched` has the colour of `gsp`.

    Variants of a method share its colour where there are more of them than colours.
    """
    bases = {method: method.removesuffix("-matched") for method in methods}
    if len(set(bases.values())) > _STYLES:
        bases = {method: base.partition(", ")[0] for method, base in bases.items()}
    numbers = list(dict.fromkeys(bases.values()))
    styles = {}
    for method in methods:
        number = numbers.index(bases[method])
        styles[method] = MethodStyle(
            f"method{number % _STYLES}",
            MARKERS[number % len(MARKERS)],
            SYMBOLS[number % len(SYMBOLS)],
            method.endswith("-matched"),
        )
    return styles
