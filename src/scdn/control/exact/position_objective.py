"""The round's objective as a function of the server's position, ready to be bounded over boxes.

Devices become rows of numbers; those that are never worth it, or cost nothing to hear from
anywhere, become part of a constant. The arithmetic is in `bounds_numba` and, the same in plain
NumPy, in `bounds_numpy`.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scdn.arrays import Array, IntArray, Mask
from scdn.control.exact.closed_form import DeviceCosts, device_costs
from scdn.control.problem import TOLERANCE, RoundProblem
from scdn.scenario import Link, Radio
from scdn.world.path_loss import LIGHT_M_PER_S, db_to_ratio

Backend = Literal["auto", "numba", "numpy"]

_THREADS = 2
_SHARED = 30_000  # device-box pairs from which a second thread pays


class Boxes(NamedTuple):
    """Boxes of positions, one per row, and what is known of them."""

    centre: Array
    width: Array  # half of each side
    alive: NDArray[np.uint64]  # a bit for each device that is not yet decided off
    floor: Array  # below the objective anywhere in the box
    value: Array  # the objective at the centre
    split: IntArray  # the axis to halve

    def take(self, which: Any) -> Boxes:
        """Some of the rows."""
        return Boxes(*(column[which] for column in self))

    def joined(self, more: Boxes) -> Boxes:
        """These rows, then those."""
        return Boxes(*(np.concatenate(pair) for pair in zip(self, more, strict=True)))


@dataclass(frozen=True, eq=False)
class PositionObjective:
    """The objective less `constant`, as a function of the position."""

    problem: RoundProblem
    constant: float
    devices: Array  # rows as in bounds_layout
    links: Array  # air to ground, air to air
    move: Array
    min_sq: float
    rounding: float  # relative error allowed for in every bound
    backend: ModuleType

    def value(self, place: Array) -> float:
        """The objective at a position, less the constant."""
        x, y, z = place.tolist()
        saved = self.backend.value_at(x, y, z, self.devices, self.links, self.min_sq)
        return float(self.backend.movement(x, y, z, self.move) - saved)

    def barrier(self, place: Array, on: Mask, mu: float) -> tuple[float, Array]:
        """Cost and gradient of keeping some devices in reach (see `polish`)."""
        gradient = np.zeros(3)
        cost = self.backend.barrier(
            place, on, mu, self.devices, self.links, self.move, self.min_sq, gradient
        )
        return float(cost), gradient

    def barrier_slopes(
        self, place: Array, shifts: Array, on: Mask, mu: float, gradient: Array
    ) -> Array:
        """How that gradient changes along the axes that have a shift: a column for each axis."""
        slopes = np.zeros((3, 3))
        self.backend.barrier_slopes(
            place, shifts, on, mu, self.devices, self.links, self.move, self.min_sq,
            gradient, slopes,
        )  # fmt: skip
        return slopes

    def on(self, place: Array) -> Mask:
        """Which devices are active at a position."""
        x, y, z = place.tolist()
        on = np.zeros(len(self.devices), dtype=np.bool_)
        self.backend.active_at(x, y, z, self.devices, self.links, self.min_sq, on)
        return on

    def bound(self, centre: Array, width: Array, alive: NDArray[np.uint64] | None = None) -> Boxes:
        """Boxes with their bounds."""
        count = len(centre)
        if alive is None:
            alive = np.full((count, _words(self.devices)), ~np.uint64(0))
        centre, width = np.ascontiguousarray(centre), np.ascontiguousarray(width)
        floor, value = np.empty(count), np.empty(count)
        split, left = np.empty(count, dtype=np.int64), np.empty_like(alive)

        def share(first: int, last: int) -> None:
            self.backend.bound_boxes(
                centre, width, alive, first, last, self.devices, self.links, self.move,
                self.min_sq, self.rounding, floor, value, split, left,
            )  # fmt: skip

        if count * len(self.devices) < _SHARED or not self.backend.RELEASES_GIL:
            share(0, count)
        else:
            cuts = np.linspace(0, count, _THREADS + 1).astype(int)
            with ThreadPoolExecutor(_THREADS) as threads:
                list(threads.map(share, cuts[:-1], cuts[1:]))
        floor[np.isnan(floor)] = -np.inf  # ∞ − ∞: nothing is known
        return Boxes(centre, width, left, floor, value, split)

    def halves(self, boxes: Boxes) -> Boxes:
        """Every box cut in two across its split axis."""
        across = np.arange(len(boxes.floor)), boxes.split
        width, shift = boxes.width.copy(), np.zeros(boxes.width.shape)
        shift[across] = width[across] = width[across] / 2
        children = self.bound(
            np.concatenate([boxes.centre - shift, boxes.centre + shift]),
            np.concatenate([width, width]),
            np.concatenate([boxes.alive, boxes.alive]),
        )
        parents = np.concatenate([boxes.floor, boxes.floor])
        return children._replace(floor=np.maximum(children.floor, parents))


def _words(devices: Array) -> int:
    return (len(devices) + 63) // 64


def no_boxes(surface: PositionObjective) -> Boxes:
    """An empty list of boxes."""
    return surface.bound(np.zeros((0, 3)), np.zeros((0, 3)))


def position_objective(
    problem: RoundProblem, found: DeviceCosts, backend: Backend = "auto"
) -> PositionObjective:
    """The problem's objective over positions."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        worth_it = np.where(found.price > 0, found.gain / found.price, np.inf)
    # a delay up to the tolerance over its limit needs this much less power, and a bit
    nats = problem.payload_bits / problem.bandwidth_hz * (math.log(2) / problem.max_delay_s)
    wide_reach = found.reach * (1 + 2 * TOLERANCE * (nats + 2))
    cutoff = np.minimum(worth_it, found.reach)
    worth = (found.gain > 0) & (cutoff > 0)
    free = worth & np.isinf(cutoff)  # heard from anywhere, at no cost
    counted = worth & ~free
    columns = (found.price, found.gain, found.reach, cutoff, wide_reach)
    wide_cutoff = np.minimum(worth_it, wide_reach)
    rows = np.stack([*problem.position_m.T, *columns, wide_cutoff], axis=1)
    devices = np.ascontiguousarray(rows[counted])
    links = np.array(
        [_link_row(link, problem.radio) for link in (problem.radio.a2g, problem.radio.a2a)]
    )
    return PositionObjective(
        problem=problem,
        constant=float(found.off.sum() - found.gain[free].sum()),
        devices=devices,
        links=links,
        move=_move_row(problem),
        min_sq=problem.radio.min_distance_m**2,
        rounding=_rounding(problem, len(devices)),
        backend=_module(backend),
    )


