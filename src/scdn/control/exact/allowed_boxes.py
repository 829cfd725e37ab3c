"""Where the server may be, as closed boxes.

The ground is one, the air from the floor to the ceiling another, both without the keep-out boxes.
Only the open interior of a keep-out box is forbidden, so its faces stay allowed. Where such a face
is not part of a free box beside it (at the region's edge, or between two keep-out boxes that
touch), it becomes a flat box of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, floats
from scdn.control.problem import RoundProblem


def allowed_boxes(problem: RoundProblem, highest_m: float = math.inf) -> Array:
    """Closed boxes that cover exactly the allowed positions: (pieces, 2, 3), centre and width.

    A width is half of a side. Pieces with z = 0 are on the ground; all others are in the air, up to
    the ceiling or `highest_m`.
    """
    ceiling = problem.ceiling_m
    if problem.server_m[2] < ceiling:
        ceiling = float(np.nextafter(ceiling, 0.0))
    size = (problem.region_m[0], problem.region_m[1], min(ceiling, highest_m))
    corners = allowed_corners(size, problem.movement.min_flight_m, problem.keep_out_m)
    low, high = corners[:, 0], corners[:, 1]
    return np.stack([(low + high) / 2, (high - low) / 2], axis=1)


def allowed_corners(size_m: Sequence[float], floor_m: float, keep_out_m: ArrayLike) -> Array:
    """The same as (pieces, 2, 3), lowest and highest corner, in a region of this size."""
    width, depth, top = size_m
    pieces = [np.array([[0, 0, 0], [width, depth, 0]])]
    floor = max(floor_m, np.finfo(np.float64).tiny)
    if floor <= top:
        pieces.append(np.array([[0, 0, floor], [width, depth, top]]))
    for box in floats(keep_out_m).reshape(-1, 2, 3):
        if np.all(box[0] < box[1]):
            pieces = [rest for piece in pieces for rest in _without(piece, box)]
    return floats(pieces).reshape(-1, 2, 3)


def _without(piece: Array, box: Array) -> list[Array]:
    """What is left of a closed piece when the box's open interior is taken out."""
    if np.any(piece[1] <= box[0]) or np.any(piece[0] >= box[1]):
        return [piece]
    left, inner = [], piece.copy()
    for axis in range(3):
        if inner[0, axis] < box[0, axis]:
            below = inner.copy()
            below[1, axis] = inner[0, axis] = box[0, axis]
            left.append(below)
        elif inner[0, axis] == box[0, axis]:
            left.append(_face(inner, axis, 0))
        if inner[1, axis] > box[1, axis]:
            above = inner.copy()
            above[0, axis] = inner[1, axis] = box[1, axis]
            left.append(above)
        elif inner[1, axis] == box[1, axis]:
            left.append(_face(inner, axis, 1))
    return left


def _face(piece: Array, axis: int, side: int) -> Array:
    face = piece.copy()
    face[:, axis] = piece[side, axis]
    return face
