"""Statistics over seeds: means, medians, and differences between methods paired by seed.

A run without a number is one of two things. NaN: there is nothing to know, as for rows that
departed devices never embedded in a network that nobody left; the run is left out. Infinity, of the
sign that is worst: the run failed, by diverging or by never reaching a target. It is worse than
every run that did not fail and equal to every other that did: compare such values by their ranks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from scdn.arrays import Array, floats
from scdn.rng import generator

CONFIDENCE = 0.95
LEAST_SEEDS = 6  # with fewer, no sign-flip test can be below 5 %: its least p is 2^(1 - seeds)
EXACT_SEEDS = 20  # half a million sign patterns; beyond, so many are drawn:
DRAWN_PATTERNS = 100_000

SeedValues = Mapping[int, float]  # by seed
MethodValues = Mapping[str, SeedValues]  # by method and seed


@dataclass(frozen=True)
class PairedDifference:
    """A method minus the reference over `count` common seeds; one seed gives no interval or p."""

    count: int
    difference: float
    low: float | None = None
    high: float | None = None
    p_t: float | None = None
    p_flip: float | None = None

    @property
    def direction(self) -> int:
        """The sign of the difference."""
        return int(np.sign(self.difference))

    @property
    def significant(self) -> bool:
        """Whether the sign-flip test rejects that the two are equal, at the 5 % level.

        It assumes no distribution. Student's test does: two seeds that happen to agree have a p of
        1e-14 by it, which says nothing.
        """
        return self.p_flip is not None and self.p_flip < 1 - CONFIDENCE


@dataclass(frozen=True)
class RankedDifference:
    """A method minus the reference over `count` common seeds, where runs may have failed.

    `median` is that of the differences, None where it is infinite. `direction` is +1 where the
    method's values tend to be higher, -1 where they tend to be lower. One seed gives no p.
    """

    count: int
    median: float | None
    direction: int
    p: float | None = None

    @property
    def significant(self) -> bool:
        """Whether the signed-rank test rejects that the two are equal, at the 5 % level."""
        return self.p is not None and self.p < 1 - CONFIDENCE


def mean_and_std(values: Iterable[float]) -> tuple[float, float | None, int] | None:
    """Return mean, standard deviation and count of the finite values; None if there are none.

    A single value has no deviation.
    """
    finite = _finite(values)
    if not len(finite):
        return None
    mean = float(finite.mean())
    std = float(finite.std(ddof=1)) if len(finite) > 1 else None
    if std is not None and std < 1e-12 * abs(mean):
        std = 0.0  # only rounding
    return mean, std, len(finite)


def paired_difference(values: SeedValues, reference: SeedValues) -> PairedDifference | None:
    """Return `values` minus `reference`, paired by seed; None without a common seed."""
    seeds = sorted(values.keys() & reference.keys())
    differences = _finite(values[seed] - reference[seed] for seed in seeds)
    count = len(differences)
    if not count:
        return None
    mean = float(differences.mean())
    if count == 1:
        return PairedDifference(1, mean)
    error = float(differences.std(ddof=1)) / math.sqrt(count)
    half_width = float(stats.t.ppf((1 + CONFIDENCE) / 2, count - 1)) * error
    p_t = float(2 * stats.t.sf(abs(mean) / error, count - 1)) if error else float(mean == 0)
    return PairedDifference(
        count, mean, mean - half_width, mean + half_width, p_t, sign_flip_test(differences)
    )


def ranked_difference(values: SeedValues, reference: SeedValues) -> RankedDifference | None:
    """Return `values` minus `reference` by ranks, paired by seed; None without a common seed.

    The p-value is that of Wilcoxon's signed-rank test. Differences between a run that failed and
    one that did not have the highest rank; two that failed are equal.
    """
    seeds = sorted(values.keys() & reference.keys())
    pairs = [(values[seed], reference[seed]) for seed in seeds]
    differences = floats([0.0 if a == b else a - b for a, b in pairs])
    differences = differences[~np.isnan(differences)]
    if not len(differences):
        return None
    ranks = _signed_ranks(differences)
    direction, median = int(np.sign(ranks.sum())), median_value(differences)
    shown = median if math.isfinite(median) else None
    p = signed_rank_test(differences) if len(differences) > 1 else None
    return RankedDifference(len(differences), shown, direction, p)


def signed_rank_test(differences: Array) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test; differences may be infinite.

    It is the sign-flip test of the differences' ranks, exact with ties.
    """
    return sign_flip_test(_signed_ranks(differences))


