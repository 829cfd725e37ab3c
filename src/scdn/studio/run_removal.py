"""Deletes a run, or a whole study, so that no half of one stays behind.

The folder first gets a hidden name, which no list of runs shows, and is then removed. A run that is
being written is never deleted, nor what a link leads to, nor a part of a study: the methods of a
study are compared over the same seeds.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from scdn.errors import InputError, input_error
from scdn.file_io import writing
from scdn.record.run_lock import lock_run_folder
from scdn.record.run_reader import EVENTS
from scdn.studio.run_folders import NotFoundError, RunsFolder, study_folder
from scdn.studio.run_index import RunIndex
from scdn.studio.run_jobs import RunJobs


def delete_run(runs: RunsFolder, index: RunIndex, jobs: RunJobs, name: str) -> list[str]:
    """Delete a run, or a study with all of its runs; return the names of the deleted runs."""
    folder = runs.resolve_folder(name)
    _check_place(runs, folder, name)
    folders = _run_folders(folder)
    if not folders:
        raise NotFoundError(name)
    _check_whole(runs, folder, folders)
    names = [runs.name(path) for path in folders]
    with jobs.idle_below(folder):
        for info in index.runs():
            if info.run in names and info.status == "running" and jobs.of_run(info.run) is None:
                raise _refusal(f"{info.run} is running", "stop it first")
        with ExitStack() as locks:
            for path in folders:
                locks.enter_context(lock_run_folder(path))
            hidden = folder.with_name(f".deleted-{secrets.token_hex(8)}")
            with writing(folder, "deleted"):
                os.rename(folder, hidden)
    index.forget()
    with writing(hidden, "removed"):
        shutil.rmtree(hidden)
    return names


def _check_place(runs: RunsFolder, folder: Path, name: str) -> None:
    """Refuse a folder that is reached by a link, and the one that the studio was opened on."""
    if folder != runs.root.joinpath(*(part for part in name.split("/") if part != ".")):
        raise _refusal("is a link", "delete what it leads to by hand")
    if folder == runs.root or folder in runs.listed or runs.new.is_relative_to(folder):
        raise _refusal("is the folder that the studio was opened on", "delete it by hand")


def _check_whole(runs: RunsFolder, folder: Path, folders: Sequence[Path]) -> None:
    """Refuse a part of a study, and a folder with more than one run or study."""
    name = runs.name(folder)
    if folders == [folder]:
        study = runs.root / study_folder(name)
        if study != folder and len(runs.run_folders_of(study)) > 1:
            raise _refusal(f"belongs to the study {runs.name(study)}", "delete the whole study")
    elif folder in folders or any(study_folder(runs.name(path)) != name for path in folders):
        raise _refusal("holds several runs that are no study", "delete them one by one")


def _run_folders(folder: Path) -> list[Path]:
    """Return every folder with events at or below a folder, however deep and hidden."""
    return [Path(root) for root, _, files in os.walk(folder) if EVENTS in files]


def _refusal(found: str, allowed: str) -> InputError:
    return input_error("runs", "run", found, allowed)
