"""Draw a map as a still picture: from the side in 3-D, and from above."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Rectangle
from matplotlib.ticker import MaxNLocator

from scdn.arrays import Array
from scdn.report.map_scene import DeviceMarkers, HeatMap, MapScene, ReachOutline, box_edges
from scdn.report.matplotlib_network import escape_mathtext, set_up_3d_axes
from scdn.report.palette import DANGER, GRID, INK, KINDS, MARKERS, MUTED, PAPER, SERVER, SHADE

_MAX_LABELS = 16  # with more devices, labels would clutter the map
_MAX_ASPECT = 5  # a region with a larger ratio of its sides is not drawn to scale


def map_image(scene: MapScene, file_format: str = "png") -> bytes:
    """Return the map as a PNG or SVG file."""
    figure = Figure(figsize=(13, 6.4), dpi=130, facecolor=PAPER)
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(
        1, 2, width_ratios=[1, 1.1], left=0.0, right=0.955, top=0.89, bottom=0.14, wspace=0.26
    )
    title = escape_mathtext(scene.title)
    figure.suptitle(title, x=0.03, y=0.965, ha="left", fontsize=15, color=INK, weight="bold")
    _draw_side_view(figure.add_subplot(grid[0], projection="3d"), scene)
    top_axes = figure.add_subplot(grid[1])
    mesh = _draw_top_view(top_axes, scene)
    ticks = MaxNLocator(integer=True) if scene.heat_map.max_count is not None else None
    bar = figure.colorbar(mesh, ax=top_axes, fraction=0.04, pad=0.035, ticks=ticks)
    bar.set_label(scene.heat_map.label, color=INK)
    bar.outline.set_visible(False)
    figure.legend(
        handles=_legend(scene), loc="lower left", ncols=8, frameon=False,
        bbox_to_anchor=(0.02, 0.005),
    )  # fmt: skip
    buffer = io.BytesIO()
    figure.savefig(
        buffer, format=file_format, metadata={"Date": None} if file_format == "svg" else None
    )
    return buffer.getvalue()


def _colour(group: DeviceMarkers) -> str:
    return KINDS[group.style % len(KINDS)]


def _marker(group: DeviceMarkers) -> str:
    return MARKERS[group.style % len(MARKERS)]


def _draw_side_view(axes: Any, scene: MapScene) -> None:
    set_up_3d_axes(axes, scene.region_m, 0.98, MUTED)
    server = scene.server_m
    for position in scene.linked_m:
        axes.plot(*np.stack([position, server]).T, color=SERVER, lw=1.1, alpha=0.55)
    for group in scene.groups:
        _draw_devices_from_side(axes, group)
    axes.scatter(*scene.departed_m.T, s=40, marker="x", color=MUTED, depthshade=False)
    for box in scene.keep_out_m:
        for edge in box_edges(box):
            axes.plot(*np.transpose(edge), color=DANGER, lw=1.0, alpha=0.8, clip_on=False)
    axes.scatter(*scene.candidates_m.T, s=26, marker="+", color=INK)
    if len(scene.path_m):
        axes.plot(*scene.path_m.T, color=INK, lw=1.6, ls="--")
        axes.scatter(*scene.path_m[0], s=120, marker="*", facecolor=PAPER, edgecolor=INK)
    axes.plot(*np.stack([server, _ground_point(server)]).T, color=SERVER, lw=0.9, ls=":")
    axes.scatter(*server, s=210, marker="*", color=SERVER, edgecolor=PAPER, depthshade=False)


def _ground_point(position: Array) -> Array:
    return position * [1.0, 1.0, 0.0]


def _draw_devices_from_side(axes: Any, group: DeviceMarkers) -> None:
    for position, filled in zip(group.position_m, group.filled, strict=True):
        if position[2] > 0:
            axes.plot(
                *np.stack([position, _ground_point(position)]).T,
                color=_colour(group),
                lw=0.8,
                ls=":",
            )
        axes.scatter(
            *position, s=62, marker=_marker(group), facecolor=_colour(group) if filled else PAPER,
            edgecolor=_colour(group), linewidth=1.6, depthshade=False,
        )  # fmt: skip


def _draw_top_view(axes: Any, scene: MapScene) -> Any:
    width, depth, _ = scene.region_m
    mesh = _draw_heat_map(axes, scene.heat_map)
    to_scale = max(width, depth) <= _MAX_ASPECT * min(width, depth)
    axes.set(xlim=(0, width), ylim=(0, depth), aspect="equal" if to_scale else "auto")
    axes.set_xlabel("x (m)", color=MUTED)
    axes.set_ylabel("y (m)", color=MUTED)
    axes.tick_params(colors=MUTED)
    for spine in axes.spines.values():
        spine.set_color(GRID)
    for box in scene.keep_out_m:
        x0, y0, z0, x1, y1, z1 = box
        in_the_way = scene.forbids_altitude(box)
        axes.add_patch(
            Rectangle(
                (x0, y0), x1 - x0, y1 - y0, fill=False, hatch="///" if in_the_way else None,
                color=DANGER, lw=1.2, ls="-" if in_the_way else ":",
            )
        )  # fmt: skip
        if not in_the_way:  # the server is above or below the box
            axes.annotate(
                f"keep out {z0:g} to {z1:g} m", (x0, y0), xytext=(4, 4), va="bottom",
                textcoords="offset points", color=DANGER, fontsize=7, bbox=_label_box(0.75),
            )  # fmt: skip
    for outline in scene.reach:
        _draw_reach(axes, scene.heat_map, outline)
    for (x, y), radius, text in scene.shocks:
        axes.add_patch(Circle((x, y), radius, fill=False, ls="--", color=DANGER))
        top = (x, y + radius if y + radius <= depth else y - radius)
        axes.annotate(text, top, color=DANGER, ha="center", fontsize=8, bbox=_label_box(0.75))
    for group in scene.groups:
        faces = [_colour(group) if filled else PAPER for filled in group.filled]
        edges = [PAPER if filled else _colour(group) for filled in group.filled]
        axes.scatter(
            *group.position_m[:, :2].T, s=95, marker=_marker(group), facecolor=faces,
            edgecolor=edges, linewidth=1.6, zorder=5,
        )  # fmt: skip
    axes.scatter(*scene.departed_m[:, :2].T, s=46, marker="x", color=MUTED, zorder=4)
    if sum(len(group.names) for group in scene.groups) <= _MAX_LABELS:
        _draw_labels(axes, scene)
    _draw_candidates(axes, scene)
    x, y, _ = scene.server_m
    if len(scene.path_m):
        axes.plot(*scene.path_m[:, :2].T, color=INK, lw=1.6, ls="--", zorder=5.5)
        axes.scatter(
            *scene.path_m[0, :2], s=170, marker="*", facecolor=PAPER, edgecolor=INK, zorder=5.6
        )
    axes.scatter(x, y, s=290, marker="*", color=SERVER, edgecolor=PAPER, linewidth=1.2, zorder=6)
    return mesh


def _draw_candidates(axes: Any, scene: MapScene) -> None:
    axes.scatter(*scene.candidates_m[:, :2].T, s=70, marker="+", color=INK, zorder=5)
    for position, label in zip(scene.candidates_m, scene.candidate_labels, strict=True):
        axes.annotate(
            label, position[:2], xytext=(0, -12), textcoords="offset points", ha="center",
            va="center", fontsize=7, color=INK, zorder=4.5,
        )  # fmt: skip


def _draw_reach(axes: Any, heat_map: HeatMap, outline: ReachOutline) -> None:
    """Draw the line at which the device's power is just enough; its name is on the line."""
    share = outline.power_share
    if not (np.nanmin(share) <= 1 < np.nanmax(share)):
        return
    lines = axes.contour(
        heat_map.x, heat_map.y, share, levels=[1.0], colors=INK, linewidths=0.7, alpha=0.75,
        linestyles="solid" if outline.active else "dashed", zorder=3,
    )  # fmt: skip
    name = escape_mathtext(outline.name)
    axes.clabel(lines, fmt={1.0: name}, fontsize=6.5, colors=INK, inline_spacing=2)


