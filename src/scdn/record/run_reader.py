"""Recorded runs: `events.jsonl` read back and checked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scdn.errors import InputError, faults_from_pydantic, format_value, input_error
from scdn.record.event_schema import Position

Event = dict[str, Any]

EVENTS = "events.jsonl"


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


def method_folder(name: str) -> str:
    """Return the name of the folder of a method's runs in a comparison."""
    return name.replace(":", "-").replace("/", "-")


def find_runs(folders: Iterable[str | Path]) -> list[Run]:
    """Read the runs in or below these folders, each once, sorted within a folder."""
    paths: dict[Path, Path] = {}
    for folder in folders:
        below = list(_run_folders(Path(folder)))
        if not below:
            allowed = f"must hold {EVENTS}, or be above"
            raise input_error(str(folder), "folder", "has no run", allowed)
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
        fault = f"cannot be read ({reason})"
        raise input_error(str(path), "file", fault, "must be readable") from None
    lines = text.split("\n")[:-1]
    events = [_parse(path, number, line) for number, line in enumerate(lines, 1)]
    _check_events(path, events)
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


def _check_events(path: str | Path, events: Sequence[Event]) -> None:
    if not events or events[0]["event"] != "start":
        fault = f"got the event {format_value(events[0]['event'])}" if events else "missing"
        raise _error(path, 1, fault, "must be the event start")
    _check_form(path, 1, events[0], _Start)
    last = -1
    for number, event in enumerate(events, 1):
        if event["event"] == "round":
            _check_form(path, number, event, _Round)
            if event["round"] <= last:
                raise _error(path, number, f"round is {event['round']}", f"must be above {last}")
            last = event["round"]


class _Form(BaseModel):
    """What readers rely on in an event; it may have anything else."""

    model_config = ConfigDict(strict=True)


class _Start(_Form):
    schema_version: Literal[1] = Field(alias="schema")
    scenario: Event
    method: str
    seed: int


class _Located(_Form):
    position_m: Position | None = None


class _Device(_Located):
    id: str


class _Round(_Form):
    round: int
    metrics: Event | None = None
    server: _Located | None = None
    devices: list[_Device] | None = None
    active: list[Any] | None = None
    entered: list[Any] | None = None
    exited: list[Any] | None = None
    link_failed: list[Any] | None = None


def _check_form(path: str | Path, number: int, event: Event, form: type[_Form]) -> None:
    try:
        form.model_validate(event)
    except ValidationError as error:
        fault = faults_from_pydantic(error, form)[0]
        raise _error(path, number, f"{fault.field}: {fault.found}", fault.allowed) from None
