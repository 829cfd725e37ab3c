"""The loss of a row and the scores that people read."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from scdn.data.dataset import Task

TOP = 3  # the paper's accuracy counts a label among the three likeliest


def row_losses(outputs: Tensor, targets: Tensor, task: Task) -> Tensor:
    """Cross-entropy, or the squared error, of each row: (…, rows, width) to (…, rows)."""
    targets = targets.expand(outputs.shape[:-1])
    if task == "regression":
        return (outputs.squeeze(-1) - targets).square()
    flat = F.cross_entropy(outputs.flatten(0, -2), targets.flatten(), reduction="none")
    return flat.view(targets.shape)


def scores(outputs: Tensor, targets: Tensor, task: Task) -> dict[str, float]:
    """`test_loss`, and `top1` and `top3` in percent, or `mse`."""
    loss = float(row_losses(outputs, targets, task).double().mean())
    if task == "regression":
        return {"test_loss": loss, "mse": loss}
    likeliest = outputs.topk(min(TOP, outputs.shape[-1]), dim=-1).indices
    hits = likeliest == targets[:, None]
    return {
        "test_loss": loss,
        "top1": 100 * float(hits[:, 0].double().mean()),
        "top3": 100 * float(hits.any(1).double().mean()),
    }
