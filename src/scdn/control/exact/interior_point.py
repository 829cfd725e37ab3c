"""An interior-point method: from a good position to the best one near it.

With the set of active devices fixed, the objective is smooth up to the edge of their reach. A
logarithmic barrier keeps the search inside; Newton steps in three dimensions, with the barrier's
weight μ falling, end at the edge where that is best.
"""

from __future__ import annotations

import math

import numpy as np

from scdn.arrays import Array, Mask
from scdn.control.exact.array_columns import SINK, X0, Y0, Z0
from scdn.control.exact.position_objective import PositionObjective

_BARRIER_WEIGHTS = 10 ** np.arange(-1.0, -8.0, -2.0)  # μ, relative to the objective
_NEWTON_STEPS = 12  # at the most, for each μ


def polish(objective: PositionObjective, position: Array) -> Array:
    """Return a position at least as good as `position`, on the ground or in the air as it is."""
    problem = objective.problem
    low, high = np.zeros(3), problem.region_m.copy()
    if position[2] > 0:
        low[2] = max(problem.movement.min_flight_m, np.finfo(np.float64).tiny)
        if problem.server_m[2] < problem.ceiling_m:
            high[2] = np.nextafter(problem.ceiling_m, 0.0)
    else:
        high[2] = 0.0
    best, best_value = position, objective.value(position)
    active = objective.active_at(position)
    scale = max(abs(objective.constant + best_value), 1e-9)
    here, movement = np.array(position, dtype=np.float64), objective.movement.at(position)
    for weight in _BARRIER_WEIGHTS:
        here = _newton(objective, here, active, weight * scale, movement, low, high)
        value = objective.value(here)
        if value < best_value and problem.allowed(here):
            best, best_value = here, value
    # the movement's cost has kinks where the last leg of the flight begins
    kinks = [np.array([movement[X0], movement[Y0], best[2]])]
    if movement[SINK] > 0 and position[2] > 0:
        kinks += [np.array([best[0], best[1], movement[Z0]]), movement[[X0, Y0, Z0]]]
    for kink in kinks:
        if objective.value(kink) < best_value and problem.allowed(kink):
            best, best_value = kink, objective.value(kink)
    return best


def _newton(
    objective: PositionObjective,
    position: Array,
    active: Mask,
    mu: float,
    movement: Array,
    low: Array,
    high: Array,
) -> Array:
    value, gradient = objective.barrier(position, active, mu, movement)
    for _ in range(_NEWTON_STEPS):
        axes = _free_axes(position, gradient, low, high)
        if not axes or math.isinf(value):
            break
        step = _direction(objective, position, active, mu, movement, gradient, axes, high)
        size = 1.0
        while size > 1e-7:
            trial = np.minimum(np.maximum(position + size * step, low), high)
            new_value, new_gradient = objective.barrier(trial, active, mu, movement)
            if new_value < value:
                break
            size /= 4
        else:
            break
        small = value - new_value < 1e-3 * mu
        position, value, gradient = trial, new_value, new_gradient
        if small:
            break
    return position


def _free_axes(position: Array, gradient: Array, low: Array, high: Array) -> list[int]:
    """Return the axes along which the cost falls inside the limits."""
    rows = zip(position.tolist(), gradient.tolist(), low.tolist(), high.tolist(), strict=True)
    return [
        axis
        for axis, (here, slope, least, most) in enumerate(rows)
        if most > least and not (here <= least and slope > 0) and not (here >= most and slope < 0)
    ]


def _direction(
    objective: PositionObjective,
    position: Array,
    active: Mask,
    mu: float,
    movement: Array,
    gradient: Array,
    axes: list[int],
    high: Array,
) -> Array:
    """Return Newton's direction from differences of the gradient, or else steepest descent."""
    shifts = np.zeros(3)
    for axis in axes:
        here = float(position[axis])
        shift = 1e-5 * max(1.0, abs(here))
        shifts[axis] = shift if here + shift <= high[axis] else -shift
    hessian = objective.barrier_hessian(position, shifts, active, mu, movement, gradient)
    if len(axes) < 3:
        hessian = hessian[np.ix_(axes, axes)]
    hessian = (hessian + hessian.T) / 2
    step = np.zeros(3)
    if all(map(math.isfinite, hessian.ravel().tolist())):
        values, vectors = np.linalg.eigh(hessian)
        values = np.abs(values)
        values = np.maximum(values, 1e-12 + 1e-9 * max(values.tolist()))
        step[axes] = -vectors @ ((vectors.T @ gradient[axes]) / values)
    else:
        step[axes] = -gradient[axes] / max(float(np.abs(gradient[axes]).max()), 1e-300)
    longest = float(np.abs(step).max())
    return step * (20.0 / longest) if longest > 20.0 else step
