"""A data set as flat tensors, and the columns of it that each party of a stack reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scdn.data import Dataset
from scdn.data.dataset import Modalities
from scdn.learning.augmentation import Augmentation
from scdn.learning.feature_split import FeatureView
from scdn.learning.tensors import TensorOptions

Subset = Literal["train", "test"]


@dataclass(frozen=True)
class DatasetTensors:
    """Inputs by subset and modality, (rows, columns), and targets by subset.

    A device of a federation has no targets, its server has no inputs. With an augmentation, the
    number of a training row also says which variant of its image is meant.
    """

    inputs: dict[Subset, dict[str, Tensor]]
    targets: dict[Subset, Tensor]
    augmentation: Augmentation | None = None

    @classmethod
    def from_dataset(cls, dataset: Dataset, options: TensorOptions) -> DatasetTensors:
        """Flatten a scaled data set; images channel by channel, as convolutions read them."""
        return cls(
            {
                "train": flat_tensors(dataset.train, options),
                "test": flat_tensors(dataset.test, options),
            },
            {"train": options.tensor(dataset.train_y), "test": options.tensor(dataset.test_y)},
        )

    def count(self, subset: Subset) -> int:
        """Return the number of rows."""
        rows = self.targets or {s: next(iter(x.values())) for s, x in self.inputs.items()}
        return len(rows[subset])

    @property
    def numbered_targets(self) -> Tensor:
        """Return the targets of all numbers of training rows: the same in every variant."""
        variants = 1 if self.augmentation is None else self.augmentation.variants
        return self.targets["train"].repeat(variants)

    def select(self, subset: Subset, modality: str, rows: Tensor) -> Tensor:
        """Return the inputs of numbered rows, (rows, columns)."""
        inputs = self.inputs[subset][modality]
        if self.augmentation is None or subset == "test":
            return inputs.index_select(0, rows)
        if modality == "image":
            return self.augmentation.select(inputs, rows)
        return inputs.index_select(0, rows % len(inputs))


@dataclass(frozen=True)
class ViewStack:
    """The feature views of parties with inputs of one shape, stacked."""

    modality: str
    shape: tuple[int, ...]
    columns: Tensor  # (parties, columns)
    held: Tensor | None  # (parties, columns), 0 where the model sees a zero; None: no zeros

    @classmethod
    def from_views(cls, views: Sequence[FeatureView], options: TensorOptions) -> ViewStack:
        """Stack views of one modality and shape."""
        held = np.stack([view.held for view in views])
        return cls(
            views[0].modality,
            views[0].shape,
            options.tensor(np.stack([view.columns for view in views])),
            None if held.all() else options.tensor(held.astype(np.float64)),
        )

    def select(self, parties: Tensor) -> ViewStack:
        """Return the views of the parties with these indices."""
        held = None if self.held is None else self.held[parties]
        return replace(self, columns=self.columns[parties], held=held)

    def concat(self, other: ViewStack) -> ViewStack:
        """Append the views of further parties."""
        masks = [stack.held for stack in (self, other) if stack.held is not None]
        held = None
        if masks:
            held = torch.cat(
                [
                    torch.ones_like(s.columns, dtype=masks[0].dtype) if s.held is None else s.held
                    for s in (self, other)
                ]
            )
        return replace(self, columns=torch.cat([self.columns, other.columns]), held=held)

    def gather(
        self, data: DatasetTensors, subset: Subset, rows: Tensor, parties: Tensor | None = None
    ) -> Tensor:
        """Return rows as the parties (all, or those with these indices) see them.

        The result has the shape (parties, rows, *shape).
        """
        columns = self.columns if parties is None else self.columns[parties]
        selected = data.select(subset, self.modality, rows)
        inputs = selected.index_select(1, columns.flatten()).view(len(rows), *columns.shape)
        inputs = inputs.transpose(0, 1)
        if self.held is not None:
            inputs = inputs * (self.held if parties is None else self.held[parties])[:, None]
        return inputs.reshape(len(columns), len(rows), *self.shape)


def flat_tensors(inputs: Modalities, options: TensorOptions) -> dict[str, Tensor]:
    """Return scaled rows by modality as tensors (rows, columns)."""
    return {name: options.tensor(flat_rows(rows)) for name, rows in inputs.items()}


def flat_rows(values: NDArray[Any]) -> NDArray[Any]:
    """Return rows as (rows, columns); images channel by channel, as convolutions read them."""
    if values.ndim == 4:
        values = np.ascontiguousarray(values.transpose(0, 3, 1, 2))
    return values.reshape(len(values), -1)
