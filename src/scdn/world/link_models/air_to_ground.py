"""The paper's links: air-to-air where both ends are above the ground, else air-to-ground.

The loss is (4π·f·d/c)^α·[P_LoS·η^LoS + P_NLoS·η^NLoS], with line of sight the likelier the higher
the server stands above the device's horizon.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, Mask, floats
from scdn.scenario import Link, Radio
from scdn.world.decibels import db_to_ratio
from scdn.world.geometry import elevation_deg
from scdn.world.intervals import Interval, cosine
from scdn.world.line_of_sight import LosProbability, los_probability
from scdn.world.link_models.link_model import (
    BoxDistances,
    LinkLosses,
    LinkModel,
    LossBounds,
    PowerLaw,
    is_air_to_air,
    to_infinity,
    wavenumber,
)

DEGREES = 180.0 / math.pi


class AirToGround(LinkModel):
    """Air-to-ground and air-to-air links by the probability of line of sight (Al-Hourani 2014)."""

    name = "air-to-ground"
    compiled = "scdn.world.link_models.air_to_ground_numba"

    @to_infinity
    def losses(self, server_m: ArrayLike, device_m: ArrayLike) -> LinkLosses:
        """Return the factors of every link's loss."""
        radio = self.radio
        device = floats(device_m).reshape(-1, 3)
        server = floats(server_m)[..., None, :]
        step = server - device
        run_sq = step[..., 0] ** 2 + step[..., 1] ** 2
        distance = np.sqrt(run_sq + step[..., 2] ** 2)
        elevation = elevation_deg(step[..., 2], np.sqrt(run_sq))
        base = wavenumber(radio) * np.maximum(distance, radio.min_distance_m)
        airborne = is_air_to_air(server, device)
        ground, air = radio.a2g, radio.a2a

        def pick(a2a: Array | float, a2g: Array | float) -> Array:
            return np.where(airborne, a2a, a2g)

        if not airborne.any():
            spreading = _power(base, ground.exponent)
        elif airborne.all():
            spreading = _power(base, air.exponent)
        else:
            spreading = pick(_power(base, air.exponent), _power(base, ground.exponent))
        sight = los_probability(
            elevation, pick(air.los_scale, ground.los_scale), pick(air.los_slope, ground.los_slope)
        )
        return LinkLosses(
            spreading * db_to_ratio(radio.margin_db),
            sight.los,
            sight.nlos,
            pick(db_to_ratio(air.los_loss_db), db_to_ratio(ground.los_loss_db)),
            pick(db_to_ratio(air.nlos_loss_db), db_to_ratio(ground.nlos_loss_db)),
        )

    def constants(self) -> Array:
        """Return a row of numbers for either kind of link."""
        return np.array([_link_row(link, self.radio) for link in (self.radio.a2g, self.radio.a2a)])

    def rounding(self) -> float:
        """Exponentials and powers multiply an error by their argument."""
        links = (self.radio.a2g, self.radio.a2a)
        return 4 * max(
            link.los_slope * (90 + link.los_scale) + 100 * link.exponent for link in links
        )

    @to_infinity
    def bounds(self, centre: Array, half_width: Array, device_m: Array) -> LossBounds:
        """Bound the losses by distances and elevations at their extremes in each box."""
        link = _LinkColumns(self.constants(), device_m, centre[:, 2:] > 0)
        box = BoxDistances.between(centre, half_width, device_m)
        near_sq, far_sq = box.near_sq, box.far_sq
        run_near_sq = near_sq[..., 0] + near_sq[..., 1]
        run_far_sq = far_sq[..., 0] + far_sq[..., 1]
        run = Interval(np.sqrt(run_near_sq), np.sqrt(run_far_sq))
        rise = Interval(np.sqrt(near_sq[..., 2]), np.sqrt(far_sq[..., 2]))
        true_near_sq = run_near_sq + near_sq[..., 2]
        distance_near_sq = np.maximum(true_near_sq, link.min_distance_sq)
        distance_far_sq = np.maximum(run_far_sq + far_sq[..., 2], link.min_distance_sq)
        power_near, power_far = map(link.distance_power, (distance_near_sq, distance_far_sq))
        steepest = link.los_probability(rise.high, run.low)
        flattest = link.los_probability(rise.low, run.high)
        excess = Interval.spanned_by(link.excess(steepest), link.excess(flattest))

        loss = self._loss_at(centre, device_m, link)
        low = link.spreading * power_near * excess.low
        high = link.spreading * power_far * excess.high
        per_sq = Interval.spanned_by(power_near / distance_near_sq, power_far / distance_far_sq)
        by_distance = Interval(
            link.exponent * excess.low * per_sq.low, link.exponent * excess.high * per_sq.high
        )
        variance = Interval.spanned_by(flattest.los * flattest.nlos, steepest.los * steepest.nlos)
        passes_half = (flattest.los < 0.5) & (steepest.los > 0.5)
        turn = np.abs(link.nlos_loss - link.los_loss) * link.los_slope * DEGREES
        by_angle = Interval(
            turn * variance.low * per_sq.low,
            turn * np.where(passes_half, 0.25, variance.high) * per_sq.high,
        )
        gradient = _gradient_range(link, box, by_distance, by_angle, run, rise)
        spread = np.sum(np.maximum(-gradient.low, gradient.high) * half_width[:, None, :], axis=2)
        smooth = true_near_sq >= link.min_distance_sq
        within = Interval(low, high).around(loss, spread, smooth)
        return LossBounds(loss, within, gradient, smooth)

    @staticmethod
    def _loss_at(centre: Array, device_m: Array, link: _LinkColumns) -> Array:
        step = centre[:, None, :] - device_m[None, :, :3]
        run_sq = step[..., 0] ** 2 + step[..., 1] ** 2
        distance_sq = np.maximum(run_sq + step[..., 2] ** 2, link.min_distance_sq)
        probability = link.los_probability(np.abs(step[..., 2]), np.sqrt(run_sq))
        return link.spreading * link.distance_power(distance_sq) * link.excess(probability)

    @to_infinity
    def gradient(self, server_m: Array, device_m: Array) -> tuple[Array, Array]:
        """Return losses and gradients at a position."""
        link = _LinkColumns(self.constants(), device_m, np.array(server_m[2] > 0))
        dx, dy, dz = (server_m - device_m).T
        run_sq, rise = dx * dx + dy * dy, np.abs(dz)
        run, true_sq = np.sqrt(run_sq), run_sq + rise * rise
        distance_sq = np.maximum(true_sq, link.min_distance_sq)
        probability = link.los_probability(rise, run)
        spread = link.spreading * link.distance_power(distance_sq)
        excess = link.excess(probability)
        beyond = true_sq > link.min_distance_sq
        by_distance = np.where(beyond, link.exponent * excess * spread / distance_sq, 0.0)
        by_angle = (link.nlos_loss - link.los_loss) * link.los_slope * DEGREES
        by_angle = by_angle * probability.los * probability.nlos * spread
        by_angle = np.divide(by_angle, true_sq, out=np.zeros_like(spread), where=true_sq > 0)
        turning = np.divide(by_angle * rise, run, out=np.zeros_like(run), where=run > 0)
        sideways = np.where(run > 0, by_distance + turning, 0.0)
        upwards = by_distance * dz - by_angle * run * np.sign(dz)
        return spread * excess, np.stack([sideways * dx, sideways * dy, upwards], axis=-1)

    def reach_m(self, max_loss: float, device_m: Array, directions: Array) -> Array:
        """Return the reach from the loss at one distance, as the rest is a power of the distance.

        The server is taken to be in flight, so a device in the air has air-to-air links.
        """
        flying = bool(device_m[2] > 0)
        probe = max(self.radio.min_distance_m, 1.0)
        device = np.array([[0.0, 0.0, probe if flying else 0.0]])
        loss = self.losses(device + probe * directions, device).mean_loss()[:, 0]
        exponent = (self.radio.a2a if flying else self.radio.a2g).exponent
        if exponent == 0:  # the loss does not depend on the distance
            return np.where(loss <= max_loss, np.inf, 0.0)
        return np.asarray(probe * np.power(max_loss / loss, 1.0 / exponent))

    def power_law(self, server_m: Array, device_m: Array) -> PowerLaw:  # noqa: ARG002
        """Return the loss itself: the server is in flight, so devices in the air are air-to-air."""
        radio = self.radio
        airborne = device_m[:, 2] > 0

        def pick(name: str) -> Array:
            return np.where(airborne, getattr(radio.a2a, name), getattr(radio.a2g, name))

        exponent = pick("exponent")
        return PowerLaw(
            wavenumber(radio) ** exponent * db_to_ratio(radio.margin_db),
            exponent,
            pick("los_scale"),
            pick("los_slope"),
            10 ** (pick("los_loss_db") / 10),
            10 ** (pick("nlos_loss_db") / 10),
        )