def _signed_ranks(differences: Array) -> Array:
    """Return the ranks of the differences' sizes with their signs; 0 for no difference."""
    ranks = np.zeros(len(differences))
    unequal = differences != 0
    ranks[unequal] = stats.rankdata(np.abs(differences[unequal]))
    return ranks * np.sign(differences)


def median_value(values: Iterable[float]) -> float:
    """Return the median of values that may be infinite.

    Between a finite and an infinite value it is the infinite one; it is NaN between both
    infinities, and without a value.
    """
    ordered = sorted(float(value) for value in values if not math.isnan(value))
    if not ordered:
        return math.nan
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return low if low == high else (low + high) / 2


def sign_flip_test(differences: Array) -> float:
    """Return the two-sided p-value of a mean difference over all patterns of signs.

    It is exact for up to 20 seeds; beyond, 100,000 patterns are drawn, always the same.
    """
    scaled = differences / (float(np.abs(differences).sum()) or 1.0)
    least = abs(float(scaled.sum())) - 1e-12  # equal sums stay equal despite rounding
    if len(scaled) > EXACT_SEEDS:
        rng, size = generator(0, "sign-flips"), (DRAWN_PATTERNS, len(scaled))
        hits = int((np.abs((2 * rng.integers(0, 2, size) - 1) @ scaled) >= least).sum())
        return (hits + 1) / (DRAWN_PATTERNS + 1)
    sums = scaled[:1]  # a pattern and its opposite are equally far from zero
    for difference in scaled[1:]:
        sums = np.concatenate([sums + difference, sums - difference])
    return float((np.abs(sums) >= least).mean())


def final_values(rows: pd.DataFrame, column: str) -> dict[str, dict[int, float]]:
    """Return the last known value of every run."""
    return _per_run(rows, column, lambda run: _last(run[column]))


def mean_values(rows: pd.DataFrame, column: str) -> dict[str, dict[int, float]]:
    """Return the mean over the rounds of every run."""
    return _per_run(rows, column, lambda run: float(run[column].mean()))


def total_values(rows: pd.DataFrame, column: str) -> dict[str, dict[int, float]]:
    """Return the sum over the rounds of every run."""
    return _per_run(rows, column, lambda run: float(run[column].sum(min_count=1)))


def total_ratios(
    rows: pd.DataFrame, columns: list[str], divisor: str
) -> dict[str, dict[int, float]]:
    """Return the sum of `columns` over the rounds of every run, divided by that of `divisor`."""
    return _per_run(
        rows, divisor, lambda run: float(run[columns].sum().sum()) / max(1.0, run[divisor].sum())
    )


def values_at_equal_budget(
    rows: pd.DataFrame, column: str, budget: str
) -> dict[str, dict[int, float]]:
    """Return the value that every run had reached when the cheapest run of its seed had ended.

    `budget` is a cumulative column. A run that had not finished a round by then has NaN.
    """
    if column not in rows or budget not in rows:
        return {}
    ends = rows.groupby(["seed", "method"])[budget].max()
    least = ends.groupby("seed").min(skipna=False)
    within = rows[rows[budget] <= rows["seed"].map(least) * (1 + 1e-12)]
    reached = final_values(within, column)
    return {
        method: {seed: reached.get(method, {}).get(seed, math.nan) for seed in by_seed}
        for method, by_seed in final_values(rows, budget).items()
    }


def _per_run(
    rows: pd.DataFrame, column: str, reduce: Callable[[pd.DataFrame], float]
) -> dict[str, dict[int, float]]:
    values: dict[str, dict[int, float]] = {}
    if column in rows:
        for (method, seed), run in rows.groupby(["method", "seed"], sort=False):
            values.setdefault(method, {})[int(seed)] = reduce(run)
    return values


def _last(values: pd.Series) -> float:
    known = values.dropna()
    return float(known.iloc[-1]) if len(known) else math.nan


def _finite(values: Iterable[float]) -> Array:
    array = floats(list(values))
    return array[np.isfinite(array)]
