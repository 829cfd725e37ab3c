"""A party's own work in a round: the three local optimisers as one rule, for many parties at once.

One step of standard SGD, of proximal SGD (μ) and of SGD with momentum (ρ) is

    v ← ρ·v + g + μ·(θ − θ₀),    θ ← θ − η·v,

with μ = 0 or ρ = 0 for those that have none and v = 0 when the round begins. After q steps this is
θ₀ − η·Σ w_j·g_j with the weights of `scdn.theory`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from scdn.learning.tensors import Place, Tensors
from scdn.scenario.model import Momentum, Proximal, Sgd


@dataclass(frozen=True)
class Order:
    """What one party is to do in a round."""

    steps: int
    rate: float
    mu: float = 0.0
    rho: float = 0.0

    @classmethod
    def of(cls, steps: int, rate: float, optimizer: Sgd | Proximal | Momentum) -> Order:
        """An order in the words of a scenario."""
        mu = optimizer.mu if isinstance(optimizer, Proximal) else 0.0
        rho = optimizer.rho if isinstance(optimizer, Momentum) else 0.0
        return cls(steps, rate, mu, rho)


REST = Order(0, 0.0)


def halved(rate: float, round_: int, every: int) -> float:
    """The learning rate in a round: half as large after each `every` rounds."""
    return rate * 0.5 ** (round_ // every)


def stretches(steps: Sequence[int]) -> Iterator[tuple[list[int], int, int]]:
    """Stretches of steps in which the same parties are still at work: who, first step, end."""
    done = 0
    for end in sorted({count for count in steps if count > 0}):
        yield [n for n, count in enumerate(steps) if count >= end], done, end
        done = end


class Descent:
    """Parameters on their way through a round, of all parties that are at work together."""

    def __init__(self, start: Tensors, orders: Sequence[Order], place: Place) -> None:
        def each(numbers: list[float]) -> Tensor:
            return torch.tensor(numbers, dtype=place.dtype, device=place.device)

        self.start = start
        self.now = dict(start)
        self.rate = each([order.rate for order in orders])
        self.mu = each([order.mu for order in orders]) if any(o.mu for o in orders) else None
        self.rho = each([order.rho for order in orders]) if any(o.rho for o in orders) else None
        self.velocity: Tensors = {}

    def part(self, who: Tensor) -> Descent:
        """Only the parties `who`, to go on with."""
        fewer = object.__new__(Descent)
        fewer.start = {name: p[who] for name, p in self.start.items()}
        fewer.now = {name: p[who] for name, p in self.now.items()}
        fewer.velocity = {name: v[who] for name, v in self.velocity.items()}
        fewer.rate = self.rate[who]
        fewer.mu = None if self.mu is None else self.mu[who]
        fewer.rho = None if self.rho is None else self.rho[who]
        return fewer

    def put(self, who: Tensor, fewer: Descent) -> None:
        """Takes back what the parties `who` did."""
        for mine, theirs in ((self.now, fewer.now), (self.velocity, fewer.velocity)):
            for name, value in theirs.items():
                into = mine[name].clone() if name in mine else torch.zeros_like(self.start[name])
                mine[name] = into.index_copy(0, who, value)

    def step(self, gradients: Mapping[str, Tensor]) -> None:
        """One step of every party."""
        for name, gradient in gradients.items():
            v, now = gradient, self.now[name]
            if self.mu is not None:
                v = v.addcmul(_each(self.mu, v), now - self.start[name])
            if self.rho is not None:
                if name in self.velocity:
                    v = v.addcmul(_each(self.rho, v), self.velocity[name])
                self.velocity[name] = v
            self.now[name] = now.addcmul(_each(self.rate, v), v, value=-1)


def _each(number: Tensor, like: Tensor) -> Tensor:
    """One number per party, shaped to multiply `like`."""
    return number.view(-1, *[1] * (like.dim() - 1))
