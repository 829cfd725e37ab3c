"""Losses that let parties train without seeing one another's features.

With shared labels a party gets the labels of the round's rows, the sum of everybody's inputs to
the fusion model's first layer, its own block of that layer and the rest of the model. Only its own
block's product changes while it trains, so a step costs the same whatever the number of parties.
With labels on the server a party gets the loss's gradients at its own embeddings, and nothing else.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from scdn.data.dataset import TaskKind
from scdn.learning.losses import row_losses
from scdn.learning.stacked_forward import forward_rows
from scdn.learning.tensors import Tensors, add_prefix, strip_prefix

_HEAD = "head."


class PartyLoss(Protocol):
    """Turns the embeddings that a stack of parties computes in a step into a loss per party.

    The server makes one for each stack and round. While the stack trains, `step_tensors` is called
    once per step and `losses` with its result. The loss may depend on the embeddings, on the step's
    tensors and on `graph_key` alone, so that a GPU can capture the computation once and replay it.
    """

    @property
    def graph_key(self) -> tuple[Hashable, ...]:
        """Return what the loss depends on that is the same in all steps."""

    def step_tensors(self, step: int, parties: Tensor | None = None) -> Tensors:
        """Return a step's tensors, for all of the stack's parties or those with these indices."""

    def losses(self, tensors: Tensors, embeddings: Tensor) -> Tensor:
        """Return one loss per party for embeddings (parties, batch, width)."""


@dataclass(frozen=True)
class SharedLabelLoss:
    """For parties that have labels and a copy of the fusion model."""

    task: TaskKind
    targets: Tensor  # (steps, batch)
    bias: Tensor  # (hidden,)
    sums: Tensor  # (steps, batch, hidden): Σ over members of embeddings times their blocks
    blocks: Tensor  # (parties, width, hidden)
    stale: Tensor  # (parties, steps, batch, width): embeddings when the round began
    head: nn.Module
    head_tensors: Tensors
    weights: Tensor | None = None  # (steps, parties), of the embeddings; None: 1 for all

    @property
    def graph_key(self) -> tuple[Hashable, ...]:
        """Return the task and the head."""
        return self.task, self.head

    def step_tensors(self, step: int, parties: Tensor | None = None) -> Tensors:
        """Return a batch's labels, the other members' contributions and the fusion model."""
        tensors = add_prefix(self.head_tensors, _HEAD)
        if self.weights is not None:
            tensors["weights"] = _select(self.weights[step], parties)
        return tensors | {
            "targets": self.targets[step],
            "sums": self.sums[step] + self.bias,
            "blocks": _select(self.blocks, parties),
            "stale": _select(self.stale[:, step], parties),
        }

    def losses(self, tensors: Tensors, embeddings: Tensor) -> Tensor:
        """Return the model's loss if only this party's embeddings changed since the round began."""
        change = embeddings - tensors["stale"]
        if "weights" in tensors:
            change = tensors["weights"][:, None, None] * change
        inputs = torch.baddbmm(tensors["sums"], change, tensors["blocks"])
        outputs = forward_rows(self.head, strip_prefix(tensors, _HEAD), inputs)
        return row_losses(outputs, tensors["targets"], self.task).mean(-1)


@dataclass(frozen=True)
class GradientLoss:
    """For parties without labels: the loss to first order around their stale embeddings."""

    gradients: Tensor  # (parties, steps, batch, width), of the batch's mean loss

    @property
    def graph_key(self) -> tuple[Hashable, ...]:
        """Return nothing: the loss depends on the step's tensors alone."""
        return ()

    def step_tensors(self, step: int, parties: Tensor | None = None) -> Tensors:
        """Return the gradients at a batch's embeddings."""
        return {"gradients": _select(self.gradients[:, step], parties)}

    def losses(self, tensors: Tensors, embeddings: Tensor) -> Tensor:
        """Return the loss up to a constant."""
        return (tensors["gradients"] * embeddings).sum((-1, -2))


def _select(values: Tensor, parties: Tensor | None) -> Tensor:
    return values if parties is None else values[parties]
