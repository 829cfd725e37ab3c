"""The server's training by Adam: on rows of recent rounds, and stopped by rows held out.

No rate has to be set: 0.003 was best of 0.001, 0.003 and 0.01, and better than SGD or L-BFGS with
the same number of gradients. Adam starts anew in every round, because members come and go.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from scdn.data.dataset import TaskKind
from scdn.learning.fusion_model import FusionModel
from scdn.learning.losses import row_losses
from scdn.learning.server_work import ServerWork
from scdn.learning.tensors import Tensors

RATE = 3e-3
MEAN_DECAY, SQUARE_DECAY = 0.9, 0.999  # β1 and β2
EPSILON = 1e-8
CHECK_EVERY = 10  # steps between two looks at the rows held out


@dataclass(frozen=True)
class LabelledRows:
    """Embeddings (members, rows, width) of rows, and their targets."""

    embeddings: Tensor
    targets: Tensor

    def __len__(self) -> int:
        return len(self.targets)

    def select(self, rows: Tensor) -> LabelledRows:
        """Return the rows with these indices, or where a mask is true."""
        return LabelledRows(self.embeddings[:, rows], self.targets[rows])

    def weighted(self, weights: Tensor | None) -> LabelledRows:
        """Return the rows with each member's embeddings times its weight, (members,)."""
        if weights is None:
            return self
        return replace(self, embeddings=self.embeddings * weights[:, None, None])


def train_by_adam(
    fusion: FusionModel,
    task: TaskKind,
    rows: LabelledRows,
    held_out: LabelledRows,
    batches: Tensor,
    weights: Tensor | None = None,
) -> tuple[FusionModel, ServerWork]:
    """Take one step per batch of rows; return the model with the least loss on the rows held out.

    `batches` has indices of `rows`, (steps, batch). `weights` are the members' in each step,
    (steps, members); those of `held_out` are in its embeddings already.
    """
    parameters = fusion.parameters
    adam = Adam(parameters)
    best_loss, best = _loss(fusion, task, held_out), parameters
    checks = 1
    for step, batch in enumerate(batches):
        drawn = rows.select(batch).weighted(None if weights is None else weights[step])
        gradients = fusion.gradients(parameters, drawn.embeddings, drawn.targets, task)
        parameters = adam.step(parameters, gradients)
        if (step + 1) % CHECK_EVERY == 0 or step + 1 == len(batches):
            loss = _loss(replace(fusion, parameters=parameters), task, held_out)
            checks += 1
            if loss < best_loss:
                best_loss, best = loss, parameters
    work = ServerWork(batches.numel(), checks * len(held_out), len(batches))
    return replace(fusion, parameters=best), work


def server_batches(
    draw: np.random.Generator, steps: int, count: int, batch_size: int, device: str
) -> Tensor:
    """Draw one batch of row numbers per step; all rows are used before one is used again."""
    size = min(batch_size, count)
    passes = -(-steps * size // count) if count else 0
    order = [draw.permutation(count) for _ in range(passes)]
    rows = np.concatenate([*order, np.zeros(0, np.int64)])[: steps * size]
    return torch.from_numpy(rows.reshape(-1, size) if size else rows.reshape(0, 0)).to(device)


class Adam:
    """Running means of gradients and of their squares, by which each step is scaled."""

    def __init__(self, parameters: Tensors) -> None:
        self.count = 0
        self.mean = {name: torch.zeros_like(p) for name, p in parameters.items()}
        self.square = {name: torch.zeros_like(p) for name, p in parameters.items()}

    def step(self, parameters: Tensors, gradients: Tensors) -> Tensors:
        """Return the parameters after one step."""
        self.count += 1
        mean_scale = 1 - MEAN_DECAY**self.count
        square_scale = 1 - SQUARE_DECAY**self.count
        stepped = {}
        for name, parameter in parameters.items():
            gradient = gradients[name]
            mean = self.mean[name].lerp_(gradient, 1 - MEAN_DECAY)
            square = self.square[name].mul_(SQUARE_DECAY)
            square.addcmul_(gradient, gradient, value=1 - SQUARE_DECAY)
            deviation = (square / square_scale).sqrt_().add_(EPSILON)
            stepped[name] = torch.addcdiv(parameter, mean, deviation, value=-RATE / mean_scale)
        return stepped


@torch.no_grad()
def _loss(fusion: FusionModel, task: TaskKind, rows: LabelledRows) -> float:
    outputs = fusion.outputs(rows.embeddings)
    return float(row_losses(outputs, rows.targets, task).double().mean())
