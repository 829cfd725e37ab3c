"""The path loss between devices and the server, averaged over line of sight.

Everything broadcasts: devices in the last axis, server positions in the axes before it. A link is
air-to-air when both ends are above the ground, else air-to-ground.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, Mask, floats
from scdn.scenario import Radio
from scdn.world.geometry import elevation_deg
from scdn.world.line_of_sight import los_probability

LIGHT_M_PER_S = 299_792_458.0
_BLOCK = 1 << 16  # pairs computed at a time: temporaries stay in the cache

# Absurd distances make losses infinite, as they should be.
_to_infinity = np.errstate(over="ignore", divide="ignore", invalid="ignore")


def db_to_ratio(db: float) -> float:
    """Convert decibels to a ratio."""
    return float(10.0 ** (db / 10.0))


def is_air_to_air(server_m: ArrayLike, device_m: ArrayLike) -> Mask:
    """Return whether each link is air-to-air: both ends are above the ground."""
    server, device = floats(server_m), floats(device_m)
    return (server[..., 2] > 0) & (device[..., 2] > 0)


class LinkLosses(NamedTuple):
    """The factors of every link's path loss."""

    spreading: Array  # (4π·f·d/c)^α, with the planning margin
    los_probability: Array
    nlos_probability: Array
    los_loss: Array  # η^LoS, the excess loss in line of sight
    nlos_loss: Array  # η^NLoS, the excess loss without it

    @_to_infinity
    def mean_loss(self) -> Array:
        """Return the path loss averaged over line of sight, which plans use."""
        excess = self.los_probability * self.los_loss + self.nlos_probability * self.nlos_loss
        return self.spreading * excess


@_to_infinity
def link_losses(server_m: ArrayLike, device_m: ArrayLike, radio: Radio) -> LinkLosses:
    """Return the factors for server positions (…, 3) and devices (N, 3), each as (…, N)."""
    device = floats(device_m).reshape(-1, 3)
    server = floats(server_m)[..., None, :]
    step = server - device
    run_sq = step[..., 0] ** 2 + step[..., 1] ** 2
    distance = np.sqrt(run_sq + step[..., 2] ** 2)
    elevation = elevation_deg(step[..., 2], np.sqrt(run_sq))
    wavenumber = 4 * np.pi * radio.carrier_hz / LIGHT_M_PER_S
    base = wavenumber * np.maximum(distance, radio.min_distance_m)
    airborne = is_air_to_air(server, device)
    ground, air = radio.a2g, radio.a2a

    def pick(a2a: Array | float, a2g: Array | float) -> Array:
        return np.where(airborne, a2a, a2g)

    if not airborne.any():
        spreading = _power(base, ground.exponent)
    elif airborne.all():
        spreading = _power(base, air.exponent)
    else:
        spreading = pick(_power(base, air.exponent), _power(base, ground.exponent))
    sight = los_probability(
        elevation, pick(air.los_scale, ground.los_scale), pick(air.los_slope, ground.los_slope)
    )
    return LinkLosses(
        spreading * db_to_ratio(radio.margin_db),
        sight.los,
        sight.nlos,
        pick(db_to_ratio(air.los_loss_db), db_to_ratio(ground.los_loss_db)),
        pick(db_to_ratio(air.nlos_loss_db), db_to_ratio(ground.nlos_loss_db)),
    )


def _power(base: Array, exponent: float) -> Array:
    return base * base if exponent == 2.0 else base**exponent


def path_loss(server_m: ArrayLike, device_m: ArrayLike, radio: Radio) -> Array:
    """Return the mean path loss (a ratio) of every link, with the planning margin.

    Positions (…, 3) and devices (N, 3) give (…, N). Large products are computed in blocks, so that
    memory is little more than the result's.
    """
    server = floats(server_m)
    device = floats(device_m).reshape(-1, 3)
    flat = server.reshape(-1, 3)
    result = np.empty((len(flat), len(device)))
    for rows, columns in _blocks(*result.shape):
        result[rows, columns] = link_losses(flat[rows], device[columns], radio).mean_loss()
    return result.reshape(*server.shape[:-1], len(device))


def _blocks(rows: int, columns: int) -> Iterator[tuple[slice, slice]]:
    width = min(columns, _BLOCK) or 1
    height = max(1, _BLOCK // width)
    for top in range(0, rows, height):
        for left in range(0, columns, width):
            yield slice(top, top + height), slice(left, left + width)
