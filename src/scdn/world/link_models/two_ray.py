"""Two rays: along the line of sight, and off the ground.

Near by, the loss is that of free space. Beyond the distance where the reflected ray begins to
cancel the direct one, 4π·h_s·h_d/λ, it is d⁴/(h_s·h_d)², with the antennas' heights above the
ground (Rappaport, Wireless Communications, section 4.6). The two are equal there, and the loss is
always the greater of both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, floats
from scdn.scenario import Radio
from scdn.scenario.round_settings import TwoRay
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


class TwoRayLink(LinkModel):
    """A loss of max((k·d)², d⁴/(h_s·h_d)²), with k = 4π·f/c."""

    name = "two-ray"
    compiled = "scdn.world.link_models.two_ray_numba"

    def __init__(self, radio: Radio) -> None:
        super().__init__(radio)
        self.antenna_m = (radio.two_ray or TwoRay()).antenna_m
        self.margin = db_to_ratio(radio.margin_db)
        self.free_space = wavenumber(radio) ** 2 * self.margin  # per square metre

    @to_infinity
    def losses(self, server_m: ArrayLike, device_m: ArrayLike) -> LinkLosses:
        """Return the factors of every link's loss; there is always line of sight."""
        device = floats(device_m).reshape(-1, 3)
        loss = self._loss_at(floats(server_m)[..., None, :], device)
        ones = np.ones_like(loss)
        return LinkLosses(loss, ones, 0.0 * ones, ones, ones)

    def _loss_at(self, server: Array, device: Array) -> Array:
        square = np.maximum(((server - device) ** 2).sum(axis=-1), self.radio.min_distance_m**2)
        heights = (server[..., 2] + self.antenna_m) * (device[..., 2] + self.antenna_m)
        return np.maximum(self.free_space * square, self.margin * (square / heights) ** 2)

    def constants(self) -> Array:
        """Return the numbers that the compiled bounds need."""
        least_sq = self.radio.min_distance_m**2
        return np.array([self.free_space, self.margin, self.antenna_m, least_sq])

    @to_infinity
    def bounds(self, centre: Array, half_width: Array, device_m: Array) -> LossBounds:
        """Bound both rays; where either may be the greater, the gradient is in their hull."""
        box, least = (
            BoxDistances.between(centre, half_width, device_m),
            self.radio.min_distance_m**2,
        )
        true_near, far_sq = box.square
        near_sq = np.maximum(true_near, least)
        far_sq = np.maximum(far_sq, least)
        up = (centre[:, None, 2], half_width[:, None, 2])
        server_height = Interval(up[0] - up[1], up[0] + up[1]).plus_number(self.antenna_m)
        device_height = device_m[None, :, 2] + self.antenna_m
        heights = Interval(server_height.low * device_height, server_height.high * device_height)

        free = Interval(self.free_space * near_sq, self.free_space * far_sq)
        reflected = Interval(
            self.margin * (near_sq / heights.high) ** 2, self.margin * (far_sq / heights.low) ** 2
        )
        along = Interval(
            4 * self.margin * near_sq / heights.high**2, 4 * self.margin * far_sq / heights.low**2
        )
        lifting = Interval(
            2 * reflected.low / server_height.high, 2 * reflected.high / server_height.low
        )
        by_reflection = box.offset.times(along.with_axes())
        by_reflection.low[..., 2] -= lifting.high
        by_reflection.high[..., 2] -= lifting.low
        slope = np.full((*near_sq.shape, 1), 2 * self.free_space)
        by_free_space = box.offset.times(Interval(slope, slope))

        only_free = self.free_space * heights.low**2 >= self.margin * far_sq
        only_reflected = self.free_space * heights.high**2 <= self.margin * near_sq
        gradient = by_free_space.hull(by_reflection)
        gradient = by_free_space.where(only_free[..., None], gradient)
        gradient = by_reflection.where(only_reflected[..., None], gradient)
        loss = self._loss_at(centre[:, None, :], device_m[None, :, :3])
        within = Interval(
            np.maximum(free.low, reflected.low), np.maximum(free.high, reflected.high)
        )
        spread = np.sum(np.maximum(-gradient.low, gradient.high) * half_width[:, None, :], axis=2)
        smooth = true_near >= least
        return LossBounds(loss, within.around(loss, spread, smooth), gradient, smooth)

    def power_law(self, server_m: Array, device_m: Array) -> PowerLaw:
        """Return the ray that is the greater with the server where it stands."""
        square = ((server_m - device_m) ** 2).sum(axis=-1)
        heights = (server_m[2] + self.antenna_m) * (device_m[:, 2] + self.antenna_m)
        reflected = self.margin * square > self.free_space * heights**2
        ones = np.ones(len(device_m))
        return PowerLaw(
            np.where(reflected, self.margin / heights**2, self.free_space),
            np.where(reflected, 4.0, 2.0),
            0 * ones,
            0 * ones,
            ones,
            ones,
        )
