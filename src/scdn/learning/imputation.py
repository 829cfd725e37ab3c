"""Embeddings that a departed party never made: of samples recorded after it had gone."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor

Imputation = Literal["zero", "mean", "learned"]
IMPUTATIONS: tuple[Imputation, ...] = get_args(Imputation)

_RIDGES = tuple(10.0**power for power in range(-10, 3))  # of the inputs' mean square


@torch.no_grad()
def impute(how: Imputation, known: Tensor, seen: Tensor, given: Tensor) -> Tensor:
    """What to put in a departed party's place, (rows, width).

    `known` are the (sample, width) embeddings that it left for training rows; `seen` and `given`
    are those of the parties present, (members, rows, width), for the same rows and for the rows to
    fill. `learned` fits the departed party's embeddings by ridge regression on the others'.
    """
    rows = given.shape[1]
    if how == "zero":
        return known.new_zeros(rows, known.shape[1])
    mean = known.double().mean(0)
    if how == "mean" or len(seen) == 0:
        return mean.to(known.dtype).expand(rows, -1)
    inputs, fresh = (e.double().movedim(0, 1).flatten(1) for e in (seen, given))
    centre = inputs.mean(0)
    map_ = _ridge(inputs - centre, known.double() - mean)
    return ((fresh - centre) @ map_ + mean).to(known.dtype)


def _ridge(inputs: Tensor, outputs: Tensor) -> Tensor:
    """The linear map of ridge regression, its weight found by generalised cross-validation."""
    squares, basis = torch.linalg.eigh(inputs.T @ inputs)
    squares = squares.clamp(min=0)
    shares = basis.T @ (inputs.T @ outputs)
    best, least = torch.zeros_like(shares), torch.inf
    for weight in _RIDGES:
        ridge = weight * float(squares.mean()) + torch.finfo(torch.float64).tiny
        part = shares / (squares + ridge)[:, None]
        error = float((outputs - inputs @ (basis @ part)).square().sum())
        freedom = len(inputs) - 1 - float((squares / (squares + ridge)).sum())
        if freedom > 0 and error / freedom**2 < least:
            best, least = part, error / freedom**2
    return basis @ best
