"""What the server tells parties so that they can train without seeing one another's features.

With shared labels a party gets the labels of the round's rows, the sum of everybody's inputs to
the fusion model's first layer, its own block of that layer and the rest of the model. Only its own
block's product changes while it trains, so a step costs the same whatever the number of parties.
With labels on the server it gets the loss's slopes at its own embeddings, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from scdn.learning.data.dataset import Task
from scdn.learning.losses import row_losses


@dataclass(frozen=True)
class Kept:
    """Which members' embeddings count in each step, where some are left out on purpose.

    What is left is scaled up, so that the first layer's inputs keep their size.
    """

    flags: Tensor  # (steps, members) ones and zeros

    @property
    def scale(self) -> Tensor:
        """All over those that count, for each step."""
        return self.flags.shape[1] / self.flags.sum(1).clamp(min=1)

    def first(self, steps: int) -> Kept:
        """In the first steps only."""
        return Kept(self.flags[:steps])

    def shown(self, embeddings: Tensor) -> Tensor:
        """What counts of (members, steps, …) embeddings, scaled up."""
        flags = self.flags * self.scale[:, None]
        return embeddings * flags.T.view(*embeddings.shape[:2], *[1] * (embeddings.dim() - 2))


class Guide(Protocol):
    """Turns a team's embeddings in a step into a loss for each party."""

    def losses(self, step: int, embeddings: Tensor, who: Tensor | None) -> Tensor:
        """(parties, batch, width) to (parties,); `who`: which of the team's parties they are."""
        ...


@dataclass(frozen=True)
class LabelGuide:
    """For parties that have labels and a copy of the fusion model."""

    task: Task
    targets: Tensor  # (steps, batch)
    bias: Tensor  # (hidden,)
    sums: Tensor  # (steps, batch, hidden): Σ over members of embeddings times their blocks
    blocks: Tensor  # (parties, width, hidden)
    stale: Tensor  # (parties, steps, batch, width): embeddings as they stood
    head: Callable[[Tensor], Tensor]
    kept: Kept | None = None
    places: Tensor | None = None  # of the parties among the members, to read `kept`

    def losses(self, step: int, embeddings: Tensor, who: Tensor | None) -> Tensor:
        """The whole model's loss if this party alone moved."""
        moved = embeddings - _of(self.stale[:, step], who)
        if self.kept is not None and self.places is not None:
            mine = self.kept.flags[step, _of(self.places, who)] * self.kept.scale[step]
            moved = mine[:, None, None] * moved
        inputs = torch.baddbmm(self.sums[step] + self.bias, moved, _of(self.blocks, who))
        outputs = self.head(inputs)
        return row_losses(outputs, self.targets[step], self.task).mean(-1)


@dataclass(frozen=True)
class SlopeGuide:
    """For parties without labels: the loss's slopes at their embeddings as they stood."""

    slopes: Tensor  # (parties, steps, batch, width), of the batch's mean loss

    def losses(self, step: int, embeddings: Tensor, who: Tensor | None) -> Tensor:
        """The loss to first order in the embeddings, but for a constant."""
        return (_of(self.slopes[:, step], who) * embeddings).sum((-1, -2))


def _of(values: Tensor, who: Tensor | None) -> Tensor:
    return values if who is None else values[who]