def _power(base: Array, exponent: float) -> Array:
    return base * base if exponent == 2.0 else base**exponent


def _link_row(link: Link, radio: Radio) -> list[float]:
    los, nlos = db_to_ratio(link.los_loss_db), db_to_ratio(link.nlos_loss_db)
    with np.errstate(over="ignore"):
        scale = float(np.power(wavenumber(radio), link.exponent) * db_to_ratio(radio.margin_db))
    sigmoid = (link.los_scale, link.los_slope)
    return [scale, link.exponent, *sigmoid, nlos, los, radio.min_distance_m**2]


class _LinkColumns:
    """The constants that hold for each device, with the server in the air or on the ground."""

    def __init__(self, rows: Array, device_m: Array, airborne: Mask) -> None:
        air = airborne & (device_m[:, 2] > 0)
        columns = [np.where(air, a2a, a2g) for a2g, a2a in zip(*rows, strict=True)]
        self.spreading, self.exponent, self.los_scale, self.los_slope = columns[:4]
        self.nlos_loss, self.los_loss, self.min_distance_sq = columns[4:]

    def los_probability(self, rise: Array, run: Array) -> LosProbability:
        """Return P_LoS and P_NLoS of links with a height difference and a horizontal distance."""
        return los_probability(np.arctan2(rise, run) * DEGREES, self.los_scale, self.los_slope)

    def excess(self, probability: LosProbability) -> Array:
        """Return the mean excess loss h."""
        return self.los_loss * probability.los + self.nlos_loss * probability.nlos

    def distance_power(self, distance_sq: Array) -> Array:
        """Return d^α from d²."""
        power = np.power(distance_sq, 0.5 * self.exponent)
        return np.where(self.exponent == 2.0, distance_sq, power)


