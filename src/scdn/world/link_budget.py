"""The power that each device of a fleet needs to report in time, and which devices have it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, Mask
from scdn.scenario import Scenario
from scdn.world import transmission
from scdn.world.decibels import db_to_ratio
from scdn.world.fleet import Fleet
from scdn.world.link_models import path_loss


def required_power(scenario: Scenario, fleet: Fleet, server_m: ArrayLike) -> Array:
    """Return the least power that reports in time to server positions (…, 3): (…, N)."""
    radio = scenario.radio
    bandwidth = fleet.bandwidth_or(radio.bandwidth_hz)
    needed = transmission.least_power(
        path_loss(server_m, fleet.position_m, radio, fleet.wall_loss_db),
        fleet.payload_bits,
        bandwidth,
        transmission.noise_w(radio, bandwidth),
        scenario.report_limit_s,
        radio.rate_model,
    )
    return np.where(needed > 0, np.maximum(needed, fleet.min_power_w), 0.0)


def in_reach(scenario: Scenario, fleet: Fleet, server_m: ArrayLike) -> Mask:
    """Return whether each device's transmit limit suffices."""
    return required_power(scenario, fleet, server_m) <= fleet.max_power_w


def greatest_loss(scenario: Scenario, fleet: Fleet, limit_s: float) -> Array:
    """Return the path loss, walls aside, at which each device reports in a time at full power."""
    radio = scenario.radio
    bandwidth = fleet.bandwidth_or(radio.bandwidth_hz)
    per_loss = transmission.least_power(
        db_to_ratio(fleet.wall_loss_db),
        fleet.payload_bits,
        bandwidth,
        transmission.noise_w(radio, bandwidth),
        limit_s,
        radio.rate_model,
    )
    unlimited = np.full(len(fleet), np.inf)
    return np.divide(fleet.max_power_w, per_loss, out=unlimited, where=per_loss > 0)
