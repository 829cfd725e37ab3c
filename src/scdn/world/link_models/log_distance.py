"""Log-distance path loss: that of free space at a reference distance, then a power of the distance.

Nearer than the reference distance the loss stays that of the reference. Indoors ITU-R P.1238 gives
the exponent by kind of building and band; a device's own walls are in its `wall_loss_db`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, floats
from scdn.scenario import Radio
from scdn.scenario.round_settings import LogDistance
from scdn.world.decibels import db_to_ratio
from scdn.world.intervals import Interval
from scdn.world.link_models.link_model import (
    BoxDistances,
    LinkLosses,
    LinkModel,
    LossBounds,
    PowerLaw,
    to_infinity,
    wavenumber,
)


class LogDistanceLink(LinkModel):
    """A loss of coefficient·d^exponent."""

    name = "log-distance"
    compiled = "scdn.world.link_models.log_distance_numba"

    def __init__(self, radio: Radio) -> None:
        super().__init__(radio)
        settings = radio.log_distance or LogDistance()
        self.least_sq = max(radio.min_distance_m, settings.reference_m) ** 2
        self.exponent = settings.exponent
        at_reference = (wavenumber(radio) * settings.reference_m) ** 2
        with np.errstate(over="ignore"):
            per_power = np.power(settings.reference_m, -self.exponent)
            self.coefficient = float(at_reference * per_power * db_to_ratio(radio.margin_db))

    @to_infinity
    def losses(self, server_m: ArrayLike, device_m: ArrayLike) -> LinkLosses:
        """Return the factors of every link's loss; there is always line of sight."""
        step = floats(server_m)[..., None, :] - floats(device_m).reshape(-1, 3)
        square = np.maximum((step**2).sum(axis=-1), self.least_sq)
        ones = np.ones_like(square)
        return LinkLosses(self._loss(square), ones, 0.0 * ones, ones, ones)

    def constants(self) -> Array:
        """Return the coefficient, the exponent and the least squared distance."""
        return np.array([self.coefficient, self.exponent, self.least_sq])

    def rounding(self) -> float:
        """A power multiplies an error by its argument."""
        return 400 * self.exponent

    @to_infinity
    def bounds(self, centre: Array, half_width: Array, device_m: Array) -> LossBounds:
        """Bound the losses by the least and the greatest distance in each box."""
        box, least = BoxDistances.between(centre, half_width, device_m), self.least_sq
        near, far = box.square
        near_sq, far_sq = np.maximum(near, least), np.maximum(far, least)
        low, high = self._loss(near_sq), self._loss(far_sq)
        by_distance = Interval.spanned_by(low / near_sq, high / far_sq).scaled(self.exponent)
        gradient = box.offset.times(by_distance.with_axes())
        step = centre[:, None, :] - device_m[None, :, :3]
        loss = self._loss(np.maximum((step**2).sum(axis=-1), least))
        return LossBounds(loss, Interval(low, high), gradient, near >= least)

    def power_law(self, server_m: Array, device_m: Array) -> PowerLaw:  # noqa: ARG002
        """Return the loss itself."""
        ones = np.ones(len(device_m))
        law = (self.coefficient * ones, self.exponent * ones)
        return PowerLaw(*law, 0 * ones, 0 * ones, ones, ones)

    def _loss(self, square: Array) -> Array:
        return self.coefficient * np.power(square, 0.5 * self.exponent)
