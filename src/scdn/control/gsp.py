"""GSP, greedy server placement: the position with the least mean access delay at full power."""

from __future__ import annotations

import numpy as np

from scdn.arrays import Array
from scdn.control.evaluation import Decision
from scdn.control.max_vfl import at_maximum
from scdn.control.problem import RoundProblem

_GRID = (9, 9, 6)  # positions along x, y and z
_DEVICE_POSITIONS = 512  # tried at the most, evenly from the list


def gsp(problem: RoundProblem, *, matched: bool = False) -> Decision:
    """Place the server where the mean access delay is least; set everything else to its maximum."""
    return at_maximum(problem, least_delay_position(problem), matched=matched)


def least_delay_position(problem: RoundProblem) -> Array:
    """Return the position with the least mean access delay of devices that can send, at full power.

    If none can, it is the first position.
    """
    positions = positions_to_try(problem)
    senders = problem.take(np.flatnonzero(problem.max_power_w > 0))
    if not len(senders):
        return positions[0]
    delays = senders.delay_s(senders.max_power_w, senders.path_loss(positions)).mean(-1)
    return positions[int(np.argmin(delays))]


def positions_to_try(problem: RoundProblem) -> Array:
    """Return the candidates if they are given, else device positions and a grid, where allowed."""
    if problem.candidates_m is not None:
        return _allowed(problem, problem.candidates_m)
    top = np.nextafter(problem.ceiling_m, 0.0)
    axes = [np.linspace(0, size, n) for size, n in zip(problem.region_m, _GRID, strict=True)]
    axes[2] = np.minimum(axes[2], top)
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    stride = max(1, -(-len(problem) // _DEVICE_POSITIONS))
    return _allowed(problem, np.concatenate([problem.position_m[::stride], grid]))


def _allowed(problem: RoundProblem, positions: Array) -> Array:
    """Return the allowed positions of finite cost, or the server's present one if there is none."""
    finite = np.isfinite(problem.movement_j(positions).total) & problem.reachable(positions)
    allowed = positions[problem.allowed(positions) & finite]
    return allowed if len(allowed) else problem.server_m[None]
