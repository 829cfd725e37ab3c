"""The local store: one file per data set with its sha256 in its name, checked at every read.

With the hash in the name, storing is a single rename: there is no second file that could disagree
with the first after a crash.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from scdn.data.dataset import Dataset
from scdn.errors import InputError, input_error, printable
from scdn.file_io import make_folder, write_atomic
from scdn.npz import read_npz

NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")
_FILE_PATTERN = re.compile(rf"({NAME_PATTERN.pattern})\.([0-9a-f]{{64}})\.npz")
_ARRAYS = ("train", "train_y", "test", "test_y")
_METADATA = "words"  # this entry of the npz file holds all other fields as JSON
_STALE_S = 3600.0  # an older temporary file was left by a process that was killed


def store_folder() -> Path:
    """Return the folder of the store: `SCDN_DATA`, or the platform's cache directory."""
    return Path(os.environ.get("SCDN_DATA") or platformdirs.user_cache_dir("scdn"))


def stored_files() -> dict[str, Path]:
    """Return the file of each stored data set, by name."""
    paths = [path for path in _files() if _FILE_PATTERN.fullmatch(path.name)]
    paths.sort(key=lambda path: path.stat().st_mtime)  # the newer of two versions comes last
    return {path.name.split(".")[0]: path for path in paths}


def put(dataset: Dataset) -> Path:
    """Store a data set completely or not at all; return the path of its file."""
    if not NAME_PATTERN.fullmatch(dataset.name):
        allowed = "must be 1 to 41 lower-case letters, digits, - and _"
        raise input_error("data set", "name", f"got {dataset.name!r}", allowed)
    buffer = io.BytesIO()
    np.savez(buffer, **_to_arrays(dataset))
    content = buffer.getvalue()
    path = store_folder() / f"{dataset.name}.{hashlib.sha256(content).hexdigest()}.npz"
    make_folder(path.parent)
    write_atomic(path, content)
    try:
        verify_file(path, "try again; the disk did not keep the file as written")
    except InputError:
        path.unlink()
        raise
    _remove_old_files(dataset.name, path)
    return path


def get(name: str, remedy: str) -> Dataset:
    """Return a stored data set; `remedy` is the advice if it is absent or damaged."""
    path = stored_files().get(name)
    if path is None:
        missing = f"is not in {store_folder()}"
        raise input_error("data set", name, missing, f"get it first: {remedy}")
    verify_file(path, f"get it again: {remedy}")
    try:
        return _from_arrays(read_npz(path))
    except (KeyError, ValueError, TypeError) as error:
        reason = f"was written by another version ({error})"
        raise input_error(str(path), "file", reason, f"get it again: {remedy}") from None


def verify_file(path: Path, remedy: str) -> None:
    """Refuse a file whose sha256 is not the one in its name."""
    match = _FILE_PATTERN.fullmatch(path.name)
    check_sha256(path, match.group(2) if match else "", remedy)


def check_sha256(source: Path | bytes, expected: str, remedy: str, name: str = "") -> None:
    """Refuse a file, or bytes called `name`, whose sha256 is not the expected one."""
    if isinstance(source, bytes):
        digest = hashlib.sha256(source).hexdigest()
    else:
        name = name or str(source)
        try:
            with source.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            reason = f"cannot be read ({error.strerror})"
            raise input_error(name, "file", reason, "must be readable") from None
    if digest != expected:
        allowed = f"must be {expected}; {printable(remedy)}"
        raise input_error(name, "sha256", f"got {digest}", allowed)


def _files() -> list[Path]:
    try:
        return sorted(store_folder().iterdir())
    except OSError:
        return []


def _remove_old_files(name: str, current: Path) -> None:
    """Remove older versions, and temporary files that a killed process left."""
    for path in _files():
        stored = _FILE_PATTERN.fullmatch(path.name)
        older = stored and stored.group(1) == name and path != current
        partial = path.name.startswith(".") and _FILE_PATTERN.match(path.name[1:])
        if older or (partial and time.time() - path.stat().st_mtime > _STALE_S):
            path.unlink(missing_ok=True)


def _to_arrays(dataset: Dataset) -> dict[str, Any]:
    arrays: dict[str, Any] = {"train_y": dataset.train_y, "test_y": dataset.test_y}
    for part in ("train", "test"):
        arrays |= {f"{part}.{key}": rows for key, rows in getattr(dataset, part).items()}
    names = [field.name for field in fields(dataset) if field.name not in _ARRAYS]
    metadata = {name: getattr(dataset, name) for name in names}
    return arrays | {_METADATA: np.array(json.dumps(metadata))}


def _from_arrays(arrays: dict[str, Any]) -> Dataset:
    metadata = json.loads(str(arrays[_METADATA]))
    for key in ("classes", "features"):
        metadata[key] = tuple(metadata[key])
    metadata["parties"] = {p: tuple(names) for p, names in metadata["parties"].items()}
    train, test = (
        {key.split(".")[1]: rows for key, rows in arrays.items() if key.startswith(f"{part}.")}
        for part in ("train", "test")
    )
    return Dataset(
        train=train, test=test, train_y=arrays["train_y"], test_y=arrays["test_y"], **metadata
    )
