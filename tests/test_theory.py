"""The optimisers' coefficients against their definitions, and Theorem 1's conditions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import lambertw

from scdn.theory import MOMENTUM_LIMIT, learning_rate_limit, momentum, proximal, sgd
from scdn.theory.conditions import lambert_w_minus1

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
