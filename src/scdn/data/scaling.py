"""Input scaling, always explicit: it matters more than the batch size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import DTypeLike, NDArray

from scdn.arrays import Array
from scdn.errors import format_value, input_error

ScalingKind = Literal["unit", "standard", "none"]

_BYTES = 256  # values a pixel can have


@dataclass(frozen=True)
class Scaling:
    """(x − shift) / scale: per column of a table; of an image, per channel or over all of it."""

    shift: Array
    scale: Array

    @classmethod
    def fit(cls, rows: NDArray[Any], how: ScalingKind) -> Scaling:
        """Learns shift and scale from `rows`, which should be training rows only.

        `unit` maps least and largest value to 0 and 1; `standard` gives mean 0 and deviation 1;
        `none` leaves values alone. What never varies becomes 0.
        """
        if how not in get_args(ScalingKind):
            raise input_error(
                "scaling", "how", f"got {format_value(how)}", "must be unit, standard or none"
            )
        if how == "none":
            return cls(np.zeros(1), np.ones(1))
        image = rows.ndim == 4
        if how == "unit":
            axes = None if image else 0  # one range for all channels keeps colours
            least = np.atleast_1d(rows.min(axis=axes).astype(np.float64))
            spread = np.atleast_1d(rows.max(axis=axes).astype(np.float64)) - least
            return cls(least, np.where(spread > 0, spread, 1.0))
        mean, deviation = _moments(rows)
        return cls(mean, np.where(deviation > 0, deviation, 1.0))

    def apply(self, rows: NDArray[Any], dtype: DTypeLike = np.float32) -> NDArray[Any]:
        """`rows` scaled, as floats."""
        if rows.dtype != np.uint8:
            return ((rows - self.shift) / self.scale).astype(dtype)
        # Pixels have few values: look the results up, as CIFAR-10 in 64-bit floats has 1.5 GB.
        answers = ((np.arange(_BYTES)[:, None] - self.shift) / self.scale).astype(dtype)
        if answers.shape[1] == 1:
            return answers[:, 0][rows]
        result = np.empty(rows.shape, dtype)
        for channel, column in enumerate(answers.T):
            result[..., channel] = column[rows[..., channel]]
        return result


def _moments(rows: NDArray[Any]) -> tuple[Array, Array]:
    """Mean and deviation of each column or channel."""
    if rows.dtype == np.uint8:
        counts = np.stack([_histogram(channel) for channel in np.moveaxis(rows, -1, 0)], axis=1)
        shares = counts / counts.sum(axis=0)
        values = np.arange(_BYTES)[:, None]
        mean = (shares * values).sum(axis=0)
        return mean, np.sqrt((shares * (values - mean) ** 2).sum(axis=0))
    axes = tuple(range(rows.ndim - 1))
    deviation = rows.std(axis=axes, dtype=np.float64)
    constant = rows.min(axis=axes) == rows.max(axis=axes)  # rounding must not make noise of it
    return rows.mean(axis=axes, dtype=np.float64), np.where(constant, 0.0, deviation)


def _histogram(channel: NDArray[Any]) -> NDArray[Any]:
    """How often each value occurs, a few images at a time (NumPy counts in 64 bits)."""
    pieces = np.array_split(channel, max(1, len(channel) // 4096))
    return sum(
        (np.bincount(piece.ravel(), minlength=_BYTES) for piece in pieces),
        np.zeros(_BYTES, np.int64),
    )
