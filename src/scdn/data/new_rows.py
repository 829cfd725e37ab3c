"""Read rows to predict: of one file or table, or of a file for each party, aligned by a key.

An empty cell (in arrays, NaN) says that a value was not measured; text and infinities are refused.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scdn.arrays import Mask
from scdn.data.alignment import normalized_keys
from scdn.data.input_format import InputFormat
from scdn.data.new_images import FILE_KEY, read_arrays, read_image_arrays
from scdn.data.table_files import check_frame, numeric_cells, read_table, require_columns
from scdn.errors import Fault, InputError, input_error
from scdn.file_io import MEBIBYTE

# A file or a table; arrays; or a file or table for each party.
TableSource: TypeAlias = "str | Path | pd.DataFrame"
RowSource: TypeAlias = "TableSource | NDArray[Any] | Mapping[str, TableSource | NDArray[Any]]"

MAX_BYTES = 2048 * MEBIBYTE  # of a file, and of the arrays in it
_MODALITIES = {"image", "table"}


@dataclass(frozen=True, eq=False)
class NewRows:
    """Rows in a data set's form, not scaled.

    Attributes
    ----------
    source
        Where they come from, for errors.
    count
        The number of rows.
    inputs
        By modality, if it was given: the values, NaN where a cell is empty.
    columns
        Whether each of the table's columns was given.
    key, keys
        Name and values of the key column; None if there is none.
    """

    source: str
    count: int
    inputs: Mapping[str, NDArray[Any]]
    columns: Mask
    key: str | None = None
    keys: NDArray[Any] | None = None


class RowKeys(NamedTuple):
    """The keys of rows whose values lie elsewhere.

    Attributes
    ----------
    source
        Where they come from, for errors.
    name, values
        The key column as it was read.
    keys
        The keys as text, as files are aligned by.
    """

    source: str
    name: str
    values: NDArray[Any]
    keys: list[str]


def read_row_keys(path: Path, key: str | None = None) -> RowKeys:
    """Read the keys of rows from a file; each must be there once.

    `key` names their column. By default it is the file's only one, or `key` in an `.npz`.
    """
    source = str(path)
    _check_size(path)
    if path.suffix.lower() == ".npz":
        key = key or "key"
        frame = check_frame(pd.DataFrame({key: _key_array(path, key)}), source)
    else:
        columns = _frame(path, key or "").columns
        if not key and len(columns) > 1:
            fault = "is missing"
            raise input_error("scdn", "--key", fault, f"must be one of {', '.join(columns[:8])}")
        key = key or columns[0]
        frame = _frame(path, key)
    keys = _unique_keys(frame, key, source)
    return RowKeys(source, key, frame[key].to_numpy(), keys.tolist())


def _key_array(path: Path, key: str) -> NDArray[Any]:
    try:
        keys = read_arrays(path, [key])[key]
    except KeyError:
        raise input_error(str(path), key, "no such array", "name the keys with --key") from None
    if keys.ndim != 1:
        raise input_error(str(path), key, f"has {keys.ndim} dimensions", "must have 1")
    return keys


def read_new_rows(rows: RowSource, form: InputFormat, key: str | None = None) -> NewRows:
    """Return rows from a file, a table, arrays, or a file or table for each party.

    `key` is the name of the key column; by default that of the data set, if the rows have it.
    """
    if isinstance(rows, np.ndarray):
        rows = {"table" if rows.ndim == 2 else "image": rows}
    if isinstance(rows, Mapping):
        if rows and set(rows) <= _MODALITIES:
            return _from_arrays({name: np.asarray(x) for name, x in rows.items()}, form, "rows")
        return _from_parties(rows, form, key)
    if isinstance(rows, str | Path):
        path = Path(rows)
        _check_size(path)
        if "image" in form.shapes:
            return _from_image_file(path, form, key)
    return _from_frame(_frame(rows, key or form.key), form, key, _name(rows))


# --- tables ---------------------------------------------------------------------------------------


def _from_frame(frame: pd.DataFrame, form: InputFormat, key: str | None, source: str) -> NewRows:
    if key is not None:
        require_columns(frame, [key], source)
    elif form.key in frame.columns:
        key = form.key
    given = np.array([name in frame.columns for name in form.features], bool)
    if not given.any():
        known = ", ".join(form.features[:4]) + (", …" if len(form.features) > 4 else "")
        raise input_error(source, "columns", f"none is of {form.dataset}", f"it has {known}")
    table = np.full((len(frame), len(form.features)), np.nan)
    names = [name for name in form.features if name in frame.columns]
    table[:, given] = numeric_cells(frame, names, source, allow_empty=True)
    keys = None if key is None else frame[key].to_numpy()
    return NewRows(source, len(frame), {"table": table}, given, key, keys)


def _from_parties(
    parties: Mapping[str, TableSource], form: InputFormat, key: str | None
) -> NewRows:
    """Join the parties' rows by the key; a party that lacks a key has empty cells there."""
    key, known = key or form.key, ", ".join(form.parties) or "no parties"
    for party in parties:
        if party not in form.parties:
            raise input_error("rows", party, "is no party", f"{form.dataset} has {known}")
    if not parties or not key:
        fault = "has no parties' rows" if not parties else "has no key"
        raise input_error("rows", "key" if parties else "files", fault, "name the key column")
    frames = []
    for party, rows in parties.items():
        if not isinstance(rows, pd.DataFrame):
            _check_size(Path(rows))
        source = _name(rows, party)
        frames.append(_columns_of(party, _keyed(_frame(rows, key), key, source), form, source))
    joined = pd.concat(frames, axis=1, join="outer", sort=False)
    joined = joined.loc[:, ~joined.columns.duplicated()]
    joined = joined.rename_axis(index=key).reset_index()
    return _from_frame(joined, form, key, "rows")


