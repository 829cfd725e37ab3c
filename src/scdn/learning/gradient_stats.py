"""Statistics of a party's gradients that the convergence bound needs: Q², σ² and L_n."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

import torch
from torch import Tensor

from scdn.learning.tensors import Tensors


@dataclass(frozen=True)
class GradientStats:
    """What a party reports about its gradients.

    Attributes
    ----------
    bound_sq
        The largest mean squared norm in any round so far (Q²).
    variance
        The last round's mean squared distance of mini-batch gradients from the gradient over the
        sample of rows (σ²).
    smoothness
        The change of the gradient over the change of the parameters (L_n), where it is measured.
    """

    bound_sq: float = 0.0
    variance: float = 0.0
    smoothness: float | None = None

    @property
    def is_finite(self) -> bool:
        """Return whether all numbers are finite."""
        return all(math.isfinite(value) for value in astuple(self) if value is not None)

    def updated_with(self, later: GradientStats) -> GradientStats:
        """Return these statistics after a further round."""
        smoothness = self.smoothness if later.smoothness is None else later.smoothness
        return GradientStats(max(self.bound_sq, later.bound_sq), later.variance, smoothness)


def filled_smoothness(stats: Mapping[str, GradientStats], names: Sequence[str]) -> dict[str, float]:
    """Return L_n of these parties; those without a measurement get the largest, if there is one."""
    measured = {n: stats[n].smoothness for n in names if n in stats}
    known = {name: value for name, value in measured.items() if value is not None}
    largest = max(known.values(), default=0.0)
    return {name: known.get(name, largest) for name in names} if known else {}


class GradientRecorder:
    """Sums squared gradient norms per party while a stack of parties trains."""

    def __init__(self, reference: Tensors) -> None:
        self.reference = reference  # the gradient over the sample when the round began
        first = next(iter(reference.values()))
        self.squares = torch.zeros(len(first), dtype=torch.float64, device=first.device)
        self.deviations = torch.zeros_like(self.squares)
        self.counts = torch.zeros_like(self.squares)

    def add(self, gradients: Tensors, parties: Tensor | None) -> None:
        """Record one step of all parties, or of those with these indices."""
        which = slice(None) if parties is None else parties
        for name, gradient in gradients.items():
            deviation = gradient - self.reference[name][which]
            self.squares[which] += _squared_norms(gradient)
            self.deviations[which] += _squared_norms(deviation)
        self.counts[which] += 1

    def stats(self, names: Sequence[str]) -> dict[str, GradientStats]:
        """Return the means over the recorded steps, for parties that took any."""
        counts, squares = self.counts.tolist(), self.squares.tolist()
        return {
            name: GradientStats(square / count, deviation / count)
            for name, count, square, deviation in zip(
                names, counts, squares, self.deviations.tolist(), strict=True
            )
            if count
        }


def measured_smoothness(
    start: Tensors, end: Tensors, gradients_at_start: Tensors, gradients_at_end: Tensors
) -> list[float | None]:
    """Return ‖g(θ) − g(θ_0)‖/‖θ − θ_0‖ per party, from gradients of the same rows' loss.

    None stands for a party whose parameters have not changed or whose gradient is zero, infinity
    for one whose numbers are no longer finite.
    """
    distances = _norms(_difference(start, end))
    changes = _norms(_difference(gradients_at_start, gradients_at_end))
    ratios = (changes / distances).nan_to_num(torch.inf, torch.inf).tolist()
    measurable = ((distances != 0) & (_norms(gradients_at_start) != 0)).tolist()
    return [ratio if known else None for ratio, known in zip(ratios, measurable, strict=True)]


def _difference(start: Tensors, end: Tensors) -> Tensors:
    return {name: end[name] - start[name] for name in start}


def _norms(tensors: Tensors) -> Tensor:
    return torch.stack([_squared_norms(values) for values in tensors.values()]).sum(0).sqrt()


def _squared_norms(values: Tensor) -> Tensor:
    return torch.linalg.vector_norm(values.flatten(1), dim=1).double().square()
