"""SGD with momentum: v ← ρ·v + g, θ ← θ − η·v, with v = 0 when the round begins."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from scdn.learning.local_optimizers.sgd import LocalSgd
from scdn.scenario import OptimizerKind


class LocalMomentum(LocalSgd):
    """SGD that accumulates a velocity; ρ is the local steps' `optimizer_value`."""

    name = "momentum"
    bound_as: ClassVar[OptimizerKind] = "momentum"

    def direction(self, key: str, gradient: Tensor) -> Tensor:
        """Return the new velocity."""
        direction = super().direction(key, gradient)
        velocity = self.state.setdefault("velocity", {})
        if key in velocity:
            direction = direction.addcmul(self.setting("rho", direction), velocity[key])
        velocity[key] = direction
        return direction
