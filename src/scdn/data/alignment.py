"""Align the files of several parties by a key column, and report the rows that were left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scdn.data.dataset import Dataset, TaskKind
from scdn.data.import_table import (
    MissingCells,
    PartyColumns,
    TableRows,
    TableSchema,
    dataset_from_rows,
    feature_cells,
)
from scdn.data.table_files import read_table, require_columns
from scdn.errors import input_error

_EXAMPLES = 3  # keys of each kind that the report shows


@dataclass(frozen=True)
class PartyAlignment:
    """What the alignment found in one party's file."""

    rows: int
    rows_without_key: tuple[str, ...]  # their numbers, counted from 1
    duplicate_keys: tuple[str, ...]  # it is unclear which row is meant, so all are left out
    missing_keys: tuple[str, ...]  # that another party has and this one lacks
    unmatched_keys: tuple[str, ...]  # that at least one other party lacks


@dataclass(frozen=True)
class AlignmentReport:
    """The keys that are in every file, and the rows that each file lost."""

    key: str
    matched: tuple[str, ...]
    parties: Mapping[str, PartyAlignment]

    def lines(self) -> list[str]:
        """Return the report as text, one finding per line."""
        lines = [f"{len(self.matched)} rows have their {self.key} in every file"]
        for party, alignment in self.parties.items():
            findings = {
                "without a key (row)": alignment.rows_without_key,
                "duplicate, left out": alignment.duplicate_keys,
                "missing": alignment.missing_keys,
                "unmatched, left out": alignment.unmatched_keys,
            }
            lines.append(f"{party}: {alignment.rows} rows")
            lines += [
                f"{party}: {len(keys)} {finding}: {_examples(keys)}"
                for finding, keys in findings.items()
                if keys
            ]
        return lines


def _examples(keys: tuple[str, ...]) -> str:
    return ", ".join(keys[:_EXAMPLES]) + (", …" if len(keys) > _EXAMPLES else "") or "no unique key"


@dataclass(frozen=True)
class AlignedTables:
    """The parties' tables with the same rows in the same order, and the report of the alignment.

    The index of each table has the row of the party's file, counted from 0.
    """

    report: AlignmentReport
    frames: Mapping[str, pd.DataFrame]
    files: Mapping[str, Path]

    def to_dataset(
        self,
        name: str,
        label: str,
        *,
        test: AlignedTables | None = None,
        task: TaskKind = "classification",
        classes: int | None = None,
        missing: MissingCells = "refuse",
        seed: int = 0,
    ) -> Dataset:
        """Return a data set whose columns are named `party.column`; one party holds the label.

        Parties may use the same names of columns. If several have a column called like the label,
        `label` must be `party.column`; another party's copy of the labels is no feature. The rows
        of `test` are tested on; without it, they are drawn.
        """
        key = self.report.key
        label_party, label_column = _find_label(self.frames, label, key)
        parties = _feature_columns(self.frames, label_party, label_column, key)
        schema = TableSchema(
            label=label_column,
            features=[f"{p}.{column}" for p, columns in parties.items() for column in columns],
            parties={p: [f"{p}.{column}" for column in cs] for p, cs in parties.items()},
            key=key,
            task=task,
            classes=classes,
            missing=missing,
            seed=seed,
        )
        rows = self._rows(parties, label_party, missing)
        test_rows = None
        if test is not None:
            test._require({**parties, label_party: (*parties.get(label_party, ()), label_column)})
            test_rows = test._rows(parties, label_party, missing)
        return dataset_from_rows(name, rows, test_rows, schema)

    def _rows(self, parties: PartyColumns, label_party: str, missing: MissingCells) -> TableRows:
        key = self.report.key
        cells = [
            feature_cells(self.frames[party], columns, str(self.files[party]), key, missing)
            for party, columns in parties.items()
        ]
        origin = f"{' and '.join(map(str, self.files.values()))} by {key}"
        source = str(self.files[label_party])
        return TableRows(np.hstack(cells), self.frames[label_party], source, origin)

    def _require(self, columns: PartyColumns) -> None:
        """Refuse test files that lack a party or a column of the training files."""
        for party, names in columns.items():
            if party not in self.frames:
                raise input_error("test", party, "has no file", "must have one as in training")
            require_columns(self.frames[party], names, str(self.files[party]))


