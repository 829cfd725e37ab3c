"""Numbers as they are read: as many digits as the spread over seeds supports."""

from __future__ import annotations

import math

from scdn.report.statistics import Spread

_LONG = 1e6  # beyond this, powers of ten are easier to read


def decimals(found: Spread) -> int | None:
    """As many as show two digits of the deviation; None where there is no telling."""
    if not found.std or found.std < 1e-9 * abs(found.mean):
        return None
    return max(0, 1 - math.floor(math.log10(found.std)))


def number(value: float, places: int | None = None) -> str:
    """With a proper minus, and an exponent only where it cannot be read without."""
    if value and (
        abs(value) >= _LONG or (places or 0) > 6 or (places is None and abs(value) < 1e-4)
    ):
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa}·10<sup>{int(exponent)}</sup>".replace("-", "−")
    if places is None:
        places = max(0, 3 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:.{places}f}".replace("-", "−")


def signed(value: float, places: int | None = None) -> str:
    """A difference with its sign."""
    return ("+" if value > 0 else "") + number(value, places)


def amount(found: Spread) -> str:
    """Mean ± deviation as plain text, for pictures."""
    if found.std is None or found.mean >= _LONG:
        return f"{found.mean:.4g}"
    places = decimals(found)
    if places is None:
        return f"{found.mean:.4g}"
    return f"{found.mean:.{places}f} ± {found.std:.{places}f}"
