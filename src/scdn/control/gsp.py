"""GSP, greedy server placement: where the mean access delay at full power is least."""

from __future__ import annotations

import numpy as np

from scdn.arrays import Array
from scdn.control.max_vfl import at_maximum
from scdn.control.problem import Decision, RoundProblem

_GRID = (9, 9, 6)  # places along x, y and z
_SPOTS = 512  # device positions tried at the most, evenly from the list


def gsp(problem: RoundProblem, *, matched: bool = False) -> Decision:
    """The server at the spot with the least mean access delay; everything else at its maximum."""
    return at_maximum(problem, least_delay_position(problem), matched=matched)


def least_delay_position(problem: RoundProblem) -> Array:
    """Where the mean access delay at full power is least."""
    spots = _spots(problem)
    if not len(problem):
        return spots[0]
    delays = problem.delay_s(problem.max_power_w, problem.path_loss(spots)).mean(-1)
    return spots[int(np.argmin(delays))]


def _spots(problem: RoundProblem) -> Array:
    """Candidate places if they are given; else device positions and a grid, where allowed."""
    if problem.candidates_m is not None:
        return _possible(problem, problem.candidates_m)
    top = np.nextafter(problem.ceiling_m, 0.0)
    axes = [np.linspace(0, size, n) for size, n in zip(problem.region_m, _GRID, strict=True)]
    axes[2] = np.minimum(axes[2], top)
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    every = max(1, -(-len(problem) // _SPOTS))
    spots = np.concatenate([problem.position_m[::every], grid])
    return _possible(problem, spots)


def _possible(problem: RoundProblem, spots: Array) -> Array:
    """The spots where the server may be at a finite cost; where it is, if there is none."""
    finite = np.isfinite(problem.movement_j(spots).total)
    possible = spots[problem.allowed(spots) & finite]
    return possible if len(possible) else problem.server_m[None]
