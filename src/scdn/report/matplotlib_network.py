"""Presence of devices and the server's path, drawn with Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from scdn.arrays import floats
from scdn.report.map_scene import drawn_size, height_label
from scdn.report.network_history import ABSENT, STATES, DeviceHistory, NetworkHistory
from scdn.report.theme import LIGHT

_MAX_LABELS = 40  # more device names than this overlap


def draw_presence(figure: Figure, history: NetworkHistory) -> None:
    """Draw a row per device and a column per round."""
    axes = figure.add_subplot()
    letters = [ABSENT, *STATES]
    colours = ListedColormap([LIGHT["paper"], *(LIGHT[colour] for colour, _ in STATES.values())])
    cells = [[letters.index(letter) for letter in device.states] for device in history.devices]
    few = len(cells) <= _MAX_LABELS
    edges = floats([*history.rounds, history.rounds[-1] + 1]) - 0.5
    width = 1 if few else 0.3
    axes.pcolormesh(edges, np.arange(len(cells) + 1) - 0.5, cells, cmap=colours, vmin=0,
                    vmax=len(letters) - 1, edgecolors=LIGHT["paper"], lw=width)  # fmt: skip
    if few:
        _mark_events(axes, history)
    axes.invert_yaxis()
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("round", color=LIGHT["muted"], fontsize=9.5)
    axes.tick_params(colors=LIGHT["muted"], labelsize=8.5, length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    names = [escape_mathtext(device.id) for device in history.devices] if few else []
    axes.set_yticks(range(len(names)), names, color=LIGHT["ink"])
    handles = [Patch(color=LIGHT[colour], label=label) for colour, label in STATES.values()]
    figure.legend(handles=handles, loc="outside lower left", ncols=5, frameon=False, fontsize=8.5,
                  labelcolor=LIGHT["ink"])  # fmt: skip


def _mark_events(axes: Any, history: NetworkHistory) -> None:
    """Mark failed links and exits, so that they can be told apart without colours."""
    for row, device in enumerate(history.devices):
        for round_, letter in zip(history.rounds, device.states, strict=True):
            if letter in "fl":
                colour = LIGHT["ink" if letter == "f" else "paper"]
                axes.text(round_, row, "×", ha="center", va="center", color=colour, fontsize=8)


def escape_mathtext(text: str) -> str:
    """Return text that Matplotlib draws literally, not as mathematics."""
    return text.replace("$", r"\$")


def set_up_3d_axes(axes: Any, size: Sequence[float], zoom: float, colour: str) -> None:
    """Show a region of this size from the side, with axes in metres."""
    axes.set(xlim=(0, size[0]), ylim=(0, size[1]), zlim=(0, size[2]))
    drawn, factor = drawn_size(size)
    axes.set_box_aspect(drawn, zoom=zoom)
    axes.view_init(elev=22, azim=-58)
    labels = ("x (m)", "y (m)", height_label(factor))
    sides = zip((axes.xaxis, axes.yaxis, axes.zaxis), labels, drawn, strict=True)
    for axis, label, side in sides:
        axis.set_pane_color((0.97, 0.98, 0.985, 1.0))
        axis._axinfo["grid"].update(color=LIGHT["grid"])
        axis.set_label_text(label, color=colour)
        ticks = max(3, round(8 * side / max(drawn)))
        axis.set_major_locator(MaxNLocator(ticks, steps=[1, 2, 2.5, 5, 10]))
        axis.set_tick_params(colors=colour, labelsize=8)


def draw_flight(figure: Figure, history: NetworkHistory) -> None:
    """Draw the server's path through the region, and the devices in their last state."""
    axes: Any = figure.add_subplot(projection="3d")
    set_up_3d_axes(axes, history.region_m, 0.92, LIGHT["muted"])
    for device in history.devices:
        _draw_device(axes, device)
    path = floats([position for position in history.server_m if position])
    axes.plot(*path.T, color=LIGHT["server"], lw=1.6, marker="o", ms=3, alpha=0.85)
    axes.scatter(*path[0], s=70, marker="o", facecolor=LIGHT["paper"], edgecolor=LIGHT["server"],
                 linewidth=1.6, depthshade=False)  # fmt: skip
    axes.plot(*np.stack([path[-1], path[-1] * [1, 1, 0]]).T, color=LIGHT["server"], lw=0.9, ls=":")
    axes.scatter(*path[-1], s=190, marker="*", color=LIGHT["server"], edgecolor=LIGHT["paper"],
                 depthshade=False)  # fmt: skip
    _legend(figure)


_MARKS = {"a": ("o", "active", True), "p": ("o", "active", False), "f": ("s", "failed", True),
          "l": ("x", "faint", True), "g": ("x", "faint", True)}  # fmt: skip


def _draw_device(axes: Any, device: DeviceHistory) -> None:
    letter = device.states[-1]
    if not device.positions or letter == ABSENT:
        return
    position = floats(device.positions[-1])
    marker, colour, filled = _MARKS[letter]
    if position[2] > 0:
        axes.plot(
            *np.stack([position, position * [1, 1, 0]]).T, color=LIGHT[colour], lw=0.7, ls=":"
        )
    style = {"color": LIGHT[colour]} if filled else {
        "facecolor": LIGHT["paper"], "edgecolor": LIGHT[colour], "linewidth": 1.6}  # fmt: skip
    axes.scatter(*position, s=46, marker=marker, depthshade=False, **style)


def _legend(figure: Figure) -> None:
    def entry(label: str, marker: str, colour: str, filled: bool = True, size: int = 7) -> Line2D:
        return Line2D([], [], ls="", marker=marker, ms=size, mec=LIGHT[colour], label=label,
                      mfc=LIGHT[colour] if filled else LIGHT["paper"])  # fmt: skip

    figure.legend(
        handles=[
            entry("server at the end", "*", "server", size=12),
            entry("at the start", "o", "server", False),
            entry("active", "o", "active"),
            entry("off", "o", "active", False),
            entry("link failed", "s", "failed"),
            entry("departed", "x", "faint"),
        ],
        loc="outside lower left", ncols=6, frameon=False, fontsize=8.5, labelcolor=LIGHT["ink"],
        handletextpad=0.2, columnspacing=1.2,
    )  # fmt: skip
