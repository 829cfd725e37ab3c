"""What the paper says of two devices as the time limit shrinks: the order of events, the start."""

from __future__ import annotations

from typing import Any

import numpy as np

from scdn.paper.artefact import Claim, Numbers
from scdn.paper.control import landed
from scdn.paper.counting import counted, tallies, tally

RAW = "Algorithm 3"  # the solver whose plans are as it made them
ALIKE = ("centre", "random", "random-edge")
SECTION = "Response to Transmission Time Limits"
NEAR = 0.1  # of the distance between the devices
_NEAR = "cases (within a tenth of their distance)"

Event = dict[str, Any]  # what happens in one network from one start
Cases = dict[str, list[Event]]  # by solver


def claims(numbers: Numbers) -> list[Claim]:
    """The order of events, and what depends on the start."""
    by_start = numbers["events"]
    cases = {
        solver: [event for networks in by.values() for event in networks]
        for solver, by in by_start.items()
    }
    return [*_shrinking(cases), _same_last(by_start), _nearest(cases), _early(by_start)]


def _shrinking(cases: Cases) -> list[Claim]:
    """What happens in turn."""
    return [
        counted(
            SECTION,
            "As T^max shrinks, devices raise their power to stay in time",
            tallies(cases, lambda event: event["power_rises"] if event["both"] > 1 else None),
            "cases",
            "From one place a shorter limit always takes more power: where it falls, the server "
            "has come closer instead.",
        ),
        counted(
            SECTION,
            "Then one device is switched off, then both",
            tallies(cases, _ordered),
            "cases",
            _feasible(cases[RAW]),
        ),
        counted(
            SECTION,
            "While both are active the server is at the midpoint between them",
            tallies(cases, lambda event: _near(event, "midpoint_m")),
            _NEAR,
            _offset(cases),
        ),
        counted(
            SECTION,
            "With one device active the server goes right beside it",
            tallies(cases, lambda event: _near(event, "beside_m")),
            _NEAR,
        ),
        counted(
            SECTION,
            "With all devices off the server keeps its xy-position and drops to z = 0",
            tallies(cases, _dropped),
            "cases",
            "The penalty ψ̂·Σ distance² holds Algorithm 3's server near the devices that are off.",
        ),
    ]


def _ordered(event: Event) -> bool:
    """From both to one to none, none coming back."""
    counts = event["counts"]
    return set(counts) == {0, 1, 2} and counts == sorted(counts, reverse=True)


def _feasible(every: list[Event]) -> str:
    """How many of the links of Algorithm 3's own plans are in time on its own channel."""
    late, sent = sum(event["late"] for event in every), sum(event["sent"] for event in every)
    return f"Of {sent} reports in Algorithm 3's plans {late} are late even at Padé's rate."


def _near(event: Event, distance: str) -> bool | None:
    return None if event[distance] is None else event[distance] <= NEAR * event["apart_m"]


def _offset(cases: Cases) -> str:
    """How far from the midpoint the server is while both are active."""
    words = []
    for solver, every in cases.items():
        shares = [e["midpoint_m"] / e["apart_m"] for e in every if e["midpoint_m"] is not None]
        if shares:
            words.append(f"{np.median(shares):.2f} ({solver})")
    return f"Median distance from it over that between the devices: {', '.join(words)}."


def _dropped(event: Event) -> bool | None:
    return None if event["off_z_m"] is None else landed(event["off_moved_m"], event["off_z_m"])


def _same_last(by_start: dict[str, dict[str, list[Event]]]) -> Claim:
    counts = {}
    for solver, by in by_start.items():
        trios = zip(*([event["last"] for event in by[start]] for start in ALIKE), strict=True)
        counts[solver] = tally(len(set(trio)) == 1 for trio in trios if None not in trio)
    return counted(
        f"{SECTION}; App. more_exps",
        "From centre, random and random-edge it is the same device that stays last",
        counts,
        "networks",
    )


def _nearest(cases: Cases) -> Claim:
    return counted(
        "Fig. server_pos_origin; App. more_exps",
        "The last active device is the one nearest to the server's start",
        tallies(cases, lambda e: None if e["last"] is None else e["last"] == e["nearest"]),
        "cases",
        "The paper contradicts itself about origin: device 2 in the captions, device 1 in the "
        "text.",
    )


def _early(by_start: dict[str, dict[str, list[Event]]]) -> Claim:
    counts = {}
    for solver, by in by_start.items():
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
