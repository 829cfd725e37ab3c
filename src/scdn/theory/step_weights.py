"""The weights that the three local optimisers give to the gradients of a round.

After q steps a party's parameters are θ₀ − η·Σ w_j·g_j. Each function returns the mean w̄ and the
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
    """The mean weight w̄ and the largest weight w_max."""

    mean: Array
    largest: Array


def sgd(q: ArrayLike) -> StepWeights:
    """Return the weights of standard SGD: w_j = 1."""
    ones = np.ones_like(floats(q))
    return StepWeights(ones, ones)


def proximal(q: ArrayLike, x: ArrayLike) -> StepWeights:
    """Return the weights of proximal SGD with x = η·μ: w_j = (1 − x)^{q−1−j}."""
    q, x = np.broadcast_arrays(floats(q), floats(x))
    decayed = -np.expm1(q * np.log1p(-x))  # 1 − (1 − x)^q without cancellation
    mean = np.divide(decayed, x * q, out=np.ones_like(decayed), where=x * q > 0)
    return StepWeights(mean, np.ones_like(mean))


def momentum(q: ArrayLike, rho: ArrayLike) -> StepWeights:
    """Return the weights of SGD with momentum ρ: w_j = (1 − ρ^{q−j})/(1 − ρ)."""
    q, rho = np.broadcast_arrays(floats(q), floats(rho))
    no_steps = q == 0
    steps = np.where(no_steps, 1.0, q)
    # 1/(1−ρ) + (ρ^{q+1} − ρ)/(q(1−ρ)²), with 1 − ρ^q free of cancellation
    decayed = -np.expm1(steps * np.log(rho))
    mean = (1 - rho * decayed / (steps * (1 - rho))) / (1 - rho)
    return StepWeights(np.where(no_steps, 1.0, mean), np.where(no_steps, 1.0, decayed / (1 - rho)))


def step_weights(
    kind: IntArray, q: ArrayLike, learning_rate: ArrayLike, number: ArrayLike
) -> StepWeights:
    """Return w̄ and w_max of devices of mixed `kind`; `number` is μ of PROXIMAL, ρ of MOMENTUM."""
    mean, largest = sgd(q)
    is_proximal, is_momentum = kind == PROXIMAL, kind == MOMENTUM
    if is_proximal.any():
        x = np.where(is_proximal, floats(learning_rate) * floats(number), 0.5)
        mean = np.where(is_proximal, proximal(q, x).mean, mean)
    if is_momentum.any():
        weights = momentum(q, np.where(is_momentum, number, 0.5))
        mean = np.where(is_momentum, weights.mean, mean)
        largest = np.where(is_momentum, weights.largest, largest)
    return StepWeights(mean, largest)