def _columns_of(party: str, frame: pd.DataFrame, form: InputFormat, source: str) -> pd.DataFrame:
    """Return a party's features under the data set's names, with or without `party.` in front."""
    held = form.parties[party]
    names = {column: column if column in held else f"{party}.{column}" for column in frame.columns}
    named = frame.rename(columns=names)
    wanted = [column for column in held if column in named.columns]
    if not wanted:
        raise input_error(source, "columns", f"none is of {party}", f"it has {', '.join(held)}")
    return named[wanted]


def _keyed(frame: pd.DataFrame, key: str, source: str) -> pd.DataFrame:
    """Return rows indexed by their key, which each must have for itself."""
    keys = _unique_keys(frame, key, source)
    return frame.drop(columns=key).set_index(keys)


def _unique_keys(frame: pd.DataFrame, key: str, source: str) -> pd.Series[str]:
    """Return the keys of rows as text; refuse one that is empty or there twice."""
    require_columns(frame, [key], source)
    keys = normalized_keys(frame[key])
    if keys.isna().any():
        row = int(np.argmax(keys.isna())) + 1
        raise input_error(source, f"row {row}, column {key}", "is empty", "must be a key")
    if keys.duplicated().any():
        duplicate = str(keys[keys.duplicated()].iloc[0])
        raise input_error(source, key, f"{duplicate} is there twice", "must be unique")
    return keys.astype(str)


def _frame(rows: TableSource, key: str) -> pd.DataFrame:
    if not isinstance(rows, pd.DataFrame):
        return read_table(Path(rows), text=[key] if key else [])
    return check_frame(rows.copy(deep=False), "rows")


def _name(rows: TableSource, party: str = "rows") -> str:
    return party if isinstance(rows, pd.DataFrame) else str(rows)


# --- arrays ---------------------------------------------------------------------------------------


