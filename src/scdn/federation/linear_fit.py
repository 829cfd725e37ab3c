"""How far a table follows from devices' embeddings, on training rows and on test rows.

The fit is linear, made on one half of the training rows and compared with the other half, and the
other way round. On test rows both fits count the same.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

# The part of the rows that may be unlike all others: of the sample beyond each of a column's
# limits, and of test rows whose distance does not count. A pixel may be black in all training rows.
CUT = 0.02
_PARTS = 8  # of the rows, whose differences tell how certain an estimate is
_RIDGE, _TINY = 1e-3, 1e-9


class Fit(NamedTuple):
    """How far a table follows from embeddings: on training rows, and on test rows."""

    training: float  # correlation
    kept: float  # part of it that is there on test rows
    slope: float  # of the table over what follows, against that on training rows
    kept_error: float = 0.0  # of the estimate
    slope_error: float = 0.0  # relative
    kept_by_part: tuple[float, ...] = ()  # of the test rows, to compare fits on the same rows


class _Comparison(NamedTuple):
    correlation: float
    slope: float  # of the table over its prediction


def fits_without(
    left_out: Sequence[Collection[str]],
    devices: Mapping[str, Tensor],
    table: Tensor,
    test_devices: Mapping[str, Tensor],
    test_table: Tensor,
) -> list[Fit]:
    """Return how far a table follows from devices' embeddings, without each group of devices.

    `devices` and `table` are of the same training rows, `test_devices` and `test_table` of the same
    test rows; all are (rows, width).
    """
    inputs, test_inputs = _joined(devices), _joined({n: test_devices[n] for n in devices})
    target, test_target = table.double(), test_table.double()
    owners = [name for name, embeddings in devices.items() for _ in range(embeddings.shape[1])]
    columns = [
        torch.tensor([*(owner not in names for owner in owners), True], device=table.device)
        for names in left_out
    ]
    predicted = [torch.empty_like(target) for _ in left_out]
    test_predicted = [torch.zeros_like(test_target) for _ in left_out]
    for half in (0, 1):
        fitted, compared = inputs[half::2], inputs[1 - half :: 2]
        products, sides = fitted.T @ fitted, fitted.T @ target[half::2]
        for group, used in enumerate(columns):
            weights = _solve(products[used][:, used], sides[used])
            predicted[group][1 - half :: 2] = compared[:, used] @ weights
            test_predicted[group] += 0.5 * test_inputs[:, used] @ weights
    return [
        _fit(one, target, test, test_target)
        for one, test in zip(predicted, test_predicted, strict=True)
    ]


def column_limits(sample: Tensor) -> tuple[Tensor, Tensor]:
    """Return the limits of each column to which rows are cut, so that a few do not decide."""
    low, high = torch.quantile(sample, torch.tensor([CUT, 1 - CUT]).to(sample), dim=0)
    return low, high


def _fit(predicted: Tensor, target: Tensor, test_predicted: Tensor, test_target: Tensor) -> Fit:
    correlation, slope = _compare(predicted, target)
    test_correlation, test_slope = _compare(test_predicted, test_target)
    if correlation <= 0 or slope <= 0:
        return Fit(0.0, 1.0, 1.0)
    parts, test_parts = _parts(predicted, target), _parts(test_predicted, test_target)
    errors, test_errors = _errors(parts), _errors(test_parts)
    kept = test_correlation / correlation
    kept_error = math.hypot(kept * errors.correlation, test_errors.correlation) / correlation
    slope_error = math.hypot(errors.slope / slope, test_errors.slope / max(abs(test_slope), _TINY))
    by_part = tuple(part.correlation / correlation for part in test_parts)
    return Fit(correlation, kept, test_slope / slope, kept_error, slope_error, by_part)


def _compare(predicted: Tensor, target: Tensor) -> _Comparison:
    """Return the correlation of a table with a prediction, and its slope over it."""
    one, other = predicted - predicted.mean(0), target - target.mean(0)
    product, size = float((one * other).sum()), float(one.norm() * other.norm())
    square = float(one.square().sum())
    return _Comparison(product / size if size else 0.0, product / square if square else 0.0)


def _parts(predicted: Tensor, target: Tensor) -> list[_Comparison]:
    return [_compare(predicted[n::_PARTS], target[n::_PARTS]) for n in range(_PARTS)]


def _errors(parts: list[_Comparison]) -> _Comparison:
    """Return the standard errors of a comparison, from parts of the rows."""
    values = torch.tensor(parts, dtype=torch.float64).std(0) / len(parts) ** 0.5
    return _Comparison(float(values[0]), float(values[1]))


def _joined(tables: Mapping[str, Tensor]) -> Tensor:
    """Return the tables beside one another, and a column of ones."""
    table = torch.cat(list(tables.values()), 1).double()
    return torch.cat([table, table.new_ones(len(table), 1)], 1)


def _solve(products: Tensor, sides: Tensor) -> Tensor:
    ridge = _RIDGE * products.diagonal().mean() * torch.eye(len(products), dtype=products.dtype)
    return torch.linalg.solve(products + ridge.to(products), sides)
