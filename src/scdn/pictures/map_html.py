"""The map as a page: turn it, zoom it, point at things. Works offline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from scdn.pictures.map import Map
from scdn.pictures.palette import (
    DANGER,
    GRID,
    INK,
    KINDS,
    MUTED,
    PAPER,
    REACH,
    SERVER,
    SYMBOLS,
    SYMBOLS_3D,
)

_BELOW = -0.03  # the axes start a little below zero, so that markers there are whole
_EDGES = (
    (0, 1),
    (1, 3),
    (3, 2),
    (2, 0),
    (4, 5),
    (5, 7),
    (7, 6),
    (6, 4),
    (0, 4),
    (1, 5),
    (2, 6),
    (3, 7),
)


def html(data: Map) -> str:
    """A self-contained page."""
    figure = make_subplots(
        cols=2,
        specs=[[{"type": "scene"}, {"type": "xy"}]],
        column_widths=[0.52, 0.48],
        horizontal_spacing=0.06,
    )
    for trace in _side(data):
        figure.add_trace(trace, row=1, col=1)
    for trace in _above(data):
        figure.add_trace(trace, row=1, col=2)
    _lay_out(figure, data)
    page = figure.to_html(
        include_plotlyjs=True, default_height="96vh", config={"displaylogo": False}
    )
    return str(page)


def _look(data: Map, kind: str) -> tuple[int, str]:
    index = data.kinds.index(kind)
    return index, KINDS[index % len(KINDS)]


def _hover(data: Map, index: np.int64) -> str:
    fleet = data.fleet
    x, y, z = fleet.position_m[index]
    state = "in reach" if data.reached[index] else "out of reach"
    return (
        f"<b>{escape(str(fleet.id[index]))}</b> ({escape(str(fleet.kind[index]))})<br>"
        f"{x:.1f}, {y:.1f}, {z:.1f} m<br>{state}: needs {data.needed_w[index]:.3g} W,"
        f" has {fleet.max_power_w[index]:.3g} W"
    )


def _side(data: Map) -> Iterator[Any]:
    server = data.server_m
    links = [
        point
        for place in data.fleet.position_m[data.reached]
        for point in (place, server, [None] * 3)
    ]
    yield _lines(links, SERVER, "link in reach")
    for kind in data.kinds:
        number, colour = _look(data, kind)
        for reached in (True, False):
            mine = np.flatnonzero(
                data.present & (data.fleet.kind == kind) & (data.reached == reached)
            )
            if len(mine):
                symbol = SYMBOLS_3D[number % len(SYMBOLS_3D)]
                yield _points(
                    data.fleet.position_m[mine],
                    f"{escape(kind)}{'' if reached else ', out of reach'}",
                    {
                        "symbol": symbol if reached else f"{symbol}-open",
                        "size": 6,
                        "color": colour,
                        "line": {"color": colour, "width": 2},
                    },
                    [_hover(data, index) for index in mine],
                )
    if data.gone.any():
        names = [f"{escape(str(name))}, left" for name in data.fleet.id[data.gone]]
        marker = {"symbol": "x", "size": 4, "color": MUTED}
        yield _points(data.fleet.position_m[data.gone], "left", marker, names)
    if data.scenario.candidates_m:
        places = np.array(data.scenario.candidates_m)
        marker = {"symbol": "cross", "size": 4, "color": INK}
        yield _points(places, "candidate place", marker, ["candidate place"] * len(places))
    for box in data.scenario.keep_out_m:
        yield _lines(_box(box), DANGER, "keep out")
    yield _lines([server, server * [1, 1, 0]], SERVER, "height of the server", dash="dot")
    x, y, z = server
    marker = {"symbol": "diamond", "size": 9, "color": SERVER}
    yield _points(server[None], "server", marker, [f"server at {x:.1f}, {y:.1f}, {z:.1f} m"])


def _points(places: Any, name: str, marker: dict[str, Any], hover: list[str]) -> Any:
    x, y, z = np.asarray(places).T.tolist()
    return go.Scatter3d(
        x=x, y=y, z=z, mode="markers", name=name, marker=marker, hovertext=hover, hoverinfo="text"
    )


def _lines(points: Sequence[Any], colour: str, name: str, dash: str = "solid") -> Any:
    x, y, z = zip(*(list(point) for point in points), strict=True) if points else ((), (), ())
    return go.Scatter3d(
        x=x,
        y=y,
        z=z,
        mode="lines",
        name=name,
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


def _above(data: Map) -> Iterator[Any]:
    yield go.Heatmap(
        x=data.x.tolist(),
        y=data.y.tolist(),
        z=data.coverage.tolist(),
        colorscale=[[0, REACH[0]], [1, REACH[1]]],
        zmin=0,
        zmax=max(1, int(data.present.sum())),
        colorbar={
            "title": {"text": "in reach", "side": "right"},
            "thickness": 12,
            "outlinewidth": 0,
        },
        hovertemplate="server at %{x:.0f}, %{y:.0f} m: %{z} in reach<extra></extra>",
    )
    for kind in data.kinds:
        number, colour = _look(data, kind)
        mine = np.flatnonzero(data.present & (data.fleet.kind == kind))
        x, y, _ = data.fleet.position_m[mine].T.tolist() if len(mine) else ([], [], [])
        yield go.Scatter(
            x=x,
            y=y,
            mode="markers",
            showlegend=False,
            marker={
                "symbol": SYMBOLS[number % len(SYMBOLS)],
                "size": 11,
                "color": [colour if data.reached[index] else PAPER for index in mine],
                "line": {"color": colour, "width": 2},
            },
            hovertext=[_hover(data, index) for index in mine],
            hoverinfo="text",
        )
    ghosts = data.fleet.position_m[data.gone]
    yield go.Scatter(
        x=ghosts[:, 0].tolist(),
        y=ghosts[:, 1].tolist(),
        mode="markers",
        showlegend=False,
        marker={"symbol": "x-thin", "size": 8, "line": {"color": MUTED, "width": 2}},
        hovertext=[f"{escape(str(name))}, left" for name in data.fleet.id[data.gone]],
        hoverinfo="text",
    )
    if data.scenario.candidates_m:
        places = np.array(data.scenario.candidates_m)
        yield go.Scatter(
            x=places[:, 0].tolist(),
            y=places[:, 1].tolist(),
            mode="markers",
            showlegend=False,
            marker={"symbol": "cross-thin", "size": 10, "line": {"color": INK, "width": 2}},
            hoverinfo="skip",
        )
    x, y, _ = data.server_m.tolist()
    yield go.Scatter(
        x=[x],
        y=[y],
        mode="markers",
        showlegend=False,
        marker={
            "symbol": "star",
            "size": 18,
            "color": SERVER,
            "line": {"color": PAPER, "width": 1},
        },
        hovertext=["server"],
        hoverinfo="text",
    )


def _lay_out(figure: Any, data: Map) -> None:
    size = data.scenario.region_m
    longest = max(size)
    axis = {"gridcolor": GRID, "backgroundcolor": "#f8fafb", "color": MUTED, "zerolinecolor": GRID}
    figure.update_layout(
        title={"text": f"<b>{escape(data.title)}</b>", "x": 0.02, "font": {"size": 20}},
        font={"family": "system-ui, sans-serif", "color": INK},
        paper_bgcolor=PAPER,
        plot_bgcolor=PAPER,
        margin={"l": 10, "r": 10, "t": 60, "b": 20},
        legend={"orientation": "h", "y": -0.02},
        hovermode="closest",
        autosize=True,
        scene={
            **{
                f"{name}axis": {
                    **axis,
                    "range": [_BELOW * size[i], size[i]],
                    "title": {"text": f"{name} (m)"},
                }
                for i, name in enumerate("xyz")
            },
            "aspectmode": "manual",
            "aspectratio": {name: size[i] / longest for i, name in enumerate("xyz")},
            "camera": {"eye": {"x": 1.2, "y": -1.5, "z": 0.7}},
        },
    )
    figure.update_xaxes(range=[0, size[0]], title="x (m)", color=MUTED, constrain="domain")
    figure.update_yaxes(
        range=[0, size[1]], title="y (m)", color=MUTED, scaleanchor="x", constrain="domain"
    )
    for x0, y0, _, x1, y1, _ in data.scenario.keep_out_m:
        figure.add_shape(
            type="rect", x0=x0, y0=y0, x1=x1, y1=y1, line={"color": DANGER, "width": 2},
            row=1, col=2,
        )  # fmt: skip
    for shock in data.scenario.churn.shocks:
        (x, y), r = shock.centre_m, shock.radius_m
        figure.add_shape(
            type="circle", x0=x - r, y0=y - r, x1=x + r, y1=y + r,
            line={"color": DANGER, "width": 1.5, "dash": "dash"},
            label={"text": f"round {shock.round}", "font": {"color": DANGER}}, row=1, col=2,
        )  # fmt: skip
