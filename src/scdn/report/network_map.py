"""A map of a scenario's network: devices in and out of reach, departed devices, coverage."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from scdn.arrays import Array, IntArray, Mask, floats
from scdn.report.map_scene import DeviceMarkers, HeatMap, MapScene
from scdn.scenario import Scenario
from scdn.world.churn import ChurnTrace, churn_trace
from scdn.world.fleet import Fleet
from scdn.world.geometry import server_start
from scdn.world.link_budget import in_reach, required_power

_COARSE = 61  # points along the longer side of a heat map with many devices
_MAX_DEVICES_FINE = 100  # with more devices, a heat map is computed on the coarse grid


def make_network_map(
    scenario: Scenario, round_: int = 0, trace: ChurnTrace | None = None
) -> MapScene:
    """Return the network at the start of a round, with the server at its starting position.

    `trace` are its devices, if they are not those that the scenario draws.
    """
    trace = trace or churn_trace(scenario)
    entered = trace.entered < round_
    fleet, present = trace.fleet.take(entered), trace.present(round_)[entered]
    departed = trace.departed(round_)[entered]
    server = server_start(scenario)
    reached = present & in_reach(scenario, fleet, server)
    power_w = required_power(scenario, fleet, server)
    when = "at the start" if round_ == 0 else f"after {round_} round{'s' * (round_ != 1)}"
    kinds = list(dict.fromkeys(fleet.kind.tolist()))
    return MapScene(
        title=f"{scenario.name}, {when}: {reached.sum()} of {present.sum()} devices in reach",
        region_m=scenario.region_m,
        server_m=server,
        path_m=np.zeros((0, 3)),
        groups=[
            _markers(fleet, np.flatnonzero(present & (fleet.kind == kind)), style, reached, power_w)
            for style, kind in enumerate(kinds)
        ],
        departed_m=fleet.position_m[departed],
        departed_names=[f"{escape(str(name))}, left" for name in fleet.id[departed]],
        linked_m=fleet.position_m[reached],
        keep_out_m=scenario.keep_out_m,
        candidates_m=floats(scenario.candidates_m or ()).reshape(-1, 3),
        candidate_labels=[f"{z:g} m" if z > 0 else "" for *_, z in scenario.candidates_m or ()],
        shocks=[
            (shock.centre_m, shock.radius_m, f"shock in round {shock.round + 1}")
            for shock in scenario.churn.shocks
        ],
        heat_map=_coverage(scenario, fleet.take(present), float(server[2])),
    )


def _markers(
    fleet: Fleet, members: IntArray, style: int, reached: Mask, power_w: Array
) -> DeviceMarkers:
    label = str(fleet.kind[members[0]]) if len(members) else ""
    return DeviceMarkers(
        label=label,
        style=style,
        position_m=fleet.position_m[members],
        filled=reached[members],
        names=[_label(fleet, index) for index in members],
        hover=[
            f"<b>{escape(str(fleet.id[index]))}</b> ({escape(str(fleet.kind[index]))})<br>"
            f"{', '.join(f'{c:.1f}' for c in fleet.position_m[index])} m<br>"
            f"{'in reach' if reached[index] else 'out of reach'}: needs {power_w[index]:.3g} W,"
            f" has {fleet.max_power_w[index]:.3g} W"
            for index in members
        ],
    )


def _label(fleet: Fleet, index: int) -> str:
    altitude = fleet.position_m[index, 2]
    return f"{fleet.id[index]}, {altitude:.0f} m up" if altitude > 0 else str(fleet.id[index])


def _coverage(scenario: Scenario, fleet: Fleet, altitude_m: float) -> HeatMap:
    x, y = ground_grid(scenario.region_m, len(fleet), 301)
    counts = [
        in_reach(scenario, fleet, np.stack([x, np.full_like(x, v), np.full_like(x, altitude_m)], 1))
        .sum(axis=1)
        .astype(np.float64)
        for v in y
    ]
    label = f"devices in reach from here at {altitude_m:g} m"
    return HeatMap(x, y, np.array(counts), label, max_count=len(fleet))


def ground_grid(region_m: Sequence[float], devices: int, fine: int) -> tuple[Array, Array]:
    """Return a grid's x and y: `fine` points along the longer side, fewer with many devices."""
    width, depth, _ = region_m
    points = fine if devices <= _MAX_DEVICES_FINE else _COARSE
    step = max(width, depth) / (points - 1)
    x = np.linspace(0, width, max(2, int(width / step) + 1))
    return x, np.linspace(0, depth, max(2, int(depth / step) + 1))
