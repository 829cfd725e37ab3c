"""Gradients of the loss at embeddings, which a server with the labels sends to devices."""

from __future__ import annotations

import torch
from torch import Tensor

from scdn.data.dataset import TaskKind
from scdn.learning.fusion_model import FusionModel, masked
from scdn.learning.losses import row_losses


def embedding_gradients(
    fusion: FusionModel,
    embeddings: Tensor,
    targets: Tensor,
    task: TaskKind,
    weights: Tensor | None = None,
) -> Tensor:
    """Return gradients of each batch's mean loss at (members, steps, batch, width)."""
    leaf = embeddings.detach().requires_grad_()
    losses = row_losses(fusion.outputs(masked(leaf, weights)), targets, task)
    return torch.autograd.grad(losses.mean(-1).sum(), leaf)[0]
