"""What two devices and the server do as the time limit of a report shrinks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from scdn.arrays import Array
from scdn.control.problem import RoundProblem
from scdn.paper.artefact import ArtefactSpec, Drawing, Numbers, Part, Results, ResultTable
from scdn.paper.delay_limit.claims import AS_PLANNED, Events
from scdn.paper.plotting import COLOURS, add_legend, use_log_scale
from scdn.paper.single_round import (
    STARTS,
    decision_numbers,
    first_round_problem,
    run_algorithm3,
    scenario_job,
    solve_closely,
)
from scdn.paper.summaries import nested, rounded, rounded_list
from scdn.paper.sweep import ArtefactJob
from scdn.paper.value_text import listed, value_range, without_repeats
from scdn.report.matplotlib_style import style_axes
from scdn.report.palette import GRID, INK, MARKERS, MUTED, PAPER
from scdn.scenario import make_scenario

EXACT_TRUE = "exact, true rate"
SOLVERS = {  # label → channel and plan
    AS_PLANNED: ("pade", "raw"),
    "Algorithm 3, repaired": ("pade", "repaired"),
    "exact, Padé's rate": ("pade", "exact"),
    EXACT_TRUE: ("true", "exact"),
}
DRAWN = (("pade", "raw", "Padé's rate, Algorithm 3"), ("true", "exact", "true rate, exact"))
PANELS = {
    "delay_s": "transmit time (s)",
    "power_w": "power (W)",
    "active": "active devices",
    "iterations": "iterations",
}
_PANEL_HEIGHTS = (3, 3, 1.6, 3)
_LATE = 1.01  # of the limit: Algorithm 3's program is solved to a tolerance
_LIMIT_PRECISION = 1e-4  # relative, of the limit at which a device is lost
_DEVICE_STYLES = ((COLOURS[0], MARKERS[0], 6), (COLOURS[6], MARKERS[1], 4))


def jobs(spec: ArtefactSpec) -> list[ArtefactJob]:
    """Return one job per channel, start and network."""
    sweep = spec.sweep
    channels = {"pade": (sweep["pade_s"], []), "true": (sweep["true_s"], sweep["true"])}
    return [
        scenario_job(
            f"{channel}-{start}-{seed}",
            plan_for_each_limit,
            spec,
            [*settings, f"server.start={start}", f"seed={seed}"],
            channel=channel,
            delays_s=delays_s,
        )
        for channel, (delays_s, settings) in channels.items()
        for start in STARTS
        for seed in spec.seeds
    ]


def plan_for_each_limit(arguments: dict[str, Any]) -> dict[str, Any]:
    """Solve the problem for each delay limit: exactly, and with Algorithm 3 on its own channel."""
    problem = first_round_problem(make_scenario(arguments["scenario"]))
    channel = arguments["channel"]
    plans: dict[str, list[dict[str, Any]]] = {"exact": []}
    for delay_s in arguments["delays_s"]:
        limited = replace(problem, max_delay_s=delay_s)
        best = solve_closely(limited)
        proven = best.status == "optimal"
        plans["exact"].append({**decision_numbers(limited, best.decision), "proven": proven})
        if channel == "pade":
            result = run_algorithm3(limited)
            plans.setdefault("raw", []).append(decision_numbers(limited, result.raw))
            plans.setdefault("repaired", []).append(decision_numbers(limited, result.repaired))
    return {
        "devices_m": [rounded_list(position) for position in problem.position_m],
        "start_m": rounded_list(problem.server_m),
        "edges_s": [
            _least_limit(problem, count, arguments["delays_s"])
            for count in (2, 1)
            if channel == "true"
        ],
        "plans": plans,
    }


def _least_limit(problem: RoundProblem, count: int, delays_s: list[float]) -> float | None:
    """Bisect for the least delay limit at which the exact plan has `count` active devices."""

    def is_enough(delay_s: float) -> bool:
        best = solve_closely(replace(problem, max_delay_s=delay_s))
        return int(best.decision.active.sum()) >= count

    low, high = min(delays_s) / 2, max(delays_s)
    if not is_enough(high):
        return None
    while high / low > 1 + _LIMIT_PRECISION:
        middle = float((low * high) ** 0.5)
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return rounded(high, 5)


def numbers(spec: ArtefactSpec, results: Results) -> Numbers:
    """Return what happens in every network, and all plans of the first."""
    delays = {"pade": spec.sweep["pade_s"], "true": spec.sweep["true_s"]}

    def events(solver: str, start: str) -> list[Events]:
        channel, plan = SOLVERS[solver]
        networks = [results[f"{channel}-{start}-{seed}"] for seed in spec.seeds]
        return [_events(network, plan, delays[channel]) for network in networks]

    return {
        "delays_s": delays,
        "shown": nested(lambda channel, start: results[f"{channel}-{start}-0"], delays, STARTS),
        "events": nested(events, SOLVERS, STARTS),
    }


def _events(result: dict[str, Any], plan: str, delays_s: list[float]) -> Events:
    plans = result["plans"][plan]
    devices, start = np.array(result["devices_m"]), np.array(result["start_m"])
    positions = np.array([row["server_m"] for row in plans])
    counts = [sum(row["active"]) for row in plans]
    both, one, none = ([k for k, count in enumerate(counts) if count == n] for n in (2, 1, 0))
    last = plans[one[-1]]["active"].index(True) if one else None
    power = [float(np.mean(plans[k]["power_w"])) for k in both]
    all_off = positions[none[0]] if none else None
    feasible = [delay for delay, count in zip(delays_s, counts, strict=True) if count]
    return {
        "counts": counts,
        "power_w": rounded_list(power),
        "both": len(both),
        "last": last,
        "nearest": int(np.argmin(np.linalg.norm(devices - start, axis=1))),
        "least_s": min(feasible, default=None),
        "midpoint_m": _mean_distance(positions[both], devices.mean(axis=0)) if both else None,
        "apart_m": _mean_distance(devices[:1], devices[1]),
        "beside_m": None if last is None else _mean_distance(positions[one[-1:]], devices[last]),
        "off_z_m": None if all_off is None else rounded(all_off[2], 4),
        "off_moved_m": None if all_off is None else _mean_distance(all_off[None, :2], start[:2]),
        "edges_s": result["edges_s"],
        "late": sum(
            delay_s > _LATE * limit
            for row, limit in zip(plans, delays_s, strict=True)
            for delay_s in row["delay_s"]
        ),
        "sent": sum(counts),
    }


def _mean_distance(positions: Array, other: Array) -> float:
    return rounded(np.linalg.norm(positions - other, axis=1).mean(), 4)


# --- tables and pictures --------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Part]:
    """Return two drawings for each channel, and a table of events."""
    drawings = []
    for channel, plan, label in DRAWN:
        controls = partial(_draw_controls, numbers, channel, plan)
        positions = partial(_draw_positions, numbers, channel, plan)
        title = f"Two devices as the time limit shrinks: {label}"
        drawings.append(Drawing(f"response-{channel}", title, controls, (12.0, 7.0)))
        title = f"Where the server goes as the time limit shrinks: {label}"
        drawings.append(Drawing(f"response-{channel}-places", title, positions, (12.0, 5.0)))
    return [*drawings, _event_table(numbers)]


def _draw_controls(numbers: Numbers, channel: str, plan: str, figure: Any) -> None:
    panels = figure.subplots(
        len(PANELS), len(STARTS), sharex=True, sharey="row", height_ratios=_PANEL_HEIGHTS
    )
    limits = np.array(numbers["delays_s"][channel])
    marked = limits[[0, len(limits) // 2, -1]]
    ticks = marked, [f"{limit:g}" for limit in marked]
    for column, start in enumerate(STARTS):
        plans = numbers["shown"][channel][start]["plans"][plan]
        active = np.array([row["active"] for row in plans])
        for axes, (name, label) in zip(panels[:, column], PANELS.items(), strict=True):
            if name == "active":
                count = active.sum(axis=1)
                axes.plot(limits, count, color=INK, marker="D", markersize=4, linewidth=1)
            else:
                _draw_devices(axes, limits, np.where(active, [row[name] for row in plans], np.nan))
            if name == "delay_s":
                axes.plot(
                    limits, limits, color=MUTED, linewidth=1, linestyle=(0, (2, 3)),
                    label="time limit",
                )  # fmt: skip
            use_log_scale(axes, "xy" if name in ("delay_s", "power_w") else "x")
            is_lowest = axes is panels[-1][column]
            x_label, y_label = "time limit (s)" if is_lowest else "", label if column == 0 else ""
            style_axes(axes, x_label, y_label)
            axes.set_xticks(*ticks)
            axes.grid(axis="y", color=GRID)
            if name == "delay_s" and channel == "true":
                axes.set_yticks(*ticks)
            if name == "active":
                axes.set_ylim(-0.4, 2.4)
                axes.set_yticks((0, 1, 2))
            if name == "iterations":
                axes.set_ylim(-0.3, 5.3)
        panels[0][column].set_title(start, fontsize=10)
    panels[0][0].invert_xaxis()
    add_legend(figure, panels[0][0])


def _draw_devices(axes: Any, limits: Array, values: Array) -> None:
    for device, (colour, marker, size) in enumerate(_DEVICE_STYLES):
        axes.plot(
            limits, values[:, device], color=colour, marker=marker, markersize=size, linewidth=1.4,
            label=f"device {device + 1}",
        )  # fmt: skip


def _draw_positions(numbers: Numbers, channel: str, plan: str, figure: Any) -> None:
    panels = figure.subplots(2, len(STARTS), sharex="row", sharey="row")
    for column, start in enumerate(STARTS):
        for axes, plane in zip(panels[:, column], ("xy", "yz"), strict=True):
            _draw_plane(axes, numbers["shown"][channel][start], plan, plane)
            axes.set_xlim(-5, 105)
            axes.set_ylim(-5, 105)
            style_axes(axes, f"{plane[0]} (m)", f"{plane[1]} (m)" if column == 0 else "")
            axes.grid(color=GRID)
        panels[0][column].set_title(start, fontsize=10)
    add_legend(figure, panels[0][0], 6)


def _draw_plane(axes: Any, network: dict[str, Any], plan: str, plane: str) -> None:
    """Draw the devices and the server's positions, projected onto a plane."""
    coordinates = ["xyz".index(letter) for letter in plane]
    plans = network["plans"][plan]
    positions = np.array([row["server_m"] for row in plans])[:, coordinates]
    counts = np.array([sum(row["active"]) for row in plans])
    for device, (colour, marker, _) in enumerate(_DEVICE_STYLES):
        axes.plot(
            *np.array(network["devices_m"][device])[coordinates], marker, markersize=9,
            color=colour, label=f"device {device + 1}",
        )  # fmt: skip
    axes.plot(*positions.T, color=MUTED, linewidth=0.8)
    before = np.array(network["start_m"])[coordinates]
    axes.plot(*before, "+", color=INK, markersize=9, label="server before")
    for count, fill in ((2, INK), (1, MUTED), (0, PAPER)):
        axes.plot(
            *positions[counts == count].T, "D", markersize=5, color=fill, markeredgecolor=INK,
            linestyle="", label=f"server, {count} active",
        )  # fmt: skip


