"""What the rows of a data set look like, and how a run scales them: all that new rows need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from scdn.data.dataset import Dataset, Modalities, TaskKind
from scdn.data.scaling import Scaling, ScalingKind


@dataclass(frozen=True, eq=False)
class InputFormat:
    """The form of a data set's rows, without the rows; a checkpoint keeps it.

    Attributes
    ----------
    dataset
        Name of the data set.
    train_rows
        The number of its training rows.
    task, classes, features, parties, key
        As in `Dataset`.
    shapes
        By modality: the shape of a row, (columns,) or (height, width, channels).
    scalings
        By modality: as fitted to the training rows.
    """

    dataset: str
    train_rows: int
    task: TaskKind
    classes: tuple[str, ...]
    features: tuple[str, ...]
    parties: Mapping[str, tuple[str, ...]]
    key: str
    shapes: Mapping[str, tuple[int, ...]]
    scalings: Mapping[str, Scaling]

    @classmethod
    def from_dataset(cls, dataset: Dataset, kind: ScalingKind) -> InputFormat:
        """Return the form of a data set that is not scaled yet."""
        return cls(
            dataset.name,
            len(dataset.train_y),
            dataset.task,
            dataset.classes,
            dataset.features,
            dataset.parties,
            dataset.key,
            {name: rows.shape[1:] for name, rows in dataset.train.items()},
            dataset.scalings(kind),
        )

    def scaled(self, inputs: Modalities, dtype: DTypeLike) -> dict[str, NDArray[Any]]:
        """Return raw rows by modality, scaled as the training rows were."""
        return {name: self.scalings[name].apply(rows, dtype) for name, rows in inputs.items()}

    def state_dict(self) -> dict[str, Any]:
        """Return everything as values that JSON can hold."""
        return {
            "dataset": self.dataset,
            "train_rows": self.train_rows,
            "task": self.task,
            "classes": list(self.classes),
            "features": list(self.features),
            "parties": {party: list(columns) for party, columns in self.parties.items()},
            "key": self.key,
            "shapes": {name: list(shape) for name, shape in self.shapes.items()},
            "scalings": {
                name: {"shift": scaling.shift.tolist(), "scale": scaling.scale.tolist()}
                for name, scaling in self.scalings.items()
            },
        }

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> InputFormat:
        """Restore what `state_dict` returned."""
        return cls(
            state["dataset"],
            state["train_rows"],
            state["task"],
            tuple(state["classes"]),
            tuple(state["features"]),
            {party: tuple(columns) for party, columns in state["parties"].items()},
            state["key"],
            {name: tuple(shape) for name, shape in state["shapes"].items()},
            {
                name: Scaling(np.array(values["shift"]), np.array(values["scale"]))
                for name, values in state["scalings"].items()
            },
        )
