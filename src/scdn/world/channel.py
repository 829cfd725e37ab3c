"""The channel between devices and the server: line of sight, path loss, rate, delay, least power.

Everything broadcasts: devices in the last axis, server positions in the axes before it. A link is
air-to-air when both ends are above the ground, else air-to-ground.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, Mask, floats
from scdn.scenario.model import Fading, Link, Radio, RateModel
from scdn.world.geometry import elevation_of

LIGHT_M_PER_S = 299_792_458.0
_BLOCK = 1 << 16  # pairs computed at a time: temporaries stay in the cache

# Absurd distances or payloads make losses and powers infinite, which is what they should be.
_to_infinity = np.errstate(over="ignore", divide="ignore", invalid="ignore")


def decibels(db: float) -> float:
    """A ratio from decibels."""
    return float(10.0 ** (db / 10.0))


def noise_w(radio: Radio, bandwidth_hz: ArrayLike) -> Array:
    """Noise power over a bandwidth, σ² = N_0·B."""
    density = decibels(radio.noise_dbm_per_hz) * 1e-3
    return density * floats(bandwidth_hz)


def is_air_to_air(server_m: ArrayLike, device_m: ArrayLike) -> Mask:
    """Whether each link is air-to-air: both ends above the ground."""
    server, device = floats(server_m), floats(device_m)
    return (server[..., 2] > 0) & (device[..., 2] > 0)


@_to_infinity
def los_probability(elevation_deg: ArrayLike, link: Link) -> Array:
    """Chance of line of sight: rises with elevation."""
    theta = floats(elevation_deg)
    return 1.0 / (1.0 + _blocked(theta, link))


def _blocked(theta: Array, link: Link) -> Array:
    """The odds against line of sight."""
    return link.los_scale * np.exp(-link.los_slope * (theta - link.los_scale))


class Paths(NamedTuple):
    """A link's parts: spreading loss, chances of sight and of none, and their excess losses."""

    spreading: Array
    sight: Array
    none: Array  # 1 − sight, but exact where sight is nearly certain
    los_loss: Array
    nlos_loss: Array

    @_to_infinity
    def mean_loss(self) -> Array:
        """Path loss averaged over sight: what plans use."""
        return self.spreading * (self.sight * self.los_loss + self.none * self.nlos_loss)


@_to_infinity
def paths(server_m: ArrayLike, device_m: ArrayLike, radio: Radio) -> Paths:
    """The parts of every link; `server_m` (…, 3) against `device_m` (N, 3) gives (…, N)."""
    device = floats(device_m).reshape(-1, 3)
    server = floats(server_m)[..., None, :]
    step = server - device
    run_sq = step[..., 0] ** 2 + step[..., 1] ** 2
    true_distance = np.sqrt(run_sq + step[..., 2] ** 2)
    theta = elevation_of(step[..., 2], np.sqrt(run_sq))
    wavenumber = 4 * np.pi * radio.carrier_hz / LIGHT_M_PER_S
    reach = wavenumber * np.maximum(true_distance, radio.min_distance_m)
    airborne = is_air_to_air(server, device)
    ground, air = radio.a2g, radio.a2a

    def pick(a2a: Array | float, a2g: Array | float) -> Array:
        return np.where(airborne, a2a, a2g)

    if not airborne.any():
        spreading, blocked = _power(reach, ground.exponent), _blocked(theta, ground)
    elif airborne.all():
        spreading, blocked = _power(reach, air.exponent), _blocked(theta, air)
    else:
        spreading = pick(_power(reach, air.exponent), _power(reach, ground.exponent))
        blocked = pick(_blocked(theta, air), _blocked(theta, ground))
    return Paths(
        spreading * decibels(radio.margin_db),
        1.0 / (1.0 + blocked),
        1.0 / (1.0 + 1.0 / blocked),
        pick(decibels(air.los_loss_db), decibels(ground.los_loss_db)),
        pick(decibels(air.nlos_loss_db), decibels(ground.nlos_loss_db)),
    )


def _power(base: Array, exponent: float) -> Array:
    return base * base if exponent == 2.0 else base**exponent


