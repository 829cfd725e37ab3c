"""Types of arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
IntArray = NDArray[np.int64]


def floats(numbers: ArrayLike) -> Array:
    """Return an array of 64-bit floats; one that is given is not copied."""
    return np.asarray(numbers, dtype=np.float64)