def _draw_heat_map(axes: Any, heat_map: HeatMap) -> Any:
    low, high = heat_map.colour_range()
    colours = 256
    if heat_map.max_count is not None:  # one colour for each count
        low, high = low - 0.5, high + 0.5
        colours = max(2, min(heat_map.max_count + 1, 24))
    ends = SHADE[::-1] if heat_map.low_is_better else SHADE
    return axes.pcolormesh(
        heat_map.x, heat_map.y, heat_map.value, vmin=low, vmax=max(high, low + 1e-12),
        cmap=LinearSegmentedColormap.from_list("shade", ends, N=colours), shading="nearest",
        rasterized=True,
    )  # fmt: skip


def _label_box(alpha: float) -> dict[str, Any]:
    return {"boxstyle": "round,pad=0.15", "fc": PAPER, "ec": "none", "alpha": alpha}


def _draw_labels(axes: Any, scene: MapScene) -> None:
    """Label each device on the side where the label covers least of what is drawn already."""
    axes.figure.canvas.draw()  # positions on the canvas are known only after drawing
    point = axes.figure.dpi / 72
    positions = [position[:2] for group in scene.groups for position in group.position_m]
    names = [escape_mathtext(name) for group in scene.groups for name in group.names]
    pixels = axes.transData.transform([*positions, scene.server_m[:2]])
    occupied = [_box_around(x, y, 7 * point, 7 * point) for x, y in pixels]
    for (x, y), position, name in zip(pixels, positions, names, strict=False):
        width, height = 4.7 * point * len(name) / 2, 6 * point

        def label_box(side: tuple[str, int, int], at: Any = (x, y, width, height)) -> Array:
            align, right, up = side
            shift = {"left": at[2], "right": -at[2], "center": 0.0}[align]
            return _box_around(at[0] + right * point + shift, at[1] + up * point, at[2], at[3])

        inside = axes.bbox.extents
        side = min(_SIDES, key=lambda side: _covered(label_box(side), occupied, inside))
        occupied.append(label_box(side))
        align, right, up = side
        axes.annotate(
            name, position, xytext=(right, up), textcoords="offset points", ha=align, va="center",
            fontsize=8, color=INK, bbox=_label_box(0.65), zorder=4.5,
        )  # fmt: skip


