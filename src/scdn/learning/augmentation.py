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

from scdn.learning.tensors import TensorOptions
from scdn.scenario import LearningSettings


@dataclass(frozen=True)
class Augmentation:
    """The variants of an image, in none of which a pixel changes its row; the first is plain.

    Attributes
    ----------
    count
        The number of training rows.
    sources
        Where each pixel of a row of pixels comes from, (variants, width).
    held
        0 where a variant has a zero because nothing was shifted there, else 1.
    """

    count: int
    sources: Tensor
    held: Tensor

    @classmethod
    def create(
        cls, count: int, width: int, learning: LearningSettings, options: TensorOptions
    ) -> Augmentation:
        """Return the variants that the settings ask for, of images of this width."""
        offsets = sorted(range(-learning.augment_shift, learning.augment_shift + 1), key=abs)
        sources, held = [], []
        for mirrored, offset in product((False, True)[: 1 + learning.augment_flip], offsets):
            source = np.arange(width) - offset
            held.append((source >= 0) & (source < width))
            source = np.clip(source, 0, width - 1)
            sources.append(width - 1 - source if mirrored else source)
        return cls(
            count,
            options.tensor(np.stack(sources)),
            options.tensor(np.stack(held).astype(np.float64)),
        )

    @property
    def variants(self) -> int:
        """Return the number of variants of an image."""
        return len(self.sources)

    def draw(self, draw: np.random.Generator, rows: Tensor) -> Tensor:
        """Draw a variant for each row, and return the rows' numbers in these variants."""
        variants = torch.from_numpy(draw.integers(self.variants, size=tuple(rows.shape)))
        return rows + self.count * variants.to(rows.device)

    def select(self, images: Tensor, rows: Tensor) -> Tensor:
        """Return the flat images (rows, columns) of numbered rows, each in its variant."""
        variants = rows // self.count
        plain = images.index_select(0, rows % self.count)
        pixels = plain.view(len(rows), -1, self.sources.shape[1])  # (rows, rows of pixels, width)
        sources = self.sources[variants][:, None].expand_as(pixels)
        return (pixels.gather(2, sources) * self.held[variants][:, None]).view_as(plain)
