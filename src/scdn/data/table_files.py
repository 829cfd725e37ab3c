"""Read tables from files; name the row and column of every cell that cannot be used."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scdn.arrays import Array
from scdn.data.split_arrays import split_arrays
from scdn.errors import Fault, InputError, first_faults, format_value, input_error
from scdn.npz import check_unpacked_size, read_npz

TABLE_SUFFIXES = (".csv", ".parquet", ".npz")

_NOTHING = "nothing"


def read_table(path: Path, text: Iterable[str] = ()) -> pd.DataFrame:
    """Return the table in a file; columns in `text` stay text, since a key may begin with 0."""
    with _read_errors(path):
        match path.suffix.lower():
            case ".csv":
                types = dict.fromkeys(text, "string")
                with warnings.catch_warnings():
                    # The warning means that cells were dropped.
                    warnings.simplefilter("error", pd.errors.ParserWarning)
                    frame = pd.read_csv(path, dtype=types, low_memory=False, index_col=False)
                _refuse_duplicates(_csv_header(path), str(path))
            case ".parquet":
                frame = _read_parquet(path)
            case ".npz":
                frame = _array_frame(read_npz(path))
            case _:
                allowed = f"must be {', '.join(TABLE_SUFFIXES)}"
                raise input_error(str(path), "file", "has an unknown type", allowed)
    return check_frame(frame, str(path))


def read_split_table(
    path: Path, text: Iterable[str] = ()
) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Return a file's training and test rows; None if it does not tell them apart."""
    if path.suffix.lower() != ".npz":
        return read_table(path, text), None
    with _read_errors(path):
        train, test = split_arrays(read_npz(path))
        frame, test_frame = _array_frame(train), _array_frame(test) if test else None
    source = str(path)
    return check_frame(frame, source), None if test_frame is None else check_frame(
        test_frame, source
    )


@contextmanager
def _read_errors(path: Path) -> Iterator[None]:
    """Turn what a missing or damaged file raises into an error that names the file."""
    try:
        yield
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
        raise input_error(str(path), "file", reason, "must be readable") from None
    except pd.errors.EmptyDataError:
        raise input_error(str(path), "file", "is empty", "needs a header and rows") from None
    except (ValueError, pd.errors.ParserWarning) as error:
        reason = f"cannot be parsed ({str(error).splitlines()[0]})"
        allowed = "must be a complete table without objects"
        raise input_error(str(path), "file", reason, allowed) from None


def check_frame(frame: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return a table with stripped, unique column names, its rows numbered from 0."""
    frame.columns = pd.Index([str(column).strip() for column in frame.columns])
    if frame.empty:
        raise input_error(source, "file", "has no rows", "needs a header and rows")
    _refuse_duplicates(frame.columns, source)
    return frame.reset_index(drop=True)


def _csv_header(path: Path) -> list[str]:
    """Return the names in a CSV file's first line, since pandas numbers those that are twice."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        try:
            return [name.strip() for name in next(csv.reader(file), []) if name.strip()]
        except csv.Error as error:
            raise ValueError(f"header: {error}") from None


def _refuse_duplicates(names: Iterable[str], source: str) -> None:
    index = pd.Index(names)
    if not index.is_unique:
        duplicate = str(index[index.duplicated()][0])
        raise input_error(source, duplicate, "duplicate column", "must be unique")


def _read_parquet(path: Path) -> pd.DataFrame:
    import pyarrow.parquet  # type: ignore[import-untyped]

    with pyarrow.parquet.ParquetFile(path) as file:
        check_unpacked_size(8 * file.metadata.num_rows * file.metadata.num_columns)
    return pd.read_parquet(path)


def _array_frame(arrays: Mapping[str, NDArray[Any]]) -> pd.DataFrame:
    """Return a column for each 1-D array, and columns `x0, x1, …` for a 2-D array `x`."""
    columns: dict[str, NDArray[Any]] = {}
    for key, array in arrays.items():
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
    frame: pd.DataFrame,
    columns: Sequence[str],
    source: str,
    key: str = "",
    *,
    allow_empty: bool = False,
    remedy: str = "",
) -> Array:
    """Return the cells of `columns` as numbers; refuse a cell that is not a finite number.

    `key` is the column that names the rows in errors. Empty cells are NaN if `allow_empty`;
    otherwise `remedy` is the advice for them.
    """
    cells = np.column_stack([_to_floats(frame[column]) for column in columns])
    unusable = ~np.isfinite(cells)
    if allow_empty:
        unusable &= frame[list(columns)].notna().to_numpy()
    faulty = np.argwhere(unusable).tolist()
    if faulty:
        faults = (_cell_fault(frame, row, columns[column], key, remedy) for row, column in faulty)
        raise InputError(source, first_faults(faults, len(faulty)))
    return cells


def _cell_fault(frame: pd.DataFrame, row: int, column: str, key: str, remedy: str) -> Fault:
    got = _describe_cell(frame[column].iloc[row])
    allowed = "must be a finite number" + (remedy if got == _NOTHING else "")
    return Fault(cell_name(frame, row, column, key), f"got {got}", allowed)


def cell_name(frame: pd.DataFrame, row: int, column: str, key: str = "") -> str:
    """Name a cell by the row of the file, counted from 1, by its key and by its column.

    The index of `frame` has the rows of the file, counted from 0.
    """
    named = f", {key} {frame[key].iloc[row]}" if key else ""
    return f"row {frame.index[row] + 1}{named}, column {column}"


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
        return _NOTHING
    return format_value(value.item() if hasattr(value, "item") else value)