_SIDES = (("left", 8, 0), ("right", -8, 0), ("center", 0, 12), ("center", 0, -12))


def _box_around(x: float, y: float, width: float, height: float) -> Array:
    return np.array([x - width, y - height, x + width, y + height])


def _covered(box: Array, occupied: list[Array], inside: Array) -> float:
    """Return the area of other boxes that a box covers, plus twice its area outside the map."""
    area = float(np.prod(box[2:] - box[:2]))
    shown = np.maximum(np.minimum(box[2:], inside[2:]) - np.maximum(box[:2], inside[:2]), 0.0)
    total = 2 * (area - float(np.prod(shown)))
    for other in occupied:
        overlap = np.minimum(box[2:], other[2:]) - np.maximum(box[:2], other[:2])
        total += float(np.prod(np.maximum(overlap, 0.0)))
    return total


def _legend(scene: MapScene) -> list[Line2D]:
    def entry(label: str, marker: str, colour: str, face: str, size: int = 8) -> Line2D:
        return Line2D(
            [], [], ls="", marker=marker, ms=size, mfc=face, mec=colour, mew=1.6,
            label=escape_mathtext(label),
        )  # fmt: skip

    entries = [entry("server", "*", SERVER, SERVER, 14)]
    if len(scene.path_m):
        entries.append(entry("previous position", "*", INK, PAPER, 11))
        entries.append(Line2D([], [], color=INK, ls="--", label="way there"))
    entries += [entry(c.label, _marker(c), _colour(c), _colour(c)) for c in scene.groups]
    for label in dict.fromkeys(c.unfilled_label for c in scene.groups if not c.filled.all()):
        entries.append(entry(label, "o", INK, PAPER))
    if len(scene.departed_m):
        entries.append(entry("left", "x", MUTED, MUTED))
    if len(scene.candidates_m):
        entries.append(entry("candidate position", "+", INK, INK))
    if scene.keep_out_m:
        entries.append(Line2D([], [], color=DANGER, label="keep out"))
    if scene.reach:
        entries.append(Line2D([], [], color=INK, lw=0.7, label="reach at full power"))
    if scene.shocks:
        entries.append(Line2D([], [], color=DANGER, ls="--", label="shock"))
    return entries
