"""Writing a run down: each event on disk before the next round begins."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from scdn.errors import input_error
from scdn.file_io import OutputError, to_json, write_atomic
from scdn.record.run_reader import EVENTS, Event, read_events

SUMMARY = "summary.json"


def check_unused(folder: Path) -> None:
    """Refuses a folder that has a run."""
    if (folder / EVENTS).exists():
        allowed = "choose another folder, or go on with --resume"
        raise input_error(str(folder), "folder", "has a run already", allowed)


class Recorder:
    """Appends to a run's `events.jsonl`. A line counts once its newline is on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder / EVENTS

    @classmethod
    def create(cls, folder: Path, start: Event) -> Recorder:
        """A new run in a folder that has none yet."""
        check_unused(folder)
        recorder = cls(folder)
        write_atomic(recorder._path, _line(start))
        return recorder

    @classmethod
    def reopen(cls, folder: Path, next_round: int) -> Recorder:
        """The run as it was when the checkpoint was made: what came after is cut."""
        kept = [
            event
            for event in read_events(folder / EVENTS)
            if event["event"] == "start"
            or (event["event"] == "round" and event["round"] < next_round)
        ]
        if [event["round"] for event in kept[1:]] != list(range(next_round)):
            found = f"does not have all rounds before {next_round}"
            raise input_error(str(folder / EVENTS), "rounds", found, "cannot resume")
        write_atomic(folder / EVENTS, "".join(_line(event) for event in kept))
        return cls(folder)

    def append(self, event: Event) -> None:
        """One more event, on disk when this returns."""
        try:
            # Not mode "ab": a file that has vanished must not come back without its beginning.
            with open(os.open(self._path, os.O_WRONLY | os.O_APPEND), "ab") as file:
                file.write(_line(event).encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OutputError(f"{self._path}: cannot be written ({error.strerror})") from None

    def write_summary(self, found: dict[str, Any]) -> None:
        """The last word on a run."""
        write_atomic(self.folder / SUMMARY, to_json(found) + "\n")


def _line(event: Event) -> str:
    return to_json(event, indent=None) + "\n"
