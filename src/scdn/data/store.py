"""The cache: one file a data set, its sha256 in its name, checked whenever it is read.

The hash stands in the name, so that storing is a single rename: there is no second file that
could disagree with the first after a crash.
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
from scdn.file_io import OutputError, write_atomic
from scdn.npz import read_npz

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")
_FILE = re.compile(rf"({NAME.pattern})\.([0-9a-f]{{64}})\.npz")
_ARRAYS = ("train", "train_y", "test", "test_y")
_STALE_S = 3600.0  # a temporary file this old belongs to a process that was killed


def store_folder() -> Path:
    """Where data sets are kept: `SCDN_DATA`, or the platform's cache directory."""
    chosen = os.environ.get("SCDN_DATA")
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("scdn"))


def stored_files() -> dict[str, Path]:
    """The file of each data set that is there."""
    found = [path for path in _files() if _FILE.fullmatch(path.name)]
    found.sort(key=lambda path: path.stat().st_mtime)  # of two versions the newer one counts
    return {path.name.split(".")[0]: path for path in found}


def put(dataset: Dataset) -> Path:
    """Stores a data set: the whole file under its hash, or nothing."""
    if not NAME.fullmatch(dataset.name):
        allowed = "must be up to 41 small letters, digits, - and _"
        raise input_error("data set", "name", f"got {dataset.name!r}", allowed)
    buffer = io.BytesIO()
    np.savez(buffer, **_pack(dataset))
    content = buffer.getvalue()
    path = store_folder() / f"{dataset.name}.{hashlib.sha256(content).hexdigest()}.npz"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path.parent}: cannot be made ({error.strerror})") from None
    write_atomic(path, content)
    try:
        verify_file(path, "try again; the disk did not keep what was written")
    except InputError:
        path.unlink()
        raise
    _sweep(dataset.name, path)
    return path


def get(name: str, remedy: str) -> Dataset:
    """A stored data set; `remedy` tells the user what to do where it is absent or damaged."""
    path = stored_files().get(name)
    if path is None:
        raise input_error(
            "data set", name, f"is not in {store_folder()}", f"get it first: {remedy}"
        )
    verify_file(path, f"get it again: {remedy}")
    try:
        return _unpack(read_npz(path))
    except (KeyError, ValueError, TypeError) as error:
        raise input_error(
            str(path), "file", f"is not of this version ({error})", f"get it again: {remedy}"
        ) from None


def verify_file(path: Path, remedy: str) -> None:
    """Refuses a file whose sha256 is not the one in its name."""
    match = _FILE.fullmatch(path.name)
    check_sha256(path, match.group(2) if match else "", remedy)


def check_sha256(source: Path | bytes, expected: str, remedy: str, name: str = "") -> None:
    """Refuses a file, or bytes called `name`, that are not the ones expected."""
    if isinstance(source, bytes):
        found = hashlib.sha256(source).hexdigest()
    else:
        name = name or str(source)
        try:
            with source.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            reason = f"cannot be read ({error.strerror})"
            raise input_error(name, "file", reason, "must be readable") from None
    if found != expected:
        raise input_error(
            name, "sha256", f"got {found}", f"must be {expected}; {printable(remedy)}"
        )


def _files() -> list[Path]:
    try:
        return sorted(store_folder().iterdir())
    except OSError:
        return []


def _sweep(name: str, keep: Path) -> None:
    """Removes older versions, and what a killed process left."""
    for path in _files():
        older = _FILE.fullmatch(path.name) and path.name.split(".")[0] == name and path != keep
        partial = path.name.startswith(".") and _FILE.match(path.name[1:])
        if older or (partial and time.time() - path.stat().st_mtime > _STALE_S):
            path.unlink(missing_ok=True)


def _pack(dataset: Dataset) -> dict[str, Any]:
    arrays: dict[str, Any] = {"train_y": dataset.train_y, "test_y": dataset.test_y}
    for part in ("train", "test"):
        arrays |= {f"{part}.{key}": rows for key, rows in getattr(dataset, part).items()}
    words = {
        field.name: getattr(dataset, field.name)
        for field in fields(dataset)
        if field.name not in _ARRAYS
    }
    return arrays | {"words": np.array(json.dumps(words))}


def _unpack(arrays: dict[str, Any]) -> Dataset:
    words = json.loads(str(arrays["words"]))
    for key in ("classes", "features"):
        words[key] = tuple(words[key])
    words["parties"] = {party: tuple(names) for party, names in words["parties"].items()}
    train, test = (
        {key.split(".")[1]: rows for key, rows in arrays.items() if key.startswith(f"{part}.")}
        for part in ("train", "test")
    )
    return Dataset(
        train=train, test=test, train_y=arrays["train_y"], test_y=arrays["test_y"], **words
    )
