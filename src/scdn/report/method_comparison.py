"""Methods compared by one measure: summaries over seeds, paired differences and verdicts.

A run that diverged counts as worst in every measure that has a direction: it is neither left out
nor scored by what it had reached before. As soon as a run counts as worst, or a target may not be
reached, methods are compared by medians and ranks; otherwise by means.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from scdn.report.results import TOO_FEW_SEEDS, Measure, MethodResult
from scdn.report.statistics import (
    LEAST_SEEDS,
    MethodValues,
    PairedDifference,
    RankedDifference,
    SeedValues,
    mean_and_std,
    median_value,
    paired_difference,
    ranked_difference,
)


@dataclass(frozen=True)
class MethodComparison:
    """Compares the first of the methods, the reference, with each of the others."""

    methods: Sequence[str]
    diverged: Collection[tuple[str, int]]  # method and seed of runs

    def measure(
        self,
        key: str,
        label: str,
        unit: str,
        better: int,
        values: MethodValues,
        *,
        main: bool = False,
        failure: str | None = None,
    ) -> Measure:
        """Return the comparison by these values.

        `better` is as in Measure. With `failure`, its name for runs without a value, a missing
        value (NaN) counts as worst, and methods are compared by ranks.
        """
        if failure is not None:
            values = _missing_as_worst(values, better)
        values = self._diverged_as_worst(values, better)
        failed = any(map(math.isinf, (v for by_seed in values.values() for v in by_seed.values())))
        ranked = failed or failure is not None
        results = [
            self._ranked_result(method, values, better)
            if ranked
            else self._mean_result(method, values, better)
            for method in self.methods
        ]
        shown = [result for result in results if result is not None]
        return Measure(key, label, unit, better, main, shown, ranked, failure or "diverged")

    def _diverged_as_worst(self, values: MethodValues, better: int) -> MethodValues:
        if better == 0 or not values:
            return values
        completed = {method: dict(by_seed) for method, by_seed in values.items()}
        for method, seed in self.diverged:
            completed.setdefault(method, {})[seed] = -better * math.inf
        return completed

    def _mean_result(self, method: str, values: MethodValues, better: int) -> MethodResult | None:
        by_seed = values.get(method, {})
        known = mean_and_std(by_seed.values())
        if known is None:
            return None
        paired = paired_difference(by_seed, self._reference_values(method, values))
        if paired is None:
            return MethodResult(method, *known)
        p_t = paired.p_t if paired.count >= LEAST_SEEDS else None
        return MethodResult(method, *known, paired.difference, paired.low, paired.high,
                            p_t, paired.p_flip, _verdict(paired, better))  # fmt: skip

    def _ranked_result(self, method: str, values: MethodValues, better: int) -> MethodResult | None:
        by_seed = values.get(method, {})
        known = [value for value in by_seed.values() if not math.isnan(value)]
        if not known:
            return None
        median, failed = median_value(known), sum(map(math.isinf, known))
        shown = median if math.isfinite(median) else None
        ranked = ranked_difference(by_seed, self._reference_values(method, values))
        if ranked is None:
            return MethodResult(method, None, None, len(known), median=shown, failed=failed)
        return MethodResult(
            method, None, None, len(known), ranked.median, verdict=_verdict(ranked, better),
            median=shown, failed=failed, p_rank=ranked.p,
        )  # fmt: skip

    def _reference_values(self, method: str, values: MethodValues) -> SeedValues:
        """Return what a method is compared with; the reference is compared with nothing."""
        return {} if method == self.methods[0] else values.get(self.methods[0], {})


def _missing_as_worst(values: MethodValues, better: int) -> MethodValues:
    return {
        method: {s: -better * math.inf if math.isnan(v) else v for s, v in by_seed.items()}
        for method, by_seed in values.items()
    }


def _verdict(difference: PairedDifference | RankedDifference, better: int) -> str:
    if difference.count < LEAST_SEEDS:
        return TOO_FEW_SEEDS
    if not difference.significant:
        return "no clear difference"
    if better == 0:
        return "different"
    return "better" if difference.direction * better > 0 else "worse"
