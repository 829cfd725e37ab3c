"""Random draws of training rows: the sample that is measured, and the batches of a round."""

from __future__ import annotations

from typing import Any

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
