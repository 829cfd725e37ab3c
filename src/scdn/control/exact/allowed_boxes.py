"""The allowed positions of the server, as closed boxes.

The ground is one box, the air from the least flight height to the ceiling another, both without the
keep-out boxes. Only the open interior of a keep-out box is forbidden, so its faces stay allowed,
but for those at the region's edge (see `closed_at_faces`). Where such a face is not part of an
allowed box beside it (between two keep-out boxes that touch), it becomes a flat box of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, floats
from scdn.control.problem import RoundProblem


def allowed_boxes(problem: RoundProblem, highest_m: float = math.inf) -> Array:
    """Return closed boxes that cover exactly the allowed positions: (boxes, 2, 3).

    Each is a centre and its half-widths. Boxes with z = 0 are on the ground; all others are in the
    air, up to the ceiling or `highest_m`.
    """
    if problem.stays:
        return np.stack([problem.server_m, np.zeros(3)])[None]
    ceiling = problem.ceiling_m
    if problem.server_m[2] < ceiling:
        ceiling = float(np.nextafter(ceiling, 0.0))
    size = (problem.region_m[0], problem.region_m[1], min(ceiling, highest_m))
    corners = allowed_corners(size, problem.movement.min_flight_m, problem.keep_out_m)
    low, high = corners[:, 0], corners[:, 1]
    return np.stack([(low + high) / 2, (high - low) / 2], axis=1)


def allowed_corners(size_m: Sequence[float], floor_m: float, keep_out_m: ArrayLike) -> Array:
    """Return the same boxes as lowest and highest corners, in a region of this size."""
    width, depth, top = size_m
    boxes = [np.array([[0, 0, 0], [width, depth, 0]])]
    floor = max(floor_m, np.finfo(np.float64).tiny)
    if floor <= top:
        boxes.append(np.array([[0, 0, floor], [width, depth, top]]))
    for keep_out in floats(keep_out_m).reshape(-1, 2, 3):
        if np.all(keep_out[0] < keep_out[1]):
            boxes = [rest for box in boxes for rest in _subtract(box, keep_out)]
    return floats(boxes).reshape(-1, 2, 3)


def _subtract(box: Array, keep_out: Array) -> list[Array]:
    """Return closed boxes that cover a closed box without the open interior of another."""
    if np.any(box[1] <= keep_out[0]) or np.any(box[0] >= keep_out[1]):
        return [box]
    rest, inner = [], box.copy()
    for axis, side in product(range(3), range(2)):
        edge, face = inner[side, axis], keep_out[side, axis]
        beyond = edge < face if side == 0 else edge > face
        if beyond or edge == face:  # at equality what is left is flat: the face itself
            left = inner.copy()
            left[1 - side, axis] = inner[side, axis] = face
            rest.append(left)
    return rest
