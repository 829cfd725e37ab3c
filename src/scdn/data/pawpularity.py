"""Pawpularity: pictures of pets, 12 flags for each, and a popularity score. It is never shipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scdn.data.dataset import Dataset, train_test_rows
from scdn.data.download import ProgressCallback
from scdn.data.pictures import open_picture
from scdn.errors import input_error
from scdn.npz import read_npz

SIDE = 64
_KEYS = ("webp", "webp_len", "id16", "meta", "meta_names", "pawpularity")
_PROGRESS_EVERY = 2_000  # images
_FLAGS = 12
_BICUBIC = 3  # PIL.Image.Resampling


def from_path(path: Path, progress: ProgressCallback) -> Dataset:
    """Return Pawpularity from a directory in Kaggle's layout, or from a compact npz."""
    if path.is_dir():
        return _from_directory(path, progress)
    return _from_npz(path, progress)


def _from_npz(path: Path, progress: ProgressCallback) -> Dataset:
    try:
        packed = read_npz(path, _KEYS)
    except KeyError as error:
        raise input_error(
            str(path), "keys", str(error.args[0]), f"needs {', '.join(_KEYS)}"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        allowed = "must be a directory with train.csv and train/, or the compact npz"
        raise input_error(str(path), "file", f"cannot be read ({reason})", allowed) from None
    if any(packed[key].dtype.kind not in "buif" for key in _KEYS if key != "meta_names"):
        raise input_error(
            str(path), "arrays", "hold something other than numbers", "must hold numbers"
        )
    ends = np.cumsum(packed["webp_len"], dtype=np.int64)
    if len(ends) == 0 or ends[-1] != len(packed["webp"]):
        fault = f"{len(packed['webp'])} bytes"
        raise input_error(str(path), "webp", fault, "must be the sum of webp_len, at least 1")
    raw = packed["webp"].tobytes()
    images = np.empty((len(ends), SIDE, SIDE, 3), np.uint8)
    for row, (end, length) in enumerate(zip(ends, packed["webp_len"], strict=True)):
        images[row] = _decode_picture(
            raw[int(end) - int(length) : int(end)], f"{path}: image {row}"
        )
        _report_progress(row, len(ends), progress)
    ids = [bytes(raw_id).hex() for raw_id in packed["id16"]]
    names = tuple(map(str, packed["meta_names"]))
    return _dataset(str(path), ids, images, packed["meta"], names, packed["pawpularity"])


def _from_directory(path: Path, progress: ProgressCallback) -> Dataset:
    from scdn.data.table_files import numeric_cells, read_table, require_columns

    frame = read_table(path / "train.csv")
    require_columns(frame, ("Id", "Pawpularity"), str(path / "train.csv"))
    names = tuple(map(str, frame.columns.drop(["Id", "Pawpularity"])))
    cells = numeric_cells(frame, (*names, "Pawpularity"), str(path / "train.csv"))
    images = np.empty((len(frame), SIDE, SIDE, 3), np.uint8)
    for row, name in enumerate(frame["Id"].astype(str)):
        if not name.isalnum():  # it becomes part of a path
            raise input_error(str(path), "Id", f"got {name!r}", "must be letters and digits")
        picture = path / "train" / f"{name}.jpg"
        try:
            images[row] = _decode_picture(picture.read_bytes(), str(picture))
        except OSError as error:
            reason = f"cannot be read ({error.strerror})"
            raise input_error(str(picture), "file", reason, "train.csv names it") from None
        _report_progress(row, len(frame), progress)
    ids = frame["Id"].astype(str).tolist()
    return _dataset(str(path), ids, images, cells[:, :-1], names, cells[:, -1])


def _decode_picture(raw: bytes, name: str) -> NDArray[Any]:
    """Return the picture as 64×64 RGB, resized where necessary."""
    with open_picture(raw, name) as picture:
        picture.draft("RGB", (4 * SIDE, 4 * SIDE))  # decode a JPEG no finer than needed
        rgb = picture.convert("RGB")
    if rgb.size != (SIDE, SIDE):
        rgb = rgb.resize((SIDE, SIDE), _BICUBIC)
    return np.asarray(rgb)


def _report_progress(row: int, count: int, progress: ProgressCallback) -> None:
    if (row + 1) % _PROGRESS_EVERY == 0 or row + 1 == count:
        progress(f"decoded {row + 1} of {count} images")


def _dataset(
    source: str,
    ids: list[str],
    images: NDArray[Any],
    flags: NDArray[Any],
    names: tuple[str, ...],
    scores: NDArray[Any],
) -> Dataset:
    if flags.shape != (len(ids), _FLAGS) or len(names) != _FLAGS or len(scores) != len(ids):
        fault = f"{flags.shape} flags, {len(names)} names, {len(scores)} scores, {len(ids)} ids"
        raise input_error(source, "rows", fault, f"must be {_FLAGS} named flags and a score each")
    if scores.min() < 0 or scores.max() > 100:
        fault = f"from {scores.min()} to {scores.max()}"
        raise input_error(source, "Pawpularity", fault, "must be from 0 to 100")
    order = np.argsort(np.array(ids), kind="stable")  # both forms get the same split
    train, test = (order[rows] for rows in train_test_rows(len(ids), "pawpularity-split"))
    table = flags.astype(np.float64)
    target = scores.astype(np.float64) / 100  # as in the paper
    return Dataset(
        name="pawpularity",
        train={"image": images[train], "table": table[train]},
        train_y=target[train],
        test={"image": images[test], "table": table[test]},
        test_y=target[test],
        task="regression",
        features=names,
        provenance=f"PetFinder.my Pawpularity (Kaggle), {len(ids)} pets at 64×64, split 80/20",
    )
