"""Read tables from files; name the row and column of every cell that cannot be used."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scdn.arrays import Array
from scdn.errors import Fault, InputError, format_value, input_error
from scdn.npz import read_npz

_LISTED = 5  # faulty cells that are listed; the others are only counted


def read_table(path: Path, text: Iterable[str] = ()) -> pd.DataFrame:
    """Return the table in a file; columns in `text` stay text, since a key may begin with 0."""
    try:
        match path.suffix.lower():
            case ".csv":
                types = dict.fromkeys(text, "string")
                with warnings.catch_warnings():
                    # The warning means that cells were dropped.
                    warnings.simplefilter("error", pd.errors.ParserWarning)
                    frame = pd.read_csv(path, dtype=types, low_memory=False, index_col=False)
            case ".parquet":
                frame = pd.read_parquet(path)
            case ".npz":
                frame = _npz_frame(path)
            case _:
                allowed = "must be .csv, .parquet, .npz"
                raise input_error(str(path), "file", "has an unknown type", allowed)
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
        raise input_error(str(path), "file", reason, "must be readable") from None
    except pd.errors.EmptyDataError:
        raise input_error(str(path), "file", "is empty", "needs a header and rows") from None
    except (ValueError, pd.errors.ParserWarning) as error:
        reason = f"cannot be parsed ({str(error).splitlines()[0]})"
        allowed = "must be a complete table without objects"
        raise input_error(str(path), "file", reason, allowed) from None
    return check_frame(frame, str(path))


def check_frame(frame: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return a table with its columns' names as text; it must have rows and no name twice."""
    frame.columns = pd.Index([str(column).strip() for column in frame.columns])
    if frame.empty:
        raise input_error(source, "file", "has no rows", "needs a header and rows")
    if not frame.columns.is_unique:
        duplicate = frame.columns[frame.columns.duplicated()][0]
        raise input_error(source, str(duplicate), "duplicate column", "must be unique")
    return frame


def _npz_frame(path: Path) -> pd.DataFrame:
    """Return a column for each 1-D array, and columns `x0, x1, …` for a 2-D array `x`."""
    columns: dict[str, NDArray[Any]] = {}
    for key, array in read_npz(path).items():
        if array.ndim == 1:
            columns[key] = array
        elif array.ndim == 2:
            columns |= {f"{key}{number}": column for number, column in enumerate(array.T)}
        else:
            raise ValueError(f"{key} has {array.ndim} dimensions")
    return pd.DataFrame(columns)


def require_columns(frame: pd.DataFrame, columns: Iterable[str], source: str) -> None:
    """Refuse a table that lacks one of the columns."""
    missing = [column for column in dict.fromkeys(columns) if column not in frame.columns]
    if missing:
        present = ", ".join(map(str, frame.columns[:8])) + (" …" if len(frame.columns) > 8 else "")
        allowed = f"the file has {present}"
        raise InputError(source, [Fault(column, "no such column", allowed) for column in missing])


def numeric_cells(
    frame: pd.DataFrame, columns: Sequence[str], source: str, *, allow_empty: bool = False
) -> Array:
    """Return the cells of `columns` as numbers; refuse a cell that is not a finite number.

    With `allow_empty`, an empty cell is NaN.
    """
    cells = np.column_stack([_to_floats(frame[column]) for column in columns])
    refused = ~np.isfinite(cells)
    if allow_empty:
        refused &= ~frame[list(columns)].isna().to_numpy()
    faulty = np.argwhere(refused)
    if len(faulty):
        faults = [
            Fault(
                f"row {row + 1}, column {columns[column]}",
                f"got {_describe_cell(frame[columns[column]].iloc[row])}",
                "must be a finite number",
            )
            for row, column in faulty[:_LISTED].tolist()
        ]
        if len(faulty) > _LISTED:
            more = f"{len(faulty) - _LISTED} more like these"
            faults.append(Fault("cells", more, "must be finite numbers"))
        raise InputError(source, faults)
    return cells


def _to_floats(column: pd.Series[Any]) -> Array:
    kind = getattr(column.dtype, "kind", "O")
    # A date would turn into nanoseconds, and a complex number would lose its imaginary part.
    if kind not in "buifOSUT":
        return np.full(len(column), np.nan)
    numeric = pd.to_numeric(column, errors="coerce")
    return numeric.to_numpy(dtype=np.float64, na_value=np.nan)


def _describe_cell(value: Any) -> str:
    if not pd.api.types.is_scalar(value):
        return f"a {type(value).__name__}"
    if pd.isna(value):
        return "nothing"
    return format_value(value.item() if hasattr(value, "item") else value)
