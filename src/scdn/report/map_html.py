"""A map as a page: turn it, zoom it, point at things. Works offline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from scdn.arrays import Array
from scdn.report.map_scene import MapScene
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

_BELOW = -0.03  # the axes start a little below zero, so that markers there are whole
_EDGES = ((0, 1), (1, 3), (3, 2), (2, 0), (4, 5), (5, 7), (7, 6), (6, 4), (0, 4), (1, 5), (2, 6),
          (3, 7))  # fmt: skip


def html(scene: MapScene) -> str:
    """A self-contained page."""
    figure = make_subplots(
        cols=2,
        specs=[[{"type": "scene"}, {"type": "xy"}]],
        column_widths=[0.52, 0.48],
        horizontal_spacing=0.06,
    )
    for trace in _side(scene):
        figure.add_trace(trace, row=1, col=1)
    for trace in _above(scene):
        figure.add_trace(trace, row=1, col=2)
    _lay_out(figure, scene)
    page = figure.to_html(
        include_plotlyjs=True, default_height="96vh", config={"displaylogo": False}
    )
    return str(page)


def _side(scene: MapScene) -> Iterator[Any]:
    server = scene.server_m
    links = [point for place in scene.linked_m for point in (place, server, [None] * 3)]
    yield _lines(links, SERVER)
    for crowd in scene.crowds:
        colour = KINDS[crowd.look % len(KINDS)]
        symbol = SYMBOLS_3D[crowd.look % len(SYMBOLS_3D)]
        for filled in (True, False):
            mine = np.flatnonzero(crowd.filled == filled)
            if len(mine):
                marker = {
                    "symbol": symbol if filled else f"{symbol}-open",
                    "size": 6,
                    "color": colour,
                    "line": {"color": colour, "width": 2},
                }
                label = escape(crowd.label) + ("" if filled else f", {crowd.hollow_label}")
                hover = [crowd.hover[int(index)] for index in mine]
                yield _points(crowd.position_m[mine], label, marker, hover)
    if len(scene.ghosts_m):
        marker = {"symbol": "x", "size": 4, "color": MUTED}
        yield _points(scene.ghosts_m, "left", marker, scene.ghost_names)
    if len(scene.candidates_m):
        marker = {"symbol": "cross", "size": 4, "color": INK}
        hover = ["candidate place"] * len(scene.candidates_m)
        yield _points(scene.candidates_m, "candidate place", marker, hover)
    for box in scene.keep_out_m:
        yield _lines(_box(box), DANGER)
    if scene.before_m is not None:
        yield _lines([scene.before_m, server], INK, "dash")
        marker = {"symbol": "diamond-open", "size": 7, "color": INK}
        yield _points(scene.before_m[None], "where it was", marker, ["where the server was"])
    yield _lines([server, server * [1.0, 1.0, 0.0]], SERVER, "dot")
    x, y, z = server
    marker = {"symbol": "diamond", "size": 9, "color": SERVER}
    yield _points(server[None], "server", marker, [f"server at {x:.1f}, {y:.1f}, {z:.1f} m"])


def _points(places: Array, name: str, marker: dict[str, Any], hover: Sequence[str]) -> Any:
    x, y, z = places.T.tolist()
    return go.Scatter3d(
        x=x, y=y, z=z, mode="markers", name=name, marker=marker, hovertext=list(hover),
        hoverinfo="text",
    )  # fmt: skip


def _lines(points: Sequence[Any], colour: str, dash: str = "solid") -> Any:
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


def _box(box: Sequence[float]) -> list[Any]:
    corners = [
        [box[3 * bit + axis] for axis, bit in enumerate(bits)] for bits in np.ndindex(2, 2, 2)
    ]
    return [point for a, b in _EDGES for point in (corners[a], corners[b], [None] * 3)]


def _above(scene: MapScene) -> Iterator[Any]:
    yield _shading(scene)
    for crowd in scene.crowds:
        colour = KINDS[crowd.look % len(KINDS)]
        marker = {
            "symbol": SYMBOLS[crowd.look % len(SYMBOLS)],
            "size": 11,
            "color": [colour if filled else PAPER for filled in crowd.filled],
            "line": {"color": colour, "width": 2},
        }
        yield _flat(crowd.position_m, marker, crowd.hover)
    cross = {"symbol": "x-thin", "size": 8, "line": {"color": MUTED, "width": 2}}
    yield _flat(scene.ghosts_m, cross, scene.ghost_names)
    plus = {"symbol": "cross-thin", "size": 10, "line": {"color": INK, "width": 2}}
    yield _flat(scene.candidates_m, plus, ["candidate place"] * len(scene.candidates_m))
    if scene.before_m is not None:
        (x0, y0, _), (x1, y1, _) = scene.before_m.tolist(), scene.server_m.tolist()
        line = {"color": INK, "width": 2, "dash": "dash"}
        yield go.Scatter(
            x=[x0, x1], y=[y0, y1], mode="lines", line=line, showlegend=False, hoverinfo="skip"
        )
        star = {"symbol": "star-open", "size": 14, "color": INK}
        yield _flat(scene.before_m[None], star, ["where the server was"])
    star = {"symbol": "star", "size": 18, "color": SERVER, "line": {"color": PAPER, "width": 1}}
    yield _flat(scene.server_m[None], star, ["server"])


def _shading(scene: MapScene) -> Any:
    shade = scene.shade
    ends = SHADE[::-1] if shade.low_is_good else SHADE
    seen = shade.value[np.isfinite(shade.value)]
    low, high = (float(seen.min()), float(np.quantile(seen, 0.98))) if len(seen) else (0.0, 1.0)
    if shade.steps is not None:
        low, high = 0.0, float(max(1, shade.steps))
    values = [[None if np.isnan(v) else float(v) for v in row] for row in shade.value]
    return go.Heatmap(
        x=shade.x.tolist(),
        y=shade.y.tolist(),
        z=values,
        colorscale=[[0, ends[0]], [1, ends[1]]],
        zmin=low,
        zmax=high,
        colorbar={"title": {"text": shade.label, "side": "right"}, "thickness": 12,
                  "outlinewidth": 0},
        hovertemplate="server at %{x:.0f}, %{y:.0f} m: %{z:.5g}<extra></extra>",
    )  # fmt: skip


def _flat(places: Array, marker: dict[str, Any], hover: Sequence[str]) -> Any:
    x, y, _ = places.T.tolist()
    return go.Scatter(
        x=x, y=y, mode="markers", showlegend=False, marker=marker, hovertext=list(hover),
        hoverinfo="text",
    )  # fmt: skip


def _lay_out(figure: Any, scene: MapScene) -> None:
    size = scene.region_m
    longest = max(size)
    axis = {"gridcolor": GRID, "backgroundcolor": "#f8fafb", "color": MUTED, "zerolinecolor": GRID}
    axes = {
        f"{name}axis": {
            **axis,
            "range": [_BELOW * size[i], size[i]],
            "title": {"text": f"{name} (m)"},
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
            "aspectratio": {name: size[i] / longest for i, name in enumerate("xyz")},
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
    for x0, y0, z0, x1, y1, z1 in scene.keep_out_m:
        in_the_way = z0 < scene.server_m[2] < z1  # else the server flies over it, or under
        figure.add_shape(
            type="rect", x0=x0, y0=y0, x1=x1, y1=y1, row=1, col=2,
            line={"color": DANGER, "width": 2, "dash": "solid" if in_the_way else "dot"},
            label={"text": f"keep out, {z0:g} to {z1:g} m", "font": {"color": DANGER, "size": 10},
                   "textposition": "bottom left"},
        )  # fmt: skip
    for (x, y), r, text in scene.discs:
        figure.add_shape(
            type="circle", x0=x - r, y0=y - r, x1=x + r, y1=y + r,
            line={"color": DANGER, "width": 1.5, "dash": "dash"},
            label={"text": text, "font": {"color": DANGER}}, row=1, col=2,
        )  # fmt: skip
