"""Student's t distribution, from the incomplete beta function's continued fraction."""

from __future__ import annotations

import math

_SMALL = 1e-300
_TERMS = 10_000
_HALVINGS = 200


def beta_share(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side
        return 1 - beta_share(1 - x, b, a)
    log_front = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        + a * math.log(x) + b * math.log1p(-x)
    )  # fmt: skip
    return math.exp(log_front) / (a * _fraction(x, a, b))


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction below a·B(a, b)·I_x, by Lentz's method."""
    value, up, down = 1.0, 1.0, 0.0
    for term in range(1, _TERMS):
        m = term // 2
        if term % 2:
            factor = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            factor = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        down = 1 / ((1 + factor * down) or _SMALL)
        up = (1 + factor / up) or _SMALL
        value *= up * down
        if abs(up * down - 1) < 1e-15:
            break
    return value


def two_sided(t: float, freedom: int) -> float:
    """The chance of a value at least as far from zero as `t`."""
    if math.isinf(t):
        return 0.0
    return beta_share(freedom / (freedom + t * t), freedom / 2, 0.5)


def quantile(share: float, freedom: int) -> float:
    """How far from zero the middle `share` of the distribution reaches, each way."""
    low, high = 0.0, 1.0
    while two_sided(high, freedom) > 1 - share:
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if two_sided(middle, freedom) > 1 - share else (low, middle)
    return (low + high) / 2
