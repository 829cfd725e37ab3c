"""Find devices that keep the server's outputs from carrying over to test rows, without labels.

A device knows which rows it was sent gradients of, and gradients tell labels. If it adds them to
its embeddings, the fusion model relies on them, and is wrong on test rows, where they are missing
or false. How far the server's outputs follow from the embeddings of all devices but one is fitted
on training rows and compared with test rows. Without such a device the fit holds there as well;
with it among the others, it does not: so it is the one without which more of the fit is kept. If
outputs of test rows follow it alone, they do not follow from the others: then it is the one without
which far less is kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median, stdev
from typing import NamedTuple

from torch import Tensor

from scdn.federation.linear_fit import Fit, column_limits, fits_without
from scdn.federation.row_consistency import (
    CLEAR_CORRELATION,
    MIN_OTHERS,
    MIN_ROWS,
    usual_and_margin,
)

# Without a device, so many times as much of the fit may be kept as without others in the median,
# or so small a part of it, if that is far from the others. Honest ones: 0.97 to 1.04 times on
# digits (3 to 20 devices). On occupancy (4 to 7), where test rows are of other days, 0.81 to 1.12
# times, and 3.2 times as far away as the farthest of the others where that is above 1.1.
MAX_KEPT_TO_OTHERS, MIN_KEPT_TO_OTHERS = 1.1, 0.5


class Outputs(NamedTuple):
    """What the server predicts for the sample of training rows and for test rows, (rows, width)."""

    sample: Tensor
    test: Tensor


def find_misleading(
    samples: Mapping[str, Tensor], tests: Mapping[str, Tensor], outputs: Outputs
) -> dict[str, str]:
    """Return the parties without which the outputs carry over otherwise, and how they do.

    There must be at least four: of few, nobody can say which one misleads.
    """
    if len(samples) <= MIN_OTHERS or len(outputs.test) < MIN_ROWS:
        return {}
    limits = {name: column_limits(sample) for name, sample in samples.items()}
    samples = {name: sample.clamp(*limits[name]) for name, sample in samples.items()}
    tests = {name: tests[name].clamp(*limits[name]) for name in samples}
    each = [[name] for name in samples]
    without_each = fits_without(each, samples, outputs.sample, tests, outputs.test)
    by_name = dict(zip(samples, without_each, strict=True))
    fits = {name: fit for name, fit in by_name.items() if fit.training >= CLEAR_CORRELATION}
    reasons = {}
    for name, fit in fits.items():
        others = [other for n, other in fits.items() if n != name]
        if len(others) < MIN_OTHERS:
            continue
        kept = [other.kept for other in others]
        usual, margin = usual_and_margin(kept, _error_of_gap(fit, others))
        most = max(MAX_KEPT_TO_OTHERS * usual, usual + margin)
        if not min(MIN_KEPT_TO_OTHERS * usual, usual - margin) <= fit.kept <= most:
            told = f"keep {fit.kept:.2f} of their correlation with the others' embeddings"
            reasons[name] = f"without it outputs of test rows {told}, with it {usual:.2f}"
    return reasons


def _error_of_gap(fit: Fit, others: Sequence[Fit]) -> float:
    """Return the standard error of how much more a fit keeps than others on the same rows."""
    usual = [median(parts) for parts in zip(*(o.kept_by_part for o in others), strict=True)]
    gaps = [own - other for own, other in zip(fit.kept_by_part, usual, strict=True)]
    return stdev(gaps) / math.sqrt(len(gaps))
