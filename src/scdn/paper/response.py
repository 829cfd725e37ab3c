"""What two devices and the server do as the time limit of a report shrinks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from scdn.arrays import Array
from scdn.control.problem import RoundProblem
from scdn.paper.artefact import Drawing, Found, Numbers, Setting, Table
from scdn.paper.control import (
    STARTS,
    algorithm_3,
    described,
    drawn_problem,
    network_job,
    optimal,
    scenario_of,
)
from scdn.paper.digits import between, listed, rounded, short
from scdn.paper.draw import COLOURS, legend, logarithmic, tidy
from scdn.paper.jobs import Job
from scdn.paper.response_claims import RAW, claims
from scdn.pictures.palette import GRID, INK, MARKERS, MUTED, PAPER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["claims", "jobs", "numbers", "show"]

WORK = "scdn.paper.response:events"
TRUE = "exact, true rate"
SOLVERS = {
    RAW: ("pade", "raw"),
    "Algorithm 3, repaired": ("pade", "repaired"),
    "exact, Padé's rate": ("pade", "exact"),
    TRUE: ("true", "exact"),
}
DRAWN = (
    ("pade", "raw", "Padé's rate, Algorithm 3"),
    ("true", "exact", "true rate, exact"),
)
SHOWN = {
    "delay_s": "transmit time (s)",
    "power_w": "power (W)",
    "active": "active devices",
    "iterations": "iterations",
}
_HEIGHTS = (3, 3, 1.6, 3)
LATE = 1.01  # of the limit: the program is solved to a tolerance
_EDGE = 1e-4  # how closely the delay is found at which a device is lost, relative
_DEVICES = ((COLOURS[0], MARKERS[0], 6), (COLOURS[6], MARKERS[1], 4))  # how each is drawn


def jobs(setting: Setting) -> list[Job]:
    """One per channel, start and network."""
    sweep = setting.sweep
    channels = {"pade": (sweep["pade_s"], []), "true": (sweep["true_s"], sweep["true"])}
    return [
        network_job(
            f"{channel}-{start}-{seed}",
            WORK,
            setting,
            [*own, f"server.start={start}", f"seed={seed}"],
            channel=channel,
            delays_s=delays,
        )
        for channel, (delays, own) in channels.items()
        for start in STARTS
        for seed in setting.seeds
    ]


def events(arguments: dict[str, Any], _: object) -> dict[str, Any]:
    """Plans for every delay limit: exact, and on the paper's channel also Algorithm 3's."""
    problem, channel = drawn_problem(scenario_of(arguments)), arguments["channel"]
    plans: dict[str, list[dict[str, Any]]] = {"exact": []}
    for delay_s in arguments["delays_s"]:
        limited = replace(problem, max_delay_s=delay_s)
        best = optimal(limited)
        proven = best.status == "optimal"
        plans["exact"].append({**described(limited, best.decision), "proven": proven})
        if channel == "pade":
            found = algorithm_3(limited)
            plans.setdefault("raw", []).append(described(limited, found.raw))
            plans.setdefault("repaired", []).append(described(limited, found.repaired))
    return {
        "devices_m": [short(place) for place in problem.position_m],
        "start_m": short(problem.server_m),
        "edges_s": [
            _edge(problem, count, arguments["delays_s"]) for count in (2, 1) if channel == "true"
        ],
        "plans": plans,
    }


def _edge(problem: RoundProblem, count: int, delays_s: list[float]) -> float | None:
    """The least delay limit under which the exact plan has `count` devices active."""

    def enough(delay_s: float) -> bool:
        found = optimal(replace(problem, max_delay_s=delay_s))
        return int(found.decision.active.sum()) >= count

    low, high = min(delays_s) / 2, max(delays_s)
    if not enough(high):
        return None
    while high / low > 1 + _EDGE:
        middle = float((low * high) ** 0.5)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return rounded(high, 5)


def numbers(setting: Setting, found: Found) -> Numbers:
    """What happens in every network, and all plans of the first."""
    sweep = setting.sweep
    delays = {"pade": sweep["pade_s"], "true": sweep["true_s"]}
    first = setting.seeds[0]
    return {
        "delays_s": delays,
        "shown": {
            channel: {start: found[f"{channel}-{start}-{first}"] for start in STARTS}
            for channel in delays
        },
        "events": {
            solver: {
                start: [
                    _summary(found[f"{channel}-{start}-{seed}"], plan, delays[channel])
                    for seed in setting.seeds
                ]
                for start in STARTS
            }
            for solver, (channel, plan) in SOLVERS.items()
        },
    }


def _summary(record: dict[str, Any], plan: str, delays_s: list[float]) -> dict[str, Any]:
    """The events in one network as the limit shrinks."""
    plans = record["plans"][plan]
    devices, start = np.array(record["devices_m"]), np.array(record["start_m"])
    places = np.array([row["server_m"] for row in plans])
    counts = [sum(row["active"]) for row in plans]
    both, one, none = ([k for k, count in enumerate(counts) if count == n] for n in (2, 1, 0))
    alone = plans[one[-1]]["active"].index(True) if one else None
    power = [float(np.mean(plans[k]["power_w"])) for k in both]
    off = places[none[0]] if none else None
    heard = [delay for delay, count in zip(delays_s, counts, strict=True) if count]
    return {
        "counts": counts,
        "power_rises": bool(np.all(np.diff(power) >= -0.01 * np.array(power[:-1]))),
        "both": len(both),
        "last": alone,
        "nearest": int(np.argmin(np.linalg.norm(devices - start, axis=1))),
        "least_s": min(heard, default=None),
        "midpoint_m": _apart(places[both], devices.mean(axis=0)) if both else None,
        "apart_m": _apart(devices[:1], devices[1]),
        "beside_m": None if alone is None else _apart(places[one[-1:]], devices[alone]),
        "off_z_m": None if off is None else rounded(off[2], 4),
        "off_moved_m": None if off is None else _apart(off[None, :2], start[:2]),
        "edges_s": record["edges_s"],
        "late": sum(
            row_delay > LATE * limit
            for row, limit in zip(plans, delays_s, strict=True)
            for row_delay in row["delay_s"]
        ),
        "sent": sum(counts),
    }


def _apart(places: Array, other: Array) -> float:
    """How far places are from another, on average."""
    return rounded(np.linalg.norm(places - other, axis=1).mean(), 4)


# --- what is shown --------------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Table | Drawing]:
    """Two drawings for each channel, and a table of events."""
    drawings = []
    for channel, plan, words in DRAWN:
        drawings += [
            Drawing(
                f"response-{channel}",
                f"Two devices as the time limit shrinks: {words}",
                partial(_draw_controls, numbers, channel, plan),
                (12.0, 7.0),
            ),
            Drawing(
                f"response-{channel}-places",
                f"Where the server goes as the time limit shrinks: {words}",
                partial(_draw_places, numbers, channel, plan),
                (12.0, 5.0),
            ),
        ]
    return [*drawings, _stages(numbers)]


def _draw_controls(numbers: Numbers, channel: str, plan: str, figure: Figure) -> None:
    panels = figure.subplots(
        len(SHOWN), len(STARTS), sharex=True, sharey="row", height_ratios=_HEIGHTS
    )
    limits = np.array(numbers["delays_s"][channel])
    marked = limits[[0, len(limits) // 2, -1]]
    ticks = marked, [f"{limit:g}" for limit in marked]
    for column, start in enumerate(STARTS):
        plans = numbers["shown"][channel][start]["plans"][plan]
        on = np.array([row["active"] for row in plans])
        for axes, (name, label) in zip(panels[:, column], SHOWN.items(), strict=True):
            if name == "active":
                axes.plot(limits, on.sum(axis=1), color=INK, marker="D", markersize=4, linewidth=1)
            else:
                _draw_devices(axes, limits, np.where(on, [row[name] for row in plans], np.nan))
            if name == "delay_s":
                axes.plot(
                    limits, limits, color=MUTED, linewidth=1, linestyle=(0, (2, 3)),
                    label="time limit",
                )  # fmt: skip
            logarithmic(axes, "xy" if name in ("delay_s", "power_w") else "x")
            lowest = axes is panels[-1][column]
            tidy(axes, "time limit (s)" if lowest else "", label if column == 0 else "")
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
    legend(figure, panels[0][0])


def _draw_devices(axes: Any, limits: Array, values: Array) -> None:
    for device, (colour, marker, size) in enumerate(_DEVICES):
        axes.plot(
            limits, values[:, device], color=colour, marker=marker, markersize=size, linewidth=1.4,
            label=f"device {device + 1}",
        )  # fmt: skip


def _draw_places(numbers: Numbers, channel: str, plan: str, figure: Figure) -> None:
    panels = figure.subplots(2, len(STARTS), sharex="row", sharey="row")
    for column, start in enumerate(STARTS):
        for axes, plane in zip(panels[:, column], ("xy", "yz"), strict=True):
            _draw_plane(axes, numbers["shown"][channel][start], plan, plane)
            axes.set_xlim(-5, 105)
            axes.set_ylim(-5, 105)
            tidy(axes, f"{plane[0]} (m)", f"{plane[1]} (m)" if column == 0 else "")
            axes.grid(color=GRID)
        panels[0][column].set_title(start, fontsize=10)
    legend(figure, panels[0][0], 6)


def _draw_plane(axes: Any, shown: dict[str, Any], plan: str, plane: str) -> None:
    """The devices and the server's places as seen along the third axis."""
    seen = ["xyz".index(letter) for letter in plane]
    plans = shown["plans"][plan]
    places = np.array([row["server_m"] for row in plans])[:, seen]
    counts = np.array([sum(row["active"]) for row in plans])
    for device, (colour, marker, _) in enumerate(_DEVICES):
        axes.plot(
            *np.array(shown["devices_m"][device])[seen], marker, markersize=9, color=colour,
            label=f"device {device + 1}",
        )  # fmt: skip
    axes.plot(*places.T, color=MUTED, linewidth=0.8)
    before = np.array(shown["start_m"])[seen]
    axes.plot(*before, "+", color=INK, markersize=9, label="server before")
    for count, fill in ((2, INK), (1, MUTED), (0, PAPER)):
        axes.plot(
            *places[counts == count].T, "D", markersize=5, color=fill, markeredgecolor=INK,
            linestyle="", label=f"server, {count} active",
        )  # fmt: skip


