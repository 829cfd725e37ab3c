"""SGD with momentum: v ← ρ·v + g, θ ← θ − η·v, with v = 0 when the round begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor

from scdn.learning.local_optimizers.local_steps import LocalSteps
from scdn.learning.local_optimizers.sgd import LocalSgd
from scdn.learning.tensors import TensorOptions, Tensors
from scdn.scenario import OptimizerKind


class LocalMomentum(LocalSgd):
    """SGD that accumulates a velocity; ρ is the local steps' `optimizer_value`."""

    name = "momentum"
    bound_as: ClassVar[OptimizerKind] = "momentum"

    def __init__(
        self, start: Tensors, local_steps: Sequence[LocalSteps], options: TensorOptions
    ) -> None:
        super().__init__(start, local_steps, options)
        # A stack may also hold parties with the paper's other optimisers: their ρ is 0.
        rho = [s.optimizer_value if s.optimizer == "momentum" else 0.0 for s in local_steps]
        self.add_setting("rho", rho)

    def direction(self, key: str, gradient: Tensor) -> Tensor:
        """Return the new velocity."""
        direction = super().direction(key, gradient)
        velocity = self.state.setdefault("velocity", {})
        if key in velocity:
            direction = direction.addcmul(self.setting("rho", direction), velocity[key])
        velocity[key] = direction
        return direction
