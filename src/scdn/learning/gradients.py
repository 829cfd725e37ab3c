"""How large a party's gradients are, and how much mini-batches scatter: Q² and σ²."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from scdn.learning.tensors import Tensors


@dataclass(frozen=True)
class GradientSize:
    """What a party reports of its gradients.

    `bound_sq` is the largest mean square of any round so far, `variance` the last round's mean
    squared distance of mini-batch gradients from the gradient over the sample of rows.
    """

    bound_sq: float = 0.0
    variance: float = 0.0

    def after(self, mean_square: float, variance: float) -> GradientSize:
        """With another round's figures."""
        return GradientSize(max(self.bound_sq, mean_square), variance)


class Tally:
    """Sums squares of gradients, party by party, while a team trains."""

    def __init__(self, reference: Tensors) -> None:
        self.reference = reference  # the gradient over the sample of rows, as the round began
        some = next(iter(reference.values()))
        self.squares = torch.zeros(len(some), dtype=torch.float64, device=some.device)
        self.scatter = torch.zeros_like(self.squares)
        self.counts = torch.zeros_like(self.squares)

    def add(self, gradients: Tensors, who: Tensor | None) -> None:
        """Counts one step of the parties `who`."""
        where = slice(None) if who is None else who
        for name, gradient in gradients.items():
            away = gradient - self.reference[name][where]
            self.squares[where] += _squares(gradient)
            self.scatter[where] += _squares(away)
        self.counts[where] += 1

    def figures(self, names: Sequence[str]) -> dict[str, GradientSize]:
        """Mean square and variance of this round, of those who trained."""
        counts = self.counts.tolist()
        squares, scatter = self.squares.tolist(), self.scatter.tolist()
        return {
            name: GradientSize(square / n, spread / n)
            for name, n, square, spread in zip(names, counts, squares, scatter, strict=True)
            if n
        }


def _squares(values: Tensor) -> Tensor:
    return torch.linalg.vector_norm(values.flatten(1), dim=1).double().square()
