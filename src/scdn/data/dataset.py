"""The form of every data set: training and test rows by modality, and their targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from scdn.arrays import Array
from scdn.data.scaling import Scaling, ScalingKind
from scdn.errors import format_value, input_error
from scdn.rng import generator

TaskKind = Literal["classification", "regression"]
Modalities = Mapping[str, NDArray[Any]]

TEST_FRACTION = 0.2  # of data sets that are published without a train/test split
_FEWEST_ROWS = 5


@dataclass(frozen=True)
class Dataset:
    """Training and test rows by modality, and the targets.

    Attributes
    ----------
    train, test
        `"image"`: (rows, height, width, channels), and `"table"`: (rows, columns); one or both.
    train_y, test_y
        Class numbers (int64) or, for regression, the numbers to predict (float64).
    classes
        Class names, indexed by class number; empty for regression.
    features
        Names of the table's columns.
    parties
        Each party's columns, where the data defines them; otherwise empty.
    provenance
        The source of the rows, in one sentence.
    label, key
        Names of the columns with the labels and with the rows' keys in the files that were
        imported; empty if there is none.
    """

    name: str
    train: Modalities
    train_y: NDArray[Any]
    test: Modalities
    test_y: NDArray[Any]
    task: TaskKind = "classification"
    classes: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    parties: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    provenance: str = ""
    label: str = ""
    key: str = ""

    def __post_init__(self) -> None:
        for part, rows, targets in (
            ("train", self.train, self.train_y),
            ("test", self.test, self.test_y),
        ):
            self._check_rows(part, rows, len(targets))
            self._check_targets(f"{part}_y", targets)
        known = set(self.features)
        for party, columns in self.parties.items():
            for column in columns:
                if column not in known:
                    fault = f"column {column!r} is not in the table"
                    raise input_error(self.name, f"parties.{party}", fault, "must name columns")

    def scalings(self, kind: ScalingKind) -> dict[str, Scaling]:
        """Return the scaling of each modality, from statistics of the training rows only."""
        return {name: Scaling.fit(rows, kind) for name, rows in self.train.items()}

    def scaled(self, kind: ScalingKind, dtype: DTypeLike = np.float32) -> Dataset:
        """Return the same rows as floats, scaled with statistics of the training rows only."""
        scalings = self.scalings(kind)

        def apply(part: Modalities) -> Modalities:
            return {name: scalings[name].apply(rows, dtype) for name, rows in part.items()}

        return replace(self, train=apply(self.train), test=apply(self.test))

    def with_holdout(self, fraction: float, seed: int) -> Dataset:
        """Return a data set to tune on: a fraction of the training rows replaces the test rows."""
        order = generator(seed, "holdout").permutation(len(self.train_y))
        cut = len(order) - round(fraction * len(order))
        kept, held_out = np.sort(order[:cut]), np.sort(order[cut:])
        return replace(
            self,
            train={name: rows[kept] for name, rows in self.train.items()},
            train_y=self.train_y[kept],
            test={name: rows[held_out] for name, rows in self.train.items()},
            test_y=self.train_y[held_out],
        )

    def _check_rows(self, part: str, modalities: Modalities, count: int) -> None:
        if not modalities or not set(modalities) <= {"image", "table"}:
            fault = f"has {sorted(modalities)}"
            raise input_error(self.name, part, fault, "must have image, table or both")
        for name, rows in modalities.items():
            where = f"{part}.{name}"
            dimensions = 4 if name == "image" else 2
            if rows.ndim != dimensions:
                raise input_error(
                    self.name, where, f"has shape {rows.shape}", f"needs {dimensions}-D"
                )
            if len(rows) != count or count == 0:
                allowed = f"must be {count} as in {part}_y, and at least 1"
                raise input_error(self.name, where, f"{len(rows)} rows", allowed)
            if rows.dtype.kind == "f" and not np.isfinite(rows).all():
                row = int(np.argwhere(~np.isfinite(rows))[0][0])
                raise input_error(self.name, f"{where}.{row}", "not finite", "must be finite")
        if "table" in modalities and modalities["table"].shape[1] != len(self.features):
            fault = f"{modalities['table'].shape[1]} columns"
            raise input_error(self.name, f"{part}.table", fault, f"has {len(self.features)} names")

    def _check_targets(self, where: str, targets: NDArray[Any]) -> None:
        if self.task == "classification":
            valid = (targets >= 0) & (targets < len(self.classes))
            allowed = f"must be a class number from 0 to {len(self.classes) - 1}"
        else:
            valid = np.isfinite(targets)
            allowed = "must be finite"
        if not valid.all():
            row = int(np.argmin(valid))
            raise input_error(
                self.name, f"{where}.{row}", f"got {format_value(targets[row].item())}", allowed
            )


def train_test_rows(count: int, purpose: str, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the training and test row numbers, drawn once: the same arguments, the same rows."""
    order = generator(seed, purpose).permutation(count)
    cut = round(count * (1 - TEST_FRACTION))
    return np.sort(order[:cut]), np.sort(order[cut:])


def draw_test_rows(
    count: int, purpose: str, seed: int, source: str
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the training and test row numbers of a user's own file; refuse too few rows."""
    if count < _FEWEST_ROWS:
        allowed = f"needs at least {_FEWEST_ROWS} for an 80/20 split"
        raise input_error(source, "rows", f"{count}", allowed)
    return train_test_rows(count, purpose, seed)


def trivial_score(dataset: Dataset) -> dict[str, float]:
    """Return the test score of a predictor that sees no feature; accuracies are in percent."""
    if dataset.task == "regression":
        errors: Array = dataset.test_y - dataset.train_y.mean()
        return {"mse": float(np.mean(errors**2))}
    counts = np.bincount(dataset.train_y, minlength=len(dataset.classes))
    by_frequency = np.argsort(-counts, kind="stable")
    return {
        "top1": 100 * float(np.mean(dataset.test_y == by_frequency[0])),
        "top3": 100 * float(np.mean(np.isin(dataset.test_y, by_frequency[:3]))),
    }
