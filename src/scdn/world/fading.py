"""The path loss of one round as drawn around its mean: line of sight and shadowing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scdn.arrays import Array
from scdn.scenario import Fading
from scdn.world.link_models import LinkLosses


class ChannelDraws(NamedTuple):
    """One round's random numbers, one per device.

    They are drawn before the server's position is known, so that every method meets the same ones.
    """

    los_uniform: Array  # in line of sight where it is below the probability
    shadow_normal: Array


def draw_channel(draw: np.random.Generator, devices: int) -> ChannelDraws:
    """Draw the random numbers of one round."""
    return ChannelDraws(draw.uniform(0.0, 1.0, devices), draw.standard_normal(devices))


def drawn_path_loss(links: LinkLosses, draws: ChannelDraws, fading: Fading) -> Array:
    """Return the path loss with or without line of sight, times log-normal shadowing of mean 1.

    Its expectation is the mean path loss that plans use.
    """
    in_sight = draws.los_uniform < links.los_probability
    neper = np.log(10.0) / 10.0
    sigma = neper * np.where(in_sight, fading.los_shadow_db, fading.nlos_shadow_db)
    shadow = np.exp(sigma * draws.shadow_normal - sigma**2 / 2)
    return links.spreading * np.where(in_sight, links.los_loss, links.nlos_loss) * shadow
