"""The checker of data sets: shapes, finite values, labels, and separate test rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scdn.check.user_code import call, collect
from scdn.data.dataset import Dataset

_MAX_OVERLAP = 0.05  # of the test rows; a few duplicates are usual


def check_dataset(dataset: Dataset | Callable[[], Dataset]) -> list[str]:
    """Return the problems of a data set, or of the one that a function returns."""
    return collect(_dataset(dataset))


def _dataset(dataset: object) -> Iterator[str]:
    if not isinstance(dataset, Dataset) and callable(dataset):
        dataset = call("The function", "it must return a Dataset", dataset)
    if not isinstance(dataset, Dataset):
        yield f"It is a {type(dataset).__name__}; make it a scdn.data.Dataset."
        return
    if set(dataset.train) != set(dataset.test):
        yield "Training and test rows have different modalities; give both the same."
        return
    for name, rows in dataset.train.items():
        test = dataset.test[name]
        if rows.shape[1:] != test.shape[1:]:
            yield (
                f"Training rows of {name} have shape {rows.shape[1:]}, test rows "
                f"{test.shape[1:]}; give both the same."
            )
        yield from _values("training", name, rows)
        yield from _values("test", name, test)
    yield from _targets("training", dataset, dataset.train_y)
    yield from _targets("test", dataset, dataset.test_y)
    if dataset.task == "classification":
        yield from _classes(dataset)
    yield from _overlap(dataset)


def _values(part: str, name: str, rows: NDArray[Any]) -> Iterator[str]:
    if rows.dtype.kind not in "biuf":
        yield f"The {part} rows of {name} have type {rows.dtype}; make them numbers."
    elif rows.dtype.kind == "f" and not np.isfinite(rows).all():
        yield f"The {part} rows of {name} have values that are not finite; fill or drop them."


def _targets(part: str, dataset: Dataset, targets: NDArray[Any]) -> Iterator[str]:
    rows = len(next(iter((dataset.train if part == "training" else dataset.test).values())))
    if targets.shape != (rows,):
        yield f"The {part} targets have shape {targets.shape}; make it ({rows},), one per row."
        return
    if dataset.task == "regression":
        if targets.dtype.kind not in "iuf" or not np.isfinite(targets).all():
            yield f"The {part} targets are not all finite numbers; fill or drop them."
        return
    if targets.dtype.kind not in "iu":
        yield f"The {part} labels have type {targets.dtype}; make them class numbers (int64)."
    elif rows and (targets.min() < 0 or targets.max() >= len(dataset.classes)):
        last = len(dataset.classes) - 1
        yield (
            f"The {part} labels go from {targets.min()} to {targets.max()}; "
            f"number the classes from 0 to {last}."
        )


def _classes(dataset: Dataset) -> Iterator[str]:
    if len(dataset.classes) < 2:
        yield f"It has {len(dataset.classes)} classes; a classification needs at least 2."
    missing = set(range(len(dataset.classes))) - set(np.unique(dataset.train_y).tolist())
    if missing:
        names = ", ".join(dataset.classes[index] for index in sorted(missing)[:5])
        yield f"No training row is of class {names}; leave such classes out, or split differently."


def _overlap(dataset: Dataset) -> Iterator[str]:
    """Compare rows by their bytes, over all modalities."""
    known = set(_row_bytes(dataset.train))
    test = _row_bytes(dataset.test)
    common = sum(row in known for row in test)
    if common > _MAX_OVERLAP * len(test):
        yield (
            f"{common} of {len(test)} test rows are also training rows; "
            "split the rows so that none is in both."
        )


def _row_bytes(modalities: Any) -> list[bytes]:
    parts = [[row.tobytes() for row in np.ascontiguousarray(rows)] for rows in modalities.values()]
    return [b"".join(row) for row in zip(*parts, strict=True)]
