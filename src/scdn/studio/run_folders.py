"""Names of runs in the API, and the folders that they stand for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from scdn.errors import format_value, input_error
from scdn.record.run_reader import EVENTS
from scdn.studio.settings import MAX_RUNS

_MAX_DEPTH = 5  # folders below the runs directory
_SEED_FOLDER = re.compile(r"seed-\d+")


class NotFoundError(Exception):
    """Raised for a run or a job that does not exist."""


def resolve_folder(runs: Path, name: str) -> Path:
    """Return the folder that a name stands for; refuse one outside the runs directory."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    odd = any(part.startswith(".") or "\\" in part or not part.isprintable() for part in parts)
    if odd or name.startswith("/") or len(name) > 1000:
        allowed = "must be a folder in the runs directory"
        raise input_error("runs", "run", f"got {format_value(name)}", allowed)
    root = runs.resolve()
    try:
        folder = root.joinpath(*parts).resolve()
        inside = folder.is_relative_to(root) and folder.is_dir()
    except OSError:
        inside = False
    if not inside:
        raise NotFoundError(name)
    return folder


def resolve_run(runs: Path, name: str) -> Path:
    """Return the folder of a run, which holds its events."""
    folder = resolve_folder(runs, name)
    if not (folder / EVENTS).is_file():
        raise NotFoundError(name)
    return folder


def relative_name(runs: Path, folder: Path) -> str:
    """Return a folder's name below the runs directory; `.` for the directory itself."""
    return folder.relative_to(runs).as_posix()


def study_folder(run: str) -> str:
    """Return the comparison that a run belongs to: the folder above METHOD/seed-N, or its own."""
    parts = [part for part in run.split("/") if part != "."]
    if parts and _SEED_FOLDER.fullmatch(parts[-1]):
        parts = parts[:-2]
    return "/".join(parts) or "."


def find_run_folders(runs: Path, start: Path) -> Iterator[Path]:
    """Yield the folders of runs at or below `start`; what is inside a run belongs to it."""
    count = 0
    for root, subfolders, files in os.walk(start):
        folder = Path(root)
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        if EVENTS in files:
            subfolders.clear()
            count += 1
            yield folder
        elif len(folder.relative_to(runs).parts) >= _MAX_DEPTH:
            subfolders.clear()
        if count >= 4 * MAX_RUNS:
            return
