"""Algorithm 2: how much the loss rises if a party's embeddings are left out."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from scdn.data.dataset import TaskKind
from scdn.learning.fusion_model import FusionModel
from scdn.learning.losses import row_losses

_PARTIES_PER_PASS = 32


@torch.no_grad()
def exclusion_losses(
    fusion: FusionModel, embeddings: Tensor, targets: Tensor, task: TaskKind, members: Tensor
) -> Tensor:
    """Return F̃, the loss without each of these members, from (members, rows, width) embeddings.

    The first layer is computed once; leaving a party out subtracts its contribution.
    """
    hidden = fusion.first_layer(embeddings) + fusion.parameters["bias"]
    losses = []
    for chunk in torch.split(members, _PARTIES_PER_PASS):
        contributions = embeddings[chunk] @ fusion.parameters["blocks"][chunk]
        outputs = fusion.head(hidden - contributions)
        losses.append(row_losses(outputs, targets, task).double().mean(-1))
    return torch.cat(losses)


def importance(losses: Sequence[float], largest: float) -> list[float]:
    """Scale exclusion losses to γ: 1 for the smallest loss, `largest` for the greatest."""
    if not losses:
        return []
    least, greatest = min(losses), max(losses)
    if not least < greatest:
        return [1.0] * len(losses)
    return [1 + (largest - 1) * (loss - least) / (greatest - least) for loss in losses]
