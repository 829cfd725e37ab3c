"""The power that each device of a fleet needs to report in time, and which devices have it."""

from __future__ import annotations

from numpy.typing import ArrayLike

from scdn.arrays import Array, Mask
from scdn.scenario import Scenario
from scdn.world import transmission
from scdn.world.fleet import Fleet
from scdn.world.path_loss import path_loss


def required_power(scenario: Scenario, fleet: Fleet, server_m: ArrayLike) -> Array:
    """Return the least power that reports in time to server positions (…, 3): (…, N)."""
    radio = scenario.radio
    bandwidth = fleet.bandwidth_or(radio.bandwidth_hz)
    return transmission.least_power(
        path_loss(server_m, fleet.position_m, radio),
        fleet.payload_bits,
        bandwidth,
        transmission.noise_w(radio, bandwidth),
        scenario.max_delay_s,
        radio.rate_model,
    )


def in_reach(scenario: Scenario, fleet: Fleet, server_m: ArrayLike) -> Mask:
    """Return whether each device's transmit limit suffices."""
    return required_power(scenario, fleet, server_m) <= fleet.max_power_w
