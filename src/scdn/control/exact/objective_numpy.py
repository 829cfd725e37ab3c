"""Movement, path loss, savings and the interior point's barrier at one position, in NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from scdn.arrays import Array, Mask
from scdn.control.exact.array_columns import (
    ALTITUDE,
    CEILING,
    CLIMB,
    CUTOFF,
    GAIN,
    HOVER,
    LATERAL,
    PRICE,
    PX,
    PY,
    PZ,
    REACH,
    X0,
    Y0,
    Z0,
)
from scdn.world.line_of_sight import LosProbability, los_probability

# Absurd heights and losses are infinite; a bound that is NaN counts as none.
to_infinity = np.errstate(over="ignore", invalid="ignore", divide="ignore")

DEGREES = 180.0 / math.pi


class LinkConstants:
    """The link constants that hold for each device, with the server in the air or on the ground."""

    def __init__(self, devices: Array, links: Array, airborne: Mask) -> None:
        air = airborne & (devices[:, PZ] > 0)
        columns = [np.where(air, a2a, a2g) for a2g, a2a in zip(*links, strict=True)]
        self.spreading, self.exponent, self.los_scale, self.los_slope = columns[:4]
        self.nlos_loss, self.los_loss, self.min_distance_sq = columns[4:]

    @to_infinity
    def los_probability(self, rise: Array, run: Array) -> LosProbability:
        """Return P_LoS and P_NLoS of links with a height difference and a horizontal distance."""
        return los_probability(np.arctan2(rise, run) * DEGREES, self.los_scale, self.los_slope)

    def excess(self, probability: LosProbability) -> Array:
        """Return the mean excess loss h."""
        return self.los_loss * probability.los + self.nlos_loss * probability.nlos

    def distance_power(self, distance_sq: Array) -> Array:
        """Return d^α from d²."""
        power = np.power(distance_sq, 0.5 * self.exponent)
        return np.where(self.exponent == 2.0, distance_sq, power)


@to_infinity
def movement_cost(x: Any, y: Any, z: Any, movement: Array) -> Any:
    """Return the weighted movement energy of being at (x, y, z)."""
    hover = movement[HOVER] * np.exp(z / movement[ALTITUDE]) if movement[HOVER] > 0 else 0.0 * z
    climbs = (z > movement[Z0]) & (movement[CLIMB] > 0)
    ceiling = movement[CEILING]
    ratio = np.where(climbs, (ceiling - movement[Z0]) / np.where(climbs, ceiling - z, 1), 1)
    lateral = movement[LATERAL] * np.hypot(x - movement[X0], y - movement[Y0])
    return hover + movement[CLIMB] * np.log(ratio) + lateral


def movement_slope(z: Any, movement: Array) -> Any:
    """Return the derivative of the movement's energy by altitude."""
    hover, scale = movement[HOVER], movement[ALTITUDE]
    slope = hover / scale * np.exp(z / scale) if hover > 0 else 0.0 * z
    climbs = (z > movement[Z0]) & (movement[CLIMB] > 0)
    to_ceiling = np.where(climbs, movement[CEILING] - z, 1.0)
    return slope + np.where(climbs, movement[CLIMB] / to_ceiling, 0.0)


def _path_losses(x: float, y: float, z: float, devices: Array, links: Array) -> Array:
    link = LinkConstants(devices, links, np.array(z > 0))
    run_sq = (x - devices[:, PX]) ** 2 + (y - devices[:, PY]) ** 2
    rise = np.abs(z - devices[:, PZ])
    power = link.distance_power(np.maximum(run_sq + rise * rise, link.min_distance_sq))
    return link.spreading * power * link.excess(link.los_probability(rise, np.sqrt(run_sq)))


@to_infinity
def active_at(x: float, y: float, z: float, devices: Array, links: Array, active: Mask) -> None:
    """Fill `active` with which devices are active with the server at (x, y, z)."""
    active[:] = _path_losses(x, y, z, devices, links) <= devices[:, CUTOFF]


@to_infinity
def saving_at(x: float, y: float, z: float, devices: Array, links: Array) -> float:
    """Return what the devices save with the server at (x, y, z)."""
    loss = _path_losses(x, y, z, devices, links)
    saving = devices[:, GAIN] - devices[:, PRICE] * loss
    return float(np.where(loss <= devices[:, CUTOFF], saving, 0.0).sum())


@to_infinity
def barrier(
    position: Array,
    active: Mask,
    mu: float,
    devices: Array,
    links: Array,
    movement: Array,
    gradient: Array,
) -> float:
    """Return the cost of keeping devices active, with a barrier at the edge of their reach.

    Fills `gradient` with the cost's gradient.
    """
    x, y, z = position
    total = float(movement_cost(x, y, z, movement))
    moved_x, moved_y = x - movement[X0], y - movement[Y0]
    moved = math.sqrt(moved_x**2 + moved_y**2 + 1e-8)  # smooth at the position before
    gradient[0] = movement[LATERAL] * moved_x / moved
    gradient[1] = movement[LATERAL] * moved_y / moved
    gradient[2] = movement_slope(z, movement)
    d = devices[active]
    link = LinkConstants(d, links, np.array(z > 0))
    dx, dy, dz = x - d[:, PX], y - d[:, PY], z - d[:, PZ]
    run_sq, rise = dx * dx + dy * dy, np.abs(dz)
    run, true_sq = np.sqrt(run_sq), run_sq + rise * rise
    distance_sq = np.maximum(true_sq, link.min_distance_sq)
    probability = link.los_probability(rise, run)
    spread = link.spreading * link.distance_power(distance_sq)
    excess = link.excess(probability)
    loss = spread * excess
    spare = d[:, REACH] - loss
    if np.any(spare <= 0):
        return math.inf
    limited = np.isfinite(d[:, REACH])
    fraction = np.where(limited, spare / np.where(limited, d[:, REACH], 1.0), 1.0)
    total += float((d[:, PRICE] * loss).sum() - mu * np.log(fraction).sum())
    weight = d[:, PRICE] + np.where(limited, mu / spare, 0.0)
    beyond = true_sq > link.min_distance_sq
    by_distance = np.where(beyond, link.exponent * excess * spread / distance_sq, 0.0)
    by_angle = (link.nlos_loss - link.los_loss) * link.los_slope * DEGREES
    by_angle = by_angle * probability.los * probability.nlos * spread
    by_angle = np.divide(by_angle, true_sq, out=np.zeros_like(spread), where=true_sq > 0)
    sideways = by_distance + np.divide(by_angle * rise, run, out=np.zeros_like(run), where=run > 0)
    gradient[0] += (weight * sideways * dx)[run > 0].sum()
    gradient[1] += (weight * sideways * dy)[run > 0].sum()
    gradient[2] += (weight * (by_distance * dz - by_angle * run * np.sign(dz))).sum()
    return total


def barrier_hessian(
    position: Array,
    shifts: Array,
    active: Mask,
    mu: float,
    devices: Array,
    links: Array,
    movement: Array,
    gradient: Array,
    hessian: Array,
) -> None:
    """Fill `hessian` with the gradient's differences along each axis that has a shift."""
    moved, other = position.copy(), np.zeros(3)
    for axis in range(3):
        if shifts[axis] != 0.0:
            moved[axis] = position[axis] + shifts[axis]
            barrier(moved, active, mu, devices, links, movement, other)
            hessian[:, axis] = (other - gradient) / shifts[axis]
            moved[axis] = position[axis]
