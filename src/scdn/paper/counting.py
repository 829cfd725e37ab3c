"""Verdicts by counting the cases that agree with a claim."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from scdn.paper.artefact import Claim, Verdict
from scdn.paper.control import short

MOST = 0.9  # a claim that speaks of all cases holds if so many of them agree

Counts = Mapping[str, tuple[int, int]]  # where → how many of how many cases agree


def verdict(counts: Counts) -> Verdict:
    """Reproduced if nearly all cases agree everywhere, in a regime if only somewhere."""
    shares = [good / cases for good, cases in counts.values() if cases]
    if not shares:
        return "not measured"
    if min(shares) >= MOST:
        return "reproduced"
    return "reproduced in this regime" if max(shares) >= MOST else "not reproduced"


def counted(source: str, text: str, counts: Counts, cases: str, note: str = "") -> Claim:
    """A claim judged by how many cases agree."""
    found = "; ".join(
        f"{where}: {good} of {total}" if total else f"{where}: none"
        for where, (good, total) in counts.items()
    )
    reason = f"{found} {cases}.{' ' + note if note else ''}"
    return Claim(source, text, verdict(counts), reason)


def tally(flags: Iterable[bool]) -> tuple[int, int]:
    """How many of how many are true."""
    listed = [bool(flag) for flag in flags]
    return sum(listed), len(listed)


def goes(values: Sequence[float], direction: int, slack: float = 0.05) -> bool:
    """Whether a curve rises (+1) or falls (-1), but for steps within `slack` of its range."""
    curve = direction * np.asarray(values, dtype=np.float64)
    span = float(curve.max() - curve.min())
    return bool(curve[-1] > curve[0] and np.diff(curve).min() >= -slack * span)


def mean_std(rows: ArrayLike) -> tuple[list[float], list[float]]:
    """Means and standard deviations of columns; one row has a deviation of 0."""
    values = np.asarray(rows, dtype=np.float64)
    spread = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1:])
    return short(values.mean(axis=0)), short(spread)
