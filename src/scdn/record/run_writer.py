"""Writing the events of a run: each is on disk before the next round begins."""

from __future__ import annotations

import os
from pathlib import Path

from scdn.errors import input_error
from scdn.file_io import to_json, write_atomic, writing
from scdn.record.run_reader import EVENTS, Event, read_events

SUMMARY = "summary.json"


def check_unused(folder: Path) -> None:
    """Refuse a folder that already holds a run."""
    if (folder / EVENTS).exists():
        allowed = "choose another folder, or go on with --resume"
        raise input_error(str(folder), "folder", "has a run already", allowed)


class Recorder:
    """Appends events to a run's `events.jsonl`; a line without its newline is incomplete."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder / EVENTS

    @classmethod
    def create(cls, folder: Path, start: Event) -> Recorder:
        """Start recording in a folder that holds no run yet."""
        check_unused(folder)
        recorder = cls(folder)
        write_atomic(recorder._path, _line(start))
        return recorder

    @classmethod
    def reopen(cls, folder: Path, next_round: int) -> Recorder:
        """Continue recording before `next_round`; events of that round and later ones are cut."""
        kept = [
            event
            for event in read_events(folder / EVENTS)
            if event["event"] == "start"
            or (event["event"] == "round" and event["round"] < next_round)
        ]
        if [event["round"] for event in kept[1:]] != list(range(next_round)):
            fault = f"does not have all of the first {next_round} rounds"
            raise input_error(str(folder / EVENTS), "rounds", fault, "cannot resume")
        write_atomic(folder / EVENTS, "".join(_line(event) for event in kept))
        return cls(folder)

    def append(self, event: Event) -> None:
        """Append an event; it is on disk when this returns."""
        with (
            writing(self._path),
            # Mode "ab" would create the file again, without its start, if it had vanished.
            open(os.open(self._path, os.O_WRONLY | os.O_APPEND), "ab") as file,
        ):
            file.write(_line(event).encode())
            file.flush()
            os.fsync(file.fileno())

    def write_summary(self, summary: Event) -> None:
        """Write the summary of the run."""
        write_atomic(self.folder / SUMMARY, to_json(summary) + "\n")


def _line(event: Event) -> str:
    return to_json(event, indent=None) + "\n"
