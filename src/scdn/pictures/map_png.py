"""The map as a still picture."""

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

from scdn.pictures.map import Map
from scdn.pictures.palette import (
    DANGER,
    GRID,
    INK,
    KINDS,
    MARKERS,
    MUTED,
    PAPER,
    REACH,
    SERVER,
)

_LABELLED = 16  # devices that can be named without a clutter


def image(data: Map, kind: str = "png") -> bytes:
    """The map from the side and from above."""
    figure = Figure(figsize=(13, 6.4), dpi=130, facecolor=PAPER)
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(
        1, 2, width_ratios=[1, 1.1], left=0.0, right=0.955, top=0.89, bottom=0.14, wspace=0.12
    )
    figure.suptitle(data.title, x=0.03, y=0.965, ha="left", fontsize=15, color=INK, weight="bold")
    _side(figure.add_subplot(grid[0], projection="3d"), data)
    above = figure.add_subplot(grid[1])
    shading = _above(above, data)
    bar = figure.colorbar(shading, ax=above, fraction=0.04, pad=0.02)
    bar.set_label(f"devices in reach from here at {data.server_m[2]:g} m", color=INK)
    bar.outline.set_visible(False)
    figure.legend(
        handles=_legend(data),
        loc="lower left",
        ncols=8,
        frameon=False,
        bbox_to_anchor=(0.02, 0.005),
    )
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, metadata={"Date": None} if kind == "svg" else None)
    return buffer.getvalue()


def _colour(data: Map, kind: str) -> str:
    return KINDS[data.kinds.index(kind) % len(KINDS)]


def _marker(data: Map, kind: str) -> str:
    return MARKERS[data.kinds.index(kind) % len(MARKERS)]


def _side(axes: Any, data: Map) -> None:
    size = data.scenario.region_m
    axes.set(xlim=(0, size[0]), ylim=(0, size[1]), zlim=(0, size[2]))
    axes.set_box_aspect(size, zoom=1.12)
    axes.view_init(elev=22, azim=-58)
    for axis, name in zip((axes.xaxis, axes.yaxis, axes.zaxis), "xyz", strict=True):
        axis.set_pane_color((0.97, 0.98, 0.985, 1.0))
        axis._axinfo["grid"].update(color=GRID)
        axis.set_label_text(f"{name} (m)", color=MUTED)
        axis.set_tick_params(colors=MUTED, labelsize=8)
    server = data.server_m
    for index in np.flatnonzero(data.present):
        place, colour = data.fleet.position_m[index], _colour(data, data.fleet.kind[index])
        if data.reached[index]:
            axes.plot(*np.stack([place, server]).T, color=SERVER, lw=1.1, alpha=0.55)
        if place[2] > 0:
            axes.plot(*np.stack([place, place * [1, 1, 0]]).T, color=colour, lw=0.8, ls=":")
        axes.scatter(
            *place,
            s=62,
            marker=_marker(data, data.fleet.kind[index]),
            facecolor=colour if data.reached[index] else PAPER,
            edgecolor=colour,
            linewidth=1.6,
            depthshade=False,
        )
    ghosts = data.fleet.position_m[data.gone]
    axes.scatter(*ghosts.T, s=40, marker="x", color=MUTED, depthshade=False)
    for box in data.scenario.keep_out_m:
        _box(axes, box)
    if data.scenario.candidates_m:
        axes.scatter(*np.array(data.scenario.candidates_m).T, s=26, marker="+", color=INK)
    axes.plot(*np.stack([server, server * [1, 1, 0]]).T, color=SERVER, lw=0.9, ls=":")
    axes.scatter(*server, s=210, marker="*", color=SERVER, edgecolor=PAPER, depthshade=False)


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


