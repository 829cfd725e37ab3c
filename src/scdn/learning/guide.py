"""What the server tells parties so that they can train without seeing one another's features.

With shared labels a party gets the labels of the round's rows, the sum of everybody's inputs to
the fusion model's first layer, its own block of that layer and the rest of the model. Only its own
block's product changes while it trains, so a step costs the same whatever the number of parties.
With labels on the server it gets the loss's slopes at its own embeddings, and nothing else.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from scdn.data.dataset import Task
from scdn.learning.losses import row_losses
from scdn.learning.stacked import by_rows
from scdn.learning.tensors import Tensors, under

_HEAD = "head."


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
    """Turns a team's embeddings in a step into a loss for each party.

    The loss is a function of the embeddings, of what is `told` of the step, and of `kind` alone.
    """

    @property
    def kind(self) -> tuple[Hashable, ...]:
        """What is the same in all steps."""
        ...

    def told(self, step: int, who: Tensor | None = None) -> Tensors:
        """What a step's loss hangs on, for all of the team's parties or for those in `who`."""
        ...

    def losses(self, told: Tensors, embeddings: Tensor) -> Tensor:
        """(parties, batch, width) to (parties,)."""
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
    layers: nn.Module  # of the head
    head: Tensors  # its numbers
    kept: Kept | None = None
    places: Tensor | None = None  # of the parties among the members, to read `kept`

    @property
    def kind(self) -> tuple[Hashable, ...]:
        """The task and the head's layers."""
        return self.task, self.layers

    def told(self, step: int, who: Tensor | None = None) -> Tensors:
        """A batch's labels, what the others sent of it, and the fusion model."""
        found = {_HEAD + name: value for name, value in self.head.items()}
        if self.kept is not None and self.places is not None:
            found["counts"] = self.kept.flags[step, _of(self.places, who)] * self.kept.scale[step]
        return found | {
            "targets": self.targets[step],
            "sums": self.sums[step] + self.bias,
            "blocks": _of(self.blocks, who),
            "stale": _of(self.stale[:, step], who),
        }

    def losses(self, told: Tensors, embeddings: Tensor) -> Tensor:
        """The whole model's loss if this party alone moved."""
        moved = embeddings - told["stale"]
        if "counts" in told:
            moved = told["counts"][:, None, None] * moved
        inputs = torch.baddbmm(told["sums"], moved, told["blocks"])
        outputs = by_rows(self.layers, under(told, _HEAD), inputs)
        return row_losses(outputs, told["targets"], self.task).mean(-1)


@dataclass(frozen=True)
class SlopeGuide:
    """For parties without labels: the loss's slopes at their embeddings as they stood."""

    slopes: Tensor  # (parties, steps, batch, width), of the batch's mean loss

    @property
    def kind(self) -> tuple[Hashable, ...]:
        """Nothing."""
        return ()

    def told(self, step: int, who: Tensor | None = None) -> Tensors:
        """A batch's slopes."""
        return {"slopes": _of(self.slopes[:, step], who)}

    def losses(self, told: Tensors, embeddings: Tensor) -> Tensor:
        """The loss to first order in the embeddings, but for a constant."""
        return (told["slopes"] * embeddings).sum((-1, -2))


def _of(values: Tensor, who: Tensor | None) -> Tensor:
    return values if who is None else values[who]