def objective_at(problem: RoundProblem, places: Array) -> Array:
    """The best objective with the server at positions (…, 3); NaN where it may not be."""
    surface = position_objective(problem, device_costs(problem))
    flat = np.ascontiguousarray(places.reshape(-1, 3))
    value = surface.constant + surface.bound(flat, np.zeros_like(flat)).value
    return np.where(problem.allowed(places), value.reshape(places.shape[:-1]), np.nan)


def _link_row(link: Link, radio: Radio) -> list[float]:
    wavenumber = 4 * np.pi * radio.carrier_hz / LIGHT_M_PER_S
    los, nlos = db_to_ratio(link.los_loss_db), db_to_ratio(link.nlos_loss_db)
    with np.errstate(over="ignore"):
        scale = float(np.power(wavenumber, link.exponent) * db_to_ratio(radio.margin_db))
    return [scale, link.exponent, link.los_scale, link.los_slope, nlos, los]


def _move_row(problem: RoundProblem) -> Array:
    move, weight = problem.movement, problem.weights.movement
    return np.array(
        [
            *problem.server_m,
            weight * move.hover_j,
            move.altitude_scale_m,
            weight * move.climb_j,
            problem.ceiling_m,
            weight * move.lateral_j_per_m,
        ]
    )


def _rounding(problem: RoundProblem, devices: int) -> float:
    """How far floating point may be off, relative to the sum of all magnitudes.

    A term takes a few dozen operations, each good to half a unit in the last place; exponentials
    and powers multiply an error by their argument; and a plain sum of n terms adds n of them.
    """
    links = (problem.radio.a2g, problem.radio.a2a)
    steepest = max(link.los_slope * (90 + link.los_scale) + 100 * link.exponent for link in links)
    return float(np.finfo(np.float64).eps * (200 + 4 * steepest + devices))


def _module(backend: Backend) -> ModuleType:
    if backend != "numpy":
        try:
            from scdn.control.exact import bounds_numba

            return bounds_numba
        except ImportError:
            if backend == "numba":
                raise
    from scdn.control.exact import bounds_numpy

    return bounds_numpy
