"""Align the files of several parties by a key column, and report the rows that were left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scdn.data.dataset import Dataset, TaskKind
from scdn.data.import_table import check_party_columns, dataset_from_frame
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
    """The parties' tables with the same rows in the same order, and the report of the alignment."""

    report: AlignmentReport
    frames: Mapping[str, pd.DataFrame]

    def to_dataset(
        self,
        name: str,
        label: str,
        *,
        task: TaskKind = "classification",
        classes: int | None = None,
        overlap: bool = False,
        seed: int = 0,
    ) -> Dataset:
        """Return a data set whose columns are named `party.column`; one party holds the label.

        A column name that two parties use is an error unless `overlap` allows it.
        """
        label_party = _party_with_label(self.frames, label)
        columns = {
            party: [column for column in frame.columns if column != label]
            for party, frame in self.frames.items()
        }
        # A party that holds nothing but the label is no party of the training.
        features = {p: names for p, names in columns.items() if names or p != label_party}
        check_party_columns(features, label, overlap, name)
        prefixed = [self.frames[p][names].add_prefix(f"{p}.") for p, names in features.items()]
        joined = pd.concat([*prefixed, self.frames[label_party][[label]]], axis=1)
        parties = {p: tuple(f"{p}.{c}" for c in names) for p, names in features.items() if names}
        dataset = dataset_from_frame(
            name,
            joined,
            [column for names in parties.values() for column in names],
            label,
            task,
            classes,
            parties,
            source=f"{name} ({' and '.join(self.frames)} by {self.report.key})",
            seed=seed,
        )
        return replace(dataset, key=self.report.key)


def align(files: Mapping[str, Path], key: str) -> AlignedTables:
    """Read each party's file and keep the rows whose `key` is in every file."""
    frames = {party: read_table(path, text=[key]) for party, path in files.items()}
    for party, frame in frames.items():
        require_columns(frame, [key], str(files[party]))
    keyed = {party: _unique_rows(frame, key) for party, frame in frames.items()}
    report = _report(frames, keyed, key)
    if not report.matched:
        examples = "; ".join(f"{p}: {_examples(tuple(frame.index))}" for p, frame in keyed.items())
        raise input_error("keys", key, f"no key is in every file ({examples})", "must match")
    order = list(report.matched)
    return AlignedTables(report, {party: frame.loc[order] for party, frame in keyed.items()})


def _party_with_label(frames: Mapping[str, pd.DataFrame], label: str) -> str:
    parties = [party for party, frame in frames.items() if label in frame.columns]
    if len(parties) != 1:
        fault = f"is in the file of {' and '.join(parties) or 'nobody'}"
        raise input_error("label", label, fault, "must be in one party's file, and not be the key")
    return parties[0]


def normalized_keys(keys: pd.Series[Any]) -> pd.Series[Any]:
    """Return the keys as text, so that 7 in one file matches 7.0 or "7" in another."""
    if pd.api.types.is_float_dtype(keys) and (keys.dropna() == np.round(keys.dropna())).all():
        keys = keys.astype("Int64")
    return keys.astype("string").str.strip().replace("", pd.NA)


def _unique_rows(frame: pd.DataFrame, key: str) -> pd.DataFrame:
    """Return the rows with a key of their own, indexed by it."""
    keys = normalized_keys(frame[key])
    unique = keys.notna() & ~keys.duplicated(keep=False)
    return frame[unique].drop(columns=key).set_index(keys[unique].astype(str))


def _report(
    frames: Mapping[str, pd.DataFrame], keyed: Mapping[str, pd.DataFrame], key: str
) -> AlignmentReport:
    unique_keys = {party: set(frame.index) for party, frame in keyed.items()}
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
