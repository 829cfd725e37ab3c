"""Random draws of training rows: the sample that is measured, and the batches of a round."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from scdn.rng import generator
from scdn.scenario import LearningSettings


def sample_rows(
    count: int, learning: LearningSettings, seed: int
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Draw the training rows that importance and losses are measured on."""
    return generator(seed, "sample").choice(count, min(count, learning.sample_rows), replace=False)


def draw_batches(draw: np.random.Generator, steps: int, count: int, batch_size: int) -> Tensor:
    """Draw one batch of rows per step; the first batches do not depend on how many follow."""
    size = min(batch_size, count)
    batches = torch.empty(steps, size, dtype=torch.int64)
    for step in range(steps):
        batches[step] = torch.from_numpy(draw.choice(count, size, replace=False))
    return batches


class RoundRows(NamedTuple):
    """The training rows of a round, as indices."""

    batches: Tensor  # (steps, batch): one batch for each step
    held_out: Tensor  # (1, rows), or (0, 0): rows that nobody trains on

    def flat(self) -> Tensor:
        """Return all rows, those of the batches first."""
        return torch.cat([self.batches.flatten(), self.held_out.flatten()])


def draw_round(
    seed: int, key: tuple[int, ...], steps: int, count: int, learning: LearningSettings
) -> RoundRows:
    """Draw the rows of a round among `count` training rows; `key` begins with the round."""
    size = learning.batch_size
    batches = draw_batches(generator(seed, "batches", *key), steps, count, size)
    if not learning.holds_rows_out:
        return RoundRows(batches, batches.new_zeros(0, 0))
    order = generator(seed, "search", key[0]).permutation(count)
    unused = order[~np.isin(order, batches.numpy())]
    rows = unused if len(unused) else order  # a small data set may be drawn completely
    return RoundRows(batches, torch.from_numpy(rows[None, :size]))
