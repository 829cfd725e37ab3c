"""Names of runs in the API, and the folders that they stand for."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from scdn.errors import format_value, input_error
from scdn.record.file_tail import first_line
from scdn.record.run_reader import EVENTS, method_folder
from scdn.studio.settings import MAX_RUNS

_MAX_DEPTH = 5  # folders below the runs directory
_SEED_FOLDER = re.compile(r"seed-\d+")


class NotFoundError(Exception):
    """Raised for a run or a job that does not exist."""


View = Literal["introduction", "run", "compare"]


@dataclass(frozen=True)
class RunsFolder:
    """The folder that a studio was opened on: whose runs it lists, and where new ones go.

    A study is exactly its comparison, so new runs never go into one: those of a studio that was
    opened on the study `wildfire`, or on a run of it, are recorded beside it in `wildfire-runs`.
    """

    root: Path  # the names of runs are relative to it
    listed: tuple[Path, ...]  # the folders at or below the root whose runs have names
    new: Path  # where new runs are recorded
    view: View  # what the page shows first
    opened: str | None  # the run or the study of that view

    @classmethod
    def at(cls, folder: str | Path) -> RunsFolder:
        """Describe a folder of runs, a study or a single run."""
        path = Path(folder).resolve()
        is_run = (path / EVENTS).is_file()
        study = _enclosing_study(path, is_run)
        if study is None:
            return cls(path, (path,), path, "introduction", None)
        root, new = study.parent, study.with_name(f"{study.name}-runs")
        opened = relative_name(root, path if is_run else study)
        return cls(root, (study, new), new, "run" if is_run else "compare", opened)

    def resolve_folder(self, name: str) -> Path:
        """Return the folder that a name stands for; refuse one that is not listed."""
        parts = [part for part in name.split("/") if part not in ("", ".")]
        odd = any(part.startswith(".") or "\\" in part or not part.isprintable() for part in parts)
        if odd or name.startswith("/") or len(name) > 1000:
            allowed = "must be a folder in the runs directory"
            raise input_error("runs", "run", f"got {format_value(name)}", allowed)
        try:
            folder = self.root.joinpath(*parts).resolve()
            inside = any(folder.is_relative_to(path) for path in self.listed) and folder.is_dir()
        except OSError:
            inside = False
        if not inside:
            raise NotFoundError(name)
        return folder

    def resolve_run(self, name: str) -> Path:
        """Return the folder of a run, which holds its events."""
        folder = self.resolve_folder(name)
        if not (folder / EVENTS).is_file():
            raise NotFoundError(name)
        return folder

    def name(self, folder: Path) -> str:
        """Return a folder's name in the API; `.` for the runs directory itself."""
        return relative_name(self.root, folder)

    def run_folders(self) -> Iterator[Path]:
        """Yield the folders of all runs."""
        for folder in self.listed:
            yield from find_run_folders(self.root, folder)

    def run_folders_of(self, folder: Path) -> list[Path]:
        """Return the runs of a study, without others below its folder; or all below a folder."""
        below = list(find_run_folders(self.root, folder))
        own = [path for path in below if study_folder(self.name(path)) == self.name(folder)]
        return own or below


def _enclosing_study(folder: Path, is_run: bool) -> Path | None:
    """Return the study that a folder is or belongs to, or a run itself; None for other folders."""
    if is_run:
        return folder.parents[1] if _is_of_comparison(folder) else folder
    if any(_is_of_comparison(path.parent) for path in folder.glob(f"seed-*/{EVENTS}")):
        return folder.parent  # it holds the runs of one method
    is_study = any(_is_of_comparison(path.parent) for path in folder.glob(f"*/seed-*/{EVENTS}"))
    return folder if is_study else None


def _is_of_comparison(run: Path) -> bool:
    """Return whether a run's folder is METHOD/seed-SEED with its own method and seed."""
    try:
        start = json.loads(first_line(run / EVENTS))
        expected = Path(method_folder(start["method"])) / f"seed-{start['seed']}"
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False
    return run.match(str(expected))


def relative_name(root: Path, folder: Path) -> str:
    """Return a folder's name below another; `.` for that folder itself."""
    return folder.relative_to(root).as_posix()


def study_folder(run: str) -> str:
    """Return the comparison that a run belongs to: the folder above METHOD/seed-N, or its own."""
    parts = [part for part in run.split("/") if part != "."]
    if len(parts) > 1 and _SEED_FOLDER.fullmatch(parts[-1]):
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
