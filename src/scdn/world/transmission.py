"""From path loss to rate, delay and the least transmit power."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, floats
from scdn.scenario import Radio, RateModel
from scdn.world.decibels import db_to_ratio

# Absurd payloads make rates and powers infinite, as they should be.
_to_infinity = np.errstate(over="ignore", divide="ignore", invalid="ignore")


def noise_w(radio: Radio, bandwidth_hz: ArrayLike) -> Array:
    """Return the noise power over a bandwidth, σ² = N_0·B, as it counts for the rate.

    The receiver's noise figure adds to it. A code's gap to Shannon's limit acts as more noise too.
    """
    density = db_to_ratio(radio.noise_dbm_per_hz) * 1e-3
    beyond_thermal = db_to_ratio(radio.noise_figure_db) * db_to_ratio(radio.snr_gap_db)
    return density * beyond_thermal * floats(bandwidth_hz)


@_to_infinity
def snr(power_w: ArrayLike, loss: ArrayLike, noise: ArrayLike) -> Array:
    """Return the signal-to-noise ratio."""
    return floats(power_w) / (floats(noise) * floats(loss))


def rate(snr: ArrayLike, bandwidth_hz: ArrayLike, model: RateModel = "shannon") -> Array:
    """Return the rate in bits per second, by Shannon or with the paper's Padé approximant."""
    x = floats(snr)
    nats = np.log1p(x) if model == "shannon" else pade_log1p(x)
    return floats(bandwidth_hz) * nats / np.log(2.0)


def pade_log1p(x: ArrayLike) -> Array:
    """Return x(6 + x)/(6 + 4x), the paper's approximant of log(1 + x): good near 0, x/4 far out."""
    x = floats(x)
    return x * ((6 + x) / (6 + 4 * x))


def delay(payload_bits: ArrayLike, rate_bits_per_s: ArrayLike) -> Array:
    """Return the seconds to send a payload: 0 without one, infinite at rate 0."""
    payload, speed = np.broadcast_arrays(floats(payload_bits), floats(rate_bits_per_s))
    endless = np.where(payload > 0, np.inf, 0.0)
    return np.divide(payload, speed, out=endless, where=(speed > 0) & (payload > 0))


@_to_infinity
def least_snr(nats: ArrayLike, model: RateModel = "shannon") -> Array:
    """Return the least SNR that carries `nats` nats per symbol: the inverse of `rate`."""
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
    """Return the least power that meets the delay; 0 without a payload, may exceed any limit."""
    nats = floats(payload_bits) * np.log(2.0) / (floats(bandwidth_hz) * max_delay_s)
    needed = floats(noise) * least_snr(nats, model) * floats(loss)
    return np.where(floats(payload_bits) > 0, needed, 0.0)
