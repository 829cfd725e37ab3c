"""Zero out and condense (ZOC): departed devices and their weights are removed."""

from __future__ import annotations

from collections.abc import Sequence

from scdn.learning.fusion_model import FusionModel
from scdn.learning.memories.memory_base import Memory


class ZeroOutMemory(Memory):
    """Keeps nothing, and removes the departed members' blocks from the fusion model."""

    name = "zero-out"

    def shrink(self, fusion: FusionModel, names: Sequence[str]) -> FusionModel:
        """Remove the members' blocks."""
        return fusion.without_members(names)
