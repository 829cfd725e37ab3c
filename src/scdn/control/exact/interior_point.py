"""From a good place to the best one near it, with the same devices in reach.

With the set of active devices fixed, the objective is smooth but for the edge of their reach. A
logarithmic barrier keeps the search inside; Newton steps in three dimensions, with the barrier's
weight falling, end at the edge where that is best.
"""

from __future__ import annotations

import math

import numpy as np

from scdn.arrays import Array, Mask
from scdn.control.exact.position_objective import PositionObjective

_STAGES = 10 ** np.arange(-1.0, -8.0, -2.0)  # the barrier's weight, relative to the objective
_STEPS = 12


def polish(surface: PositionObjective, place: Array) -> Array:
    """A place at least as good as `place`, in the same piece of free space."""
    problem = surface.problem
    low, high = np.zeros(3), problem.region_m.copy()
    if place[2] > 0:
        low[2] = max(problem.movement.min_flight_m, np.finfo(np.float64).tiny)
        if problem.server_m[2] < problem.ceiling_m:
            high[2] = np.nextafter(problem.ceiling_m, 0.0)
    else:
        high[2] = 0.0
    best, best_value = place, surface.value(place)
    on = surface.on(place)
    scale = max(abs(surface.constant + best_value), 1e-9)
    here = np.array(place, dtype=np.float64)
    for stage in _STAGES:
        here = _newton(surface, here, on, stage * scale, low, high)
        value = surface.value(here)
        if value < best_value and problem.allowed(here):
            best, best_value = here, value
    stay = np.array([problem.server_m[0], problem.server_m[1], best[2]])  # a kink of the cost
    return stay if surface.value(stay) < best_value and problem.allowed(stay) else best


def _newton(
    surface: PositionObjective, place: Array, on: Mask, mu: float, low: Array, high: Array
) -> Array:
    value, gradient = surface.barrier(place, on, mu)
    for _ in range(_STEPS):
        axes = _free_axes(place, gradient, low, high)
        if not axes or math.isinf(value):
            break
        step = _direction(surface, place, on, mu, gradient, axes, high)
        size = 1.0
        while size > 1e-7:
            trial = np.minimum(np.maximum(place + size * step, low), high)
            new_value, new_gradient = surface.barrier(trial, on, mu)
            if new_value < value:
                break
            size /= 4
        else:
            break
        small = value - new_value < 1e-3 * mu
        place, value, gradient = trial, new_value, new_gradient
        if small:
            break
    return place


def _free_axes(place: Array, gradient: Array, low: Array, high: Array) -> list[int]:
    """Axes along which the cost falls inside the limits."""
    rows = zip(place.tolist(), gradient.tolist(), low.tolist(), high.tolist(), strict=True)
    return [
        axis
        for axis, (here, slope, least, most) in enumerate(rows)
        if most > least and not (here <= least and slope > 0) and not (here >= most and slope < 0)
    ]


def _direction(
    surface: PositionObjective,
    place: Array,
    on: Mask,
    mu: float,
    gradient: Array,
    axes: list[int],
    high: Array,
) -> Array:
    """Newton's direction by differences of the gradient; steepest descent where it is not one."""
    shifts = np.zeros(3)
    for axis in axes:
        here = float(place[axis])
        shift = 1e-5 * max(1.0, abs(here))
        shifts[axis] = shift if here + shift <= high[axis] else -shift
    hessian = surface.barrier_slopes(place, shifts, on, mu, gradient)
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
