"""The best of several options for a round, with one proof for all of them.

Options are variants of one round's problem: the same devices and positions, but another time limit
of reports, another payload, another energy of staying, another worth. An option that is nowhere
better than another one is left out. The others are searched in the order of what they cost where
the server is now. One that would not be better than the best plan so far, less the gap, even if no
link had a loss, is not searched at all; and each search ends as soon as nothing in it can be.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from scdn.arrays import Array
from scdn.control.exact.branch_and_bound import (
    ExactResult,
    SearchStatus,
    no_position,
    prepare,
    search,
)
from scdn.control.exact.closed_form import DeviceCosts, decision_at, device_costs
from scdn.control.problem import SMALLEST_OBJECTIVE, RoundProblem

_ROUNDING = 1e-12  # relative: of sums over devices
_MOST_OF_GAP = 0.999  # the rest is for rounding
# What may differ where one option dominates another, less being better but for the time limit.
_COMPARED = {"max_delay_s", "payload_bits", "movement", "forgone", "fixed_cost", "noise_w"}
_COMPARED |= {"option"}  # which only names them


@dataclass(frozen=True, eq=False)
class BestOption:
    """The option with the best plan, by its index; the lower bound holds for all options."""

    index: int
    result: ExactResult


def solve_best_exact(
    problems: Sequence[RoundProblem],
    gap: float = 1e-4,
    *,
    warm_start: Array | None = None,
    time_limit_s: float = math.inf,
    max_boxes: int = 2_000_000,
) -> BestOption:
    """Return the optimum over all options to within `gap`, relative.

    The limits of time and boxes are for all options together.
    """
    deadline = time.perf_counter() + time_limit_s
    costs = {index: device_costs(problems[index], gap) for index in undominated(problems)}
    here = _here_and_below(problems[0])
    estimates = {index: _estimate(problems[index], costs[index], *here) for index in costs}
    best: tuple[int, Array] | None = None
    value, lower_bound, boxes, proven = math.inf, math.inf, 0, True
    for index in sorted(costs, key=estimates.__getitem__):
        least = least_cost(problems[index], costs[index])
        if math.isfinite(value) and least >= value - _MOST_OF_GAP * gap * abs(value):
            lower_bound = min(lower_bound, least)
            continue
        result = search(
            prepare(problems[index], gap, warm_start, costs=costs[index]),
            gap,
            cutoff=value,
            near=None if best is None else best[1],
            deadline=deadline,
            max_boxes=max_boxes - boxes,
        )
        boxes += result.boxes
        lower_bound = min(lower_bound, result.lower_bound)
        proven = proven and result.status == "optimal"
        if result.position is not None and result.value < value:
            best, value = (index, result.position), result.value
    if best is None:
        raise no_position()
    index, position = best
    decision = decision_at(problems[index], costs[index], position)
    proven = proven or value - lower_bound <= gap * max(abs(value), SMALLEST_OBJECTIVE)
    status: SearchStatus = "optimal" if proven else "time_limit"
    return BestOption(index, ExactResult(decision, lower_bound, status, boxes))


def _here_and_below(problem: RoundProblem) -> tuple[Array, Array]:
    """Return the server's position before the round and the ground below it, with path losses."""
    positions = np.stack([problem.server_m, problem.server_m * [1.0, 1.0, 0.0]])
    return positions[:, 2], problem.path_loss(positions)


def _estimate(problem: RoundProblem, costs: DeviceCosts, z: Array, loss: Array) -> float:
    """Return what an option roughly costs without a flight, for the order of the searches."""
    with np.errstate(over="ignore", invalid="ignore"):
        active = np.where(loss <= costs.reach, costs.on + costs.price * loss, np.inf)
        devices = np.minimum(costs.off, active).sum(axis=1)
        total = devices + problem.weights.movement * problem.movement.staying_j(z)
    return float(total.min()) + problem.fixed_cost


def least_cost(problem: RoundProblem, costs: DeviceCosts) -> float:
    """Return a lower bound of the objective: no link has a loss, and the server need not fly."""
    movement = problem.movement
    stay_j = movement.ground_j
    if not movement.on_ground:
        stay_j = min(stay_j, movement.hover_j)
    devices = float(np.minimum(costs.off, costs.on - costs.slack).sum())
    total = devices + problem.weights.movement * stay_j + problem.fixed_cost
    return total - _ROUNDING * abs(total)


def undominated(problems: Sequence[RoundProblem]) -> list[int]:
    """Return the options that are left: of equal ones the first, and none that others dominate."""
    kept: list[int] = []
    for index, problem in enumerate(problems):
        if any(dominates(problems[other], problem) for other in kept):
            continue
        kept = [other for other in kept if not dominates(problem, problems[other])] + [index]
    return kept


def dominates(problem: RoundProblem, other: RoundProblem) -> bool:
    """Return whether every plan of `other` is one of `problem` too, and costs no more there.

    A report that has more time or fewer bits needs less power and no more energy.
    """
    return (
        problem.max_delay_s >= other.max_delay_s
        and problem.fixed_cost <= other.fixed_cost
        and _stays_for_less(problem, other)
        and bool((problem.payload_bits <= other.payload_bits).all())
        and _forgoes_less(problem, other)
        and all(
            _is_same(getattr(problem, field.name), getattr(other, field.name))
            for field in fields(RoundProblem)
            if field.name not in _COMPARED
        )
    )


def _stays_for_less(problem: RoundProblem, other: RoundProblem) -> bool:
    ours, theirs = problem.movement, other.movement
    if ours.hover_j > theirs.hover_j or ours.ground_j > theirs.ground_j:
        return False
    return replace(ours, hover_j=theirs.hover_j, ground_j=theirs.ground_j) == theirs


def _forgoes_less(problem: RoundProblem, other: RoundProblem) -> bool:
    ours, theirs = problem.forgone, other.forgone
    if ours is None or theirs is None:
        return ours is theirs
    return ours.shape == theirs.shape and bool((ours <= theirs).all())


def _is_same(value: object, other: object) -> bool:
    if isinstance(value, np.ndarray) and isinstance(other, np.ndarray):
        return value is other or np.array_equal(value, other)
    return value is other or bool(value == other)