def _from_image_file(path: Path, form: InputFormat, key: str | None) -> NewRows:
    source, arrays = str(path), read_image_arrays(path, form.shapes["image"])
    images = [name for name, array in arrays.items() if array.ndim > 2]
    if "image" in arrays or len(images) == 1:
        arrays["image"] = arrays.pop("image" if "image" in arrays else images[0])
    columns = [name for name in form.features if name in arrays]
    if "table" not in arrays and len(columns) == len(form.features) > 0:
        same = {len(arrays[name]) for name in columns if arrays[name].ndim == 1}
        if len(same) != 1:
            raise input_error(source, "columns", "differ in length", "must have a value per row")
        arrays["table"] = np.column_stack([arrays[name] for name in columns])
    key = key or next((name for name in (form.key, FILE_KEY) if name in arrays), None)
    if key is not None and key not in arrays:
        raise input_error(source, key, "no such array", f"the file has {', '.join(arrays)}")
    given = {name: arrays[name] for name in _MODALITIES & set(arrays)}
    keys = None if key is None else arrays[key]
    return _from_arrays(given, form, source, key, keys)


def _from_arrays(
    arrays: Mapping[str, NDArray[Any]],
    form: InputFormat,
    source: str,
    key: str | None = None,
    keys: NDArray[Any] | None = None,
) -> NewRows:
    if not arrays:
        expected = " and ".join(f"{name} (rows, {_size(s)})" for name, s in form.shapes.items())
        raise input_error(source, "arrays", "none is of the data set", f"must be {expected}")
    inputs = {name: _checked_array(name, array, form, source) for name, array in arrays.items()}
    lengths = {name: len(array) for name, array in inputs.items()}
    if keys is not None:
        lengths[str(key)] = len(keys) if keys.ndim == 1 else -1
    if len(set(lengths.values())) != 1:
        counts = ", ".join(f"{name} has {count}" for name, count in lengths.items())
        raise input_error(source, "rows", counts, "must be the same number everywhere")
    columns = np.full(len(form.features), "table" in inputs)
    return NewRows(source, len(next(iter(inputs.values()))), inputs, columns, key, keys)


def _checked_array(name: str, array: NDArray[Any], form: InputFormat, source: str) -> NDArray[Any]:
    if name not in form.shapes:
        known = " and ".join(form.shapes)
        raise input_error(source, name, "is not in the data set", f"{form.dataset} has {known}")
    shape = form.shapes[name]
    if name == "image" and array.ndim == 3 and shape[-1] == 1:
        array = array[..., None]
    if array.shape[1:] != shape or array.ndim != len(shape) + 1:
        raise input_error(
            source, name, f"has shape {array.shape}", f"must be (rows, {_size(shape)})"
        )
    if not len(array):
        raise input_error(source, name, "has no rows", "needs at least 1")
    if array.dtype.kind not in "buif":
        raise input_error(source, name, f"is of type {array.dtype}", "must hold numbers")
    if array.dtype == np.uint8:
        return array
    array = array.astype(np.float64)
    infinite = np.isinf(array).reshape(len(array), -1).any(1)
    if infinite.any():
        row = int(np.argmax(infinite)) + 1
        raise input_error(source, f"row {row}, {name}", "is infinite", "must be finite, or NaN")
    return array


def _size(shape: tuple[int, ...]) -> str:
    return ", ".join(map(str, shape))


# --- size -----------------------------------------------------------------------------------------


def _check_size(path: Path) -> None:
    """Refuse a file that is too large, as it is or unpacked, before it is read."""
    try:
        size = path.stat().st_size
        if path.suffix.lower() == ".npz" and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                size = max(size, sum(entry.file_size for entry in packed.infolist()))
    except (OSError, zipfile.BadZipFile):
        return  # whoever reads it says what is wrong
    if size > MAX_BYTES:
        fault = f"{size / MEBIBYTE:,.0f} MiB of rows"
        allowed = f"must be at most {MAX_BYTES // MEBIBYTE:,} MiB: split them"
        raise InputError(str(path), [Fault("file", fault, allowed)])
