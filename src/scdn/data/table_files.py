"""Reading tables: whole, with cells that are numbers, or a line that names what is wrong."""

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

_NAMED = 5  # faulty cells that are named; the rest are counted


def read_table(path: Path, text: Iterable[str] = ()) -> pd.DataFrame:
    """The columns of a file; those in `text` are left as written (a key may begin with 0)."""
    try:
        match path.suffix.lower():
            case ".csv":
                kept = dict.fromkeys(text, "string")
                with warnings.catch_warnings():
                    warnings.simplefilter("error", pd.errors.ParserWarning)  # it loses cells
                    frame = pd.read_csv(path, dtype=kept, low_memory=False, index_col=False)
            case ".parquet":
                frame = pd.read_parquet(path)
            case ".npz":
                frame = _npz_frame(path)
            case _:
                raise input_error(
                    str(path), "file", "of a strange kind", "must be .csv, .parquet, .npz"
                )
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
        raise input_error(str(path), "file", reason, "must be readable") from None
    except pd.errors.EmptyDataError:
        raise input_error(str(path), "file", "is empty", "needs a header and rows") from None
    except (ValueError, pd.errors.ParserWarning) as error:
        reason = f"cannot be understood ({str(error).splitlines()[0]})"
        raise input_error(
            str(path), "file", reason, "must be a whole table without objects"
        ) from None
    frame.columns = pd.Index([str(column).strip() for column in frame.columns])
    if frame.empty:
        raise input_error(str(path), "file", "has no rows", "needs a header and rows")
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise input_error(str(path), str(twice), "stands twice", "must name one column")
    return frame


def _npz_frame(path: Path) -> pd.DataFrame:
    """A column for each 1-D array, and `x0, x1, …` for a 2-D array `x`."""
    columns: dict[str, NDArray[Any]] = {}
    for key, array in read_npz(path).items():
        if array.ndim == 1:
            columns[key] = array
        elif array.ndim == 2:
            columns |= {f"{key}{number}": column for number, column in enumerate(array.T)}
        else:
            raise ValueError(f"{key} has {array.ndim} dimensions")
    return pd.DataFrame(columns)


def require_columns(frame: pd.DataFrame, wanted: Iterable[str], source: str) -> None:
    """Refuses a table that lacks one of them."""
    absent = [column for column in dict.fromkeys(wanted) if column not in frame.columns]
    if absent:
        has = ", ".join(map(str, frame.columns[:8])) + (" …" if len(frame.columns) > 8 else "")
        raise InputError(
            source, [Fault(column, "no such column", f"the file has {has}") for column in absent]
        )


def numeric_cells(frame: pd.DataFrame, columns: Sequence[str], source: str) -> Array:
    """The cells of `columns`, refused where one is not a finite number."""
    cells = np.column_stack([_column(frame[column]) for column in columns])
    bad = np.argwhere(~np.isfinite(cells))
    if len(bad):
        faults = [
            Fault(
                f"row {row + 1}, column {columns[column]}",
                f"got {_cell(frame[columns[column]].iloc[row])}",
                "must be a finite number",
            )
            for row, column in bad[:_NAMED].tolist()
        ]
        if len(bad) > _NAMED:
            faults.append(Fault("cells", f"{len(bad) - _NAMED} more like these", "must be mended"))
        raise InputError(source, faults)
    return cells


def _column(column: pd.Series[Any]) -> Array:
    kind = getattr(column.dtype, "kind", "O")
    if kind not in "buifOSUT":  # a date would become nanoseconds, a complex number lose a part
        return np.full(len(column), np.nan)
    numeric = pd.to_numeric(column, errors="coerce")
    return numeric.to_numpy(dtype=np.float64, na_value=np.nan)


def _cell(value: Any) -> str:
    if not pd.api.types.is_scalar(value):
        return f"a {type(value).__name__}"
    return (
        "nothing"
        if pd.isna(value)
        else format_value(value.item() if hasattr(value, "item") else value)
    )