def align(files: Mapping[str, Path], key: str) -> AlignedTables:
    """Read each party's file and keep the rows whose `key` is in every file."""
    frames = {party: read_table(path, text=[key]) for party, path in files.items()}
    for party, frame in frames.items():
        require_columns(frame, [key], str(files[party]))
    rows = {party: _unique_rows(frame, key) for party, frame in frames.items()}
    report = _report(frames, rows, key)
    if not report.matched:
        examples = "; ".join(f"{p}: {_examples(tuple(keys.index))}" for p, keys in rows.items())
        raise input_error("keys", key, f"no key is in every file ({examples})", "must match")
    order = list(report.matched)
    matched = {party: frame.loc[rows[party].loc[order]] for party, frame in frames.items()}
    return AlignedTables(report, matched, files)


def _find_label(frames: Mapping[str, pd.DataFrame], label: str, key: str) -> tuple[str, str]:
    """Return the party and the column that `label` names, as `column` or `party.column`."""
    columns = {party: frame.columns.drop(key) for party, frame in frames.items()}
    party, _, column = label.partition(".")
    if column in columns.get(party, ()):
        return party, column
    parties = [party for party in columns if label in columns[party]]
    if len(parties) != 1:
        fault = f"is in the file of {' and '.join(parties) or 'nobody'}"
        allowed = "must be in one party's file, or say PARTY.COLUMN"
        raise input_error("label", label, fault, allowed)
    return parties[0], label


def _feature_columns(
    frames: Mapping[str, pd.DataFrame], label_party: str, label: str, key: str
) -> dict[str, list[str]]:
    """Return each party's columns but for the key, the label and copies of the label."""
    labels = frames[label_party][label].reset_index(drop=True)
    parties: dict[str, list[str]] = {}
    for party, frame in frames.items():
        columns = list(frame.columns.drop(key))
        if label in columns and frame[label].reset_index(drop=True).equals(labels):
            columns.remove(label)  # a copy would give the labels away
        if columns:
            parties[party] = columns
        elif party != label_party:  # that one may hold nothing but the label
            fault = "has no column"
            raise input_error("parties", party, fault, "needs at least one feature")
    if not parties:
        raise input_error("parties", "columns", "only the label", "needs at least one feature")
    return parties


def normalized_keys(keys: pd.Series[Any]) -> pd.Series[Any]:
    """Return the keys as text, so that 7 in one file matches 7.0 or "7" in another."""
    if pd.api.types.is_float_dtype(keys) and (keys.dropna() == np.round(keys.dropna())).all():
        keys = keys.astype("Int64")
    return keys.astype("string").str.strip().replace("", pd.NA)


def _unique_rows(frame: pd.DataFrame, key: str) -> pd.Series[int]:
    """Return the rows that have a key of their own, by this key."""
    keys = normalized_keys(frame[key])
    unique = keys.notna() & ~keys.duplicated(keep=False)
    return pd.Series(frame.index[unique], index=keys[unique].astype(str))


def _report(
    frames: Mapping[str, pd.DataFrame], rows: Mapping[str, pd.Series[int]], key: str
) -> AlignmentReport:
    unique_keys = {party: set(row.index) for party, row in rows.items()}
    in_every_file = set.intersection(*unique_keys.values())
    in_any_file = set.union(*unique_keys.values())
    parties = {}
    for party, frame in frames.items():
        keys = normalized_keys(frame[key])
        duplicates = set(keys[keys.duplicated(keep=False)].dropna().astype(str))
        parties[party] = PartyAlignment(
            rows=len(frame),
            rows_without_key=tuple(str(row + 1) for row in np.flatnonzero(keys.isna())),
            duplicate_keys=tuple(sorted(duplicates)),
            missing_keys=tuple(sorted(in_any_file - unique_keys[party] - duplicates)),
            unmatched_keys=tuple(sorted(unique_keys[party] - in_every_file)),
        )
    return AlignmentReport(key, tuple(sorted(in_every_file)), parties)
