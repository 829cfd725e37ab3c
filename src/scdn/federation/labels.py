"""What the server has: labels by key. Rows are aligned with devices' by key before training."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scdn.data import Dataset
from scdn.data.alignment import texts
from scdn.data.dataset import Task, divided
from scdn.data.frames import need_columns, read_frame
from scdn.data.table import labels_of
from scdn.errors import input_error
from scdn.federation.features import digests
from scdn.file_io import write_atomic
from scdn.npz import read_npz

_SHOWN = 3  # keys that are named


@dataclass(frozen=True, eq=False)
class Labels:
    """A target for each key, and which rows train and which test."""

    name: str
    keys: list[str]
    targets: NDArray[Any]
    test: NDArray[np.bool_]
    task: Task
    classes: tuple[str, ...]
    provenance: str

    @classmethod
    def of(cls, dataset: Dataset) -> Labels:
        """Those of a data set whose rows are shared out."""
        from scdn.federation.share import keys_of

        targets = np.concatenate([dataset.train_y, dataset.test_y])
        test = np.arange(len(targets)) >= len(dataset.train_y)
        told = (dataset.task, dataset.classes, dataset.provenance)
        return cls(dataset.name, keys_of(dataset), targets, test, *told)

    def save(self, path: Path) -> None:
        """As `read_labels` reads it."""
        from scdn.federation.share import save

        words = {key: getattr(self, key) for key in ("name", "task", "classes", "provenance")}
        save(
            path,
            key=np.array(self.keys),
            targets=self.targets,
            test=self.test,
            words=np.array(json.dumps(words)),
        )


def read_labels(
    path: Path, key: str | None, label: str | None, task: Task, classes: int | None, seed: int
) -> Labels:
    """Labels in a `.csv`, `.parquet` or `.npz` file, divided 80/20 into training and test rows."""
    if path.suffix.lower() == ".npz":
        try:
            arrays = read_npz(path)
            if "words" in arrays and "test" in arrays:
                words = json.loads(str(arrays["words"]))
                words["classes"] = tuple(words["classes"])
                keys = [str(one) for one in arrays["key"]]
                return Labels(keys=keys, targets=arrays["targets"], test=arrays["test"], **words)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise input_error(str(path), "file", f"is damaged ({error})", "must be whole") from None
    if not key or not label:
        absent = "--key" if not key else "--label"
        raise input_error("scdn", absent, "is missing", "must name a column of the labels' file")
    frame = read_frame(path, text=[key])
    need_columns(frame, [key, label], str(path))
    keys_ = texts(frame[key])
    clear = (keys_.notna() & ~keys_.duplicated(keep=False)).to_numpy()
    kept = frame[clear]
    targets, names = labels_of(kept, label, task, classes, str(path))
    found = keys_[clear].astype(str).tolist()
    order = np.argsort(found, kind="stable")
    test = np.zeros(len(found), bool)
    test[order[divided(len(found), "table-split", seed)[1]]] = True
    told = f"{path.name}, {len(found)} rows with a clear key of {len(frame)}"
    return Labels(path.stem, found, targets, test, task, names, told)


@dataclass(frozen=True, eq=False)
class Alignment:
    """The rows that the server and every first device have, and what was left out."""

    train: NDArray[np.uint8]  # hashed keys, in the order of the run's rows
    test: NDArray[np.uint8]
    dataset: Dataset  # targets only: of features the server has none
    report: dict[str, Any]

    def lines(self) -> list[str]:
        """The report, a line a finding."""
        told = self.report
        rows = f"{told['matched']} rows are with the server and every device"
        found = [f"{rows} ({len(self.train)} train, {len(self.test)} test)"]
        for name, side in told["devices"].items():
            if side["missing"] or side["unmatched"]:
                shown = f" ({', '.join(side['examples'])}…)" if side["examples"] else ""
                found.append(
                    f"{name}: lacks {side['missing']} of the server's rows{shown}, "
                    f"has {side['unmatched']} that the server lacks"
                )
        return found


def align(labels: Labels, keys: Mapping[str, NDArray[np.uint8]], salt: str) -> Alignment:
    """Brings the server's labels and devices' hashed keys together."""
    own = digests(labels.keys, salt)
    mine = [row.tobytes() for row in own]
    theirs = {name: {row.tobytes() for row in rows} for name, rows in keys.items()}
    everyone = set(mine).intersection(*theirs.values())
    kept = np.array([key in everyone for key in mine])
    sides = {}
    for name, found in theirs.items():
        absent = [n for n, key in enumerate(mine) if key not in found]
        sides[name] = {
            "rows": len(keys[name]),
            "missing": len(absent),
            "examples": [labels.keys[n] for n in absent[:_SHOWN]],
            "unmatched": len(found - set(mine)),
        }
    parts = [np.flatnonzero(kept & ~labels.test), np.flatnonzero(kept & labels.test)]
    if not len(parts[0]) or not len(parts[1]):
        raise input_error(
            "keys", "rows", f"{int(kept.sum())} are with everyone", "needs more to train"
        )
    report = {"matched": int(kept.sum()), "server": len(mine), "devices": sides}
    return Alignment(own[parts[0]], own[parts[1]], _targets(labels, *parts), report)


def _targets(labels: Labels, train: NDArray[Any], test: NDArray[Any]) -> Dataset:
    return Dataset(
        name=labels.name,
        train={"table": np.zeros((len(train), 0))},
        train_y=labels.targets[train],
        test={"table": np.zeros((len(test), 0))},
        test_y=labels.targets[test],
        task=labels.task,
        classes=labels.classes,
        provenance=labels.provenance,
    )


def save_report(found: Alignment, path: Path) -> None:
    """The report as JSON."""
    write_atomic(path, json.dumps(found.report, indent=2) + "\n")
