"""Recorded runs: `events.jsonl` read back and checked."""

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
    """One recorded run."""

    folder: Path
    scenario: Event
    method: str
    seed: int
    rounds: list[Event]
    end: Event | None  # None: the run has not ended
    start: Event = field(default_factory=dict)  # the complete start event


def read_run(folder: str | Path) -> Run:
    """Read the run whose events are in `folder`."""
    path = Path(folder)
    events = read_events(path / EVENTS)
    start = events[0]
    ends = [event for event in events if event["event"] == "end"]
    return Run(
        folder=path,
        scenario=start["scenario"],
        method=start["method"],
        seed=start["seed"],
        rounds=[event for event in events if event["event"] == "round"],
        end=ends[-1] if ends else None,
        start=start,
    )


def find_runs(folders: Iterable[str | Path]) -> list[Run]:
    """Read the runs in or below these folders, each once, sorted within a folder."""
    paths: dict[Path, Path] = {}
    for folder in folders:
        below = list(_run_folders(Path(folder)))
        if not below:
            raise input_error(
                str(folder), "folder", "has no run", f"must hold {EVENTS}, or be above"
            )
        for path in below:
            paths.setdefault(path.resolve(), path)
    return [read_run(path) for path in paths.values()]


def _run_folders(folder: Path) -> Iterator[Path]:
    for path, subfolders, files in os.walk(folder):
        subfolders.sort()
        if EVENTS in files:
            subfolders.clear()  # a run inside a run is its reference
            yield Path(path)


def read_events(path: str | Path) -> list[Event]:
    """Read and check the events of a file; a last line without a newline is incomplete."""
    try:
        raw = Path(path).read_bytes()
        text = raw[: raw.rfind(b"\n") + 1].decode()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise input_error(
            str(path), "file", f"cannot be read ({reason})", "must be readable"
        ) from None
    lines = text.split("\n")[:-1]
    events = [_parse(path, number, line) for number, line in enumerate(lines, 1)]
    _check_start(path, events)
    _check_rounds(path, events)
    return events


def _error(path: str | Path, number: int, found: str, allowed: str) -> InputError:
    return input_error(str(path), f"line {number}", found, allowed)


def _parse(path: str | Path, number: int, line: str) -> Event:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        raise _error(path, number, "is not JSON", "must be one event") from None
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise _error(path, number, f"got {format_value(event)}", "must be an object with an event")
    return event


def _check_start(path: str | Path, events: Sequence[Event]) -> None:
    if not events or events[0]["event"] != "start":
        fault = f"got the event {format_value(events[0]['event'])}" if events else "missing"
        raise _error(path, 1, fault, "must be the event start")
    start = events[0]
    if start.get("schema") != SCHEMA:
        raise _error(path, 1, f"schema is {format_value(start.get('schema'))}", f"must be {SCHEMA}")
    for key, kind, name in (("scenario", dict, "a table"), ("method", str, "text"),
                            ("seed", int, "a whole number")):  # fmt: skip
        if not isinstance(start.get(key), kind):
            raise _error(path, 1, f"{key} is {format_value(start.get(key))}", f"must be {name}")


def _check_rounds(path: str | Path, events: Sequence[Event]) -> None:
    last = -1
    for number, event in enumerate(events, 1):
        if event["event"] == "round":
            index = event.get("round")
            if not isinstance(index, int) or index <= last:
                fault = f"round is {format_value(index)}"
                raise _error(path, number, fault, f"must be above {last}")
            last = index
            _check_round(path, number, event)


_PARTS = {"metrics": dict, "server": dict, "devices": list, "active": list, "entered": list,
          "exited": list, "link_failed": list}  # fmt: skip


def _check_round(path: str | Path, number: int, event: Event) -> None:
    for key, kind in _PARTS.items():
        if event.get(key) is not None and not isinstance(event[key], kind):
            name = "a table" if kind is dict else "a list"
            raise _error(path, number, f"{key} is {format_value(event[key])}", f"must be {name}")
    devices = event.get("devices") or ()
    for device in devices:
        if not isinstance(device, dict) or not isinstance(device.get("id"), str):
            fault = f"a device is {format_value(device)}"
            raise _error(path, number, fault, "must be a table with an id")
    for located in (event.get("server") or {}, *devices):
        position = located.get("position_m")
        if position is not None and not _is_position(position):
            fault = f"position_m is {format_value(position)}"
            raise _error(path, number, fault, "must be three numbers")


def _is_position(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and all(isinstance(number, int | float) for number in value)
    )