def _above(axes: Any, data: Map) -> Any:
    scenario, most = data.scenario, int(data.present.sum())
    colours = LinearSegmentedColormap.from_list("reach", REACH, N=max(2, min(most + 1, 24)))
    shading = axes.pcolormesh(
        data.x, data.y, data.coverage, cmap=colours, vmin=-0.5, vmax=most + 0.5, shading="nearest",
        rasterized=True,
    )  # fmt: skip
    axes.set(xlim=(0, scenario.region_m[0]), ylim=(0, scenario.region_m[1]), aspect="equal")
    axes.set_xlabel("x (m)", color=MUTED)
    axes.set_ylabel("y (m)", color=MUTED)
    axes.tick_params(colors=MUTED)
    for spine in axes.spines.values():
        spine.set_color(GRID)
    for x0, y0, _, x1, y1, _ in scenario.keep_out_m:
        axes.add_patch(
            Rectangle((x0, y0), x1 - x0, y1 - y0, fill=False, hatch="///", color=DANGER, lw=1.2)
        )
    for shock in scenario.churn.shocks:
        axes.add_patch(Circle(shock.centre_m, shock.radius_m, fill=False, ls="--", color=DANGER))
        x, y, r = *shock.centre_m, shock.radius_m
        top = (x, min(y + r, scenario.region_m[1] - 3) if y + r <= scenario.region_m[1] else y - r)
        axes.annotate(
            f"shock in round {shock.round}", top, color=DANGER, ha="center", fontsize=8,
            bbox={"boxstyle": "round,pad=0.2", "fc": PAPER, "ec": "none", "alpha": 0.75},
        )  # fmt: skip
    _devices_above(axes, data)
    if scenario.candidates_m:
        axes.scatter(*np.array(scenario.candidates_m)[:, :2].T, s=70, marker="+", color=INK)
    x, y, _ = data.server_m
    axes.scatter(x, y, s=290, marker="*", color=SERVER, edgecolor=PAPER, linewidth=1.2, zorder=6)
    return shading


def _devices_above(axes: Any, data: Map) -> None:
    for kind in data.kinds:
        mine = data.present & (data.fleet.kind == kind)
        place, colour = data.fleet.position_m[mine], _colour(data, kind)
        faces = [colour if reached else PAPER for reached in data.reached[mine]]
        axes.scatter(
            *place[:, :2].T, s=80, marker=_marker(data, kind), facecolor=faces, edgecolor=colour,
            linewidth=1.8, zorder=5,
        )  # fmt: skip
    axes.scatter(
        *data.fleet.position_m[data.gone][:, :2].T, s=46, marker="x", color=MUTED, zorder=4
    )
    if data.present.sum() > _LABELLED:
        return
    width = data.scenario.region_m[0]
    for index in np.flatnonzero(data.present):
        x, y, z = data.fleet.position_m[index]
        height = f", {z:.0f} m up" if z > 0 else ""
        right = x < 0.8 * width
        axes.annotate(
            f"{data.fleet.id[index]}{height}", (x, y), xytext=(8 if right else -8, -3),
            textcoords="offset points", ha="left" if right else "right", fontsize=8, color=INK,
            bbox={"boxstyle": "round,pad=0.15", "fc": PAPER, "ec": "none", "alpha": 0.65},
            zorder=4.5,
        )  # fmt: skip


def _legend(data: Map) -> list[Line2D]:
    def entry(label: str, marker: str, colour: str, face: str, size: int = 8) -> Line2D:
        return Line2D(
            [], [], ls="", marker=marker, ms=size, mfc=face, mec=colour, mew=1.6, label=label
        )

    entries = [entry("server", "*", SERVER, SERVER, 14)]
    entries += [
        entry(kind, _marker(data, kind), _colour(data, kind), _colour(data, kind))
        for kind in data.kinds
    ]
    entries.append(entry("out of reach", "o", INK, PAPER))
    if data.gone.any():
        entries.append(entry("left", "x", MUTED, MUTED))
    if data.scenario.candidates_m:
        entries.append(entry("candidate place", "+", INK, INK))
    if data.scenario.keep_out_m:
        entries.append(Line2D([], [], color=DANGER, label="keep out"))
    if data.scenario.churn.shocks:
        entries.append(Line2D([], [], color=DANGER, ls="--", label="shock"))
    return entries
