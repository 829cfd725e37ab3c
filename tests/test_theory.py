"""The optimisers' weights, Theorem 1's conditions and the paper's bounds, by their definitions."""

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
def test_closed_form_of_proximal_weights_is_their_mean_and_maximum(q, x):
    weights = [(1 - x) ** (q - 1 - j) for j in range(q)]
    mean, largest = proximal(q, x)
    assert mean == pytest.approx(np.mean(weights), rel=1e-9)
    assert largest == pytest.approx(max(weights), rel=1e-12)


@given(steps, fraction)
def test_closed_form_of_momentum_weights_is_their_mean_and_maximum(q, rho):
    weights = [(1 - rho ** (q - j)) / (1 - rho) for j in range(q)]
    mean, largest = momentum(q, rho)
    assert mean == pytest.approx(np.mean(weights), rel=1e-9)
    assert largest == pytest.approx(max(weights), rel=1e-9)


@given(steps, fraction)
def test_weights_are_those_of_the_optimisers_updates(q, number):
    """On unit gradients the optimisers move by lr·Σw (lr = 1, μ or ρ = number)."""
    theta = 0.0
    for _ in range(q):
        theta -= 1 + number * theta  # a gradient of 1 and a pull back to the start
    assert -theta == pytest.approx(q * float(proximal(q, number).mean), rel=1e-9)
    theta, buffer = 0.0, 0.0
    for _ in range(q):
        buffer = number * buffer + 1
        theta -= buffer
    assert -theta == pytest.approx(q * float(momentum(q, number).mean), rel=1e-9)


def test_weights_of_no_steps_are_one():
    for weights in (sgd(0), proximal(0, 0.3), momentum(0, 0.3)):
        assert (float(weights.mean), float(weights.largest)) == (1.0, 1.0)


@given(st.floats(-1 / math.e + 1e-12, -1e-12))
def test_lambert_w_agrees_with_scipy(x):
    assert lambert_w_minus1(x) == pytest.approx(lambertw(x, -1).real, rel=1e-5)
    w = lambert_w_minus1(x)
    assert w * math.exp(w) == pytest.approx(x, rel=1e-9)


def test_momentum_limit_is_the_papers():
    assert pytest.approx(0.2847, abs=5e-5) == MOMENTUM_LIMIT


@given(st.floats(0.01, MOMENTUM_LIMIT - 1e-6), steps)
def test_below_the_momentum_limit_the_bound_is_defined(rho, q):
    weights = momentum(q, rho)
    assert weights.mean > weights.largest / 2


@given(fraction, steps, st.floats(0.01, 0.999))
def test_below_the_learning_rate_limit_the_bound_is_defined(mu, q, fraction_of_limit):
    rate = min(fraction_of_limit * learning_rate_limit(mu, q), 0.99 / mu)
    weights = proximal(q, rate * mu)
    assert weights.mean > weights.largest / 2


@given(st.integers(1, 30), st.floats(0.01, 1), st.integers(0, 5))
def test_corrected_lemma_1_holds_on_a_quadratic(q, rate, seed):
    """F(θ) = L·‖θ‖²/2 has an exactly L-Lipschitz gradient: the corrected lemma must hold for it."""
    smoothness, rng = 0.9, np.random.default_rng(seed)
    start = rng.normal(size=4)
    theta, norms = start.copy(), []
    for _ in range(q):
        gradient = smoothness * theta
        norms.append(gradient @ gradient)
        theta = theta - rate * gradient
    moved = smoothness * theta - smoothness * start
    limit = lemma_1(q, rate, 1.0, smoothness, max(norms), 0.0, corrected=True)
    assert moved @ moved <= limit * (1 + 1e-9)


def test_lemma_1_as_stated_is_violated_by_a_nearly_constant_gradient():
    """A gradient that is nearly constant: ‖Σ g‖² is q²‖g‖², not q‖g‖²; beyond q = 4 that shows."""
    q, rate, smoothness = 100, 1e-4, 1.0
    theta = start = np.ones(3)
    for _ in range(q):
        theta = theta - rate * smoothness * theta
    moved = smoothness**2 * np.sum((theta - start) ** 2)
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
def test_proposition_1_is_the_logarithm_of_its_sum(rounds, most, rate, smoothness):
    squares, parties, overall = zip(*rounds, strict=True)
    logs = proposition_1_log(
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
        assert logs[r] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_proposition_1_stays_finite_over_three_hundred_rounds():
    logs = proposition_1_log(
        [1.0] * 300, [10] * 300, [1.0] * 300, max_iterations=5, most_steps=5, learning_rate=0.1,
        largest_weight=1.0, smoothness=0.5, gradient_bound_sq=0.02, gradient_variance=0.01,
    )  # fmt: skip
    assert np.isfinite(logs).all()
    assert np.all(np.diff(logs) > 0)
    assert logs[-1] > 709  # beyond what a float holds without the logarithm


@given(st.floats(0.1, 20), st.floats(0.001, 0.3), st.floats(0, 2), st.floats(0, 2))
def test_theorem_1_is_the_papers_formula(e, rate, smoothness, overall):
    up = drift(e, rate, 1.1, smoothness, overall)
    down = progress(e, rate, 1.05, 1.1)
    assert up == pytest.approx(
        (e * smoothness) ** 2 * (rate * 1.1) ** 3 + overall * (e * rate * 1.1) ** 2
    )
    assert theorem_1(0.2, 0.3, 0.1, up, down) == pytest.approx((0.2 + 0.8 * up) / (e * rate * 0.5))
