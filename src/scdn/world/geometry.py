"""The region, what is in the way, distances and angles, and where the server may start.

Arrays of positions have x, y, z in their last axis; functions broadcast over all other axes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, Mask, floats
from scdn.rng import generator
from scdn.scenario.model import Scenario, Start


def distance(a: ArrayLike, b: ArrayLike) -> Array:
    """Straight-line distance in metres."""
    return np.sqrt(_squared(floats(a) - floats(b)))


def elevation_deg(a: ArrayLike, b: ArrayLike) -> Array:
    """Angle above the horizon at which the higher of two points is seen; 0 where they coincide."""
    step = floats(a) - floats(b)
    return elevation_of(step[..., 2], np.hypot(step[..., 0], step[..., 1]))


def elevation_of(rise: Array, run: Array) -> Array:
    """The same from the height difference and the horizontal distance.

    asin(|rise|/d) is the same angle, but loses half of its digits straight above a device.
    """
    return np.degrees(np.arctan2(np.abs(rise), run))


def _squared(step: Array) -> Array:
    x, y, z = step[..., 0], step[..., 1], step[..., 2]
    return x * x + y * y + z * z


def inside(positions: ArrayLike, region_m: ArrayLike) -> Mask:
    """Whether positions are in the region, its faces included."""
    p = floats(positions)
    return np.all((p >= 0) & (p <= floats(region_m)), axis=-1)


def kept_out(positions: ArrayLike, boxes: ArrayLike) -> Mask:
    """Whether positions are in the open interior of some box x0, y0, z0, x1, y1, z1."""
    p = floats(positions)
    b = floats(boxes).reshape(-1, 6)
    within = (p[..., None, :] > b[:, :3]) & (p[..., None, :] < b[:, 3:])
    return np.any(np.all(within, axis=-1), axis=-1)


def start_position(start: Start, region_m: ArrayLike, seed: int = 0) -> Array:
    """One of the paper's five initial positions; a random edge is a random corner."""
    size = floats(region_m)
    draw = generator(seed, "server-start")
    match start:
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


def server_start(scenario: Scenario) -> Array:
    """Where the scenario's server stands before round 0."""
    if scenario.server.position_m is not None:
        return np.asarray(scenario.server.position_m, dtype=np.float64)
    return start_position(scenario.server.start, scenario.region_m, scenario.seed)
