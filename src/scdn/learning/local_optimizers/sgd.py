"""Standard stochastic gradient descent: θ ← θ − η·g."""

from __future__ import annotations

from torch import Tensor

from scdn.learning.local_optimizers.local_optimizer import LocalOptimizer
from scdn.learning.tensors import Tensors


class LocalSgd(LocalOptimizer):
    """Steps against the gradient; subclasses choose another direction."""

    name = "sgd"

    def step(self, gradients: Tensors, index: int) -> None:  # noqa: ARG002
        """Subtract the rate times the direction."""
        for key, gradient in gradients.items():
            direction = self.direction(key, gradient)
            rate = self.setting("rate", direction)
            self.parameters[key] = self.parameters[key].addcmul(rate, direction, value=-1)

    def direction(self, key: str, gradient: Tensor) -> Tensor:  # noqa: ARG002
        """Return the direction in which one parameter decreases."""
        return gradient
