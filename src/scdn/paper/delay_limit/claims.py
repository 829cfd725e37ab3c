"""What the paper says about two devices as the time limit shrinks: events, and the start."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from scdn.paper.artefact import Claim, Finding, Numbers
from scdn.paper.single_round import AT_PLACE_M
from scdn.paper.value_text import labelled_medians
from scdn.paper.verdicts import block_claim, count_agreeing, count_claim, is_trend

AS_PLANNED = "Algorithm 3"  # its plans without repair
SIMILAR_STARTS = ("centre", "random", "random-edge")
SECTION = "Response to Transmission Time Limits"
NEAR = 0.1  # of the distance between the devices
_NEAR_CASES = "cases (within a tenth of their distance)"

Events = dict[str, Any]  # what happens in one network from one start
ByStart = dict[str, list[Events]]


def claims(numbers: Numbers) -> list[Claim]:
    """Judge the order of events, and what depends on the start."""
    by_solver: dict[str, ByStart] = numbers["events"]
    cases = {
        solver: [events for networks in by_start.values() for events in networks]
        for solver, by_start in by_solver.items()
    }
    return [
        *_as_limit_shrinks(cases),
        _same_last_device(by_solver),
        _nearest_is_last(cases),
        _off_sooner_from_max(by_solver),
    ]


def _as_limit_shrinks(cases: dict[str, list[Events]]) -> list[Claim]:
    return [
        _power_claim(cases),
        count_claim(
            SECTION,
            "Then one device is switched off while the other stays active",
            count_agreeing(cases, lambda case: 1 in case["counts"]),
            "cases",
            _late_reports(cases[AS_PLANNED]),
        ),
        count_claim(
            SECTION,
            "Then both are switched off",
            count_agreeing(cases, _off_at_the_end),
            "cases",
        ),
        count_claim(
            SECTION,
            "While both are active the server is at the midpoint between them",
            count_agreeing(cases, lambda case: _is_near(case, "midpoint_m")),
            _NEAR_CASES,
            _midpoint_distances(cases),
        ),
        count_claim(
            SECTION,
            "With one device active the server goes right beside it",
            count_agreeing(cases, lambda case: _is_near(case, "beside_m")),
            _NEAR_CASES,
        ),
        count_claim(
            SECTION,
            "With all devices off the server keeps its xy-position",
            count_agreeing(cases, lambda case: _is_small(case["off_moved_m"])),
            "cases",
        ),
        count_claim(
            SECTION,
            "With all devices off the server drops to z = 0",
            count_agreeing(cases, lambda case: _is_small(case["off_z_m"])),
            "cases",
            "The penalty ψ̂·Σ distance² keeps Algorithm 3's server near the devices that are off.",
        ),
    ]


def _power_claim(cases: dict[str, list[Events]]) -> Claim:
    """Judge power as a trend: the paper shows single runs, so not every step counts."""
    text = "As T^max shrinks, devices raise their power to stay in time"
    if not all("power_w" in case for every in cases.values() for case in every):
        made = (
            "made when every step had to rise, to be recomputed with the powers that show a trend"
        )
        return block_claim(SECTION, text, {"all": Finding("not recomputed", made)})
    return count_claim(
        SECTION,
        text,
        count_agreeing(cases, _power_rises),
        "cases",
        "From one position a shorter limit always takes more power; where power falls, the server "
        "has come closer instead.",
    )


def _power_rises(events: Events) -> bool | None:
    """Return whether power rises on the whole as the limit shrinks, while both are active."""
    return is_trend(events["power_w"], 1) if events["both"] > 1 else None


def _off_at_the_end(events: Events) -> bool:
    """Return whether devices are only ever switched off, and none is active at the last limit."""
    counts = events["counts"]
    return counts[-1] == 0 and all(later <= earlier for earlier, later in pairwise(counts))


def _late_reports(cases: list[Events]) -> str:
    late, sent = sum(case["late"] for case in cases), sum(case["sent"] for case in cases)
    return f"Of {sent} reports in Algorithm 3's plans {late} are late even at Padé's rate."


def _is_near(events: Events, distance: str) -> bool | None:
    return None if events[distance] is None else events[distance] <= NEAR * events["apart_m"]


def _midpoint_distances(cases: dict[str, list[Events]]) -> str:
    ratios = {
        solver: [e["midpoint_m"] / e["apart_m"] for e in every if e["midpoint_m"] is not None]
        for solver, every in cases.items()
    }
    medians = labelled_medians(ratios, ".2f")
    return f"Median distance from it, over that between the devices: {medians}."


def _is_small(metres: float | None) -> bool | None:
    return None if metres is None else metres <= AT_PLACE_M


def _by_network(by_solver: dict[str, ByStart], *starts: str) -> dict[str, Any]:
    return {
        solver: zip(*(by_start[start] for start in starts), strict=True)
        for solver, by_start in by_solver.items()
    }


def _same_last_device(by_solver: dict[str, ByStart]) -> Claim:
    def same(network: tuple[Events, ...]) -> bool | None:
        last = {events["last"] for events in network}
        return None if None in last else len(last) == 1

    return count_claim(
        f"{SECTION}; App. more_exps",
        "From centre, random and random-edge it is the same device that stays last",
        count_agreeing(_by_network(by_solver, *SIMILAR_STARTS), same),
        "networks",
    )


def _nearest_is_last(cases: dict[str, list[Events]]) -> Claim:
    return count_claim(
        "Fig. server_pos_origin; App. more_exps",
        "The last active device is the one nearest to the server's start",
        count_agreeing(cases, lambda e: None if e["last"] is None else e["last"] == e["nearest"]),
        "cases",
        "The paper contradicts itself about origin: device 2 in the captions, device 1 in the "
        "text.",
    )


def _off_sooner_from_max(by_solver: dict[str, ByStart]) -> Claim:
    def sooner(network: tuple[Events, ...]) -> bool | None:
        from_max, from_centre = (events["least_s"] for events in network)
        if from_centre is None:
            return None
        return from_max is None or bool(from_max > from_centre)

    return count_claim(
        "Fig. time_pow_tmax_max, server_pos_max",
        "From max both are switched off at a longer limit (5e-6 s) than from elsewhere (5e-7 s)",
        count_agreeing(_by_network(by_solver, "max", "centre"), sooner),
        "networks, compared with centre",
    )
