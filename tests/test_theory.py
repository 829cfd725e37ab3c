"""The optimisers' coefficients against their definitions, and Theorem 1's conditions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import lambertw

from scdn.theory import (
    MOMENTUM_LIMIT,
    drift,
    learning_rate_limit,
    lemma_1,
    momentum,
    progress,
    proposition_1_log,
    proximal,
    sgd,
    theorem_1,
)
from scdn.theory.theorem_1_conditions import lambert_w_minus1

steps = st.integers(1, 200)
fraction = st.floats(1e-4, 0.99)


@given(steps, fraction)
def test_proximal_weights_are_their_sums(q, x):
    weights = [(1 - x) ** (q - 1 - j) for j in range(q)]
    found = proximal(q, x)
    assert found.mean == pytest.approx(np.mean(weights), rel=1e-9)
    assert found.largest == pytest.approx(max(weights), rel=1e-12)


@given(steps, fraction)
def test_momentum_weights_are_their_sums(q, rho):
    weights = [(1 - rho ** (q - j)) / (1 - rho) for j in range(q)]
    found = momentum(q, rho)
    assert found.mean == pytest.approx(np.mean(weights), rel=1e-9)
    assert found.largest == pytest.approx(max(weights), rel=1e-9)


@given(steps, fraction)
def test_weights_are_what_the_updates_do(q, number):
    """Running the optimisers on unit gradients moves by lr·Σw (lr = 1, μ = number)."""
    place = 0.0
    for _ in range(q):
        place -= 1 + number * place  # a gradient of 1 and a pull back to the start
    assert -place == pytest.approx(q * float(proximal(q, number).mean), rel=1e-9)
    place, buffer = 0.0, 0.0
    for _ in range(q):
        buffer = number * buffer + 1
        place -= buffer
    assert -place == pytest.approx(q * float(momentum(q, number).mean), rel=1e-9)


def test_no_steps_weigh_one():
    for found in (sgd(0), proximal(0, 0.3), momentum(0, 0.3)):
        assert (float(found.mean), float(found.largest)) == (1.0, 1.0)


@given(st.floats(-1 / math.e + 1e-12, -1e-12))
def test_lambert_w_agrees_with_scipy(x):
    assert lambert_w_minus1(x) == pytest.approx(lambertw(x, -1).real, rel=1e-5)
    w = lambert_w_minus1(x)
    assert w * math.exp(w) == pytest.approx(x, rel=1e-9)


def test_momentum_limit_is_the_papers():
    assert pytest.approx(0.2847, abs=5e-5) == MOMENTUM_LIMIT


@given(st.floats(0.01, MOMENTUM_LIMIT - 1e-6), steps)
def test_inside_the_limit_the_bound_is_defined(rho, q):
    found = momentum(q, rho)
    assert found.mean > found.largest / 2


@given(fraction, steps, st.floats(0.01, 0.999))
def test_below_the_rate_limit_the_bound_is_defined(mu, q, share):
    rate = min(share * learning_rate_limit(mu, q), 0.99 / mu)
    found = proximal(q, rate * mu)
    assert found.mean > found.largest / 2


@given(st.integers(1, 30), st.floats(0.01, 1), st.integers(0, 5))
def test_lemma_1_as_corrected_holds_on_a_quadratic(q, rate, seed):
    """F(θ) = L·‖θ‖²/2 has an exactly L-Lipschitz gradient: the corrected lemma must hold for it."""
    smoothness, dice = 0.9, np.random.default_rng(seed)
    start = dice.normal(size=4)
    place, norms = start.copy(), []
    for _ in range(q):
        gradient = smoothness * place
        norms.append(gradient @ gradient)
        place = place - rate * gradient
    moved = smoothness * place - smoothness * start
    limit = lemma_1(q, rate, 1.0, smoothness, max(norms), 0.0, corrected=True)
    assert moved @ moved <= limit * (1 + 1e-9)


def test_lemma_1_as_stated_is_too_small():
    """A gradient that is nearly constant: ‖Σ g‖² is q²‖g‖², not q‖g‖²; beyond q = 4 that shows."""
    q, rate, smoothness = 100, 1e-4, 1.0
    place = start = np.ones(3)
    for _ in range(q):
        place = place - rate * smoothness * place
    moved = smoothness**2 * np.sum((place - start) ** 2)
    norm = smoothness**2 * np.sum(start**2)
    assert moved > lemma_1(q, rate, 1.0, smoothness, norm, 0.0)
    assert moved <= lemma_1(q, rate, 1.0, smoothness, norm, 0.0, corrected=True)


@given(
    st.lists(
        st.tuples(st.floats(0, 10), st.integers(1, 8), st.floats(0.1, 3)), min_size=1, max_size=9
    ),
    st.floats(0, 5),
    st.floats(0.001, 0.5),
    st.floats(0.1, 2),
)
def test_proposition_1_is_its_sum(rounds, most, rate, smoothness):
    squares, parties, overall = zip(*rounds, strict=True)
    found = proposition_1_log(
        squares,
        parties,
        overall,
        max_iterations=5,
        most_steps=most,
        learning_rate=rate,
        largest_weight=1.2,
        smoothness=smoothness,
        gradient_bound_sq=0.3,
        gradient_variance=0.1,
    )
    reach, size = rate * 1.2, 0.4
    c1 = 64 * 5 * (most * smoothness) ** 2 * reach**4 * size
    c2 = 32 * (most * smoothness * reach) ** 2
    c3 = 8 * ((5 - most) * reach) ** 2 * size
    total = 0.0
    for r, (square, n, lipschitz) in enumerate(rounds):
        paths = sum(math.comb(r, y) * float(r) ** r * (c2 * n) ** y for y in range(r))
        total += square / 2 + n * (lipschitz + 1) / 2 * (c1 + c3) * paths
        expected = math.log(total) if total > 0 else -math.inf
        assert found[r] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_proposition_1_survives_a_hundred_rounds():
    found = proposition_1_log(
        [1.0] * 300, [10] * 300, [1.0] * 300, max_iterations=5, most_steps=5, learning_rate=0.1,
        largest_weight=1.0, smoothness=0.5, gradient_bound_sq=0.02, gradient_variance=0.01,
    )  # fmt: skip
    assert np.isfinite(found).all()
    assert np.all(np.diff(found) > 0)
    assert found[-1] > 709  # beyond what a float holds without the logarithm


@given(st.floats(0.1, 20), st.floats(0.001, 0.3), st.floats(0, 2), st.floats(0, 2))
def test_theorem_1_is_written_out(e, rate, smoothness, overall):
    up = drift(e, rate, 1.1, smoothness, overall)
    down = progress(e, rate, 1.05, 1.1)
    assert up == pytest.approx(
        (e * smoothness) ** 2 * (rate * 1.1) ** 3 + overall * (e * rate * 1.1) ** 2
    )
    assert theorem_1(0.2, 0.3, 0.1, up, down) == pytest.approx((0.2 + 0.8 * up) / (e * rate * 0.5))
