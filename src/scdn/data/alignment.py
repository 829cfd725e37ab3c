"""Parties' files brought together by a key, and a report of the rows that were left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scdn.data.dataset import Dataset, TaskKind
from scdn.data.import_table import check_party_columns, dataset_from_frame
from scdn.data.table_files import read_table, require_columns
from scdn.errors import input_error

_SHOWN = 3  # examples of each kind


@dataclass(frozen=True)
class PartyAlignment:
    """What aligning found in one party's file.

    Attributes
    ----------
    rows
        How many the file has.
    keyless
        Numbers of rows without a key, from 1.
    duplicate
        Keys that stand more than once: nobody knows which row is meant, so all are left out.
    missing
        Keys that another party has and this one lacks.
    unmatched
        Keys of this party that some other party lacks.
    """

    rows: int
    keyless: tuple[str, ...]
    duplicate: tuple[str, ...]
    missing: tuple[str, ...]
    unmatched: tuple[str, ...]


@dataclass(frozen=True)
class AlignmentReport:
    """How the files met: the keys that all have, and what each file lost."""

    key: str
    matched: tuple[str, ...]
    sides: Mapping[str, PartyAlignment]

    def lines(self) -> list[str]:
        """The report, a line a finding."""
        found = [f"{len(self.matched)} rows have their {self.key} in every file"]
        for party, side in self.sides.items():
            kinds = {
                "without a key (row)": side.keyless,
                "standing twice, left out": side.duplicate,
                "missing": side.missing,
                "unmatched, left out": side.unmatched,
            }
            found.append(f"{party}: {side.rows} rows")
            found += [f"{party}: {len(k)} {kind}: {_some(k)}" for kind, k in kinds.items() if k]
        return found


def _some(keys: tuple[str, ...]) -> str:
    return ", ".join(keys[:_SHOWN]) + (", …" if len(keys) > _SHOWN else "") or "none that is clear"


@dataclass(frozen=True)
class AlignedTables:
    """The parties' tables, row for row, and the report to read before anything is made of them."""

    report: AlignmentReport
    frames: Mapping[str, pd.DataFrame]

    def dataset(
        self,
        name: str,
        label: str,
        *,
        task: TaskKind = "classification",
        classes: int | None = None,
        overlap: bool = False,
        seed: int = 0,
    ) -> Dataset:
        """One table with columns named `party.column`; one party holds the label.

        A name that two parties use is taken for a mistake unless `overlap` says that it is not.
        """
        holder = _label_holder(self.frames, label)
        columns = {
            party: [column for column in frame.columns if column != label]
            for party, frame in self.frames.items()
        }
        featured = {party: owned for party, owned in columns.items() if owned or party != holder}
        check_party_columns(featured, label, overlap, name)
        pieces = [self.frames[p][owned].add_prefix(f"{p}.") for p, owned in featured.items()]
        joined = pd.concat([*pieces, self.frames[holder][[label]]], axis=1)
        named = {p: tuple(f"{p}.{c}" for c in owned) for p, owned in featured.items() if owned}
        features = [column for owned in named.values() for column in owned]
        source = f"{name} ({' and '.join(self.frames)} by {self.report.key})"
        return dataset_from_frame(
            name, joined, features, label, task, classes, named, source=source, seed=seed
        )


def align(files: Mapping[str, Path], key: str) -> AlignedTables:
    """Brings the parties' files together by the column `key`."""
    frames = {party: read_table(path, text=[key]) for party, path in files.items()}
    for party, frame in frames.items():
        require_columns(frame, [key], str(files[party]))
    keyed = {party: _by_key(frame, key) for party, frame in frames.items()}
    report = _report(frames, keyed, key)
    if not report.matched:
        firsts = "; ".join(f"{p}: {_some(tuple(frame.index))}" for p, frame in keyed.items())
        raise input_error("keys", key, f"no key is in every file ({firsts})", "must match")
    order = list(report.matched)
    return AlignedTables(report, {party: frame.loc[order] for party, frame in keyed.items()})


def _label_holder(frames: Mapping[str, pd.DataFrame], label: str) -> str:
    holders = [party for party, frame in frames.items() if label in frame.columns]
    if len(holders) != 1:
        found = f"is in the file of {' and '.join(holders) or 'nobody'}"
        raise input_error("label", label, found, "must be in one party's file, and not be the key")
    return holders[0]


def normalized_keys(keys: pd.Series[Any]) -> pd.Series[Any]:
    """Keys as text, so that 7 in one file meets 7.0 or "7" in another."""
    if pd.api.types.is_float_dtype(keys) and (keys.dropna() == np.round(keys.dropna())).all():
        keys = keys.astype("Int64")
    return keys.astype("string").str.strip().replace("", pd.NA)


def _by_key(frame: pd.DataFrame, key: str) -> pd.DataFrame:
    keys = normalized_keys(frame[key])
    clear = keys.notna() & ~keys.duplicated(keep=False)
    return frame[clear].drop(columns=key).set_index(keys[clear].astype(str))


def _report(
    frames: Mapping[str, pd.DataFrame], keyed: Mapping[str, pd.DataFrame], key: str
) -> AlignmentReport:
    everyone = set.intersection(*(set(frame.index) for frame in keyed.values()))
    anyone = set.union(*(set(frame.index) for frame in keyed.values()))
    sides = {}
    for party, frame in frames.items():
        keys, own = normalized_keys(frame[key]), set(keyed[party].index)
        twice = set(keys[keys.duplicated(keep=False)].dropna().astype(str))
        sides[party] = PartyAlignment(
            rows=len(frame),
            keyless=tuple(str(row + 1) for row in np.flatnonzero(keys.isna())),
            duplicate=tuple(sorted(twice)),
            missing=tuple(sorted(anyone - own - twice)),
            unmatched=tuple(sorted(own - everyone)),
        )
    return AlignmentReport(key, tuple(sorted(everyone)), sides)
