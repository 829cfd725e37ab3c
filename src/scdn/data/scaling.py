"""Scaling of inputs. It is always explicit, since it matters more than the batch size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import DTypeLike, NDArray

from scdn.arrays import Array
from scdn.errors import format_value, input_error

ScalingKind = Literal["unit", "standard", "none"]

_PIXEL_VALUES = 256


@dataclass(frozen=True)
class Scaling:
    """Scaling by (x − shift) / scale, per column of a table, or per channel or image."""

    shift: Array
    scale: Array

    @classmethod
    def fit(cls, rows: NDArray[Any], kind: ScalingKind) -> Scaling:
        """Compute shift and scale from `rows`, which should be training rows only.

        `unit` maps the smallest and largest value to 0 and 1, `standard` gives mean 0 and standard
        deviation 1, `none` changes nothing. Constant columns become 0.
        """
        if kind not in get_args(ScalingKind):
            raise input_error(
                "scaling", "kind", f"got {format_value(kind)}", "must be unit, standard or none"
            )
        if kind == "none":
            return cls(np.zeros(1), np.ones(1))
        image = rows.ndim == 4
        if kind == "unit":
            axes = None if image else 0  # one range for all channels preserves colours
            low = np.atleast_1d(rows.min(axis=axes).astype(np.float64))
            spread = np.atleast_1d(rows.max(axis=axes).astype(np.float64)) - low
            return cls(low, np.where(spread > 0, spread, 1.0))
        mean, deviation = _moments(rows)
        return cls(mean, np.where(deviation > 0, deviation, 1.0))

    def apply(self, rows: NDArray[Any], dtype: DTypeLike = np.float32) -> NDArray[Any]:
        """Return `rows` scaled, as floats of type `dtype`."""
        if rows.dtype != np.uint8:
            return ((rows - self.shift) / self.scale).astype(dtype)
        # Pixels have few values, so a look-up table avoids CIFAR-10's 1.5 GB of 64-bit floats.
        table = ((np.arange(_PIXEL_VALUES)[:, None] - self.shift) / self.scale).astype(dtype)
        if table.shape[1] == 1:
            return table[:, 0][rows]
        result = np.empty(rows.shape, dtype)
        for channel, column in enumerate(table.T):
            result[..., channel] = column[rows[..., channel]]
        return result


def _moments(rows: NDArray[Any]) -> tuple[Array, Array]:
    if rows.dtype == np.uint8:
        counts = np.stack([_histogram(channel) for channel in np.moveaxis(rows, -1, 0)], axis=1)
        frequencies = counts / counts.sum(axis=0)
        values = np.arange(_PIXEL_VALUES)[:, None]
        mean = (frequencies * values).sum(axis=0)
        return mean, np.sqrt((frequencies * (values - mean) ** 2).sum(axis=0))
    axes = tuple(range(rows.ndim - 1))
    deviation = rows.std(axis=axes, dtype=np.float64)
    constant = rows.min(axis=axes) == rows.max(axis=axes)  # rounding must not turn it into noise
    return rows.mean(axis=axes, dtype=np.float64), np.where(constant, 0.0, deviation)


def _histogram(channel: NDArray[Any]) -> NDArray[Any]:
    """Count the pixel values, a few images at a time since NumPy counts in 64 bits."""
    chunks = np.array_split(channel, max(1, len(channel) // 4096))
    return sum(
        (np.bincount(chunk.ravel(), minlength=_PIXEL_VALUES) for chunk in chunks),
        np.zeros(_PIXEL_VALUES, np.int64),
    )
