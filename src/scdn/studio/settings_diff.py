"""The settings in which two runs differ, read from their start events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scdn.errors import input_error
from scdn.file_io import to_json
from scdn.record.file_tail import first_line
from scdn.record.run_reader import EVENTS, Event
from scdn.studio.api_models import SettingDifference
from scdn.studio.settings import MAX_DEPTH


def settings_diff(first: Path, second: Path) -> list[SettingDifference]:
    """Return the settings with different values, in the order in which the runs have them."""
    one, other = (dict(_settings(_start_event(folder))) for folder in (first, second))
    return [
        SettingDifference(setting=key, first=one.get(key), second=other.get(key))
        for key in dict.fromkeys((*one, *other))
        if one.get(key) != other.get(key)
    ]


def _settings(start: Event) -> Iterator[tuple[str, str]]:
    """Yield dotted keys and values as JSON: of the scenario, and of the programs' versions."""
    table = {**start["scenario"], "method": start["method"], "seed": start["seed"]}
    yield from _flat("", {**table, "versions": start.get("versions")})


def _flat(key: str, value: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the values below a key; a list of plain values is one of them."""
    entries: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        entries = list(value.items())
    elif isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        entries = [(str(index), entry) for index, entry in enumerate(value)]
    if not entries or depth >= MAX_DEPTH:
        yield key, to_json(value, indent=None)
        return
    for name, entry in entries:
        yield from _flat(f"{key}.{name}" if key else name, entry, depth + 1)


def _start_event(folder: Path) -> Event:
    try:
        start: Event = json.loads(first_line(folder / EVENTS), parse_constant=str)
        if isinstance(start["scenario"], dict) and {"method", "seed"} <= start.keys():
            return start
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    fault = "its start event cannot be read"
    raise input_error("runs", "run", fault, "must be a run whose events.jsonl begins with `start`")
