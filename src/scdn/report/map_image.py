"""A map as a still picture."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Rectangle
from matplotlib.ticker import MaxNLocator

from scdn.arrays import Array
from scdn.report.map_scene import DeviceMarkers, MapScene
from scdn.report.palette import (
    DANGER,
    GRID,
    INK,
    KINDS,
    MARKERS,
    MUTED,
    PAPER,
    SERVER,
    SHADE,
)

_LABELLED = 16  # devices that can be named without a clutter
_LONGEST = 5  # beyond this ratio of its sides a region is not drawn true to scale


def image(scene: MapScene, kind: str = "png") -> bytes:
    """The map from the side and from above."""
    figure = Figure(figsize=(13, 6.4), dpi=130, facecolor=PAPER)
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(
        1, 2, width_ratios=[1, 1.1], left=0.0, right=0.955, top=0.89, bottom=0.14, wspace=0.2
    )
    title = _plain(scene.title)
    figure.suptitle(title, x=0.03, y=0.965, ha="left", fontsize=15, color=INK, weight="bold")
    _side(figure.add_subplot(grid[0], projection="3d"), scene)
    above = figure.add_subplot(grid[1])
    shading = _above(above, scene)
    whole = MaxNLocator(integer=True) if scene.shade.steps is not None else None
    bar = figure.colorbar(shading, ax=above, fraction=0.04, pad=0.02, ticks=whole)
    bar.set_label(scene.shade.label, color=INK)
    bar.outline.set_visible(False)
    figure.legend(
        handles=_legend(scene), loc="lower left", ncols=8, frameon=False,
        bbox_to_anchor=(0.02, 0.005),
    )  # fmt: skip
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, metadata={"Date": None} if kind == "svg" else None)
    return buffer.getvalue()


def _plain(text: str) -> str:
    """Text that is drawn as it is, not as mathematics."""
    return text.replace("$", r"\$")


def _colour(crowd: DeviceMarkers) -> str:
    return KINDS[crowd.look % len(KINDS)]


def _marker(crowd: DeviceMarkers) -> str:
    return MARKERS[crowd.look % len(MARKERS)]


def _side(axes: Any, scene: MapScene) -> None:
    size = scene.region_m
    axes.set(xlim=(0, size[0]), ylim=(0, size[1]), zlim=(0, size[2]))
    axes.set_box_aspect(size, zoom=1.04)
    axes.view_init(elev=22, azim=-58)
    for axis, name in zip((axes.xaxis, axes.yaxis, axes.zaxis), "xyz", strict=True):
        axis.set_pane_color((0.97, 0.98, 0.985, 1.0))
        axis._axinfo["grid"].update(color=GRID)
        axis.set_label_text(f"{name} (m)", color=MUTED)
        axis.set_tick_params(colors=MUTED, labelsize=8)
    server = scene.server_m
    for place in scene.linked_m:
        axes.plot(*np.stack([place, server]).T, color=SERVER, lw=1.1, alpha=0.55)
    for crowd in scene.crowds:
        _devices_aside(axes, crowd)
    axes.scatter(*scene.ghosts_m.T, s=40, marker="x", color=MUTED, depthshade=False)
    for box in scene.keep_out_m:
        _box(axes, box)
    axes.scatter(*scene.candidates_m.T, s=26, marker="+", color=INK)
    if scene.before_m is not None:
        axes.plot(*np.stack([scene.before_m, server]).T, color=INK, lw=1.6, ls="--")
        axes.scatter(*scene.before_m, s=120, marker="*", facecolor=PAPER, edgecolor=INK)
    axes.plot(*np.stack([server, _below(server)]).T, color=SERVER, lw=0.9, ls=":")
    axes.scatter(*server, s=210, marker="*", color=SERVER, edgecolor=PAPER, depthshade=False)


def _below(place: Array) -> Array:
    return place * [1.0, 1.0, 0.0]


def _devices_aside(axes: Any, crowd: DeviceMarkers) -> None:
    for place, filled in zip(crowd.position_m, crowd.filled, strict=True):
        if place[2] > 0:
            axes.plot(*np.stack([place, _below(place)]).T, color=_colour(crowd), lw=0.8, ls=":")
        axes.scatter(
            *place, s=62, marker=_marker(crowd), facecolor=_colour(crowd) if filled else PAPER,
            edgecolor=_colour(crowd), linewidth=1.6, depthshade=False,
        )  # fmt: skip


def _box(axes: Any, box: Sequence[float]) -> None:
    low, high = np.array(box[:3]), np.array(box[3:])
    for axis in range(3):
        for corner in range(4):
            start, end = low.copy(), low.copy()
            for bit, other in enumerate(a for a in range(3) if a != axis):
                if corner >> bit & 1:
                    start[other] = end[other] = high[other]
            end[axis] = high[axis]
            axes.plot(*np.stack([start, end]).T, color=DANGER, lw=1.0, alpha=0.8)


def _above(axes: Any, scene: MapScene) -> Any:
    width, depth, _ = scene.region_m
    shading = _shading(axes, scene)
    drawn_true = max(width, depth) <= _LONGEST * min(width, depth)
    axes.set(xlim=(0, width), ylim=(0, depth), aspect="equal" if drawn_true else "auto")
    axes.set_xlabel("x (m)", color=MUTED)
    axes.set_ylabel("y (m)", color=MUTED)
    axes.tick_params(colors=MUTED)
    for spine in axes.spines.values():
        spine.set_color(GRID)
    for x0, y0, z0, x1, y1, z1 in scene.keep_out_m:
        in_the_way = z0 < scene.server_m[2] < z1
        axes.add_patch(
            Rectangle(
                (x0, y0), x1 - x0, y1 - y0, fill=False, hatch="///" if in_the_way else None,
                color=DANGER, lw=1.2, ls="-" if in_the_way else ":",
            )
        )  # fmt: skip
        if not in_the_way:  # the server flies over it, or under
            axes.annotate(f"{z0:g} to {z1:g} m", (x0, y0), color=DANGER, fontsize=7, va="bottom")
    for (x, y), radius, text in scene.discs:
        axes.add_patch(Circle((x, y), radius, fill=False, ls="--", color=DANGER))
        top = (x, y + radius if y + radius <= depth else y - radius)
        axes.annotate(text, top, color=DANGER, ha="center", fontsize=8, bbox=_plate(0.75))
    for crowd in scene.crowds:
        faces = [_colour(crowd) if filled else PAPER for filled in crowd.filled]
        edges = [PAPER if filled else _colour(crowd) for filled in crowd.filled]
        axes.scatter(
            *crowd.position_m[:, :2].T, s=95, marker=_marker(crowd), facecolor=faces,
            edgecolor=edges, linewidth=1.6, zorder=5,
        )  # fmt: skip
    axes.scatter(*scene.ghosts_m[:, :2].T, s=46, marker="x", color=MUTED, zorder=4)
    if sum(len(crowd.names) for crowd in scene.crowds) <= _LABELLED:
        _names(axes, scene)
    axes.scatter(*scene.candidates_m[:, :2].T, s=70, marker="+", color=INK, zorder=5)
    x, y, _ = scene.server_m
    if scene.before_m is not None:
        x0, y0, _ = scene.before_m
        axes.plot([x0, x], [y0, y], color=INK, lw=1.6, ls="--", zorder=5.5)
        axes.scatter(x0, y0, s=170, marker="*", facecolor=PAPER, edgecolor=INK, zorder=5.6)
    axes.scatter(x, y, s=290, marker="*", color=SERVER, edgecolor=PAPER, linewidth=1.2, zorder=6)
    return shading


def _shading(axes: Any, scene: MapScene) -> Any:
    shade = scene.shade
    ends = SHADE[::-1] if shade.low_is_good else SHADE
    if shade.steps is None:
        seen = shade.value[np.isfinite(shade.value)]
        low, high = (seen.min(), np.quantile(seen, 0.98)) if len(seen) else (0.0, 1.0)
        levels = 256
    else:
        low, high = -0.5, max(shade.steps, 1) + 0.5
        levels = max(2, min(shade.steps + 1, 24))
    colours = LinearSegmentedColormap.from_list("shade", ends, N=levels)
    return axes.pcolormesh(
        shade.x, shade.y, shade.value, cmap=colours, vmin=low, vmax=max(high, low + 1e-12),
        shading="nearest", rasterized=True,
    )  # fmt: skip


def _plate(alpha: float) -> dict[str, Any]:
    return {"boxstyle": "round,pad=0.15", "fc": PAPER, "ec": "none", "alpha": alpha}


def _names(axes: Any, scene: MapScene) -> None:
    """Names each device where its label covers least of what is there already."""
    axes.figure.canvas.draw()  # only now is it known where things are
    point = axes.figure.dpi / 72
    places = [place[:2] for crowd in scene.crowds for place in crowd.position_m]
    names = [_plain(name) for crowd in scene.crowds for name in crowd.names]
    spots = axes.transData.transform([*places, scene.server_m[:2]])
    taken = [_around(x, y, 7 * point, 7 * point) for x, y in spots]
    for (x, y), place, name in zip(spots, places, names, strict=False):
        width, height = 4.7 * point * len(name) / 2, 6 * point

        def room(side: tuple[str, int, int], at: Any = (x, y, width, height)) -> Array:
            align, right, up = side
            shift = {"left": at[2], "right": -at[2], "center": 0.0}[align]
            return _around(at[0] + right * point + shift, at[1] + up * point, at[2], at[3])

        inside = axes.bbox.extents
        side = min(_SIDES, key=lambda side: _covered(room(side), taken, inside))
        taken.append(room(side))
        align, right, up = side
        axes.annotate(
            name, place, xytext=(right, up), textcoords="offset points", ha=align, va="center",
            fontsize=8, color=INK, bbox=_plate(0.65), zorder=4.5,
        )  # fmt: skip


_SIDES = (("left", 8, 0), ("right", -8, 0), ("center", 0, 12), ("center", 0, -12))


def _around(x: float, y: float, width: float, height: float) -> Array:
    return np.array([x - width, y - height, x + width, y + height])


def _covered(box: Array, taken: list[Array], inside: Array) -> float:
    """How much of other boxes a box covers, and how much of it is outside the map."""
    area = float(np.prod(box[2:] - box[:2]))
    shown = np.maximum(np.minimum(box[2:], inside[2:]) - np.maximum(box[:2], inside[:2]), 0.0)
    total = 2 * (area - float(np.prod(shown)))
    for other in taken:
        common = np.minimum(box[2:], other[2:]) - np.maximum(box[:2], other[:2])
        total += float(np.prod(np.maximum(common, 0.0)))
    return total


def _legend(scene: MapScene) -> list[Line2D]:
    def entry(label: str, marker: str, colour: str, face: str, size: int = 8) -> Line2D:
        return Line2D(
            [], [], ls="", marker=marker, ms=size, mfc=face, mec=colour, mew=1.6,
            label=_plain(label),
        )  # fmt: skip

    entries = [entry("server", "*", SERVER, SERVER, 14)]
    if scene.before_m is not None:
        entries.append(entry("where it was", "*", INK, PAPER, 11))
    entries += [entry(c.label, _marker(c), _colour(c), _colour(c)) for c in scene.crowds]
    for label in dict.fromkeys(c.hollow_label for c in scene.crowds if not c.filled.all()):
        entries.append(entry(label, "o", INK, PAPER))
    if len(scene.ghosts_m):
        entries.append(entry("left", "x", MUTED, MUTED))
    if len(scene.candidates_m):
        entries.append(entry("candidate place", "+", INK, INK))
    if scene.keep_out_m:
        entries.append(Line2D([], [], color=DANGER, label="keep out"))
    if scene.discs:
        entries.append(Line2D([], [], color=DANGER, ls="--", label="shock"))
    return entries
