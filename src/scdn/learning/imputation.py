"""Imputed embeddings of departed parties, for rows that were recorded after they had left."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor

Imputation = Literal["zero", "mean", "learned"]
IMPUTATIONS: tuple[Imputation, ...] = get_args(Imputation)

_RIDGES = tuple(10.0**power for power in range(-10, 3))  # relative to the inputs' mean square


@torch.no_grad()
def impute(how: Imputation, known: Tensor, sample: Tensor, rows: Tensor) -> Tensor:
    """Return embeddings (rows, width) of a departed party.

    `known` are the (sample, width) embeddings that the party left; `sample` and `rows` are those
    of the parties present, (members, rows, width), for the same rows and for the rows to impute.
    `learned` predicts the departed party's embeddings from the others' by ridge regression.
    """
    count = rows.shape[1]
    if how == "zero":
        return known.new_zeros(count, known.shape[1])
    mean = known.double().mean(0)
    if how == "mean" or len(sample) == 0:
        return mean.to(known.dtype).expand(count, -1)
    inputs, new_inputs = (e.double().movedim(0, 1).flatten(1) for e in (sample, rows))
    centre = inputs.mean(0)
    coefficients = _ridge(inputs - centre, known.double() - mean)
    return ((new_inputs - centre) @ coefficients + mean).to(known.dtype)


def _ridge(inputs: Tensor, outputs: Tensor) -> Tensor:
    """Return ridge regression's coefficients, its weight chosen by generalised cross-validation."""
    eigenvalues, basis = torch.linalg.eigh(inputs.T @ inputs)
    eigenvalues = eigenvalues.clamp(min=0)
    projections = basis.T @ (inputs.T @ outputs)
    best, least = torch.zeros_like(projections), torch.inf
    for weight in _RIDGES:
        ridge = weight * float(eigenvalues.mean()) + torch.finfo(torch.float64).tiny
        shrunk = projections / (eigenvalues + ridge)[:, None]
        error = float((outputs - inputs @ (basis @ shrunk)).square().sum())
        freedom = len(inputs) - 1 - float((eigenvalues / (eigenvalues + ridge)).sum())
        if freedom > 0 and error / freedom**2 < least:
            best, least = shrunk, error / freedom**2
    return basis @ best
