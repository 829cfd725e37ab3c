"""Align rows by key: the server's labels with the features that each device holds.

Keys are compared as hashes with a salt of the run. Equal keys have equal hashes; a hash tells
nothing without the key, or a list of possible keys to try.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scdn.data import Dataset
from scdn.data.alignment import normalized_keys
from scdn.data.dataset import TaskKind, train_test_rows
from scdn.data.label_encoding import encode_labels
from scdn.data.scaling import Scaling, ScalingKind
from scdn.data.table_files import numeric_cells, read_table, require_columns
from scdn.errors import InputError, input_error
from scdn.federation.messages import DIGEST_BYTES
from scdn.federation.wire_format import WireError
from scdn.learning.feature_split import FeatureView, Shape
from scdn.npz import read_npz, write_npz

_MAX_EXAMPLES = 3  # keys that the report names


def hash_keys(keys: list[str], salt: str) -> NDArray[np.uint8]:
    """Return a hash of each key, (keys, bytes)."""
    secret = salt.encode()[:64]
    raw = b"".join(blake2b(k.encode(), digest_size=DIGEST_BYTES, key=secret).digest() for k in keys)
    return np.frombuffer(raw, np.uint8).reshape(-1, DIGEST_BYTES)


# --- the server's labels --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class KeyedLabels:
    """The server's labels: a target for each key, and which rows are test rows."""

    name: str
    keys: list[str]
    targets: NDArray[Any]
    test: NDArray[np.bool_]
    task: TaskKind
    classes: tuple[str, ...]
    provenance: str
    label: str = ""  # the column's name; none in a file of `export_parties`

    def save(self, path: Path) -> None:
        """Write the labels to a file that `read_labels` reads."""
        metadata = {key: getattr(self, key) for key in ("name", "task", "classes", "provenance")}
        write_npz(
            path,
            key=np.array(self.keys),
            targets=self.targets,
            test=self.test,
            metadata=np.array(json.dumps(metadata)),
        )


def read_labels(
    path: Path, key: str = "", label: str = "", task: TaskKind = "classification", classes: int = 0
) -> KeyedLabels:
    """Read a `.csv`, `.parquet` or `.npz` file and divide its rows 80/20 into training and test.

    `key` and `label` name columns; a file of `export_parties` needs neither.
    """
    arrays = _read_exported(path)
    if {"metadata", "test"} <= arrays.keys():
        with _read_errors_named(path):
            metadata = json.loads(str(arrays["metadata"]))
            metadata["classes"] = tuple(metadata["classes"])
            keys = [str(key) for key in arrays["key"]]
            return KeyedLabels(
                keys=keys, targets=arrays["targets"], test=arrays["test"], **metadata
            )
    if not key or not label:
        missing = "--key" if not key else "--label"
        raise input_error("scdn", missing, "is missing", "must name a column of the labels' file")
    frame = read_table(path, text=[key])
    require_columns(frame, [key, label], str(path))
    keys, usable = _usable_keys(frame, key)
    targets, names = encode_labels(frame[usable], label, task, classes or None, str(path), key)
    order = np.argsort(keys, kind="stable")
    test = np.zeros(len(keys), bool)
    test[order[train_test_rows(len(keys), "table-split")[1]]] = True
    provenance = f"{path.name}, {len(keys)} rows with a clear key of {len(frame)}"
    return KeyedLabels(path.stem, keys, targets, test, task, names, provenance, label)


