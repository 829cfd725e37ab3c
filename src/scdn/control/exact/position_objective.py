"""The round's objective as a function of the server's position alone, ready to be bounded.

Devices become rows of numbers; those that are never worth it, or cost nothing to hear from
anywhere, become part of a constant. The arithmetic is compiled, in `bounds_numba`. Where Numba does
not load, `bounds_numpy` takes its place; it is also what the tests compare the kernel with.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from scdn.arrays import Array, IntArray, Mask
from scdn.control.exact.array_columns import BEFORE
from scdn.control.exact.closed_form import DeviceCosts, device_costs
from scdn.control.exact.movement_rows import MovementRows
from scdn.control.problem import TOLERANCE, RoundProblem
from scdn.world.decibels import db_to_ratio
from scdn.world.link_models import LinkModel

Backend = Literal["auto", "numba", "numpy"]

_THREADS = 2
_SHARED = 30_000  # device-box pairs from which a second thread pays


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes of positions, one per row, with their bounds."""

    centre: Array
    half_width: Array
    alive: NDArray[np.uint64]  # a bit for each device that may be active somewhere in the box
    lower_bound: Array  # of the objective in the box
    centre_value: Array  # the objective at the centre, or a bound of it: see `true_value`
    split_axis: IntArray  # the axis to halve

    def __len__(self) -> int:
        return len(self.centre)

    def take(self, which: Any) -> Boxes:
        """Return some of the rows."""
        return Boxes(*(column[which] for column in vars(self).values()))

    def concatenate(self, more: Boxes) -> Boxes:
        """Return these rows, then those."""
        pairs = zip(vars(self).values(), vars(more).values(), strict=True)
        return Boxes(*(np.concatenate(pair) for pair in pairs))


@dataclass(frozen=True, eq=False)
class PositionObjective:
    """The objective less `constant`, as a function of the position."""

    problem: RoundProblem
    constant: float
    devices: Array  # rows as in array_columns
    link: Any  # the link model as the backend takes it
    movement: MovementRows
    rounding: float  # relative error allowed for in every bound
    backend: ModuleType

    def value(self, position: Array) -> float:
        """Return the objective at a position, less the constant."""
        x, y, z = position.tolist()
        saved = self.backend.saving_at(x, y, z, self.devices, self.link)
        return float(self.backend.movement_cost(x, y, z, self.movement.at(position)) - saved)

    def true_value(self, centre: Array, bounded: float) -> float:
        """Return the objective at a box's centre, of which the bounds of the box say `bounded`.

        That is its value, unless flights go round boxes: then they know only a bound of the way.
        """
        return float(bounded) if self.problem.routes is None else self.value(centre)

    def active_at(self, position: Array) -> Mask:
        """Return which devices are active at a position."""
        x, y, z = position.tolist()
        active = np.zeros(len(self.devices), dtype=np.bool_)
        self.backend.active_at(x, y, z, self.devices, self.link, active)
        return active

    def barrier(
        self, position: Array, active: Mask, mu: float, movement: Array
    ) -> tuple[float, Array]:
        """Return cost and gradient with a barrier that keeps devices in reach (see `polish`)."""
        gradient = np.zeros(3)
        cost = self.backend.barrier(
            position, active, mu, self.devices, self.link, movement, gradient
        )
        return float(cost), gradient

    def barrier_hessian(
        self,
        position: Array,
        shifts: Array,
        active: Mask,
        mu: float,
        movement: Array,
        gradient: Array,
    ) -> Array:
        """Return the gradient's differences along the axes that have a shift, one per column."""
        hessian = np.zeros((3, 3))
        self.backend.barrier_hessian(
            position, shifts, active, mu, self.devices, self.link, movement,
            gradient, hessian,
        )  # fmt: skip
        return hessian

    def bound(
        self, centre: Array, half_width: Array, alive: NDArray[np.uint64] | None = None
    ) -> Boxes:
        """Bound the objective in boxes."""
        count = len(centre)
        if alive is None:
            words = (len(self.devices) + 63) // 64
            alive = np.full((count, words), ~np.uint64(0))
        centre, half_width = np.ascontiguousarray(centre), np.ascontiguousarray(half_width)
        lower_bound, centre_value = np.empty(count), np.empty(count)
        split_axis, still_alive = np.empty(count, dtype=np.int64), np.empty_like(alive)
        movement = self.movement.in_boxes(centre, half_width)

        def bound_rows(first: int, last: int) -> None:
            self.backend.bound_boxes(
                centre, half_width, alive, first, last, self.devices, self.link, movement,
                self.rounding, lower_bound, centre_value, split_axis, still_alive,
            )  # fmt: skip

        if count * len(self.devices) < _SHARED or not self.backend.RELEASES_GIL:
            bound_rows(0, count)
        else:
            cuts = np.linspace(0, count, _THREADS + 1).astype(int)
            with ThreadPoolExecutor(_THREADS) as threads:
                list(threads.map(bound_rows, cuts[:-1], cuts[1:]))
        lower_bound[np.isnan(lower_bound)] = -np.inf  # ∞ − ∞: nothing is known
        if len(movement) > 1:
            lower_bound[np.isinf(movement[:, BEFORE])] = np.inf  # no way leads there
        return Boxes(centre, half_width, still_alive, lower_bound, centre_value, split_axis)

    def halves(self, boxes: Boxes) -> Boxes:
        """Cut every box in two across its split axis, and bound the halves."""
        across = np.arange(len(boxes)), boxes.split_axis
        half_width, shift = boxes.half_width.copy(), np.zeros(boxes.half_width.shape)
        shift[across] = half_width[across] = half_width[across] / 2
        halves = self.bound(
            np.concatenate([boxes.centre - shift, boxes.centre + shift]),
            np.concatenate([half_width, half_width]),
            np.concatenate([boxes.alive, boxes.alive]),
        )
        parents = np.concatenate([boxes.lower_bound, boxes.lower_bound])
        np.maximum(halves.lower_bound, parents, out=halves.lower_bound)
        return halves


