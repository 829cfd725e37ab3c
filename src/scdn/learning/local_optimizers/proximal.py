"""Proximal SGD: θ ← θ − η·(g + μ·(θ − θ₀)), with θ₀ the parameters when the round began."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor

from scdn.learning.local_optimizers.local_steps import LocalSteps
from scdn.learning.local_optimizers.sgd import LocalSgd
from scdn.learning.tensors import TensorOptions, Tensors
from scdn.scenario import OptimizerKind


class LocalProximal(LocalSgd):
    """SGD that is pulled back to the round's start; μ is the local steps' `optimizer_value`."""

    name = "proximal"
    bound_as: ClassVar[OptimizerKind] = "proximal"

    def __init__(
        self, start: Tensors, local_steps: Sequence[LocalSteps], options: TensorOptions
    ) -> None:
        super().__init__(start, local_steps, options)
        # A stack may also hold parties with the paper's other optimisers: their μ is 0.
        mu = [s.optimizer_value if s.optimizer == "proximal" else 0.0 for s in local_steps]
        self.add_setting("mu", mu)

    def direction(self, key: str, gradient: Tensor) -> Tensor:
        """Add μ times the distance from the round's start."""
        direction = super().direction(key, gradient)
        distance = self.parameters[key] - self.start[key]
        return direction.addcmul(self.setting("mu", direction), distance)
