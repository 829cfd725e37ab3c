"""A decision of any origin made to hold under the true model, its position kept where it may be."""

from __future__ import annotations

import numpy as np

from scdn.arrays import Array, floats
from scdn.control.problem import Decision, RoundProblem
from scdn.world import geometry

_STEP = 1e-6  # how far below the ceiling a server stays that may not be at it, relative


def repair(problem: RoundProblem, decision: Decision) -> Decision:
    """The nearest allowed position, whole iterations, least clock and power; else a device is off.

    Off is who was off, who is out of reach from there under the true rate, and who is left with no
    iterations and so has nothing to send.
    """
    place = _nearest_allowed(problem, floats(decision.server_m))
    iterations = _iterations(problem, decision.iterations)
    power = problem.least_power(place)
    reached = power <= problem.max_power_w  # false for NaN
    active = decision.active & reached & (iterations > 0)
    iterations = np.where(active, iterations, 0.0)
    clock = np.minimum(problem.least_cpu_hz(iterations), problem.cpu_max_hz)
    return Decision(place, active, iterations, np.where(active, power, 0.0), clock)


def _iterations(problem: RoundProblem, wanted: Array) -> Array:
    """Rounded, halves up, and lowered to what the fastest clock carries."""
    limit = problem.most_iterations()
    wanted = np.where(np.isfinite(wanted), wanted, 0.0)
    if problem.integer_iterations:
        # a hair is forgiven, so that an exact fit is not lost to rounding error
        wanted, limit = np.floor(wanted + 0.5), np.floor(limit * (1 + 1e-12))
    return np.clip(wanted, 0.0, limit)


def _nearest_allowed(problem: RoundProblem, place: Array) -> Array:
    """`place` if the server may be there, else the nearest place where it may."""
    if problem.candidates_m is not None:
        return _nearest_candidate(problem, place)
    top = problem.ceiling_m
    if problem.server_m[2] != top:
        top *= 1 - _STEP
    place = np.clip(place, 0.0, [problem.region_m[0], problem.region_m[1], top])
    if problem.allowed(place):
        return place
    return _nearest_on_grid(problem, place, top)


def _nearest_candidate(problem: RoundProblem, place: Array) -> Array:
    candidates = problem.candidates_m
    assert candidates is not None  # noqa: S101
    allowed = problem.allowed(candidates)
    steps = geometry.distance(candidates, place)
    if allowed.any():
        steps = np.where(allowed, steps, np.inf)
    return np.asarray(candidates[np.argmin(steps)])


def _nearest_on_grid(problem: RoundProblem, place: Array, top: float) -> Array:
    """The nearest allowed place, exactly.

    What is allowed is a union of boxes, so each coordinate of the nearest place is either kept or a
    face of a keep-out box, the ground, the least flight height or the top. x goes outwards, and
    stops where x alone is farther than the best so far.
    """
    limits = (problem.region_m[0], problem.region_m[1], top)
    extra: tuple[list[float], ...] = ([], [], [0.0, min(problem.movement.min_flight_m, top), top])
    axes = []
    for axis, limit in enumerate(limits):
        faces = problem.keep_out_m[:, [axis, axis + 3]].ravel()
        levels = np.unique([place[axis], *faces, *extra[axis]])
        axes.append(levels[(levels >= 0) & (levels <= limit)])
    best, found = np.inf, problem.server_m
    for x in axes[0][np.argsort(np.abs(axes[0] - place[0]), kind="stable")]:
        if abs(x - place[0]) >= best:
            break
        y, z = np.meshgrid(axes[1], axes[2], indexing="ij")
        points = np.stack([np.full(y.size, x), y.ravel(), z.ravel()], axis=-1)
        steps = geometry.distance(points, place)
        points, steps = points[steps < best], steps[steps < best]
        steps = np.where(problem.allowed(points), steps, np.inf)
        if steps.size and steps.min() < best:
            best, found = float(steps.min()), points[np.argmin(steps)]
    return np.asarray(found)
