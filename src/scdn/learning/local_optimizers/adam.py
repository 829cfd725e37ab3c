"""Adam: each parameter moves by about the same amount per step, whatever its gradients are."""

from __future__ import annotations

from scdn.learning.local_optimizers.optimizer_base import LocalOptimizer
from scdn.learning.tensors import Tensors

SCALE = 0.03  # times the rate: 0.1, usual for SGD here, becomes 0.003, usual for Adam
MEAN_DECAY, SQUARE_DECAY = 0.9, 0.999  # β1 and β2
EPSILON = 1e-8


class LocalAdam(LocalOptimizer):
    """Adam, which starts anew in every round."""

    name = "adam"

    def step(self, gradients: Tensors, index: int) -> None:
        """Subtract the rate times the mean gradient over its root mean square."""
        means = self.state.setdefault("mean", {})
        squares = self.state.setdefault("square", {})
        mean_bias, square_bias = 1 - MEAN_DECAY ** (index + 1), 1 - SQUARE_DECAY ** (index + 1)
        for key, gradient in gradients.items():
            mean = means.get(key, gradient.new_zeros(())) * MEAN_DECAY
            square = squares.get(key, gradient.new_zeros(())) * SQUARE_DECAY
            means[key] = mean + (1 - MEAN_DECAY) * gradient
            squares[key] = square + (1 - SQUARE_DECAY) * gradient.square()
            deviation = (squares[key] / square_bias).sqrt() + EPSILON
            rate = SCALE / mean_bias * self.setting("rate", gradient)
            self.parameters[key] = self.parameters[key] - rate * means[key] / deviation
