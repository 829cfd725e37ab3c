"""One party's local training in a round."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LocalSteps:
    """How many mini-batch steps a party takes in a round, at which rate, with which optimiser."""

    count: int
    rate: float
    optimizer: str = "sgd"  # a registered name, or package.module:NAME
    optimizer_value: float = 0.0  # μ of proximal SGD, ρ of momentum, 0 for others


NO_STEPS = LocalSteps(0, 0.0)


def halved_rate(rate: float, round_index: int, every: int) -> float:
    """Return the learning rate in a round: it halves after each `every` rounds."""
    return rate * 0.5 ** (round_index // every)
