"""What two devices and the server do as the time limit of a report shrinks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from scdn.control.problem import RoundProblem
from scdn.paper.artefact import Claim, Drawing, Found, Numbers, Setting, Table
from scdn.paper.control import (
    STARTS,
    algorithm_3,
    described,
    drawn_problem,
    network_job,
    optimal,
    scenario_of,
    short,
)
from scdn.paper.counting import counted, tally
from scdn.paper.draw import COLOURS, tidy
from scdn.paper.jobs import Job
from scdn.pictures.palette import GRID, INK, MARKERS, MUTED, PAPER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORK = "scdn.paper.response:events"
RAW, TRUE = "Algorithm 3", "exact, true rate"
SOLVERS = {
    RAW: ("pade", "raw"),
    "Algorithm 3, repaired": ("pade", "repaired"),
    "exact, Padé's rate": ("pade", "exact"),
    TRUE: ("true", "exact"),
}
SHOWN = {"delay_s": "transmit time (s)", "power_w": "power (W)", "iterations": "iterations"}
ALIKE = ("centre", "random", "random-edge")
LATE = 1.01  # of the limit: the program is solved to a tolerance
GROUND_M = 1.0
_EDGE = 1e-4  # how closely the delay is found at which a device is lost, relative


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
    return float(f"{high:.5g}")


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
    both = [k for k, count in enumerate(counts) if count == 2]
    one = [k for k, count in enumerate(counts) if count == 1]
    none = [k for k, count in enumerate(counts) if count == 0]
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
        "midpoint_m": _mean(np.linalg.norm(places[both] - devices.mean(axis=0), axis=1)),
        "apart_m": _mean([np.linalg.norm(devices[0] - devices[1])]),
        "beside_m": (
            None if alone is None else _mean([np.linalg.norm(places[one[-1]] - devices[alone])])
        ),
        "off_z_m": None if off is None else _mean([off[2]]),
        "off_moved_m": None if off is None else _mean([np.hypot(*(off - start)[:2])]),
        "edges_s": record["edges_s"],
        "late": sum(
            row_delay > LATE * limit
            for row, limit in zip(plans, delays_s, strict=True)
            for row_delay in row["delay_s"]
        ),
        "sent": sum(counts),
    }


def _mean(values: ArrayLike) -> float | None:
    found = np.asarray(values, dtype=np.float64)
    return float(f"{found.mean():.4g}") if found.size else None


# --- what is shown --------------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Table | Drawing]:
    """Two drawings for each channel, and a table of events."""
    drawings = []
    for channel, plan, words in (
        ("pade", "raw", "Padé's rate, Algorithm 3"),
        ("true", "exact", "true rate, exact"),
    ):
        drawings += [
            Drawing(
                f"response-{channel}",
                f"Two devices as the time limit shrinks: {words}",
                partial(_draw_controls, numbers, channel, plan),
                (12.0, 5.8),
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
    panels = figure.subplots(len(SHOWN), len(STARTS), sharex=True, sharey="row")
    limits = np.array(numbers["delays_s"][channel])
    ticks = [f"{limits[k]:g}" for k in (0, len(limits) // 2, -1)]
    for column, start in enumerate(STARTS):
        plans = numbers["shown"][channel][start]["plans"][plan]
        on = np.array([row["active"] for row in plans])
        for line, (name, label) in enumerate(SHOWN.items()):
            axes = panels[line][column]
            values = np.where(on, np.array([row[name] for row in plans]), np.nan)
            for device in range(2):
                how = {"markevery": None, "markersize": 4 if device else 6}
                _line(axes, limits, values[:, device], device, **how)
            if name == "delay_s":
                axes.plot(limits, limits, color=MUTED, linewidth=1, linestyle=(0, (2, 3)))
            axes.set_xscale("log")
            axes.set_yscale("log" if name != "iterations" else "linear")
            tidy(axes, "time limit (s)" if line == 2 else "", label if column == 0 else "")
            axes.minorticks_off()
            axes.set_xticks(limits[[0, len(limits) // 2, -1]], ticks)
            axes.grid(axis="y", color=GRID)
            if name == "delay_s" and channel == "true":
                axes.set_yticks(limits[[0, len(limits) // 2, -1]], ticks)
            if name == "iterations":
                axes.set_ylim(0, 5.3)
        panels[0][column].set_title(start, fontsize=10)
    panels[0][0].invert_xaxis()
    panels[0][-1].legend(fontsize=8)


def _line(axes: Any, x: Any, y: Any, device: int, **how: Any) -> None:
    axes.plot(
        x, y, color=COLOURS[(0, 6)[device]], marker=MARKERS[device], linewidth=1.4,
        label=f"device {device + 1}", **how,
    )  # fmt: skip


def _draw_places(numbers: Numbers, channel: str, plan: str, figure: Figure) -> None:
    panels = figure.subplots(2, len(STARTS), sharex="row", sharey="row")
    for column, start in enumerate(STARTS):
        shown = numbers["shown"][channel][start]
        plans = shown["plans"][plan]
        places = np.array([row["server_m"] for row in plans])
        counts = np.array([sum(row["active"]) for row in plans])
        devices, before = np.array(shown["devices_m"]), np.array(shown["start_m"])
        for axes, (a, b), names in zip(
            panels[:, column], ((0, 1), (1, 2)), ("xy", "yz"), strict=True
        ):
            for device in range(2):
                axes.plot(
                    *devices[device, [a, b]], MARKERS[device], markersize=9,
                    color=COLOURS[(0, 6)[device]], label=f"device {device + 1}",
                )  # fmt: skip
            axes.plot(places[:, a], places[:, b], color=MUTED, linewidth=0.8)
            axes.plot(*before[[a, b]], "+", color=INK, markersize=9, label="server before")
            for count, fill in ((2, INK), (1, MUTED), (0, PAPER)):
                chosen = places[counts == count]
                axes.plot(
                    chosen[:, a], chosen[:, b], "D", markersize=5, color=fill,
                    markeredgecolor=INK, linestyle="", label=f"server, {count} active",
                )  # fmt: skip
            axes.set_xlim(-5, 105)
            axes.set_ylim(-5, 105)
            tidy(axes, f"{names[0]} (m)", f"{names[1]} (m)" if column == 0 else "")
            axes.grid(color=GRID)
        panels[0][column].set_title(start, fontsize=10)
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, ncols=6, loc="outside lower center")


def _stages(numbers: Numbers) -> Table:
    rows = []
    for solver, by in numbers["events"].items():
        for start, networks in by.items():
            shown = networks[0]
            rows.append(
                (
                    solver,
                    start,
                    " ".join(map(str, shown["counts"])),
                    "–" if shown["last"] is None else f"device {shown['last'] + 1}",
                    f"device {shown['nearest'] + 1}",
                    "–" if shown["least_s"] is None else f"{shown['least_s']:g}",
                    "–" if shown["off_z_m"] is None else f"{shown['off_z_m']:g}",
                )
            )
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
        f"Limits with the Padé rate: {_listed(numbers['delays_s']['pade'])} s; with true rates: "
        f"{_listed(numbers['delays_s']['true'])} s. {_edges(numbers)}",
    )


def _edges(numbers: Numbers) -> str:
    """Where the exact plan loses its devices under true rates."""
    every = [event["edges_s"] for by in numbers["events"][TRUE].values() for event in by]
    found = [edges for edges in every if None not in edges]
    if not found:
        return ""
    first, last = zip(*found, strict=True)
    return (
        f"With true rates the first device is lost below {min(first):.3g} to {max(first):.3g} s, "
        f"the second below {min(last):.3g} to {max(last):.3g} s."
    )


def _listed(values: list[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


# --- what is judged -------------------------------------------------------------------------------


def claims(numbers: Numbers) -> list[Claim]:
    """The order of events, and what depends on the start."""
    events = numbers["events"]

    def count(test: Callable[[dict[str, Any]], bool | None]) -> dict[str, tuple[int, int]]:
        """Cases (a network and a start) in which it is so, of those in which it can be asked."""
        found = {}
        for solver, by in events.items():
            answers = [test(event) for networks in by.values() for event in networks]
            found[solver] = tally(answer for answer in answers if answer is not None)
        return found

    return [
        counted(
            "Response to Transmission Time Limits",
            "As T^max shrinks, devices raise their power to stay in time",
            count(lambda event: event["power_rises"] if event["both"] > 1 else None),
            "cases",
            "From one place a shorter limit always takes more power: where it falls, the server "
            "has come closer instead.",
        ),
        counted(
            "Response to Transmission Time Limits",
            "Then one device is switched off, then both",
            count(lambda event: _ordered(event["counts"])),
            "cases",
            _feasible(events),
        ),
        counted(
            "Response to Transmission Time Limits",
            "While both are active the server is at the midpoint between them",
            count(lambda event: _within(event["midpoint_m"], 0.1 * event["apart_m"])),
            "cases (within a tenth of their distance)",
            _offset(events),
        ),
        counted(
            "Response to Transmission Time Limits",
            "With one device active the server goes right beside it",
            count(lambda event: _within(event["beside_m"], 0.1 * event["apart_m"])),
            "cases (within a tenth of their distance)",
        ),
        counted(
            "Response to Transmission Time Limits",
            "With all devices off the server keeps its xy-position and drops to z = 0",
            count(_dropped),
            "cases",
            "The penalty ψ̂·Σ distance² holds Algorithm 3's server near the devices that are off.",
        ),
        _same_last(events),
        counted(
            "Fig. server_pos_origin; App. more_exps",
            "The last active device is the one nearest to the server's start",
            count(lambda e: None if e["last"] is None else e["last"] == e["nearest"]),
            "cases",
            "The paper contradicts itself about origin: device 2 in the captions, device 1 in the "
            "text.",
        ),
        _early(events),
    ]


def _feasible(events: dict[str, Any]) -> str:
    """How many of the links of Algorithm 3's own plans are in time on its own channel."""
    every = [event for networks in events[RAW].values() for event in networks]
    late, sent = sum(event["late"] for event in every), sum(event["sent"] for event in every)
    return f"Of {sent} reports in Algorithm 3's plans {late} are late even at Padé's rate."


