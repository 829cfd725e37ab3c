"""The states of a device's model in files, so that it can go on, and predict, in a later process.

    FOLDER/DEVICE/RUN/state-NUMBER.npz

Each file is complete by itself: parameters, how the model is built, how rows are scaled, and in
which round the state was reached. It is written as a whole or not at all.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
import torch

from scdn.federation.party_model import PartyModel
from scdn.file_io import OutputError, to_json, writing
from scdn.learning.tensors import Tensors, strip_prefix, to_arrays
from scdn.npz import read_npz, write_npz

MAX_STATES = 8  # that a device loads, and tells a server of
_KEPT_ROUNDS = 4  # states that the server has gone on from, of which files stay
_KEPT_RUNS = 20  # of a device
_FILE = re.compile(r"state-(\d+)\.npz")
_METADATA, _PARAMETERS = "metadata", "parameters"


def default_state_folder() -> Path:
    """Return where devices keep their models: `SCDN_STATE`, or the user's folder for states."""
    return Path(os.environ.get("SCDN_STATE") or platformdirs.user_state_path("scdn") / "devices")


@dataclass
class KeptStates:
    """The files of one device. A disk that is full ends no training: the log says so."""

    folder: Path  # FOLDER/DEVICE
    log: Callable[[str], None] = lambda _: None

    def make_folder(self) -> None:
        """Create the device's folder, which its user alone can read."""
        with writing(self.folder, "made"):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not os.access(self.folder, os.W_OK | os.X_OK):
                raise OutputError(f"{self.folder}: cannot be written (choose --state FOLDER)")

    # --- writing --------------------------------------------------------------------------------

    def begin(self, model: PartyModel, parameters: Tensors) -> None:
        """Keep the first state of a new model; files of an earlier party of the run are removed."""
        self.remove(model.run, lambda _: True)
        with suppress(OSError):
            self._remove_old_runs(model.run)
        self.save(model, 0, None, parameters)

    def _remove_old_runs(self, current: str) -> None:
        """Remove the files of runs of long ago; folders with anything else in them stay."""
        runs = [
            path
            for path in self._entries(self.folder)
            if path.name != current and path.is_dir() and all(map(_is_own, self._entries(path)))
        ]
        runs.sort(key=lambda path: path.stat().st_mtime)
        for path in runs[: max(0, len(runs) + 1 - _KEPT_RUNS)]:
            self.log(f"{path}: removed, {_KEPT_RUNS} later runs are kept")
            self.remove(path.name, lambda _: True)
            path.rmdir()

    def save(self, model: PartyModel, number: int, round_: int | None, parameters: Tensors) -> None:
        """Write a state, which the model reached in a round; None: before its first."""
        arrays, values = model.state_dict()
        metadata = to_json({**values, "state": number, "round": round_}, indent=None)
        arrays |= to_arrays(parameters, _PARAMETERS)
        path = self._path(model.run, number)
        try:
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_npz(path, **{_METADATA: np.array(metadata), **arrays})
        except OutputError as error:
            self.log(f"{error}; the model is not kept")

    def go_on_from(self, run: str, base: int) -> None:
        """Remove later states, which the server did not hear of, and those of long ago."""
        earlier = sorted(number for number in self._numbers(run) if number <= base)
        kept = set(earlier[-_KEPT_ROUNDS:])
        self.remove(run, lambda number: number not in kept)

    def remove(self, run: str, unwanted: Callable[[int], bool]) -> None:
        """Remove the states that `unwanted` says, and what a killed process left half-written."""
        for path in self._entries(self.folder / run):
            match = _FILE.fullmatch(path.name)
            if _is_own(path) and (match is None or unwanted(int(match[1]))):
                with suppress(OSError):
                    path.unlink()

    # --- reading --------------------------------------------------------------------------------

    def read(self, run: str) -> tuple[PartyModel, dict[int, Tensors]] | None:
        """Return the model of a run and its latest states, without files that are damaged."""
        latest: PartyModel | None = None
        states: dict[int, Tensors] = {}
        for number in sorted(self._numbers(run), reverse=True)[:MAX_STATES]:
            path = self._path(run, number)
            try:
                model, parameters = _read_state(path, number)
            except Exception:  # a damaged file can raise anything
                self.log(f"{path}: damaged, ignored")
                continue
            if model.run != run or (latest is not None and model.party != latest.party):
                self.log(f"{path}: of another run or party, ignored")
                continue
            latest = latest or model
            states[number] = parameters
        return None if latest is None else (latest, states)

    # --- inside ---------------------------------------------------------------------------------

    def _path(self, run: str, number: int) -> Path:
        return self.folder / run / f"state-{number}.npz"

    def _numbers(self, run: str) -> list[int]:
        names = (path.name for path in self._entries(self.folder / run))
        return [int(match[1]) for name in names if (match := _FILE.fullmatch(name))]

    def _entries(self, folder: Path) -> list[Path]:
        try:
            return list(folder.iterdir())
        except OSError:  # there is none yet
            return []


def _is_own(path: Path) -> bool:
    """Return whether a file is a state, or what a killed process left of one."""
    return bool(_FILE.fullmatch(path.name)) or path.name.startswith(".state-")


def _read_state(path: Path, number: int) -> tuple[PartyModel, Tensors]:
    arrays = read_npz(path)
    values: Mapping[str, Any] = json.loads(str(arrays.pop(_METADATA)))
    if values["state"] != number:
        raise ValueError("renamed")
    model = PartyModel.from_state_dict(arrays, values)
    saved = strip_prefix(arrays, f"{_PARAMETERS}/")
    parameters = {name: torch.from_numpy(array) for name, array in saved.items()}
    model.check_parameters(parameters)
    return model, parameters
