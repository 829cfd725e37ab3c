"""Labels as class numbers, or as numbers to predict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scdn.arrays import Array
from scdn.data.dataset import TaskKind
from scdn.data.table_files import cell_name, numeric_cells
from scdn.errors import format_value, input_error

_MAX_CLASSES = 1000


def encode_labels(
    frame: pd.DataFrame,
    label: str,
    task: TaskKind,
    classes: int | None,
    source: str,
    key: str = "",
    known: tuple[str, ...] = (),
) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Return the targets in the column `label`, and the names of its classes.

    Test rows take the classes `known` from the training rows, and may have no others.
    """
    if task == "regression":
        return numeric_cells(frame, [label], source, key)[:, 0], ()
    column = frame[label]
    if column.isna().any():
        where = cell_name(frame, int(np.argmax(column.isna())), label, key)
        raise input_error(source, where, "is empty", "must be a class")
    if pd.api.types.is_numeric_dtype(column):
        values = numeric_cells(frame, [label], source, key)[:, 0]
        _check_whole(values, frame, label, classes, source, key)
        if classes is not None:
            _check_classes(classes, None, label, source)
            return values.astype(np.int64), tuple(map(str, range(classes)))
        numbers, codes = np.unique(values, return_inverse=True)
        names = tuple(f"{number:.0f}" for number in numbers)
    else:
        codes, texts = pd.factorize(column.astype(str), sort=True)
        names = tuple(map(str, texts))
    if not known:
        _check_classes(len(names), classes, label, source)
        return codes.astype(np.int64), names
    unknown = ~np.isin(names, known)[codes]
    if unknown.any():
        row = int(np.argmax(unknown))
        fault = f"got {format_value(names[codes[row]])}"
        allowed = f"must be a class of the training rows, {format_value(', '.join(known))}"
        raise input_error(source, cell_name(frame, row, label, key), fault, allowed)
    return np.array([known.index(name) for name in names])[codes].astype(np.int64), known


def _check_whole(
    values: Array, frame: pd.DataFrame, label: str, classes: int | None, source: str, key: str
) -> None:
    valid = values == np.round(values)
    allowed = "must be a whole number, or the task must be regression"
    if classes is not None:
        valid &= (values >= 0) & (values < classes)
        allowed = f"must be a whole number from 0 to {classes - 1}"
    if not valid.all():
        row = int(np.argmin(valid))
        fault = f"got {format_value(float(values[row]))}"
        raise input_error(source, cell_name(frame, row, label, key), fault, allowed)


def _check_classes(count: int, expected: int | None, label: str, source: str) -> None:
    if not 2 <= count <= _MAX_CLASSES or (expected is not None and count > expected):
        limit = expected if expected is not None else _MAX_CLASSES
        raise input_error(source, label, f"{count} classes", f"must be from 2 to {limit}")