def path_loss(server_m: ArrayLike, device_m: ArrayLike, radio: Radio) -> Array:
    """Mean path loss (a ratio) of every link, with the planning margin.

    Positions (…, 3) and devices (N, 3) give (…, N). Large products are computed in blocks, so that
    memory is little more than the result's.
    """
    server = floats(server_m)
    device = floats(device_m).reshape(-1, 3)
    flat = server.reshape(-1, 3)
    result = np.empty((len(flat), len(device)))
    for rows, columns in _blocks(*result.shape):
        result[rows, columns] = paths(flat[rows], device[columns], radio).mean_loss()
    return result.reshape(*server.shape[:-1], len(device))


def _blocks(rows: int, columns: int) -> Iterator[tuple[slice, slice]]:
    width = min(columns, _BLOCK) or 1
    height = max(1, _BLOCK // width)
    for top in range(0, rows, height):
        for left in range(0, columns, width):
            yield slice(top, top + height), slice(left, left + width)


class ChannelDraws(NamedTuple):
    """One round's chance for each device: a uniform for sight, a normal for shadow.

    Drawn before the server's position is known, so that every method meets the same luck.
    """

    sight: Array
    shadow: Array


def draw_channel(draw: np.random.Generator, devices: int) -> ChannelDraws:
    """The luck of `devices` devices in one round."""
    return ChannelDraws(draw.uniform(0.0, 1.0, devices), draw.standard_normal(devices))


def drawn_path_loss(links: Paths, luck: ChannelDraws, fading: Fading) -> Array:
    """Path loss as it turns out: in sight or not, times log-normal shadow of mean 1.

    Its expectation is the mean path loss that plans use.
    """
    in_sight = luck.sight < links.sight
    neper = np.log(10.0) / 10.0
    sigma = neper * np.where(in_sight, fading.los_shadow_db, fading.nlos_shadow_db)
    shadow = np.exp(sigma * luck.shadow - sigma**2 / 2)
    return links.spreading * np.where(in_sight, links.los_loss, links.nlos_loss) * shadow


@_to_infinity
def snr(power_w: ArrayLike, loss: ArrayLike, noise: ArrayLike) -> Array:
    """Signal-to-noise ratio."""
    return floats(power_w) / (floats(noise) * floats(loss))


def rate(snr_: ArrayLike, bandwidth_hz: ArrayLike, model: RateModel = "shannon") -> Array:
    """Bits per second: Shannon's, or with the paper's approximant of the logarithm."""
    x = floats(snr_)
    nats = np.log1p(x) if model == "shannon" else pade_log1p(x)
    return floats(bandwidth_hz) * nats / np.log(2.0)


def pade_log1p(x: ArrayLike) -> Array:
    """x(6 + x)/(6 + 4x), the paper's stand-in for log(1 + x): close near 0, x/4 far out."""
    x = floats(x)
    return x * ((6 + x) / (6 + 4 * x))


def delay(payload_bits: ArrayLike, rate_bits_per_s: ArrayLike) -> Array:
    """Seconds to send a payload: 0 for none, infinite at rate 0."""
    payload, speed = np.broadcast_arrays(floats(payload_bits), floats(rate_bits_per_s))
    endless = np.where(payload > 0, np.inf, 0.0)
    return np.divide(payload, speed, out=endless, where=(speed > 0) & (payload > 0))


@_to_infinity
def least_snr(nats: ArrayLike, model: RateModel = "shannon") -> Array:
    """The least SNR that carries `nats` nats per symbol: the inverse of `rate`."""
    y = floats(nats)
    if model == "shannon":
        return np.expm1(y)
    # x² + (6 − 4y)x − 6y = 0, its positive root without cancellation on either side
    half = 2 * y - 3
    root = np.hypot(half, np.sqrt(6 * y))
    return np.where(half > 0, half + root, 6 * y / np.where(half > 0, 1.0, root - half))


@_to_infinity
def least_power(
    loss: ArrayLike,
    payload_bits: ArrayLike,
    bandwidth_hz: ArrayLike,
    noise: ArrayLike,
    max_delay_s: float,
    model: RateModel = "shannon",
) -> Array:
    """The least transmit power that meets the delay; 0 for no payload, may exceed any limit."""
    nats = floats(payload_bits) * np.log(2.0) / (floats(bandwidth_hz) * max_delay_s)
    needed = floats(noise) * least_snr(nats, model) * floats(loss)
    return np.where(floats(payload_bits) > 0, needed, 0.0)