def _offset(events: dict[str, Any]) -> str:
    """How far from the midpoint the server is while both are active."""
    words = []
    for solver, by in events.items():
        every = [event for networks in by.values() for event in networks]
        shares = [e["midpoint_m"] / e["apart_m"] for e in every if e["midpoint_m"] is not None]
        if shares:
            words.append(f"{np.median(shares):.2f} ({solver})")
    return f"Median distance from it over that between the devices: {', '.join(words)}."


def _ordered(counts: list[int]) -> bool:
    """From both to one to none, none coming back."""
    return set(counts) == {0, 1, 2} and counts == sorted(counts, reverse=True)


def _within(value: float | None, limit: float) -> bool | None:
    return None if value is None else value <= limit


def _dropped(event: dict[str, Any]) -> bool | None:
    if event["off_z_m"] is None:
        return None
    return bool(event["off_z_m"] <= GROUND_M and event["off_moved_m"] <= GROUND_M)


def _same_last(events: dict[str, Any]) -> Claim:
    counts = {}
    for solver, by in events.items():
        trios = zip(*([event["last"] for event in by[start]] for start in ALIKE), strict=True)
        counts[solver] = tally(len(set(trio)) == 1 for trio in trios if None not in trio)
    return counted(
        "Response to Transmission Time Limits; App. more_exps",
        "From centre, random and random-edge it is the same device that stays last",
        counts,
        "networks",
    )


def _early(events: dict[str, Any]) -> Claim:
    counts = {}
    for solver, by in events.items():
        pairs = [
            (early["least_s"], usual["least_s"])
            for early, usual in zip(by["max"], by["centre"], strict=True)
        ]
        counts[solver] = tally(
            early is None or early > usual for early, usual in pairs if usual is not None
        )
    return counted(
        "Fig. time_pow_tmax_max, server_pos_max",
        "From max both are switched off at a longer limit (5e-6 s) than from elsewhere (5e-7 s)",
        counts,
        "networks, against centre",
    )
