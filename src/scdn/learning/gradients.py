"""How large a party's gradients are, how much they scatter, how fast they turn: Q², σ², L_n."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass

import torch
from torch import Tensor

from scdn.learning.tensors import Tensors


@dataclass(frozen=True)
class GradientSize:
    """What a party reports of its gradients.

    `bound_sq` is the largest mean square of any round so far, `variance` the last round's mean
    squared distance of mini-batch gradients from the gradient over the sample of rows, and
    `smoothness`, where it is measured, how fast the gradient turned on the way.
    """

    bound_sq: float = 0.0
    variance: float = 0.0
    smoothness: float | None = None

    @property
    def finite(self) -> bool:
        """Whether all figures are numbers."""
        return all(math.isfinite(value) for value in astuple(self) if value is not None)

    def after(self, later: GradientSize) -> GradientSize:
        """With another round's figures."""
        smooth = self.smoothness if later.smoothness is None else later.smoothness
        return GradientSize(max(self.bound_sq, later.bound_sq), later.variance, smooth)


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


def turning(start: Tensors, end: Tensors, before: Tensors, after: Tensors) -> list[float | None]:
    """‖g(θ) − g(θ_0)‖/‖θ − θ_0‖ of each party; None: it has not moved, or has no gradient.

    `before` and `after` are gradients of the same rows' loss at the parameters `start` and `end`.
    A party whose numbers are no longer finite has infinity.
    """
    ways = _norms(_way(start, end))
    found = (_norms(_way(before, after)) / ways).nan_to_num(torch.inf, torch.inf).tolist()
    seen = ((ways != 0) & (_norms(before) != 0)).tolist()
    return [ratio if known else None for ratio, known in zip(found, seen, strict=True)]


def _way(start: Tensors, end: Tensors) -> Tensors:
    return {name: end[name] - start[name] for name in start}


def _norms(tensors: Tensors) -> Tensor:
    return torch.stack([_squares(values) for values in tensors.values()]).sum(0).sqrt()


def _squares(values: Tensor) -> Tensor:
    return torch.linalg.vector_norm(values.flatten(1), dim=1).double().square()
