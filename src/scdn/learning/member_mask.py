"""Which members' embeddings the fusion model uses in each step."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class MemberMask:
    """Ones and zeros, (steps, members): the embeddings that count in each step.

    Those that count are scaled up, so that the inputs of the fusion model keep their size.
    """

    flags: Tensor

    @property
    def scale(self) -> Tensor:
        """Return the number of members over the number that count, (steps,)."""
        return self.flags.shape[1] / self.flags.sum(1).clamp(min=1)

    def first_steps(self, steps: int) -> MemberMask:
        """Return the mask of the first steps."""
        return MemberMask(self.flags[:steps])

    def apply(self, embeddings: Tensor) -> Tensor:
        """Mask and scale (members, steps, ...) embeddings."""
        flags = self.flags * self.scale[:, None]
        return embeddings * flags.T.view(*embeddings.shape[:2], *[1] * (embeddings.dim() - 2))


def masked(embeddings: Tensor, mask: MemberMask | None) -> Tensor:
    """Apply a mask if there is one."""
    return embeddings if mask is None else mask.apply(embeddings)
