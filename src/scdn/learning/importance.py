"""Algorithm 2: how much the loss suffers if a party's embeddings are left out."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from scdn.data.dataset import TaskKind
from scdn.learning.fusion_model import FusionModel
from scdn.learning.losses import row_losses

_AT_ONCE = 32  # parties left out in one batched pass


@torch.no_grad()
def exclusion_losses(
    fusion: FusionModel, embeddings: Tensor, targets: Tensor, task: TaskKind, names: Sequence[str]
) -> Tensor:
    """F̃: the loss without each of `names` in turn, from (members, rows, width) embeddings.

    The first layer's sums are taken once; leaving a party out subtracts its own share.
    """
    where = [fusion.members.index(name) for name in names]
    places = torch.tensor(where, dtype=torch.int64, device=embeddings.device)
    whole = fusion.first_layer(embeddings) + fusion.parameters["bias"]
    found = []
    for some in torch.split(places, _AT_ONCE):
        shares = embeddings[some] @ fusion.parameters["blocks"][some]
        outputs = fusion.head(whole - shares)
        found.append(row_losses(outputs, targets, task).double().mean(-1))
    return torch.cat(found)


def importance(losses: Sequence[float], largest: float) -> list[float]:
    """γ: 1 for the party that is missed least, `largest` for the one missed most."""
    if not losses:
        return []
    least, most = min(losses), max(losses)
    if not least < most:
        return [1.0] * len(losses)
    return [1 + (largest - 1) * (loss - least) / (most - least) for loss in losses]
