"""A user's own table: `.csv`, `.parquet` or `.npz`, with a label column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scdn.arrays import Array
from scdn.data.dataset import Dataset, TaskKind, train_test_rows
from scdn.data.table_files import numeric_cells, read_table, require_columns
from scdn.errors import Fault, InputError, format_value, input_error

PartyColumns = Mapping[str, Sequence[str]]

_MOST_CLASSES = 1000


def import_table(
    path: Path,
    name: str,
    label: str,
    *,
    task: TaskKind = "classification",
    classes: int | None = None,
    parties: PartyColumns | None = None,
    overlap: bool = False,
    seed: int = 0,
) -> Dataset:
    """One file that holds every column; `parties` says whose they are, if that is known."""
    frame = read_table(path)
    source = str(path)
    require_columns(frame, [label], source)
    features = [column for column in frame.columns if column != label]
    if parties:
        check_party_columns(parties, label, overlap, source)
        require_columns(frame, (c for columns in parties.values() for c in columns), source)
        given = {column for columns in parties.values() for column in columns}
        features = [column for column in features if column in given]
    return dataset_from_frame(
        name, frame, features, label, task, classes, parties or {}, source=source, seed=seed
    )


def dataset_from_frame(
    name: str,
    frame: pd.DataFrame,
    features: Sequence[str],
    label: str,
    task: TaskKind,
    classes: int | None,
    parties: PartyColumns,
    *,
    source: str,
    seed: int,
) -> Dataset:
    """Checked cells, encoded labels, rows divided 80/20 with `seed`."""
    if not features:
        raise input_error(source, "columns", "only the label", "needs at least one more")
    table = numeric_cells(frame, features, source)
    targets, names = encode_labels(frame, label, task, classes, source)
    if len(table) < 5:
        raise input_error(source, "rows", f"{len(table)}", "needs at least 5 to divide 80/20")
    train, test = train_test_rows(len(table), "table-split", seed)
    return Dataset(
        name=name,
        train={"table": table[train]},
        train_y=targets[train],
        test={"table": table[test]},
        test_y=targets[test],
        task=task,
        classes=names,
        features=tuple(features),
        parties={party: tuple(columns) for party, columns in parties.items()},
        provenance=f"{source}, {len(table)} rows, split 80/20 with seed {seed}",
    )


def check_party_columns(parties: PartyColumns, label: str, overlap: bool, source: str) -> None:
    """Refuses a map that gives a column twice, or the label to anyone."""
    faults: list[Fault] = []
    owner: dict[str, str] = {}
    for party, columns in parties.items():
        if not columns:
            faults.append(Fault(f"parties.{party}", "no column", "needs at least one"))
        for column in columns:
            where = f"parties.{party}"
            if column == label:
                faults.append(Fault(where, f"holds the label {label!r}", "must be features"))
            elif owner.setdefault(column, party) != party and not overlap:
                found = f"column {column!r} is given to {owner[column]} too"
                faults.append(Fault(where, found, "must have one owner, or say overlap"))
            elif columns.count(column) > 1:
                faults.append(Fault(where, f"column {column!r} stands twice", "must stand once"))
    if faults:
        raise InputError(source, dict.fromkeys(faults))


def encode_labels(
    frame: pd.DataFrame, label: str, task: TaskKind, classes: int | None, source: str
) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Targets of a column, and the names of its classes."""
    if task == "regression":
        return numeric_cells(frame, [label], source)[:, 0], ()
    column = frame[label]
    if column.isna().any():
        row = int(np.argmax(column.isna()))
        raise input_error(
            source, f"row {row + 1}, column {label}", "got nothing", "must be a class"
        )
    if pd.api.types.is_numeric_dtype(column):
        return _numbered(numeric_cells(frame, [label], source)[:, 0], label, classes, source)
    codes, names = pd.factorize(column.astype(str), sort=True)
    _check_classes(len(names), classes, label, source)
    return codes.astype(np.int64), tuple(map(str, names))


def _numbered(
    values: Array, label: str, classes: int | None, source: str
) -> tuple[NDArray[Any], tuple[str, ...]]:
    good = values == np.round(values)
    allowed = "must be whole, or the task regression"
    if classes is not None:
        good &= (values >= 0) & (values < classes)
        allowed = f"must be a whole number from 0 to {classes - 1}"
    if not good.all():
        row = int(np.argmin(good))
        found = f"got {format_value(float(values[row]))}"
        raise input_error(source, f"row {row + 1}, column {label}", found, allowed)
    if classes is not None:
        _check_classes(classes, None, label, source)
        return values.astype(np.int64), tuple(map(str, range(classes)))
    names, codes = np.unique(values, return_inverse=True)
    _check_classes(len(names), None, label, source)
    return codes.astype(np.int64), tuple(f"{name:.0f}" for name in names)


def _check_classes(count: int, expected: int | None, label: str, source: str) -> None:
    if not 2 <= count <= _MOST_CLASSES or (expected is not None and count > expected):
        most = expected if expected is not None else _MOST_CLASSES
        raise input_error(source, label, f"{count} classes", f"must be from 2 to {most}")