def _event_table(numbers: Numbers) -> ResultTable:
    rows = [
        (
            solver,
            start,
            " ".join(map(str, events["counts"])),
            "–" if events["last"] is None else f"device {events['last'] + 1}",
            f"device {events['nearest'] + 1}",
            *("–" if events[key] is None else f"{events[key]:g}" for key in ("least_s", "off_z_m")),
        )
        for solver, by_start in numbers["events"].items()
        for start, (events, *_) in by_start.items()
    ]
    limits = numbers["delays_s"]
    return ResultTable(
        "The network that is drawn: active devices at each limit",
        ("solver", "start", "active, from the longest limit to the shortest", "last",
         "nearest to the start", "least limit with one active (s)", "height when all are off (m)"),
        without_repeats(rows, 1),
        f"Limits with the Padé rate: {listed(limits['pade'])} s; with true rates: "
        f"{listed(limits['true'])} s. {_least_limits(numbers)}",
    )  # fmt: skip


def _least_limits(numbers: Numbers) -> str:
    """Return the limits below which the exact plan loses its devices with true rates."""
    every = [
        event["edges_s"] for events in numbers["events"][EXACT_TRUE].values() for event in events
    ]
    known = [limits for limits in every if None not in limits]
    if not known:
        return ""
    first, second = zip(*known, strict=True)
    return (
        f"With true rates the first device is lost below {value_range(first)} s, "
        f"the second below {value_range(second)} s."
    )
