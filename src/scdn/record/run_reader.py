"""Runs read back from their `events.jsonl`, checked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scdn.errors import InputError, format_value, input_error

Event = dict[str, Any]

EVENTS = "events.jsonl"
SCHEMA = 1


@dataclass(frozen=True, eq=False)
class Run:
    """One recorded run: how it began, its rounds, and how it ended (None: it has not)."""

    folder: Path
    scenario: Event
    method: str
    seed: int
    rounds: list[Event]
    end: Event | None
    start: Event = field(default_factory=dict)  # the whole first line: versions, baselines, …


def read_events(path: str | Path) -> list[Event]:
    """The events of a file, checked; a last line without its newline was never finished."""
    try:
        raw = Path(path).read_bytes()
        text = raw[: raw.rfind(b"\n") + 1].decode()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise input_error(
            str(path), "file", f"cannot be read ({reason})", "must be readable"
        ) from None
    lines = text.split("\n")[:-1]
    events = [_event(path, number, line) for number, line in enumerate(lines, 1)]
    _check(path, events)
    return events


def _fault(path: str | Path, number: int, found: str, allowed: str) -> InputError:
    return input_error(str(path), f"line {number}", found, allowed)


def _event(path: str | Path, number: int, line: str) -> Event:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        raise _fault(path, number, "is not JSON", "must be one event") from None
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise _fault(path, number, f"got {format_value(event)}", "must be an object with an event")
    return event


def _check(path: str | Path, events: Sequence[Event]) -> None:
    if not events or events[0]["event"] != "start":
        found = f"got the event {format_value(events[0]['event'])}" if events else "missing"
        raise _fault(path, 1, found, "must be the event start")
    start = events[0]
    if start.get("schema") != SCHEMA:
        raise _fault(path, 1, f"schema is {format_value(start.get('schema'))}", f"must be {SCHEMA}")
    for key, kind, name in (("scenario", dict, "a table"), ("method", str, "text"),
                            ("seed", int, "a whole number")):  # fmt: skip
        if not isinstance(start.get(key), kind):
            raise _fault(path, 1, f"{key} is {format_value(start.get(key))}", f"must be {name}")
    last = -1
    for number, event in enumerate(events, 1):
        if event["event"] == "round":
            this = event.get("round")
            if not isinstance(this, int) or this <= last:
                raise _fault(
                    path, number, f"round is {format_value(this)}", f"must be above {last}"
                )
            last = this
            _check_round(path, number, event)


_PARTS = {"metrics": dict, "server": dict, "devices": list, "active": list, "entered": list,
          "exited": list, "link_failed": list}  # fmt: skip


def _check_round(path: str | Path, number: int, event: Event) -> None:
    for key, kind in _PARTS.items():
        if event.get(key) is not None and not isinstance(event[key], kind):
            what = "a table" if kind is dict else "a list"
            raise _fault(path, number, f"{key} is {format_value(event[key])}", f"must be {what}")
    for device in event.get("devices") or ():
        if not isinstance(device, dict) or not isinstance(device.get("id"), str):
            raise _fault(
                path, number, f"a device is {format_value(device)}", "must be a table with an id"
            )
    for thing in (event.get("server") or {}, *(event.get("devices") or ())):
        place = thing.get("position_m")
        if place is not None and not _is_place(place):
            raise _fault(
                path, number, f"position_m is {format_value(place)}", "must be three numbers"
            )


def _is_place(place: Any) -> bool:
    return (
        isinstance(place, list)
        and len(place) == 3
        and all(isinstance(number, int | float) for number in place)
    )


def read_run(folder: str | Path) -> Run:
    """The run whose events are in `folder`."""
    path = Path(folder)
    events = read_events(path / EVENTS)
    ends = [event for event in events if event["event"] == "end"]
    rounds = [event for event in events if event["event"] == "round"]
    start = events[0]
    return Run(
        folder=path,
        scenario=start["scenario"],
        method=start["method"],
        seed=start["seed"],
        rounds=rounds,
        end=ends[-1] if ends else None,
        start=start,
    )


def find_runs(folders: Iterable[str | Path]) -> list[Run]:
    """The runs in these folders, or below them; each once, sorted within a folder."""
    found: dict[Path, Path] = {}
    for folder in folders:
        below = list(_below(Path(folder)))
        if not below:
            raise input_error(
                str(folder), "folder", "has no run", f"must hold {EVENTS}, or be above"
            )
        for path in below:
            found.setdefault(path.resolve(), path)
    return [read_run(path) for path in found.values()]


def _below(folder: Path) -> Iterator[Path]:
    for place, inner, files in os.walk(folder):
        inner.sort()
        if EVENTS in files:
            inner.clear()  # what lies inside a run belongs to it
            yield Path(place)
