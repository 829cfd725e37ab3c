"""Movement, path loss, savings and the interior point's barrier at one position, in NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from scdn.arrays import Array, Mask
from scdn.control.exact.array_columns import (
    ALTITUDE,
    BEFORE,
    CEILING,
    CLIMB,
    CUTOFF,
    FLOOR_COST,
    FLOOR_LOSS,
    FLOOR_SNR,
    GAIN,
    HOVER,
    IS_PADE,
    LATERAL,
    PRICE,
    REACH,
    RISE,
    SINK,
    X0,
    Y0,
    Z0,
)
from scdn.world.link_models import LinkModel
from scdn.world.transmission import pade_log1p

# Absurd heights and losses are infinite; a bound that is NaN counts as none.
to_infinity = np.errstate(over="ignore", invalid="ignore", divide="ignore")


def prepare_link(model: LinkModel) -> LinkModel:
    """Return the model itself."""
    return model


@to_infinity
def movement_cost(x: Any, y: Any, z: Any, movement: Array) -> Any:
    """Return the weighted movement energy of being at (x, y, z), by one row or one row each."""
    m = movement.T
    hover = np.where(m[HOVER] > 0, m[HOVER] * np.exp(z / m[ALTITUDE]), 0.0)
    climbs = (z > m[Z0]) & (m[CLIMB] > 0)
    ratio = np.where(climbs, (m[CEILING] - m[Z0]) / np.where(climbs, m[CEILING] - z, 1), 1)
    lateral = m[LATERAL] * np.hypot(x - m[X0], y - m[Y0])
    vertical = m[RISE] * np.maximum(z - m[Z0], 0.0) + m[SINK] * np.maximum(m[Z0] - z, 0.0)
    return hover + m[CLIMB] * np.log(ratio) + lateral + vertical + m[BEFORE]


@to_infinity
def movement_slope(z: Any, movement: Array) -> Any:
    """Return the derivative of the movement's energy by altitude."""
    m = movement.T
    slope = np.where(m[HOVER] > 0, m[HOVER] / m[ALTITUDE] * np.exp(z / m[ALTITUDE]), 0.0)
    climbs = (z > m[Z0]) & (m[CLIMB] > 0)
    slope = slope + np.where(climbs, m[CLIMB] / np.where(climbs, m[CEILING] - z, 1.0), 0.0)
    return slope + np.where(z > m[Z0], m[RISE], 0.0) - np.where(z < m[Z0], m[SINK], 0.0)


@to_infinity
def cost_of_sending(devices: Array, loss: Array) -> Array:
    """Return the weighted transmission energy of devices at path losses (…, N)."""
    cost = devices[:, PRICE] * loss
    floored = loss < devices[:, FLOOR_LOSS]
    if not floored.any():
        return cost
    return np.where(floored, devices[:, FLOOR_COST] / _nats(devices, loss), cost)


@to_infinity
def sending_slope(devices: Array, loss: Array) -> Array:
    """Return the derivative of the transmission energy by the path loss."""
    price = np.broadcast_to(devices[:, PRICE], loss.shape)
    floored = loss < devices[:, FLOOR_LOSS]
    if not floored.any():
        return price
    snr, nats = devices[:, FLOOR_SNR] / loss, _nats(devices, loss)
    pade = (36.0 + 12.0 * snr + 4.0 * snr * snr) / (6.0 + 4.0 * snr) ** 2
    by_snr = np.where(devices[:, IS_PADE] > 0, pade, 1.0 / (1.0 + snr))
    return np.where(floored, devices[:, FLOOR_COST] / (nats * nats) * by_snr * snr / loss, price)


def _nats(devices: Array, loss: Array) -> Array:
    """Return the nats per symbol at each device's least power."""
    snr = devices[:, FLOOR_SNR] / loss
    return np.where(devices[:, IS_PADE] > 0, pade_log1p(snr), np.log1p(snr))


def _losses_at(x: float, y: float, z: float, devices: Array, link: LinkModel) -> Array:
    losses = link.bounds(np.array([[x, y, z]]), np.zeros((1, 3)), devices[:, :3]).loss[0]
    return np.asarray(losses)


@to_infinity
def active_at(x: float, y: float, z: float, devices: Array, link: LinkModel, active: Mask) -> None:
    """Fill `active` with which devices are active with the server at (x, y, z)."""
    active[:] = _losses_at(x, y, z, devices, link) <= devices[:, CUTOFF]


@to_infinity
def saving_at(x: float, y: float, z: float, devices: Array, link: LinkModel) -> float:
    """Return what the devices save with the server at (x, y, z)."""
    loss = _losses_at(x, y, z, devices, link)
    saving = devices[:, GAIN] - cost_of_sending(devices, loss)
    return float(np.where(loss <= devices[:, CUTOFF], saving, 0.0).sum())


@to_infinity
def barrier(
    position: Array,
    active: Mask,
    mu: float,
    devices: Array,
    link: LinkModel,
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
    loss, by_loss = link.gradient(position, d[:, :3])
    spare = d[:, REACH] - loss
    if np.any(spare <= 0):
        return math.inf
    limited = np.isfinite(d[:, REACH])
    fraction = np.where(limited, spare / np.where(limited, d[:, REACH], 1.0), 1.0)
    total += float(cost_of_sending(d, loss).sum() - mu * np.log(fraction).sum())
    weight = sending_slope(d, loss) + np.where(limited, mu / spare, 0.0)
    gradient += (weight[:, None] * by_loss).sum(axis=0)
    return total


def barrier_hessian(
    position: Array,
    shifts: Array,
    active: Mask,
    mu: float,
    devices: Array,
    link: LinkModel,
    movement: Array,
    gradient: Array,
    hessian: Array,
) -> None:
    """Fill `hessian` with the gradient's differences along each axis that has a shift."""
    moved, other = position.copy(), np.zeros(3)
    for axis in range(3):
        if shifts[axis] != 0.0:
            moved[axis] = position[axis] + shifts[axis]
            barrier(moved, active, mu, devices, link, movement, other)
            hessian[:, axis] = (other - gradient) / shifts[axis]
            moved[axis] = position[axis]
