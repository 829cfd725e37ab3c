"""The paper's bounds: Lemma 1, Proposition 1 and Theorem 1, as functions of arrays.

`steps` is q, the mini-batch steps of a round; `effective_steps` is e, q times the probability to
survive the round. Q² bounds a party's squared gradient norm, σ² its variance over mini-batches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, floats


def lemma_1(
    steps: ArrayLike,
    learning_rate: ArrayLike,
    largest_weight: ArrayLike,
    smoothness: ArrayLike,
    gradient_bound_sq: ArrayLike,
    gradient_variance: ArrayLike,
    *,
    corrected: bool = False,
) -> Array:
    """Bound a mini-batch gradient's squared change within a round: 4·q·(Q² + σ²)·(η·L·w_max)².

    The paper's proof takes ‖Σ w_j g_j‖² ≤ Σ w_j²‖g_j‖² for Jensen's inequality, which has a factor
    q on the right. `corrected` puts it back: 4·q²·(Q² + σ²)·(η·L·w_max)².
    """
    reach = floats(learning_rate) * floats(smoothness) * floats(largest_weight)
    size = 4 * (floats(gradient_bound_sq) + floats(gradient_variance)) * reach**2
    return size * floats(steps) ** (2 if corrected else 1)


def drift(
    effective_steps: ArrayLike,
    learning_rate: ArrayLike,
    largest_weight: ArrayLike,
    smoothness: ArrayLike,
    global_smoothness: float,
) -> Array:
    """Return Theorem 1's Υ = (e·L_n)²·(η·w_max)³ + L·(e·η·w_max)²."""
    e, reach = floats(effective_steps), floats(learning_rate) * floats(largest_weight)
    return (e * floats(smoothness)) ** 2 * reach**3 + global_smoothness * (e * reach) ** 2


def progress(
    effective_steps: ArrayLike,
    learning_rate: ArrayLike,
    mean_weight: ArrayLike,
    largest_weight: ArrayLike,
    epsilon: float = 0.0,
) -> Array:
    """Return Theorem 1's 1/υ = e·η·(w̄ − w_max/2), plus `epsilon` to keep a plan's above zero."""
    gain = floats(mean_weight) - floats(largest_weight) / 2
    return floats(effective_steps) * floats(learning_rate) * gain + epsilon


def theorem_1(
    start_loss: ArrayLike,
    gradient_bound_sq: ArrayLike,
    gradient_variance: ArrayLike,
    drift: ArrayLike,
    progress: ArrayLike,
) -> Array:
    """Return a party's term of the bound on Σ‖∇F‖²: [F(Θ⁰)/(R·N) + 2·(Q² + σ²)·Υ]·υ.

    `start_loss` is F(Θ⁰)/(R·N). The sum over rounds and parties bounds that of squared gradients.
    """
    noise = 2 * (floats(gradient_bound_sq) + floats(gradient_variance))
    with np.errstate(divide="ignore"):
        return (floats(start_loss) + noise * floats(drift)) / floats(progress)


def proposition_1_log(
    squared_gradients: Sequence[float],
    parties: Sequence[int],
    global_smoothness: Sequence[float],
    *,
    max_iterations: float,
    most_steps: float,
    learning_rate: float,
    largest_weight: float,
    smoothness: float,
    gradient_bound_sq: float,
    gradient_variance: float,
) -> Array:
    """Return the natural logarithm of Proposition 1's bound after each round; it grows like r^r.

    The bound is on the summed gap between the losses of the ideal network and of the real one:

        Σ_r Σ_n [½‖∇_n F‖² + (L + 1)/2·(C₁ + C₃)·Σ_{y<r} C(r, y)·r^r·(C₂·N)^y].

    Parameters
    ----------
    squared_gradients
        For each round, Σ_n ‖∇_n F‖² at its start.
    parties, global_smoothness
        For each round, the number of parties so far, and L.
    max_iterations, most_steps
        τ^g, and the most that the parties took (τ^max).
    learning_rate, largest_weight, smoothness, gradient_bound_sq, gradient_variance
        The largest η, w_max, L_n, Q² and σ² of any party in any round.
    """
    reach = learning_rate * largest_weight
    size = gradient_bound_sq + gradient_variance
    c1 = 64 * max_iterations * (most_steps * smoothness) ** 2 * reach**4 * size
    c2 = 32 * (most_steps * smoothness * reach) ** 2
    c3 = 8 * ((max_iterations - most_steps) * reach) ** 2 * size
    total, totals = -math.inf, []
    for round_, (squares, count, lipschitz) in enumerate(
        zip(squared_gradients, parties, global_smoothness, strict=True)
    ):
        total = np.logaddexp(total, _log(squares / 2))
        paths = _log_paths(round_, c2 * count)
        total = np.logaddexp(total, _log(count * (lipschitz + 1) / 2 * (c1 + c3)) + paths)
        totals.append(float(total))
    return floats(totals)


def _log_paths(round_: int, a: float) -> float:
    """Return ln Σ_{y<r} C(r, y)·r^r·a^y, where Σ_{y<r} C(r, y)·a^y = (1 + a)^r − a^r."""
    if round_ == 0:
        return -math.inf
    part = round_ * (math.log(a) - math.log1p(a)) if a > 0 else -math.inf
    return round_ * (math.log(round_) + math.log1p(a)) + _log(-math.expm1(part))


def _log(number: float) -> float:
    return math.log(number) if number > 0 else -math.inf
