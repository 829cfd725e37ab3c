"""Who is in reach of a server position at full power."""

from __future__ import annotations

from numpy.typing import ArrayLike

from scdn.arrays import Array, Mask
from scdn.scenario.model import Scenario
from scdn.world import channel
from scdn.world.fleet import Fleet


def least_power(scenario: Scenario, fleet: Fleet, server_m: ArrayLike) -> Array:
    """The power each device needs to report in time to positions (…, 3): (…, N)."""
    radio = scenario.radio
    bandwidth = fleet.bandwidth_or(radio.bandwidth_hz)
    return channel.least_power(
        channel.path_loss(server_m, fleet.position_m, radio),
        fleet.payload_bits,
        bandwidth,
        channel.noise_w(radio, bandwidth),
        scenario.max_delay_s,
        radio.rate_model,
    )


def in_reach(scenario: Scenario, fleet: Fleet, server_m: ArrayLike) -> Mask:
    """Whether each device's transmit limit is enough."""
    return least_power(scenario, fleet, server_m) <= fleet.max_power_w
