"""Numbers as they are kept and told."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike


def rounded(value: float, digits: int = 6) -> float:
    """Six digits are more than any table or figure shows."""
    return float(f"{value:.{digits}g}")


def short(values: ArrayLike) -> list[float]:
    """Numbers in a list, rounded each."""
    return [rounded(value) for value in np.asarray(values, dtype=np.float64)]


def listed(values: Collection[float]) -> str:
    """One after the other."""
    return ", ".join(f"{value:g}" for value in values)


def between(values: Collection[float], form: str = ".3g") -> str:
    """From the least to the largest."""
    return f"{min(values):{form}} to {max(values):{form}}"


def plus_minus(mean: float, std: float, decimals: int | None = None, runs: int = 2) -> str:
    """A mean and its deviation, with so many decimals or with as many as they need.

    A single run has no deviation.
    """
    told = f"{mean:.3g}" if decimals is None else f"{mean:.{decimals}f}"
    if runs == 1:
        return told
    return f"{told} ± {std:.2g}" if decimals is None else f"{told} ± {std:.{decimals}f}"
