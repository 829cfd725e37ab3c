"""Draw a map as an interactive page that works offline: in 3-D, and from above."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from scdn.arrays import Array
from scdn.report.map_scene import HeatMap, MapScene, box_edges, drawn_size, height_label
from scdn.report.palette import (
    DANGER,
    GRID,
    INK,
    KINDS,
    MUTED,
    PAPER,
    SERVER,
    SHADE,
    SYMBOLS,
    SYMBOLS_3D,
)

_MARGIN = -0.03  # axes start slightly below zero, so that markers at zero are not cut off


def map_html(scene: MapScene) -> str:
    """Return the map as a self-contained HTML page."""
    figure = make_subplots(
        cols=2,
        specs=[[{"type": "scene"}, {"type": "xy"}]],
        column_widths=[0.52, 0.48],
        horizontal_spacing=0.06,
    )
    for trace in _side_view(scene):
        figure.add_trace(trace, row=1, col=1)
    for trace in _top_view(scene):
        figure.add_trace(trace, row=1, col=2)
    _set_layout(figure, scene)
    page = figure.to_html(
        include_plotlyjs=True, default_height="96vh", config={"displaylogo": False}
    )
    return str(page)


def _side_view(scene: MapScene) -> Iterator[Any]:
    server = scene.server_m
    links = [point for device in scene.linked_m for point in (device, server, [None] * 3)]
    yield _lines_3d(links, SERVER)
    for group in scene.groups:
        colour = KINDS[group.style % len(KINDS)]
        symbol = SYMBOLS_3D[group.style % len(SYMBOLS_3D)]
        for filled in (True, False):
            members = np.flatnonzero(group.filled == filled)
            if len(members):
                marker = {
                    "symbol": symbol if filled else f"{symbol}-open",
                    "size": 6,
                    "color": colour,
                    "line": {"color": colour, "width": 2},
                }
                label = escape(group.label) + ("" if filled else f", {group.unfilled_label}")
                hover = [group.hover[int(index)] for index in members]
                yield _markers_3d(group.position_m[members], label, marker, hover)
    if len(scene.departed_m):
        marker = {"symbol": "x", "size": 4, "color": MUTED}
        yield _markers_3d(scene.departed_m, "left", marker, scene.departed_names)
    if len(scene.candidates_m):
        marker = {"symbol": "cross", "size": 4, "color": INK}
        hover = _candidate_hover(scene)
        yield _markers_3d(scene.candidates_m, "candidate position", marker, hover)
    for box in scene.keep_out_m:
        ends = [point for edge in box_edges(box) for point in (*edge, [None] * 3)]
        yield _lines_3d(ends, DANGER)
    if len(scene.path_m):
        yield _lines_3d(list(scene.path_m), INK, "dash")
        marker = {"symbol": "diamond-open", "size": 7, "color": INK}
        yield _markers_3d(
            scene.path_m[:1],
            "previous position",
            marker,
            ["previous position of the server"],
        )
    yield _lines_3d([server, server * [1.0, 1.0, 0.0]], SERVER, "dot")
    x, y, z = server
    marker = {"symbol": "diamond", "size": 9, "color": SERVER}
    yield _markers_3d(server[None], "server", marker, [f"server at {x:.1f}, {y:.1f}, {z:.1f} m"])


def _markers_3d(positions: Array, name: str, marker: dict[str, Any], hover: Sequence[str]) -> Any:
    x, y, z = positions.T.tolist()
    return go.Scatter3d(
        x=x, y=y, z=z, mode="markers", name=name, marker=marker, hovertext=list(hover),
        hoverinfo="text",
    )  # fmt: skip


def _lines_3d(points: Sequence[Any], colour: str, dash: str = "solid") -> Any:
    x, y, z = zip(*(list(point) for point in points), strict=True) if points else ((), (), ())
    return go.Scatter3d(
        x=x,
        y=y,
        z=z,
        mode="lines",
        line={"color": colour, "width": 3, "dash": dash},
        opacity=0.55,
        showlegend=False,
        hoverinfo="skip",
    )


def _top_view(scene: MapScene) -> Iterator[Any]:
    yield _heat_map_trace(scene.heat_map)
    for group in scene.groups:
        colour = KINDS[group.style % len(KINDS)]
        marker = {
            "symbol": SYMBOLS[group.style % len(SYMBOLS)],
            "size": 11,
            "color": [colour if filled else PAPER for filled in group.filled],
            "line": {"color": colour, "width": 2},
        }
        yield _markers_2d(group.position_m, marker, group.hover)
    cross = {"symbol": "x-thin", "size": 8, "line": {"color": MUTED, "width": 2}}
    yield _markers_2d(scene.departed_m, cross, scene.departed_names)
    plus = {"symbol": "cross-thin", "size": 10, "line": {"color": INK, "width": 2}}
    yield _markers_2d(scene.candidates_m, plus, _candidate_hover(scene))
    if len(scene.path_m):
        star = {"symbol": "star-open", "size": 14, "color": INK}
        yield _markers_2d(scene.path_m[:1], star, ["previous position of the server"])
    star = {"symbol": "star", "size": 18, "color": SERVER, "line": {"color": PAPER, "width": 1}}
    yield _markers_2d(scene.server_m[None], star, ["server"])


def _candidate_hover(scene: MapScene) -> list[str]:
    return [f"candidate position, {label}".rstrip(", ") for label in scene.candidate_labels]


def _heat_map_trace(heat_map: HeatMap) -> Any:
    ends = SHADE[::-1] if heat_map.low_is_better else SHADE
    low, high = heat_map.colour_range()
    values = [[None if np.isnan(v) else float(v) for v in row] for row in heat_map.value]
    return go.Heatmap(
        x=heat_map.x.tolist(),
        y=heat_map.y.tolist(),
        z=values,
        colorscale=[[0, ends[0]], [1, ends[1]]],
        zmin=low,
        zmax=high,
        colorbar={"title": {"text": heat_map.label, "side": "right"}, "thickness": 12,
                  "outlinewidth": 0},
        hovertemplate="server at %{x:.0f}, %{y:.0f} m: %{z:.5g}<extra></extra>",
    )  # fmt: skip


def _markers_2d(positions: Array, marker: dict[str, Any], hover: Sequence[str]) -> Any:
    x, y, _ = positions.T.tolist()
    return go.Scatter(
        x=x, y=y, mode="markers", showlegend=False, marker=marker, hovertext=list(hover),
        hoverinfo="text",
    )  # fmt: skip


def _set_layout(figure: Any, scene: MapScene) -> None:
    size = scene.region_m
    drawn, factor = drawn_size(size)
    titles = ("x (m)", "y (m)", height_label(factor))
    axis = {"gridcolor": GRID, "backgroundcolor": "#f8fafb", "color": MUTED, "zerolinecolor": GRID}
    axes = {
        f"{name}axis": {
            **axis,
            "range": [_MARGIN * size[i] * max(drawn) / drawn[i], size[i]],
            "title": {"text": titles[i]},
            "nticks": max(3, round(9 * drawn[i] / max(drawn))),
        }
        for i, name in enumerate("xyz")
    }
    figure.update_layout(
        title={"text": f"<b>{escape(scene.title)}</b>", "x": 0.02, "font": {"size": 20}},
        font={"family": "system-ui, sans-serif", "color": INK},
        paper_bgcolor=PAPER,
        plot_bgcolor=PAPER,
        margin={"l": 10, "r": 10, "t": 60, "b": 20},
        legend={"orientation": "h", "y": -0.02},
        hovermode="closest",
        autosize=True,
        scene={
            **axes,
            "aspectmode": "manual",
            "aspectratio": {name: drawn[i] / max(drawn) for i, name in enumerate("xyz")},
            "camera": {
                "eye": {"x": 1.5, "y": -1.85, "z": 0.9},
                "center": {"x": 0, "y": 0, "z": -0.12},
            },
        },
    )
    figure.update_xaxes(range=[0, size[0]], title="x (m)", color=MUTED, constrain="domain")
    figure.update_yaxes(
        range=[0, size[1]], title="y (m)", color=MUTED, scaleanchor="x", constrain="domain"
    )
    for box in scene.keep_out_m:
        x0, y0, z0, x1, y1, z1 = box
        in_the_way = scene.forbids_altitude(box)
        figure.add_shape(
            type="rect", x0=x0, y0=y0, x1=x1, y1=y1, row=1, col=2,
            line={"color": DANGER, "width": 2, "dash": "solid" if in_the_way else "dot"},
            label={"text": "" if in_the_way else f"keep out {z0:g} to {z1:g} m",
                   "font": {"color": DANGER, "size": 10}, "textposition": "bottom left"},
        )  # fmt: skip
    if len(scene.path_m):  # above the walls that it follows
        points = " L ".join(f"{x},{y}" for x, y, _ in scene.path_m.tolist())
        line = {"color": INK, "width": 2, "dash": "dash"}
        figure.add_shape(type="path", path=f"M {points}", line=line, row=1, col=2)
    for (x, y), r, text in scene.shocks:
        figure.add_shape(
            type="circle", x0=x - r, y0=y - r, x1=x + r, y1=y + r,
            line={"color": DANGER, "width": 1.5, "dash": "dash"},
            label={"text": text, "font": {"color": DANGER}}, row=1, col=2,
        )  # fmt: skip
