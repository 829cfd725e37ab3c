"""Where runs are: names of runs as the page has them, and the folders they stand for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from scdn.errors import format_value, input_error
from scdn.record.read import EVENTS
from scdn.studio.settings import MAX_RUNS

_DEPTH = 5  # folders below the runs directory
_SEED = re.compile(r"seed-\d+")


class NotThereError(Exception):
    """Raised for a run or a job that is not there."""


def folder_of(runs: Path, name: str) -> Path:
    """The folder that a name stands for; never one outside the runs directory."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    odd = any(part.startswith(".") or "\\" in part or not part.isprintable() for part in parts)
    if odd or name.startswith("/") or len(name) > 1000:
        raise input_error(
            "runs", "run", f"got {format_value(name)}", "must be a folder in the runs directory"
        )
    root = runs.resolve()
    try:
        found = root.joinpath(*parts).resolve()
        inside = found.is_relative_to(root) and found.is_dir()
    except OSError:
        inside = False
    if not inside:
        raise NotThereError(name)
    return found


def run_folder(runs: Path, name: str) -> Path:
    """The folder of a run: its events are in it."""
    folder = folder_of(runs, name)
    if not (folder / EVENTS).is_file():
        raise NotThereError(name)
    return folder


def name_of(runs: Path, folder: Path) -> str:
    """A folder's name below the runs directory; `.` for itself."""
    return folder.relative_to(runs).as_posix()


def study_of(run: str) -> str:
    """The comparison that a run belongs to: the folder above METHOD/seed-N, or its own."""
    parts = [part for part in run.split("/") if part != "."]
    if parts and _SEED.fullmatch(parts[-1]):
        parts = parts[:-2]
    return "/".join(parts) or "."


def found_below(runs: Path, start: Path) -> Iterator[Path]:
    """Folders of runs at or below `start`, without what lies inside a run."""
    count = 0
    for place, inner, files in os.walk(start):
        here = Path(place)
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        if EVENTS in files:
            inner.clear()
            count += 1
            yield here
        elif len(here.relative_to(runs).parts) >= _DEPTH:
            inner.clear()
        if count >= 4 * MAX_RUNS:
            return
