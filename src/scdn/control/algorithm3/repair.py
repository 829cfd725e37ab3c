"""The repair of Algorithm 3's answer: a decision that holds under the true model."""

from __future__ import annotations

import numpy as np

from scdn.arrays import Array, Mask, floats
from scdn.control.evaluation import Decision
from scdn.control.problem import RoundProblem
from scdn.world import geometry

_BELOW_CEILING = 1e-6  # relative distance to a ceiling where the server may not be


def repair(problem: RoundProblem, decision: Decision) -> Decision:
    """Return the nearest allowed position, rounded iterations, and the least clock and power.

    A device is off if it was off, if it is out of reach of that position under the true rate, or if
    it is left with no iterations and so has nothing to send.
    """
    server = _nearest_allowed(problem, floats(decision.server_m))
    iterations = _rounded_iterations(problem, decision.iterations)
    power = problem.least_power(server)
    in_reach = power <= problem.max_power_w  # false for NaN
    active = decision.active & in_reach & (iterations > 0)
    iterations = np.where(active, iterations, 0.0)
    cpu_hz = np.minimum(problem.least_cpu_hz(iterations), problem.cpu_max_hz)
    return Decision(server, active, iterations, np.where(active, power, 0.0), cpu_hz)


def _rounded_iterations(problem: RoundProblem, iterations: Array) -> Array:
    """Round iterations, halves up, and lower them to what the fastest clock carries."""
    iterations = np.where(np.isfinite(iterations), iterations, 0.0)
    if problem.integer_iterations:
        iterations = np.floor(iterations + 0.5)
    return np.clip(iterations, 0.0, problem.iteration_limit())


def _nearest_allowed(problem: RoundProblem, position: Array) -> Array:
    if problem.candidates_m is not None:
        return _nearest_candidate(problem, problem.candidates_m, position)
    top = problem.ceiling_m
    if problem.server_m[2] != top:
        top *= 1 - _BELOW_CEILING
    position = np.clip(position, 0.0, [problem.region_m[0], problem.region_m[1], top])
    if _can_be_at(problem, position):
        return position
    return _nearest_on_faces(problem, position, top)


def _can_be_at(problem: RoundProblem, positions: Array) -> Mask:
    return problem.allowed(positions) & problem.reachable(positions)


def _nearest_candidate(problem: RoundProblem, candidates: Array, position: Array) -> Array:
    allowed = _can_be_at(problem, candidates)
    distances = geometry.distance(candidates, position)
    if allowed.any():
        distances = np.where(allowed, distances, np.inf)
    return np.asarray(candidates[np.argmin(distances)])


def _nearest_on_faces(problem: RoundProblem, position: Array, top: float) -> Array:
    """Return the nearest allowed position, exactly.

    What is allowed is a union of boxes, so each coordinate of the nearest position is either kept
    or that of a keep-out box's face, the ground, the least flight height or the top. x goes
    outwards, and stops where x alone is farther than the best so far.
    """
    limits = (problem.region_m[0], problem.region_m[1], top)
    extra: tuple[list[float], ...] = ([], [], [0.0, min(problem.movement.min_flight_m, top), top])
    axes = []
    for axis, limit in enumerate(limits):
        faces = problem.keep_out_m[:, [axis, axis + 3]].ravel()
        levels = np.unique([position[axis], *faces, *extra[axis]])
        axes.append(levels[(levels >= 0) & (levels <= limit)])
    least, nearest = np.inf, problem.server_m
    for x in axes[0][np.argsort(np.abs(axes[0] - position[0]), kind="stable")]:
        if abs(x - position[0]) >= least:
            break
        y, z = np.meshgrid(axes[1], axes[2], indexing="ij")
        points = np.stack([np.full(y.size, x), y.ravel(), z.ravel()], axis=-1)
        distances = geometry.distance(points, position)
        points, distances = points[distances < least], distances[distances < least]
        distances = np.where(_can_be_at(problem, points), distances, np.inf)
        if distances.size and distances.min() < least:
            least, nearest = float(distances.min()), points[np.argmin(distances)]
    return np.asarray(nearest)
