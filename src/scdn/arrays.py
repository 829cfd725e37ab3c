"""Names for the arrays that everything here is made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
IntArray = NDArray[np.int64]


def floats(numbers: ArrayLike) -> Array:
    """Anything array-like as 64-bit floats, without a copy where it already is."""
    return np.asarray(numbers, dtype=np.float64)
