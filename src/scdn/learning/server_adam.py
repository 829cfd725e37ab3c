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
    """Embeddings (rows, members, width) of rows, and their targets."""

    embeddings: Tensor
    targets: Tensor

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def by_member(self) -> Tensor:
        """Return the embeddings as (members, rows, width), as the fusion model takes them."""
        return self.embeddings.movedim(1, 0)

    def select(self, rows: Tensor) -> LabelledRows:
        """Return the rows with these indices, or where a mask is true."""
        return LabelledRows(self.embeddings[rows], self.targets[rows])

    def weighted(self, weights: Tensor | None) -> LabelledRows:
        """Return the rows with each member's embeddings times its weight, (members,)."""
        if weights is None:
            return self
        return replace(self, embeddings=self.embeddings * weights[:, None])


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
    adam = Adam(fusion.parameters)
    best_loss, best = _loss(fusion, task, held_out), adam.parameters
    checks = 1
    for step, batch in enumerate(batches):
        drawn = rows.select(batch).weighted(None if weights is None else weights[step])
        adam.step(fusion.gradients(adam.parameters, drawn.by_member, drawn.targets, task))
        if (step + 1) % CHECK_EVERY == 0 or step + 1 == len(batches):
            loss = _loss(replace(fusion, parameters=adam.parameters), task, held_out)
            checks += 1
            if loss < best_loss:
                best_loss, best = loss, adam.parameters
    work = ServerWork(batches.numel(), checks * len(held_out), len(batches))
    return replace(fusion, parameters={name: p.clone() for name, p in best.items()}), work


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
    """Parameters that are optimised by Adam, and its running means.

    All parameters lie in one vector, because a step of a small model takes as long as the number of
    its operations.
    """

    def __init__(self, parameters: Tensors) -> None:
        self.parameters = parameters
        self._values = torch.cat([p.flatten() for p in parameters.values()])
        self._mean = torch.zeros_like(self._values)  # of gradients
        self._square = torch.zeros_like(self._values)  # of squared gradients
        self._count = 0

    def step(self, gradients: Tensors) -> None:
        """Replace the parameters by those after one step."""
        self._count += 1
        gradient = torch.cat([gradients[name].flatten() for name in self.parameters])
        self._mean.lerp_(gradient, 1 - MEAN_DECAY)
        self._square.mul_(SQUARE_DECAY).addcmul_(gradient, gradient, value=1 - SQUARE_DECAY)
        deviation = (self._square / (1 - SQUARE_DECAY**self._count)).sqrt_().add_(EPSILON)
        rate = RATE / (1 - MEAN_DECAY**self._count)
        self._values = torch.addcdiv(self._values, self._mean, deviation, value=-rate)
        pieces = self._values.split([p.numel() for p in self.parameters.values()])
        self.parameters = {
            name: piece.view(p.shape)
            for (name, p), piece in zip(self.parameters.items(), pieces, strict=True)
        }


@torch.no_grad()
def _loss(fusion: FusionModel, task: TaskKind, rows: LabelledRows) -> float:
    outputs = fusion.outputs(rows.by_member)
    return float(row_losses(outputs, rows.targets, task).double().mean())