def _stages(numbers: Numbers) -> Table:
    rows = [
        (
            solver,
            start,
            " ".join(map(str, shown["counts"])),
            "–" if shown["last"] is None else f"device {shown['last'] + 1}",
            f"device {shown['nearest'] + 1}",
            *("–" if shown[key] is None else f"{shown[key]:g}" for key in ("least_s", "off_z_m")),
        )
        for solver, by in numbers["events"].items()
        for start, (shown, *_) in by.items()
    ]
    limits = numbers["delays_s"]
    return Table(
        "The network that is drawn: active devices at each limit",
        (
            "solver",
            "start",
            "active, from the longest limit to the shortest",
            "last",
            "nearest to the start",
            "least limit with one active (s)",
            "height when all are off (m)",
        ),
        tuple(rows),
        f"Limits with the Padé rate: {listed(limits['pade'])} s; with true rates: "
        f"{listed(limits['true'])} s. {_edges(numbers)}",
    )


def _edges(numbers: Numbers) -> str:
    """Where the exact plan loses its devices under true rates."""
    every = [event["edges_s"] for by in numbers["events"][TRUE].values() for event in by]
    found = [edges for edges in every if None not in edges]
    if not found:
        return ""
    first, last = zip(*found, strict=True)
    return (
        f"With true rates the first device is lost below {between(first)} s, "
        f"the second below {between(last)} s."
    )
