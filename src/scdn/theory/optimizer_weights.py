"""How the three local optimisers weigh the gradients of a round.

After q steps a party's parameters are θ₀ − η·Σ w_j·g_j. Each function gives the mean w̄ and the
largest w_max of these weights in closed form, for any array of step counts q (relaxed ones too).
At q = 0 both are 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, IntArray, floats

SGD, PROXIMAL, MOMENTUM = range(3)


class StepWeights(NamedTuple):
    """w̄ and w_max."""

    mean: Array
    largest: Array


def sgd(q: ArrayLike) -> StepWeights:
    """Standard SGD: every gradient counts once."""
    ones = np.ones_like(floats(q))
    return StepWeights(ones, ones)


def proximal(q: ArrayLike, x: ArrayLike) -> StepWeights:
    """Proximal SGD with x = η·μ: w_j = (1 − x)^{q−1−j}."""
    q, x = np.broadcast_arrays(floats(q), floats(x))
    kept = -np.expm1(q * np.log1p(-x))  # 1 − (1 − x)^q without cancellation
    mean = np.divide(kept, x * q, out=np.ones_like(kept), where=x * q > 0)
    return StepWeights(mean, np.ones_like(mean))


def momentum(q: ArrayLike, rho: ArrayLike) -> StepWeights:
    """SGD with momentum ρ: w_j = (1 − ρ^{q−j})/(1 − ρ)."""
    q, rho = np.broadcast_arrays(floats(q), floats(rho))
    none = q == 0
    steps = np.where(none, 1.0, q)
    # 1/(1−ρ) + (ρ^{q+1} − ρ)/(q(1−ρ)²), with 1 − ρ^q free of cancellation
    gone = -np.expm1(steps * np.log(rho))
    mean = (1 - rho * gone / (steps * (1 - rho))) / (1 - rho)
    return StepWeights(np.where(none, 1.0, mean), np.where(none, 1.0, gone / (1 - rho)))


def step_weights(
    kind: IntArray, q: ArrayLike, learning_rate: ArrayLike, number: ArrayLike
) -> StepWeights:
    """w̄ and w_max of devices of mixed `kind`; `number` is μ for PROXIMAL, ρ for MOMENTUM."""
    mean, largest = sgd(q)
    near, heavy = kind == PROXIMAL, kind == MOMENTUM
    if near.any():
        x = np.where(near, floats(learning_rate) * floats(number), 0.5)
        mean = np.where(near, proximal(q, x).mean, mean)
    if heavy.any():
        found = momentum(q, np.where(heavy, number, 0.5))
        mean = np.where(heavy, found.mean, mean)
        largest = np.where(heavy, found.largest, largest)
    return StepWeights(mean, largest)
