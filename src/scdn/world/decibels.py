"""Decibels."""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, floats


@overload
def db_to_ratio(db: float) -> float: ...
@overload
def db_to_ratio(db: ArrayLike) -> Array: ...
def db_to_ratio(db: ArrayLike) -> float | Array:
    """Convert decibels to a ratio."""
    if isinstance(db, int | float):
        return float(10.0 ** (db / 10.0))
    return np.asarray(10.0 ** (floats(db) / 10.0))


def dbm_to_w(dbm: float) -> float:
    """Convert decibels over a milliwatt to watts."""
    return db_to_ratio(dbm) * 1e-3
