"""Proximal SGD: θ ← θ − η·(g + μ·(θ − θ₀)), with θ₀ the parameters when the round began."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from scdn.learning.local_optimizers.sgd import LocalSgd
from scdn.scenario import OptimizerKind


class LocalProximal(LocalSgd):
    """SGD that is pulled back to the round's start; μ is the local steps' `optimizer_value`."""

    name = "proximal"
    bound_as: ClassVar[OptimizerKind] = "proximal"

    def direction(self, key: str, gradient: Tensor) -> Tensor:
        """Add μ times the distance from the round's start."""
        direction = super().direction(key, gradient)
        distance = self.parameters[key] - self.start[key]
        return direction.addcmul(self.setting("mu", direction), distance)
