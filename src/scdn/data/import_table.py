"""Import the user's own table (`.csv`, `.parquet` or `.npz`) with a label column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from scdn.arrays import Array, Mask
from scdn.data.dataset import Dataset, TaskKind, draw_test_rows
from scdn.data.label_encoding import encode_labels
from scdn.data.table_files import numeric_cells, read_split_table, read_table, require_columns
from scdn.errors import Fault, InputError, input_error

PartyColumns = Mapping[str, Sequence[str]]
MissingCells = Literal["refuse", "drop", "mean"]

_REMEDY = "; --missing drop or mean accepts empty cells"


@dataclass(frozen=True)
class TableRows:
    """Rows of a table before they become a data set.

    Attributes
    ----------
    cells
        The features; NaN where a cell is empty and may be.
    frame
        The same rows of the file with the labels.
    source
        The name of the file with the labels.
    origin
        The files of all rows, as the provenance names them.
    """

    cells: Array
    frame: pd.DataFrame
    source: str
    origin: str

    def select(self, rows: Mask) -> TableRows:
        """Return some of the rows."""
        return replace(self, cells=self.cells[rows], frame=self.frame[rows])


@dataclass(frozen=True)
class TableSchema:
    """What the columns of a table mean, and how to read them."""

    label: str
    features: Sequence[str]
    parties: PartyColumns
    key: str = ""
    task: TaskKind = "classification"
    classes: int | None = None
    missing: MissingCells = "refuse"
    seed: int = 0


def import_table(
    path: Path,
    name: str,
    label: str,
    *,
    test: Path | None = None,
    key: str = "",
    task: TaskKind = "classification",
    classes: int | None = None,
    parties: PartyColumns | None = None,
    overlap: bool = False,
    missing: MissingCells = "refuse",
    seed: int = 0,
) -> Dataset:
    """Return a data set from one file with all columns; `parties` assigns columns to parties.

    Test rows are those of the file `test`, or those that an `.npz` file calls so (`x_test`); else
    they are drawn. The column `key` names the rows and is no feature.
    """
    text = [key] if key else []
    frame, test_frame = read_split_table(path, text)
    source = test_source = str(path)
    if test is not None:
        if test_frame is not None:
            raise input_error(source, "file", "has test rows", "leave out --test")
        test_frame, test_source = read_table(test, text), str(test)
    require_columns(frame, [label, *text], source)
    if key == label:
        raise input_error("scdn", "--key", f"got the label {label!r}", "must be another column")
    features = [column for column in frame.columns if column not in (label, key)]
    if parties:
        check_party_columns(parties, label, overlap, source)
        assigned = dict.fromkeys(column for columns in parties.values() for column in columns)
        require_columns(frame, assigned, source)
        features = [column for column in features if column in assigned]
    if not features:
        raise input_error(source, "columns", "holds only the label", "needs at least one feature")
    schema = TableSchema(label, features, parties or {}, key, task, classes, missing, seed)
    rows = TableRows(feature_cells(frame, features, source, key, missing), frame, source, source)
    if test_frame is None:
        return dataset_from_rows(name, rows, None, schema)
    require_columns(test_frame, [label, *text, *features], test_source)
    cells = feature_cells(test_frame, features, test_source, key, missing)
    test_rows = TableRows(cells, test_frame, test_source, test_source)
    return dataset_from_rows(name, rows, test_rows, schema)


def feature_cells(
    frame: pd.DataFrame, features: Sequence[str], source: str, key: str, missing: MissingCells
) -> Array:
    """Return the cells of a file's features; empty ones are NaN unless they are refused."""
    allow_empty = missing != "refuse"
    return numeric_cells(frame, features, source, key, allow_empty=allow_empty, remedy=_REMEDY)


def dataset_from_rows(
    name: str, rows: TableRows, test: TableRows | None, schema: TableSchema
) -> Dataset:
    """Return a data set: encode the labels, split the rows 80/20 if need be, fill empty cells."""
    count = len(rows.cells) + (len(test.cells) if test else 0)
    if schema.missing == "drop":
        rows, test = _drop(rows, schema.label), test and _drop(test, schema.label)
    targets, names = _targets(rows, schema)
    if test is None:
        train_rows, test_rows = draw_test_rows(
            len(targets), "table-split", schema.seed, rows.source
        )
        train, tested = rows.cells[train_rows], rows.cells[test_rows]
        train_y, test_y = targets[train_rows], targets[test_rows]
        split = f"{len(targets)} rows, split 80/20 with seed {schema.seed}"
    else:
        train, tested, train_y = rows.cells, test.cells, targets
        test_y = _targets(test, schema, names)[0]
        origin = "" if test.origin == rows.origin else f" of {test.origin}"
        split = f"{len(train_y)} rows, and {len(test_y)} test rows{origin}"
    if dropped := count - len(train) - len(tested):
        split += f", without {dropped} rows with empty cells"
    if schema.missing == "mean":
        empty = int(np.isnan(train).sum() + np.isnan(tested).sum())
        train, tested = _fill(train, tested, schema.features, rows.source)
        split += f", {empty} empty cells filled with the mean of the training rows"
    return Dataset(
        name=name,
        train={"table": train},
        train_y=train_y,
        test={"table": tested},
        test_y=test_y,
        task=schema.task,
        classes=names,
        features=tuple(schema.features),
        parties={party: tuple(columns) for party, columns in schema.parties.items()},
        provenance=f"{rows.origin}, {split}",
        label=schema.label,
        key=schema.key,
    )


def _targets(
    rows: TableRows, schema: TableSchema, known: tuple[str, ...] = ()
) -> tuple[np.ndarray, tuple[str, ...]]:
    return encode_labels(
        rows.frame, schema.label, schema.task, schema.classes, rows.source, schema.key, known
    )


def _drop(rows: TableRows, label: str) -> TableRows:
    """Return the rows without an empty cell."""
    whole = ~np.isnan(rows.cells).any(axis=1) & rows.frame[label].notna().to_numpy()
    if not whole.any():
        raise input_error(rows.source, "rows", "all have empty cells", "some must have none")
    return rows.select(whole)


def _fill(train: Array, test: Array, features: Sequence[str], source: str) -> tuple[Array, Array]:
    """Return the cells with the mean of the training rows, by column, where they are empty."""
    empty = np.isnan(train)
    for column in np.flatnonzero(empty.all(axis=0)).tolist():
        fault = "has no value in the training rows"
        raise input_error(source, f"column {features[column]}", fault, "must have some")
    means = np.where(empty, 0.0, train).sum(axis=0) / (~empty).sum(axis=0)
    return np.where(empty, means, train), np.where(np.isnan(test), means, test)


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
