"""Random draws of training rows: the sample that is measured, and the batches of a round."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from scdn.rng import generator
from scdn.scenario import LearningSettings

HELD_OUT_BATCHES = 2  # better than one; what is held out must be sent as well
VALIDATION_BATCHES = 8  # at most, where they are sent with every report


def sample_rows(
    count: int, learning: LearningSettings, seed: int
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Draw the training rows that importance and losses are measured on.

    Where rows are set aside for validation, it is these.
    """
    size = sample_size(count, learning)
    return generator(seed, "sample").choice(count, size, replace=False)


def sample_size(count: int, learning: LearningSettings) -> int:
    """Return how many of so many training rows are in the sample."""
    size = min(count, learning.sample_rows)
    if not learning.validation:
        return size
    if learning.payload == "protocol":
        size = min(size, VALIDATION_BATCHES * learning.batch_size)
    return max(1, min(size, int(learning.validation * count)))


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
    held_out: Tensor  # (1, rows), or (0, 0): rows that nobody trains on in any round

    def flat(self) -> Tensor:
        """Return all rows, those of the batches first."""
        return torch.cat([self.batches.flatten(), self.held_out.flatten()])


def draw_round(
    seed: int, key: tuple[int, ...], steps: int, count: int, learning: LearningSettings
) -> RoundRows:
    """Draw the rows of a round among `count` training rows; `key` begins with the round."""
    draw = generator(seed, "batches", *key)
    if not learning.holds_rows_out:
        batches = draw_batches(draw, steps, count, learning.batch_size)
        return RoundRows(batches, batches.new_zeros(0, 0))
    training, held_out = split_rows(seed, count, learning)
    batches = draw_batches(draw, steps, len(training), learning.batch_size)
    return RoundRows(training[batches], held_out[None])


@lru_cache(maxsize=8)
def split_rows(seed: int, count: int, learning: LearningSettings) -> tuple[Tensor, Tensor]:
    """Return the rows to train on, and two batches that are held out for the whole run.

    At most a fifth of the rows is held out. One row alone is both. The rows held out do not change,
    so that the server knows them of a party that does not report now and has not trained since.
    Rows for validation are neither.
    """
    if count < 2:
        rows = torch.arange(count)
        return rows, rows
    order = generator(seed, "held-out").permutation(count)
    if learning.validation:
        rest = order[~np.isin(order, sample_rows(count, learning, seed))]
        order = rest if len(rest) > 1 else order
    size = max(1, min(count // 5, HELD_OUT_BATCHES * learning.batch_size))
    held_out, training = torch.from_numpy(np.sort(order[:size])), np.sort(order[size:])
    return torch.from_numpy(training), held_out


def table_rows(part: int, parts: int, count: int) -> Tensor:
    """Return the rows of one part of the table of all training rows.

    All parts are of one size. The last row is followed by the first, within a part as well.
    """
    size = -(-count // parts)
    return (part * size % count + torch.arange(size)) % count
