"""Which members' embeddings the fusion model uses in each step: a weight per step and member."""

from __future__ import annotations

from torch import Tensor


def member_weights(flags: Tensor) -> Tensor:
    """Scale ones and zeros, (steps, members), so that the fusion model's inputs keep their size.

    The weight of members that count is the number of members over the number that count.
    """
    return flags * (flags.shape[1] / flags.sum(1).clamp(min=1))[:, None]


def masked(embeddings: Tensor, weights: Tensor | None) -> Tensor:
    """Multiply (members, steps, ...) embeddings by their weights, if there are any."""
    if weights is None:
        return embeddings
    return embeddings * weights.T.view(*embeddings.shape[:2], *[1] * (embeddings.dim() - 2))
