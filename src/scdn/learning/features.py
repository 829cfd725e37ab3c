"""A data set's rows as flat tensors, and what parties see of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scdn.data import Dataset
from scdn.learning.split import View
from scdn.learning.tensors import Place

Part = Literal["train", "test"]


@dataclass(frozen=True)
class Rows:
    """Inputs by part and modality, (rows, columns), and targets by part."""

    inputs: dict[Part, dict[str, Tensor]]
    targets: dict[Part, Tensor]

    @classmethod
    def of(cls, dataset: Dataset, place: Place) -> Rows:
        """Flattens a scaled data set; images channel by channel, as convolutions read them."""
        return cls(
            {
                "train": {name: _flat(x, place) for name, x in dataset.train.items()},
                "test": {name: _flat(x, place) for name, x in dataset.test.items()},
            },
            {"train": place.tensor(dataset.train_y), "test": place.tensor(dataset.test_y)},
        )

    def count(self, part: Part) -> int:
        """How many rows there are; a device knows no targets, a server no inputs."""
        rows = self.targets or {p: next(iter(x.values())) for p, x in self.inputs.items()}
        return len(rows[part])


@dataclass(frozen=True)
class Sight:
    """What parties of one shape see: each its own columns, and zeros where it holds none."""

    modality: str
    shape: tuple[int, ...]
    columns: Tensor  # (parties, w)
    held: Tensor | None  # (parties, w) ones and zeros; None where every column is held

    @classmethod
    def of(cls, views: Sequence[View], place: Place) -> Sight:
        """Stacks views of one modality and shape."""
        held = np.stack([view.held for view in views])
        return cls(
            views[0].modality,
            views[0].shape,
            place.tensor(np.stack([view.columns for view in views])),
            None if held.all() else place.tensor(held.astype(np.float64)),
        )

    def only(self, who: Tensor) -> Sight:
        """Of the parties `who`."""
        held = None if self.held is None else self.held[who]
        return replace(self, columns=self.columns[who], held=held)

    def joined(self, other: Sight) -> Sight:
        """With more parties at the end."""
        some = self.held if self.held is not None else other.held
        held = None
        if some is not None:
            flags = (
                torch.ones_like(s.columns, dtype=some.dtype) if s.held is None else s.held
                for s in (self, other)
            )
            held = torch.cat(list(flags))
        return replace(self, columns=torch.cat([self.columns, other.columns]), held=held)

    def take(self, rows: Rows, part: Part, which: Tensor, who: Tensor | None = None) -> Tensor:
        """The rows `which` as the parties (or those in `who`) see them: (parties, rows, *shape)."""
        columns = self.columns if who is None else self.columns[who]
        picked = rows.inputs[part][self.modality].index_select(0, which)
        seen = picked.index_select(1, columns.flatten()).view(len(which), *columns.shape)
        seen = seen.transpose(0, 1)
        if self.held is not None:
            seen = seen * (self.held if who is None else self.held[who])[:, None]
        return seen.reshape(len(columns), len(which), *self.shape)


def _flat(values: NDArray[Any], place: Place) -> Tensor:
    if values.ndim == 4:
        values = np.ascontiguousarray(values.transpose(0, 3, 1, 2))
    return place.tensor(values.reshape(len(values), -1))
