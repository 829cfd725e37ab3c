"""The server's way from one position to the next, and which keep-out boxes it crosses."""

from __future__ import annotations

import numpy as np

from scdn.arrays import Array, Mask, floats
from scdn.control.problem import RoundProblem


def flight_path(problem: RoundProblem, server_m: Array) -> Array:
    """Return the points (k, 3) between which the server's way to its new position is straight."""
    start, model = problem.server_m, problem.movement
    if problem.routes is not None:
        return problem.routes.waypoints(server_m)
    if not model.moves:
        return np.zeros((0, 3))
    if model.climb_j or (start[:2] == server_m[:2]).all():  # the paper's climb on the way
        return np.stack([start, server_m])
    cruise = model.cruise_altitude_m(start, server_m)
    turns = [np.append(position[:2], cruise) for position in (start, server_m)]
    return np.stack([start, *turns, server_m])


def crossings(points: Array, boxes: Array) -> Mask:
    """Return which legs between consecutive points (k, d) cross which open boxes: (k − 1, B).

    A box has its low corner and its high corner: (B, 2·d).
    """
    start, step = points[:-1, None], np.diff(points, axis=0)[:, None]
    low, high = np.split(floats(boxes), 2, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = (low - start) / step, (high - start) / step
    inside = (low < start) & (start < high)
    enters = np.where(step == 0, np.where(inside, -np.inf, np.inf), np.minimum(first, second))
    leaves = np.where(step == 0, np.where(inside, np.inf, -np.inf), np.maximum(first, second))
    entry, exit_ = enters.max(axis=-1).clip(min=0.0), leaves.min(axis=-1).clip(max=1.0)
    return np.asarray((entry < exit_) & (low < high).all(axis=-1))
