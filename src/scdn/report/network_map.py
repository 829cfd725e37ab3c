"""A map of a scenario: who is where, who is in reach at full power, who came and went."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np

from scdn.arrays import Array, IntArray, Mask, floats
from scdn.report.map_scene import DeviceMarkers, HeatMap, MapScene, check_map_format, write_map
from scdn.scenario import Scenario
from scdn.world.churn import churn_trace
from scdn.world.fleet import Fleet
from scdn.world.geometry import server_start
from scdn.world.link_budget import in_reach, required_power

_FINE, _COARSE = 301, 61  # points along the longer side of the coverage map
_CROWD = 100  # more devices than this are counted on a coarse one


def draw_network_map(scenario: Scenario, out: str | Path, round_: int = 0) -> None:
    """Writes the map as .png, .svg or (interactive, offline) .html."""
    check_map_format(out)
    write_map(make_network_map(scenario, round_), out)


def make_network_map(scenario: Scenario, round_: int = 0) -> MapScene:
    """What the network looks like when the round begins, the server at its start."""
    trace = churn_trace(scenario)
    seen = trace.entered < round_
    fleet, present = trace.fleet.take(seen), trace.present(round_)[seen]
    gone = trace.departed(round_)[seen]
    server = server_start(scenario)
    reached = present & in_reach(scenario, fleet, server)
    needed = required_power(scenario, fleet, server)
    when = "at the start" if round_ == 0 else f"round {round_}"
    kinds = list(dict.fromkeys(fleet.kind.tolist()))
    return MapScene(
        title=f"{scenario.name}, {when}: {reached.sum()} of {present.sum()} devices in reach",
        region_m=scenario.region_m,
        server_m=server,
        before_m=None,
        crowds=[
            _crowd(fleet, np.flatnonzero(present & (fleet.kind == kind)), look, reached, needed)
            for look, kind in enumerate(kinds)
        ],
        ghosts_m=fleet.position_m[gone],
        ghost_names=[f"{escape(str(name))}, left" for name in fleet.id[gone]],
        linked_m=fleet.position_m[reached],
        keep_out_m=scenario.keep_out_m,
        candidates_m=floats(scenario.candidates_m or ()).reshape(-1, 3),
        discs=[
            (shock.centre_m, shock.radius_m, f"shock in round {shock.round}")
            for shock in scenario.churn.shocks
        ],
        shade=_coverage(scenario, fleet.take(present), float(server[2])),
    )


def _crowd(fleet: Fleet, mine: IntArray, look: int, reached: Mask, needed: Array) -> DeviceMarkers:
    label = str(fleet.kind[mine[0]]) if len(mine) else ""
    return DeviceMarkers(
        label=label,
        look=look,
        position_m=fleet.position_m[mine],
        filled=reached[mine],
        names=[_name(fleet, index) for index in mine],
        hover=[
            f"<b>{escape(str(fleet.id[index]))}</b> ({escape(str(fleet.kind[index]))})<br>"
            f"{', '.join(f'{c:.1f}' for c in fleet.position_m[index])} m<br>"
            f"{'in reach' if reached[index] else 'out of reach'}: needs {needed[index]:.3g} W,"
            f" has {fleet.max_power_w[index]:.3g} W"
            for index in mine
        ],
    )


def _name(fleet: Fleet, index: int) -> str:
    height = fleet.position_m[index, 2]
    return f"{fleet.id[index]}, {height:.0f} m up" if height > 0 else str(fleet.id[index])


def _coverage(scenario: Scenario, fleet: Fleet, altitude_m: float) -> HeatMap:
    x, y = ground_grid(scenario.region_m, _FINE if len(fleet) <= _CROWD else _COARSE)
    counts = [
        in_reach(scenario, fleet, np.stack([x, np.full_like(x, v), np.full_like(x, altitude_m)], 1))
        .sum(axis=1)
        .astype(np.float64)
        for v in y
    ]
    label = f"devices in reach from here at {altitude_m:g} m"
    return HeatMap(x, y, np.array(counts), label, steps=len(fleet))


def ground_grid(region_m: tuple[float, float, float], points: int) -> tuple[Array, Array]:
    """Coordinates of a grid with `points` along the longer side."""
    width, depth, _ = region_m
    step = max(width, depth) / (points - 1)
    x = np.linspace(0, width, max(2, int(width / step) + 1))
    return x, np.linspace(0, depth, max(2, int(depth / step) + 1))