def _read_exported(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an `.npz` file, which `export_parties` may have written."""
    if path.suffix.lower() != ".npz":
        return {}
    with _read_errors_named(path):
        return read_npz(path)


@contextmanager
def _read_errors_named(path: Path) -> Iterator[None]:
    """Turn whatever a damaged or missing file raises into an error that names the file."""
    try:
        yield
    except (OSError, KeyError, ValueError, TypeError, InputError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        problem = f"cannot be read ({reason})"
        raise input_error(str(path), "file", problem, "must be complete") from None


def _usable_keys(frame: pd.DataFrame, key: str) -> tuple[list[str], NDArray[np.bool_]]:
    """Return the keys that occur exactly once, and a mask of their rows."""
    keys = normalized_keys(frame[key])
    usable = (keys.notna() & ~keys.duplicated(keep=False)).to_numpy()
    return keys[usable].astype(str).tolist(), usable


# --- a device's features --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class KeyedFeatures:
    """A device's rows: a key and the values of each, and what the columns are."""

    keys: list[str]
    values: NDArray[Any]  # (rows, columns)
    view: FeatureView  # which columns of the full data set these are
    full_shape: Shape  # of a row of the full data set; a device of its own has just its columns
    scaled: bool
    unusable_rows: int = 0  # without a key, or with a duplicate one
    names: tuple[str, ...] = ()  # of the columns; none in a file of `export_parties`

    def select(self, keys: NDArray[np.uint8], salt: str) -> NDArray[Any]:
        """Return the rows with these hashed keys, in their order, not scaled."""
        row_of = _rows_by_key(self, salt)
        try:
            return self.values[[row_of[key.tobytes()] for key in keys]]
        except KeyError:
            raise WireError("asked for rows that this device does not have") from None

    def without(self, column: str) -> KeyedFeatures:
        """Return the rows without a column of this name, if there is one."""
        if column not in self.names:
            return self
        kept = [n for n, name in enumerate(self.names) if name != column]
        if not kept:
            raise WireError(f"has no features but {column!r}, which is to be predicted")
        names = tuple(self.names[n] for n in kept)
        view, width = table_view(len(kept)), (len(kept),)
        return replace(self, values=self.values[:, kept], view=view, full_shape=width, names=names)

    def fit_scaling(self, train: NDArray[Any], kind: ScalingKind) -> Scaling:
        """Return how rows are scaled: by the training rows, unless the file has scaled ones."""
        return Scaling.fit(train, "none" if self.scaled else kind)


@lru_cache(maxsize=1)
def _rows_by_key(features: KeyedFeatures, salt: str) -> dict[bytes, int]:
    """Return row numbers by hashed key."""
    return {hashed.tobytes(): row for row, hashed in enumerate(hash_keys(features.keys, salt))}


def read_features(path: Path, key: str = "", columns: Sequence[str] = ()) -> KeyedFeatures:
    """Read a device's `.csv`, `.parquet` or `.npz` file; `key` names the column of keys.

    `columns` are the features, by default all other columns.
    """
    arrays = _read_exported(path)
    if "full_shape" in arrays:
        if columns:
            problem = f"{path.name} has columns without names"
            raise input_error("scdn", "--columns", problem, "leave it out")
        with _read_errors_named(path):
            return _exported_features(arrays)
    if not key:
        raise input_error(
            "scdn", "--key", "is missing", "must name the column that all files share"
        )
    frame = read_table(path, text=[key])
    require_columns(frame, [key, *columns], str(path))
    if key in columns or len(set(columns)) < len(columns):
        raise input_error("scdn", "--columns", "has the key, or a duplicate", "needs features")
    keys, usable = _usable_keys(frame, key)
    names = tuple(columns) or tuple(column for column in frame.columns if column != key)
    if not names or not keys:
        raise input_error(str(path), "file", "has no features with a unique key", "needs some")
    values = numeric_cells(frame, list(names), str(path), key)[usable]
    view, unusable = table_view(len(names)), len(frame) - len(keys)
    return KeyedFeatures(keys, values, view, (len(names),), False, unusable, names)


def table_view(width: int) -> FeatureView:
    """Return the view of a table whose columns are all a device's own."""
    return FeatureView("table", np.arange(width), np.ones(width, bool), (width,))


def _exported_features(arrays: Mapping[str, NDArray[Any]]) -> KeyedFeatures:
    """Return the features in a file that `export_parties` wrote."""
    columns, shape = arrays["columns"], tuple(int(n) for n in arrays["shape"])
    view = FeatureView(str(arrays["modality"]), columns, np.ones(len(columns), bool), shape)
    full_shape = tuple(int(n) for n in arrays["full_shape"])
    values = arrays["values"]
    if values.ndim != 2 or values.shape[1] != len(columns) or not np.isfinite(values).all():
        raise ValueError("values")
    keys = [str(key) for key in arrays["key"]]
    return KeyedFeatures(keys, values, view, full_shape, True)


# --- both together --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AlignedRows:
    """The rows that the server and every initial device have, and a report on the others."""

    train: NDArray[np.uint8]  # hashed keys, in the order of the run's rows
    test: NDArray[np.uint8]
    dataset: Dataset  # targets only: the server has no features
    report: dict[str, Any]

    def lines(self) -> list[str]:
        """Return the report as text, a line for each finding."""
        matched = f"{self.report['matched']} rows are shared by the server and every device"
        lines = [f"{matched} ({len(self.train)} train, {len(self.test)} test)"]
        for name, device in self.report["devices"].items():
            if device["missing"] or device["unmatched"]:
                keys = f" ({', '.join(device['examples'])}…)" if device["examples"] else ""
                lines.append(
                    f"{name}: lacks {device['missing']} of the server's rows{keys}, "
                    f"has {device['unmatched']} that the server lacks"
                )
        return lines

    def missing_from(self, keys: NDArray[np.uint8]) -> int:
        """Return how many of the run's rows are not among these hashed keys."""
        present = _as_set(keys)
        return sum(key.tobytes() not in present for part in (self.train, self.test) for key in part)


def devices_to_leave_out(
    labels: KeyedLabels, device_keys: Mapping[str, NDArray[np.uint8]], salt: str, min_rows: int = 0
) -> list[str]:
    """Return first devices that lack so many rows that the others had better start without them.

    While fewer than `min_rows` rows are shared, the device goes without which most are. 0 means
    half of the rows of a device in the middle, where at least three can be compared; there must
    always be a row to train on and one to test.
    """
    server_keys = [row.tobytes() for row in hash_keys(labels.keys, salt)]
    held = {name: _as_set(keys) for name, keys in device_keys.items()}
    kept = {n: np.array([key in keys for key in server_keys]) for n, keys in held.items()}
    left_out: list[str] = []
    while len(kept) > 1:
        table = np.stack(list(kept.values()))
        shared, counts = table.all(0), table.sum(1)
        half = int(np.median(counts)) // 2 if len(kept) > 2 else 0
        splits = (shared & ~labels.test).any() and (shared & labels.test).any()
        if splits and shared.sum() >= (min_rows or half):
            break
        without = [int(np.delete(table, n, 0).all(0).sum()) for n in range(len(kept))]
        ranks = zip(without, (-counts).tolist(), kept, strict=True)
        left_out.append(max(ranks)[-1])
        del kept[left_out[-1]]
    return left_out


def align(
    labels: KeyedLabels, device_keys: Mapping[str, NDArray[np.uint8]], salt: str
) -> AlignedRows:
    """Match the server's labels with the hashed keys of devices."""
    hashed = hash_keys(labels.keys, salt)
    server_keys = [row.tobytes() for row in hashed]
    keys_of = {name: _as_set(keys) for name, keys in device_keys.items()}
    common = set(server_keys).intersection(*keys_of.values())
    matched = np.array([key in common for key in server_keys])
    devices = {}
    for name, keys in keys_of.items():
        missing = [row for row, key in enumerate(server_keys) if key not in keys]
        devices[name] = {
            "rows": len(device_keys[name]),
            "missing": len(missing),
            "examples": [labels.keys[row] for row in missing[:_MAX_EXAMPLES]],
            "unmatched": len(keys - set(server_keys)),
        }
    train, test = np.flatnonzero(matched & ~labels.test), np.flatnonzero(matched & labels.test)
    if not len(train) or not len(test):
        raise input_error(
            "keys",
            "rows",
            f"only {int(matched.sum())} are with the server and every device",
            "needs training and test rows",
        )
    report = {"matched": int(matched.sum()), "server": len(server_keys), "devices": devices}
    dataset = Dataset(
        name=labels.name,
        train={"table": np.zeros((len(train), 0))},
        train_y=labels.targets[train],
        test={"table": np.zeros((len(test), 0))},
        test_y=labels.targets[test],
        task=labels.task,
        classes=labels.classes,
        provenance=labels.provenance,
    )
    return AlignedRows(hashed[train], hashed[test], dataset, report)


def _as_set(keys: NDArray[np.uint8]) -> set[bytes]:
    return {key.tobytes() for key in keys}
