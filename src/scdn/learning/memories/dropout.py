"""Train for departures: members are left out of training steps at random (party dropout)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scdn.arrays import Array
from scdn.learning.memories.memory_base import Memory


class DropoutMemory(Memory):
    """Keeps no embeddings; departed members' blocks stay in the fusion model but get no input.

    In each training step a present member is left out with probability `learning.dropout`, so that
    the model learns to do without it; at least one present member always counts.
    """

    name = "dropout"

    def evaluation_mask(self, members: Sequence[str]) -> Array | None:
        """Mask the departed members."""
        if not self.departed:
            return None
        return np.array([float(name not in self.departed) for name in members])

    def training_mask(
        self, members: Sequence[str], steps: int, draw: np.random.Generator
    ) -> Array | None:
        """Draw the members that count in each step."""
        present = [index for index, name in enumerate(members) if name not in self.departed]
        flags = np.zeros((steps, len(members)))
        for step in range(steps):
            stays = draw.random(len(members)) >= self.learning.dropout
            if present:
                spare = draw.choice(present)
                flags[step, present] = stays[present]
                if not stays[present].any():
                    flags[step, spare] = 1.0
        return flags
