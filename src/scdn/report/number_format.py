"""Numbers as text, with as many digits as the deviation over seeds supports."""

from __future__ import annotations

import math

_LONG = 1e6  # beyond this, powers of ten are easier to read
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def decimals(mean: float, std: float | None) -> int | None:
    """Return how many decimals show two digits of the deviation; None without a deviation."""
    if not std or std < 1e-9 * abs(mean):
        return None
    return max(0, 1 - math.floor(math.log10(std)))


def number(value: float, places: int | None = None) -> str:
    """Return a number with a true minus sign, and a power of ten only where it is needed."""
    if value and (
        abs(value) >= _LONG or (places or 0) > 6 or (places is None and abs(value) < 1e-4)
    ):
        mantissa, exponent = f"{value:.2e}".split("e")
        return mantissa.replace("-", "−") + "·10" + str(int(exponent)).translate(_SUPERSCRIPTS)
    if places is None:
        places = max(0, 3 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:.{places}f}".replace("-", "−")


def signed(value: float, places: int | None = None) -> str:
    """Return a difference with its sign."""
    return ("+" if value > 0 else "") + number(value, places)


def mean_with_std(mean: float, std: float | None) -> str:
    """Return `mean ± std`, or the mean alone without a deviation."""
    places = decimals(mean, std)
    if std is None:
        return number(mean)
    return f"{number(mean, places)} ± {number(std, places)}"


def p_value(p: float | None) -> str:
    """Return a p-value in two or three decimals."""
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
