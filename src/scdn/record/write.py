"""Writing a run down: each event on disk before the next round begins."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from scdn.documents import OutputError, to_json, write_atomic
from scdn.faults import refuse
from scdn.record.read import EVENTS, Event, read_events

SUMMARY = "summary.json"


class Recorder:
    """Appends to a run's `events.jsonl`. A line counts once its newline is on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder / EVENTS

    @classmethod
    def new(cls, folder: Path, start: Event) -> Recorder:
        """A new run in a folder that has none yet."""
        if (folder / EVENTS).exists():
            allowed = "choose another folder, or go on with --resume"
            raise refuse(str(folder), "folder", "has a run already", allowed)
        recorder = cls(folder)
        recorder._made()
        write_atomic(recorder._path, _line(start))
        return recorder

    @classmethod
    def resumed(cls, folder: Path, next_round: int) -> Recorder:
        """The run as it was when the checkpoint was made: what came after is cut."""
        kept = [
            event
            for event in read_events(folder / EVENTS)
            if event["event"] == "start"
            or (event["event"] == "round" and event["round"] < next_round)
        ]
        write_atomic(folder / EVENTS, "".join(_line(event) for event in kept))
        return cls(folder)

    def add(self, event: Event) -> None:
        """One more event, on disk when this returns."""
        try:
            with self._path.open("ab") as file:
                file.write(_line(event).encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OutputError(f"{self._path}: cannot be written ({error.strerror})") from None

    def summary(self, found: dict[str, Any]) -> None:
        """The last word on a run."""
        write_atomic(self.folder / SUMMARY, to_json(found) + "\n")

    def _made(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror
            raise OutputError(f"{self.folder}: cannot be made ({reason})") from None


def _line(event: Event) -> str:
    return to_json(event, indent=None) + "\n"