def position_objective(
    problem: RoundProblem, costs: DeviceCosts, backend: Backend = "auto"
) -> PositionObjective:
    """Return the problem's objective over positions."""
    worth_it = costs.break_even_loss(problem.radio.rate_model)
    # a delay up to the tolerance over its limit needs this much less power, and a bit
    nats = problem.payload_bits / problem.bandwidth_hz * (math.log(2) / problem.max_delay_s)
    wide_reach = costs.reach * (1 + 2 * TOLERANCE * (nats + 2))
    cutoff = np.minimum(worth_it, costs.reach)
    valuable = (costs.gain > 0) & (cutoff > 0)
    free = valuable & np.isinf(cutoff)  # heard from anywhere, at no cost
    # Rows are for the link model's loss, without the device's walls.
    walls = db_to_ratio(problem.wall_loss_db)
    losses = (costs.reach, cutoff, wide_reach, np.minimum(worth_it, wide_reach), costs.floor_loss)
    reach, cutoff, wide_reach, wide_cutoff, floor_loss = (loss / walls for loss in losses)
    floor_snr, is_pade = costs.floor_snr / walls, np.full(len(problem), _is_pade(problem))
    rows = np.stack(
        [
            *problem.position_m.T,
            *(costs.price * walls, costs.gain, reach, cutoff, wide_reach, wide_cutoff),
            *(floor_loss, costs.floor_cost, floor_snr, is_pade),
        ],
        axis=1,
    )
    devices = np.ascontiguousarray(rows[valuable & ~free])
    module = _backend_module(backend, problem.link)
    return PositionObjective(
        problem=problem,
        constant=float(costs.off.sum() - costs.gain[free].sum()) + problem.fixed_cost,
        devices=devices,
        link=module.prepare_link(problem.link),
        movement=MovementRows(problem),
        rounding=_rounding(problem, len(devices)),
        backend=module,
    )


def _is_pade(problem: RoundProblem) -> float:
    return 1.0 if problem.radio.rate_model == "pade" else 0.0


def objective_at(problem: RoundProblem, positions: Array) -> Array:
    """Return the best objective with the server at positions (…, 3); NaN where not allowed."""
    objective = position_objective(problem, device_costs(problem))
    flat = np.ascontiguousarray(positions.reshape(-1, 3))
    value = objective.constant + objective.bound(flat, np.zeros_like(flat)).centre_value
    return np.where(problem.allowed(positions), value.reshape(positions.shape[:-1]), np.nan)


def _rounding(problem: RoundProblem, devices: int) -> float:
    """Return how far floating point may be off, relative to the sum of all magnitudes.

    A term takes a few dozen operations, each good to half a unit in the last place, beside those of
    the link model; and a plain sum of n terms adds n of them.
    """
    return float(np.finfo(np.float64).eps * (200 + problem.link.rounding() + devices))


def _backend_module(backend: Backend, link: LinkModel) -> ModuleType:
    """Return the compiled kernels, or the NumPy ones where those or the model's do not load."""
    if backend == "numba" or (backend == "auto" and link.compiled is not None):
        try:
            from scdn.control.exact import bounds_numba

            return bounds_numba
        except ImportError:
            if backend == "numba":
                raise
    from scdn.control.exact import bounds_numpy

    return bounds_numpy
