"""How sure one can be: spreads over seeds, and methods compared seed by seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scdn.arrays import Array, floats
from scdn.report.student import quantile, two_sided

CONFIDENCE = 0.95
EXACT_SEEDS = 12  # 4,096 patterns of signs

BySeed = Mapping[int, float]
ByMethod = Mapping[str, BySeed]


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over `count` seeds; no deviation of a single one."""

    mean: float
    std: float | None
    count: int


@dataclass(frozen=True)
class Paired:
    """A method less the reference over their `count` common seeds; None where one seed is mute."""

    count: int
    difference: float
    low: float | None  # the 95 % confidence interval
    high: float | None
    p_t: float | None  # two-sided paired t-test
    p_flip: float | None  # exact sign-flip permutation test

    @property
    def clear(self) -> bool:
        """Whether the t-test tells the two apart."""
        return self.p_t is not None and self.p_t < 1 - CONFIDENCE


def spread(values: Iterable[float]) -> Spread | None:
    """Mean ± standard deviation of what is known; None if nothing is."""
    known = _known(values)
    if not len(known):
        return None
    mean = float(known.mean())
    std = float(known.std(ddof=1)) if len(known) > 1 else None
    if std is not None and std < 1e-12 * abs(mean):
        std = 0.0  # only rounding
    return Spread(mean, std, len(known))


def compare(mine: BySeed, reference: BySeed) -> Paired | None:
    """`mine` less `reference`, paired by seed; None without a common seed."""
    seeds = sorted(mine.keys() & reference.keys())
    gaps = _known(mine[seed] - reference[seed] for seed in seeds)
    count = len(gaps)
    if not count:
        return None
    mean = float(gaps.mean())
    if count == 1:
        return Paired(1, mean, None, None, None, None)
    error = float(gaps.std(ddof=1)) / math.sqrt(count)
    reach = quantile(CONFIDENCE, count - 1) * error
    return Paired(
        count, mean, mean - reach, mean + reach, _t_test(mean, error, count - 1), sign_flip(gaps)
    )


def _t_test(mean: float, error: float, freedom: int) -> float:
    if error == 0:
        return float(mean == 0)
    return two_sided(mean / error, freedom)


def sign_flip(gaps: Array) -> float | None:
    """Share of all sign patterns whose mean is at least as far from zero; None beyond 12."""
    count = len(gaps)
    if count > EXACT_SEEDS:
        return None
    patterns = np.arange(2**count)[:, None] >> np.arange(count)
    means = np.abs((1 - 2.0 * (patterns & 1)) @ gaps)
    observed = abs(gaps.sum())
    return float((means >= observed - 1e-12 * np.abs(gaps).sum()).mean())


def finals(rows: pd.DataFrame, column: str) -> dict[str, dict[int, float]]:
    """The last known value of every run."""
    return _reduced(rows, column, lambda run: _last(run[column]))


def means(rows: pd.DataFrame, column: str) -> dict[str, dict[int, float]]:
    """The mean over the rounds of every run."""
    return _reduced(rows, column, lambda run: float(run[column].mean()))


def sums(rows: pd.DataFrame, column: str) -> dict[str, dict[int, float]]:
    """The sum over the rounds of every run."""
    return _reduced(rows, column, lambda run: float(run[column].sum(min_count=1)))


def at_equal(rows: pd.DataFrame, column: str, budget: str) -> dict[str, dict[int, float]]:
    """The value that every run had reached when the cheapest run of its seed had ended.

    `budget` is a cumulative column. A run that had not finished a round by then has NaN.
    """
    if column not in rows or budget not in rows:
        return {}
    ends = rows.groupby(["seed", "method"])[budget].max()
    least = ends.groupby("seed").min(skipna=False)
    within = rows[rows[budget] <= rows["seed"].map(least) * (1 + 1e-12)]
    reached = finals(within, column)
    return {
        method: {seed: reached.get(method, {}).get(seed, math.nan) for seed in by_seed}
        for method, by_seed in finals(rows, budget).items()
    }


def _reduced(
    rows: pd.DataFrame, column: str, value: Callable[[pd.DataFrame], float]
) -> dict[str, dict[int, float]]:
    result: dict[str, dict[int, float]] = {}
    if column in rows:
        for (method, seed), run in rows.groupby(["method", "seed"], sort=False):
            result.setdefault(method, {})[int(seed)] = value(run)
    return result


def _last(values: pd.Series) -> float:
    known = values.dropna()
    return float(known.iloc[-1]) if len(known) else math.nan


def _known(values: Iterable[float]) -> Array:
    found = floats(list(values))
    return found[np.isfinite(found)]
