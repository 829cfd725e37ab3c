"""A run's network, round by round: who was there, doing what, and where the server stood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scdn.record.read import Event, Run

# One letter per round and device.
STATES = {
    "a": ("active", "active"),
    "p": ("present", "present, off"),
    "f": ("failed", "link failed"),
    "l": ("left", "leaves"),
    "g": ("gone", "gone"),
}
ABSENT = "."

Place = Sequence[float]


@dataclass(frozen=True)
class Member:
    """A device's life: a letter per round, and its place (one, or one per round)."""

    id: str
    states: str
    places: Sequence[Place]


@dataclass(frozen=True, eq=False)
class Journey:
    """Everything that a run's charts of devices and of the server show."""

    label: str
    rounds: Sequence[int]
    region_m: Place
    server_m: Sequence[Place | None]
    members: Sequence[Member]


def journey(run: Run) -> Journey:
    """What happened in the run."""
    ids: dict[str, None] = {}
    for event in run.rounds:
        for name in (*_present(event), *_named(event, "exited")):
            ids.setdefault(name, None)
    places = [_present(event) for event in run.rounds]
    server = [(event.get("server") or {}).get("position_m") for event in run.rounds]
    members = [
        Member(name, _states(run.rounds, name), _places([at.get(name) for at in places]))
        for name in ids
    ]
    seen = [place for member in members for place in member.places]
    return Journey(
        label=f"{run.method}, seed {run.seed}",
        rounds=[event["round"] for event in run.rounds],
        region_m=_region(run.scenario, [*seen, *(place for place in server if place)]),
        server_m=server,
        members=members,
    )


def _present(event: Event) -> dict[str, Place | None]:
    return {device["id"]: device.get("position_m") for device in event.get("devices") or ()}


def _named(event: Event, key: str) -> Sequence[str]:
    return [str(name) for name in event.get(key) or ()]


def _states(rounds: Sequence[Event], name: str) -> str:
    letters, gone = [], False
    for event in rounds:
        here = name in _present(event)
        if name in _named(event, "exited"):
            letter, gone = "l", True
        elif here:
            letter, gone = _doing(event, name), False
        else:
            letter = "g" if gone or "a" in letters or "p" in letters or "f" in letters else ABSENT
        letters.append(letter)
    return "".join(letters)


def _doing(event: Event, name: str) -> str:
    if name in _named(event, "link_failed"):
        return "f"
    return "a" if name in _named(event, "active") else "p"


def _places(found: Sequence[Place | None]) -> list[Place]:
    """One place for a device that stays; else one per round, the last known where it is away."""
    known = [place for place in found if place]
    if not known or all(place == known[0] for place in known):
        return known[:1]
    last, places = known[0], []
    for place in found:
        last = place or last
        places.append(last)
    return places


def _region(scenario: dict[str, Any], places: Sequence[Place]) -> Place:
    given = scenario.get("region_m")
    if isinstance(given, list) and len(given) == 3:
        return given
    return [max([1.0, *(place[axis] for place in places)]) for axis in range(3)]
