"""The training loss."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from scdn.data.dataset import TaskKind


def row_losses(outputs: Tensor, targets: Tensor, task: TaskKind) -> Tensor:
    """Return each row's cross-entropy or squared error: (…, rows, width) to (…, rows)."""
    targets = targets.expand(outputs.shape[:-1])
    if task == "regression":
        return (outputs.squeeze(-1) - targets).square()
    flat = F.cross_entropy(outputs.flatten(0, -2), targets.flatten(), reduction="none")
    return flat.view(targets.shape)