def _gradient_range(
    link: _LinkColumns,
    box: BoxDistances,
    by_distance: Interval,
    by_angle: Interval,
    run: Interval,
    rise: Interval,
) -> Interval:
    """Return the range of the path loss's gradient: its part by distance, and by elevation."""
    rises = link.nlos_loss < link.los_loss  # the loss rises with the elevation: unusual
    sideways = Interval(by_angle.low * rise.low, by_angle.high * rise.high)
    least, most = by_angle.low * run.low, by_angle.high * run.high
    x, y, z = (Interval(box.offset.low[..., axis], box.offset.high[..., axis]) for axis in range(3))
    above, below = z.low >= 0, z.high <= 0
    low = np.where(above, -most, np.where(below, least, -most))
    turning = (
        cosine(x, box.near_sq[..., 1], box.far_sq[..., 1]).negated(rises).times(sideways),
        cosine(y, box.near_sq[..., 0], box.far_sq[..., 0]).negated(rises).times(sideways),
        Interval(low, np.where(above, -least, most)).negated(rises),
    )
    lows, highs = [], []
    for step, turn in zip((x, y, z), turning, strict=True):
        total = step.times(by_distance).plus(turn)
        lows.append(link.spreading * total.low)
        highs.append(link.spreading * total.high)
    return Interval(np.stack(lows, axis=2), np.stack(highs, axis=2))
