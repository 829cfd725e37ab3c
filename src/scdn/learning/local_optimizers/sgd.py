"""Standard stochastic gradient descent: θ ← θ − η·g."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from scdn.learning.local_optimizers.optimizer_base import LocalOptimizer, LocalSteps
from scdn.learning.tensors import TensorOptions, Tensors

_PARAMETERS = {"proximal": "mu", "momentum": "rho"}


class LocalSgd(LocalOptimizer):
    """Steps against the gradient; the paper's other two optimisers choose another direction."""

    name = "sgd"

    def __init__(
        self, start: Tensors, local_steps: Sequence[LocalSteps], options: TensorOptions
    ) -> None:
        super().__init__(start, local_steps, options)
        # A stack may mix the paper's three: μ and ρ are 0 for parties with another optimiser.
        for optimizer, name in _PARAMETERS.items():
            values = [s.optimizer_value if s.optimizer == optimizer else 0.0 for s in local_steps]
            self.add_setting(name, values)

    def step(self, gradients: Tensors, index: int) -> None:  # noqa: ARG002
        """Subtract the rate times the direction."""
        for key, gradient in gradients.items():
            direction = self.direction(key, gradient)
            rate = self.setting("rate", direction)
            self.parameters[key] = self.parameters[key].addcmul(rate, direction, value=-1)

    def direction(self, key: str, gradient: Tensor) -> Tensor:  # noqa: ARG002
        """Return the direction in which one parameter decreases."""
        return gradient
