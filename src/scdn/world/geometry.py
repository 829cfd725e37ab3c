"""Distances, angles, the region and its keep-out boxes, and where the server starts.

Arrays of positions have x, y, z in their last axis; functions broadcast over all other axes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, Mask, floats
from scdn.rng import generator
from scdn.scenario import Scenario


def distance(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the straight-line distance in metres."""
    step = floats(a) - floats(b)
    x, y, z = step[..., 0], step[..., 1], step[..., 2]
    return np.sqrt(x * x + y * y + z * z)


def elevation_deg(rise: Array, run: Array) -> Array:
    """Return the elevation angle θ of a link that rises by `rise` over a horizontal `run`.

    asin(|rise|/d) is the same angle, but loses half of its digits straight above a device.
    """
    return np.degrees(np.arctan2(np.abs(rise), run))


def in_region(positions: ArrayLike, region_m: ArrayLike) -> Mask:
    """Return whether positions are in the region, its faces included."""
    p = floats(positions)
    return np.all((p >= 0) & (p <= floats(region_m)), axis=-1)


def closed_at_faces(boxes: ArrayLike, region_m: ArrayLike) -> Array:
    """Return keep-out boxes x0, y0, z0, x1, y1, z1 that are closed at the region's faces: (K, 6).

    Boxes are open. A face on the region's boundary, or beyond, moves out to infinity, so that the
    boundary itself is inside: the server cannot land in a box that starts at z = 0.
    """
    b = floats(boxes).reshape(-1, 6)
    size = floats(region_m)
    empty = (b[:, :3] >= b[:, 3:]).any(axis=1)
    low = np.where(b[:, :3] <= 0, -np.inf, b[:, :3])
    high = np.where(b[:, 3:] >= size, np.inf, b[:, 3:])
    return np.concatenate([low, high], axis=1)[~empty]


def in_keep_out(positions: ArrayLike, boxes: ArrayLike) -> Mask:
    """Return whether positions are in the open interior of some box x0, y0, z0, x1, y1, z1."""
    p = floats(positions)
    b = floats(boxes).reshape(-1, 6)
    within = (p[..., None, :] > b[:, :3]) & (p[..., None, :] < b[:, 3:])
    return np.any(np.all(within, axis=-1), axis=-1)


def server_start(scenario: Scenario) -> Array:
    """Return the server's position before round 0: the given one, or one of the paper's five.

    A random edge is a random corner. A server that stands on the ground starts there.
    """
    if scenario.server.position_m is not None:
        return floats(scenario.server.position_m)
    size = floats(scenario.region_m)
    if scenario.movement.model in ("landing", "rover"):
        size = size * [1.0, 1.0, 0.0]
    draw = generator(scenario.seed, "server-start")
    match scenario.server.start:
        case "centre":
            return size / 2
        case "random":
            return draw.uniform(0.0, 1.0, 3) * size
        case "origin":
            return np.zeros(3)
        case "max":
            return size.copy()
        case "random-edge":
            return draw.integers(0, 2, 3) * size
