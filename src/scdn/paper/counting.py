"""Verdicts by counting the cases that agree with a claim."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from scdn.paper.artefact import Claim, Verdict
from scdn.paper.digits import short

MOST = 0.9  # a claim that speaks of all cases holds if so many of them agree

Case = TypeVar("Case")
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


def tally(flags: Iterable[bool | None]) -> tuple[int, int]:
    """How many are true of how many; where it could not be asked there is None."""
    known = [bool(flag) for flag in flags if flag is not None]
    return sum(known), len(known)


def tallies(
    groups: Mapping[str, Iterable[Case]], test: Callable[[Case], bool | None]
) -> dict[str, tuple[int, int]]:
    """For each group, how many of its cases agree."""
    return {where: tally(map(test, cases)) for where, cases in groups.items()}


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
