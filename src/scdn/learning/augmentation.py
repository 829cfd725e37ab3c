"""Images that are mirrored or shifted at random in training.

All parties must see a row the same way, so how it is changed is part of its number: row r of n in
variant v has the number v·n + r. Pixels move sideways only, so that a strip stays with its party.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from torch import Tensor

from scdn.learning.feature_split import Shape
from scdn.learning.tensors import TensorOptions
from scdn.scenario import LearningSettings


@dataclass(frozen=True, eq=False)
class Augmentation:
    """The variants of an image, in none of which a pixel changes its row; the first is plain.

    Attributes
    ----------
    count
        The number of training rows.
    columns
        The column that each column of a variant takes its value from, (variants, columns).
    held
        0 where a variant has a zero because nothing was shifted there, else 1.
    """

    count: int
    columns: Tensor
    held: Tensor

    @classmethod
    def create(
        cls, count: int, shape: Shape, learning: LearningSettings, options: TensorOptions
    ) -> Augmentation:
        """Return the variants that the settings ask for, of images (channels, height, width)."""
        pixels = np.arange(np.prod(shape)).reshape(shape)
        width, most = shape[-1], learning.augment_shift
        offsets = sorted(range(-most, most + 1), key=abs)
        columns, held = [], []
        for mirrored, offset in product((False, True)[: 1 + learning.augment_flip], offsets):
            source = np.arange(width) - offset
            is_inside = (source >= 0) & (source < width)
            moved = pixels[..., ::-1] if mirrored else pixels
            columns.append(moved[..., np.clip(source, 0, width - 1)].ravel())
            held.append(np.broadcast_to(is_inside, shape).ravel())
        return cls(
            count,
            options.tensor(np.stack(columns)),
            options.tensor(np.stack(held).astype(np.float64)),
        )

    @property
    def variants(self) -> int:
        """Return the number of variants of an image."""
        return len(self.columns)

    def draw(self, draw: np.random.Generator, rows: Tensor) -> Tensor:
        """Draw a variant for each row, and return the rows' numbers in these variants."""
        variants = torch.from_numpy(draw.integers(self.variants, size=tuple(rows.shape)))
        return rows + self.count * variants.to(rows.device)

    def select(self, images: Tensor, rows: Tensor) -> Tensor:
        """Return the flat images (rows, columns) of numbered rows, each in its variant."""
        variants = rows // self.count
        plain = images.index_select(0, rows % self.count)
        return plain.gather(1, self.columns[variants]) * self.held[variants]
