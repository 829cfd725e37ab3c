"""What every link model gives: losses for the world, bounds for the solver, a power law for P′."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, Mask, floats
from scdn.scenario import Radio
from scdn.world.intervals import Interval

LIGHT_M_PER_S = 299_792_458.0
_FARTHEST_M = 1e6  # from which reach is looked for

# Absurd distances make losses infinite, as they should be.
to_infinity = np.errstate(over="ignore", divide="ignore", invalid="ignore")


class LinkLosses(NamedTuple):
    """The factors of every link's path loss."""

    spreading: Array  # such as (4π·f·d/c)^α, with the planning margin
    los_probability: Array
    nlos_probability: Array
    los_loss: Array  # η^LoS, the excess loss in line of sight
    nlos_loss: Array  # η^NLoS, the excess loss without it

    @to_infinity
    def mean_loss(self) -> Array:
        """Return the path loss averaged over line of sight, which plans use."""
        excess = self.los_probability * self.los_loss + self.nlos_probability * self.nlos_loss
        return self.spreading * excess


class LossBounds(NamedTuple):
    """The path loss of N devices while the server is anywhere in each of B boxes."""

    loss: Array  # (B, N) at the boxes' centres
    range: Interval  # (B, N)
    gradient: Interval  # (B, N, 3), by the server's position; any where not smooth
    smooth: Mask  # (B, N): whether the gradient is bounded by `gradient`


class PowerLaw(NamedTuple):
    """A loss of coefficient·d^exponent·(los_loss·P_LoS + nlos_loss·P_NLoS), for Algorithm 3."""

    coefficient: Array  # (N,), as are the others
    exponent: Array
    los_scale: Array
    los_slope: Array
    los_loss: Array
    nlos_loss: Array


class LinkModel(ABC):
    """The mean path loss between the server and a device, as a function of both positions.

    One is made from the radio's settings for each problem. `losses` is what the world uses, in
    plans and in rounds. The exact solver asks for `bounds` in boxes of server positions, thousands
    of times per plan, and for `gradient` where it improves a position; its proof holds as far as
    the bounds do. Algorithm 3 asks once per plan for a `power_law`.

    Walls of single devices are not a model's: they multiply its losses.

    Attributes
    ----------
    name
        The name that `radio.model` gives.
    compiled
        The module with the same bounds compiled, if there is one; see `compiled_link`.
    """

    name: ClassVar[str] = ""
    compiled: ClassVar[str | None] = None

    def __init__(self, radio: Radio) -> None:
        self.radio = radio

    @abstractmethod
    def losses(self, server_m: ArrayLike, device_m: ArrayLike) -> LinkLosses:
        """Return the factors for server positions (…, 3) and devices (N, 3), each as (…, N)."""

    @abstractmethod
    def bounds(self, centre: Array, half_width: Array, device_m: Array) -> LossBounds:
        """Bound the losses of devices (N, 3) in boxes with centres and half-widths (B, 3).

        A box is on the ground (its centre at z = 0, without height) or wholly above it.
        """

    @abstractmethod
    def power_law(self, server_m: Array, device_m: Array) -> PowerLaw:
        """Return a power law near the losses, with the server somewhere in flight."""

    def rounding(self) -> float:
        """Return how many units in the last place a loss or a bound may be off."""
        return 1000.0

    def constants(self) -> Array:
        """Return the numbers that the compiled bounds need."""
        return np.zeros(0)

    def gradient(self, server_m: Array, device_m: Array) -> tuple[Array, Array]:
        """Return the losses (N,) at a position, and their gradients (N, 3); 0 where not smooth."""
        bounds = self.bounds(server_m[None], np.zeros((1, 3)), device_m)
        middle = (bounds.gradient.low[0] + bounds.gradient.high[0]) / 2
        return bounds.loss[0], np.where(bounds.smooth[0][:, None], middle, 0.0)

    def reach_m(self, max_loss: float, device_m: Array, directions: Array) -> Array:
        """Return how far the loss stays below a limit, along directions (D, 3) upwards: (D,).

        Any loss that rises with the distance will do.
        """
        near, far = np.zeros(len(directions)), np.full(len(directions), _FARTHEST_M)
        for _ in range(60):
            middle = (near + far) / 2
            server = device_m + middle[:, None] * directions
            within = self.losses(server, device_m).mean_loss()[:, 0] <= max_loss
            near, far = np.where(within, middle, near), np.where(within, far, middle)
        return near


def is_air_to_air(server_m: ArrayLike, device_m: ArrayLike) -> Mask:
    """Return whether each link is air-to-air: both ends are above the ground."""
    server, device = floats(server_m), floats(device_m)
    return (server[..., 2] > 0) & (device[..., 2] > 0)


def wavenumber(radio: Radio) -> float:
    """Return 4π·f/c, whose product with a distance is the square root of its free-space loss."""
    return 4 * np.pi * radio.carrier_hz / LIGHT_M_PER_S


class BoxDistances(NamedTuple):
    """Offsets and distances between devices and boxes of server positions: (B, N) or (B, N, 3)."""

    offset: Interval  # server less device, by axis
    near_sq: Array  # least square of each axis's offset
    far_sq: Array  # greatest

    @classmethod
    def between(cls, centre: Array, half_width: Array, device_m: Array) -> BoxDistances:
        """Return those of boxes (B, 3) and devices (N, 3)."""
        step = centre[:, None, :] - device_m[None, :, :3]
        w = half_width[:, None, :]
        near, far = np.maximum(0.0, np.abs(step) - w), np.abs(step) + w
        return cls(Interval(step - w, step + w), near * near, far * far)

    @property
    def square(self) -> Interval:
        """Return the range of the squared distance."""
        near, far = self.near_sq, self.far_sq
        return Interval(
            near[..., 0] + near[..., 1] + near[..., 2], far[..., 0] + far[..., 1] + far[..., 2]
        )
