"""Import the user's own table (`.csv`, `.parquet` or `.npz`) with a label column."""

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

_MAX_CLASSES = 1000


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
    """Return a data set from one file with all columns; `parties` assigns columns to parties."""
    frame = read_table(path)
    source = str(path)
    require_columns(frame, [label], source)
    features = [column for column in frame.columns if column != label]
    if parties:
        check_party_columns(parties, label, overlap, source)
        assigned = dict.fromkeys(column for columns in parties.values() for column in columns)
        require_columns(frame, assigned, source)
        features = [column for column in features if column in assigned]
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
    """Return a data set from a table: check its cells, encode its labels, split its rows 80/20."""
    if not features:
        raise input_error(source, "columns", "holds only the label", "needs at least one feature")
    table = numeric_cells(frame, features, source)
    targets, names = encode_labels(frame, label, task, classes, source)
    if len(table) < 5:
        raise input_error(source, "rows", f"{len(table)}", "needs at least 5 for an 80/20 split")
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
    """Refuse to assign a column twice (unless `overlap`), or the label to any party."""
    faults: list[Fault] = []
    owner: dict[str, str] = {}
    for party, columns in parties.items():
        where = f"parties.{party}"
        if not columns:
            faults.append(Fault(where, "has no column", "needs at least one"))
        for column in columns:
            if column == label:
                faults.append(Fault(where, f"holds the label {label!r}", "must hold features only"))
            elif owner.setdefault(column, party) != party and not overlap:
                fault = f"column {column!r} also belongs to {owner[column]}"
                faults.append(Fault(where, fault, "must have one owner, or allow overlap"))
            elif columns.count(column) > 1:
                faults.append(
                    Fault(where, f"column {column!r} is duplicate", "must be listed once")
                )
    if faults:
        raise InputError(source, dict.fromkeys(faults))


def encode_labels(
    frame: pd.DataFrame, label: str, task: TaskKind, classes: int | None, source: str
) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Return the targets in the column `label`, and the names of its classes."""
    if task == "regression":
        return numeric_cells(frame, [label], source)[:, 0], ()
    column = frame[label]
    if column.isna().any():
        row = int(np.argmax(column.isna()))
        raise input_error(source, f"row {row + 1}, column {label}", "is empty", "must be a class")
    if pd.api.types.is_numeric_dtype(column):
        return _encode_numbers(numeric_cells(frame, [label], source)[:, 0], label, classes, source)
    codes, names = pd.factorize(column.astype(str), sort=True)
    _check_classes(len(names), classes, label, source)
    return codes.astype(np.int64), tuple(map(str, names))


def _encode_numbers(
    values: Array, label: str, classes: int | None, source: str
) -> tuple[NDArray[Any], tuple[str, ...]]:
    valid = values == np.round(values)
    allowed = "must be a whole number, or the task must be regression"
    if classes is not None:
        valid &= (values >= 0) & (values < classes)
        allowed = f"must be a whole number from 0 to {classes - 1}"
    if not valid.all():
        row = int(np.argmin(valid))
        fault = f"got {format_value(float(values[row]))}"
        raise input_error(source, f"row {row + 1}, column {label}", fault, allowed)
    if classes is not None:
        _check_classes(classes, None, label, source)
        return values.astype(np.int64), tuple(map(str, range(classes)))
    names, codes = np.unique(values, return_inverse=True)
    _check_classes(len(names), None, label, source)
    return codes.astype(np.int64), tuple(f"{name:.0f}" for name in names)


def _check_classes(count: int, expected: int | None, label: str, source: str) -> None:
    if not 2 <= count <= _MAX_CLASSES or (expected is not None and count > expected):
        limit = expected if expected is not None else _MAX_CLASSES
        raise input_error(source, label, f"{count} classes", f"must be from 2 to {limit}")
