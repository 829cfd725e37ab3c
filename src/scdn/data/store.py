"""The local store: one file per data set with its sha256 in its name, checked at every read.

With the hash in the name, storing is a single rename: there is no second file that could disagree
with the first after a crash.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from numpy.typing import NDArray

from scdn.data.dataset import Dataset
from scdn.data.pictures import decode_pictures
from scdn.errors import InputError, input_error, printable
from scdn.file_io import MEBIBYTE, make_folder, write_atomic, writing
from scdn.npz import compressed_npz, read_npz

ShowProgress = Callable[[int, int, str], None]  # receives what is done, the total and a text

NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")
_FILE_PATTERN = re.compile(rf"({NAME_PATTERN.pattern})\.([0-9a-f]{{64}})\.npz")
_ARRAYS = ("train", "train_y", "test", "test_y")
_FILES, _LENGTHS = "image_files", "image_lengths"  # in place of pixels
_SHAPE = "image_shape"  # height, width and channels, among the metadata
_SHOWN_MEBIBYTES = 16  # less is packed in a moment
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


def put(
    dataset: Dataset,
    *,
    pictures: Mapping[str, Sequence[bytes]] | None = None,
    size_limit: int | None = None,
    progress: ShowProgress = lambda *_: None,
) -> Path:
    """Store a data set completely or not at all; return the path of its file.

    The file should have at most `size_limit` bytes. If the images came from files, these are
    `pictures`, by part: they are kept in place of pixels that would take more.
    """
    check_name(dataset.name)
    content = _packed(dataset, pictures, size_limit, progress)
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


def check_name(name: str) -> None:
    """Refuse a name that cannot be part of a file's name."""
    if not NAME_PATTERN.fullmatch(name):
        allowed = "must be 1 to 41 lower-case letters, digits, - and _"
        raise input_error("data set", "name", f"got {name!r}", allowed)


def remove(name: str) -> Path:
    """Remove a stored data set; return the path that its file had."""
    path = stored_files().get(name)
    if path is None:
        stored = ", ".join(stored_files()) or "nothing"
        missing = f"is not in {store_folder()}"
        raise input_error("data set", name, missing, f"stored there: {stored}")
    with writing(path, "removed"):
        for stored_path in _files():
            stored_name = _FILE_PATTERN.fullmatch(stored_path.name)
            if stored_name and stored_name.group(1) == name:
                stored_path.unlink()
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


def _packed(
    dataset: Dataset,
    pictures: Mapping[str, Sequence[bytes]] | None,
    size_limit: int | None,
    progress: ShowProgress,
) -> bytes:
    """Return the content of a data set's file: deflated, or smaller if that is too large."""
    arrays = _to_arrays(dataset)

    def pack(arrays: Mapping[str, NDArray[Any]], smallest: bool) -> bytes:
        total = sum(array.nbytes for array in arrays.values()) // MEBIBYTE
        if total < _SHOWN_MEBIBYTES:
            return compressed_npz(arrays, smallest=smallest)

        shown = 0

        def show(done: int) -> None:
            nonlocal shown
            if shown < min(done // MEBIBYTE, total):
                shown = min(done // MEBIBYTE, total)
                progress(shown, total, "MiB compressed" + (" again" if smallest else ""))

        return compressed_npz(arrays, smallest=smallest, progress=show)

    content = pack(arrays, smallest=False)
    if size_limit is None or len(content) <= size_limit:
        return content
    if pictures is None:
        return min(content, pack(arrays, smallest=True), key=len)
    for part, files in pictures.items():
        del arrays[f"{part}.image"]
        arrays[f"{part}.{_FILES}"] = np.frombuffer(b"".join(files), np.uint8)
        arrays[f"{part}.{_LENGTHS}"] = _smallest_integers(np.array([len(raw) for raw in files]))
    return min(content, pack(arrays, smallest=False), key=len)


def _to_arrays(dataset: Dataset) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    for part in ("train", "test"):
        arrays[f"{part}_y"] = _smallest_integers(getattr(dataset, f"{part}_y"))
        for key, rows in getattr(dataset, part).items():
            arrays[f"{part}.{key}"] = _by_columns(rows) if key == "table" else rows
    names = [field.name for field in fields(dataset) if field.name not in _ARRAYS]
    metadata = {name: getattr(dataset, name) for name in names}
    shape = dataset.train["image"].shape[1:] if "image" in dataset.train else ()
    metadata[_SHAPE] = shape
    return arrays | {_METADATA: np.array(json.dumps(metadata))}


def _smallest_integers(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers of at least 0 in as few bytes as they need."""
    if numbers.dtype.kind != "i":
        return numbers
    return numbers.astype(np.min_scalar_type(int(numbers.max())))


def _by_columns(table: NDArray[Any]) -> NDArray[Any]:
    """Return a table to store column by column, in 32 bits if none is lost: that packs better."""
    with np.errstate(over="ignore"):
        short = table.astype(np.float32)
    return np.asfortranarray(short if (short == table).all() else table)


def _from_arrays(arrays: dict[str, NDArray[Any]]) -> Dataset:
    metadata = json.loads(str(arrays[_METADATA]))
    shape = tuple(metadata.pop(_SHAPE, ()))
    for key in ("classes", "features"):
        metadata[key] = tuple(metadata[key])
    metadata["parties"] = {p: tuple(names) for p, names in metadata["parties"].items()}
    rows: dict[str, dict[str, NDArray[Any]]] = {"train": {}, "test": {}}
    for part, modalities in rows.items():
        if (image := _images(arrays, part, shape)) is not None:
            modalities["image"] = image
        if (table := arrays.get(f"{part}.table")) is not None:
            modalities["table"] = np.ascontiguousarray(table, np.float64)
    kind = np.int64 if metadata["task"] == "classification" else np.float64
    return Dataset(
        train=rows["train"],
        test=rows["test"],
        train_y=arrays["train_y"].astype(kind),
        test_y=arrays["test_y"].astype(kind),
        **metadata,
    )


def _images(
    arrays: Mapping[str, NDArray[Any]], part: str, shape: tuple[int, ...]
) -> NDArray[Any] | None:
    """Return the images of a part, from their pixels or from their files."""
    if f"{part}.{_FILES}" not in arrays:
        return arrays.get(f"{part}.image")
    raw = arrays[f"{part}.{_FILES}"].tobytes()
    ends = np.cumsum(arrays[f"{part}.{_LENGTHS}"], dtype=np.int64).tolist()
    files = [raw[start:end] for start, end in pairwise([0, *ends])]
    height, width, channels = shape
    names = [f"{part} image {row + 1}" for row in range(len(files))]
    return decode_pictures(files, (height, width, channels), names)
