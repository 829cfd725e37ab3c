"""Find devices whose embeddings of test rows do not fit those of training rows, without labels.

Devices hold features of the same rows, so a part of one's embeddings follows from those of others:
as much on test rows as on training rows, if it embeds both with the same model. How the others'
embeddings give a device's is fitted, linearly, on half of the sample of training rows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import torch
from torch import Tensor

from scdn.federation.remote_party import RemoteParty

# A device is judged if its embeddings of training rows have at least such a correlation with what
# follows from others', and if there are so many test rows.
MIN_CORRELATION, MIN_ROWS = 0.3, 30
# Of that correlation, so much must be there on test rows too. Honest devices: 0.21 at least, where
# test rows are of other days.
MIN_KEPT = 0.15
# Test rows may be so many times as far from the mean of training rows. Honest ones: 0.8 to 1.2.
MAX_SPREAD = 3.0
_GROUPS, _GROUP_SIZE = 3, 8  # of others: devices in one group alone do not decide
_RIDGE = 1e-3


def find_inconsistent(names: Collection[str], parties: Mapping[str, RemoteParty]) -> dict[str, str]:
    """Return those of `names` whose test rows do not fit, and in what way.

    A party is compared with some groups of others, and must be out of line with all of them: so one
    that lies does not make others look bad. There must be at least two others.
    """
    samples = {name: p.sample for name, p in parties.items() if p.sample is not None}
    tests = {name: p.test for name, p in parties.items() if p.test is not None}
    reasons = {}
    for name in [name for name in names if name in samples and name in tests]:
        spread = _spread(samples[name], tests[name])
        if spread > MAX_SPREAD:
            reasons[name] = (
                f"its test rows are {spread:.3g} times as far apart as its training rows"
            )
            continue
        others = [other for other in samples if other != name]
        groups = [others[n::_GROUPS][:_GROUP_SIZE] for n in range(min(_GROUPS, len(others)))]
        if len(groups) < 2 or len(tests[name]) < MIN_ROWS:
            continue
        pairs = [correlations(name, group, samples, tests) for group in groups]
        if all(fit > MIN_CORRELATION and test < MIN_KEPT * fit for fit, test in pairs):
            fit, test = max(pairs)
            told = f"its test rows have a correlation of {test:.2f} with those of others"
            reasons[name] = f"{told}, its training rows {fit:.2f}"
    return reasons


def correlations(
    name: str, others: list[str], samples: Mapping[str, Tensor], tests: Mapping[str, Tensor]
) -> tuple[float, float]:
    """Return the correlation of embeddings with what follows from others', on both sets of rows."""
    inputs, target = _joined(others, samples), samples[name].double()
    weights = _fit(inputs[::2], target[::2])
    fit = _correlation(inputs[1::2] @ weights, target[1::2])
    return fit, _correlation(_joined(others, tests) @ weights, tests[name].double())


def _spread(sample: Tensor, test: Tensor) -> float:
    """Return how far test rows are from the mean of training rows, against training rows."""
    mean = sample.mean(0)
    usual = float((sample - mean).double().norm()) / max(1, len(sample)) ** 0.5
    spread = float((test - mean).double().norm()) / max(1, len(test)) ** 0.5
    return spread / usual if usual else 1.0


def _correlation(one: Tensor, other: Tensor) -> float:
    one, other = one - one.mean(0), other - other.mean(0)
    size = float(one.norm() * other.norm())
    return float((one * other).sum()) / size if size else 0.0


def _joined(names: list[str], tables: Mapping[str, Tensor]) -> Tensor:
    table = torch.cat([tables[name] for name in names], 1).double()
    return torch.cat([table, table.new_ones(len(table), 1)], 1)


def _fit(inputs: Tensor, targets: Tensor) -> Tensor:
    products = inputs.T @ inputs
    ridge = _RIDGE * products.diagonal().mean() * torch.eye(len(products), dtype=inputs.dtype)
    return torch.linalg.solve(products + ridge.to(products), inputs.T @ targets)
