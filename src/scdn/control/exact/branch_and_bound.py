"""Branch and bound: the exact optimum of a round, with a proof.

Given the server's position every device has a closed form (`closed_form`), so what is left is to
minimise over three coordinates. Boxes of positions are bounded from below (`bounds_numpy` says
how) and halved, the most promising first, until none can hold anything better than the best plan
so far, less the gap. The plan is a function of the problem, the gap and the warm start alone: boxes
are taken in batches of a fixed size, ties go by index, and threads only divide a batch.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Literal

import numpy as np

from scdn.arrays import Array, floats
from scdn.control.exact.allowed_boxes import allowed_boxes
from scdn.control.exact.array_columns import ALTITUDE, GAIN, HOVER
from scdn.control.exact.closed_form import DeviceCosts, decision_at, device_costs
from scdn.control.exact.interior_point import polish
from scdn.control.exact.position_objective import (
    Backend,
    Boxes,
    PositionObjective,
    position_objective,
)
from scdn.control.problem import SMALLEST_OBJECTIVE, Decision, RoundProblem
from scdn.errors import InputError, input_error

BATCH = 256  # boxes bounded at a time
_SMALLEST = 1e-9  # boxes narrower than this part of the region are not halved any more

SearchStatus = Literal["optimal", "time_limit"]


@dataclass(frozen=True, eq=False)
class ExactResult:
    """The best decision, a proven lower bound of the objective, and the boxes it took."""

    decision: Decision
    lower_bound: float
    status: SearchStatus
    boxes: int


def solve_exact(
    problem: RoundProblem,
    gap: float = 1e-4,
    *,
    warm_start: Array | None = None,
    time_limit_s: float = math.inf,
    max_boxes: int = 2_000_000,
    backend: Backend = "auto",
) -> ExactResult:
    """Return the global optimum to within `gap`, relative.

    Parameters
    ----------
    problem
        The round's problem.
    gap
        Stop when (objective − lower bound) ≤ gap·|objective|.
    warm_start
        A position to try first, such as the last round's.
    time_limit_s, max_boxes
        Stop earlier, with the best decision so far and the bound proven so far.
    backend
        The compiled bounds, or the NumPy ones.
    """
    costs = device_costs(problem, gap)
    objective = position_objective(problem, costs, backend)
    slack = float(costs.slack.sum())
    if problem.candidates_m is not None:
        position, lower_bound, boxes = _best_candidate(objective, problem.candidates_m)
        status: SearchStatus = "optimal"
    else:
        search = _Search(objective, gap, slack, time.perf_counter() + time_limit_s, max_boxes)
        search.try_positions(_first_positions(problem, costs, warm_start))
        search.start(allowed_boxes(problem, _highest_altitude(objective, search.best_value)))
        search.run()
        if not math.isfinite(search.best_value):
            raise _no_position()
        position, boxes, status = search.best_position, search.boxes, search.status
        lower_bound = search.lower_bound()
    decision = decision_at(problem, costs, position)
    return ExactResult(decision, objective.constant + lower_bound - slack, status, boxes)


def _no_position() -> InputError:
    fault = "no allowed position can be reached at a finite cost"
    return input_error("problem", "server", fault, "at least one must have")


def _best_candidate(objective: PositionObjective, candidates: Array) -> tuple[Array, float, int]:
    """Return the best candidate, a lower bound of all, and their number.

    Candidates are boxes without extent: their bound is their value, less the rounding error.
    """
    problem = objective.problem
    finite = np.isfinite(problem.movement_j(candidates).total) & problem.reachable(candidates)
    positions = candidates[problem.allowed(candidates) & finite]
    if not len(positions):
        raise _no_position()
    boxes = objective.bound(positions, np.zeros_like(positions))
    best = positions[boxes.centre_value.argmin()]
    return best, float(boxes.lower_bound.min()), len(positions)


def _first_positions(problem: RoundProblem, costs: DeviceCosts, warm_start: Array | None) -> Array:
    """Return positions to try before any box: here, below, the warm start, at and above devices."""
    here = problem.server_m
    positions = [here, here * [1.0, 1.0, 0.0]]
    if warm_start is not None:
        positions.append(floats(warm_start))
    top = float(np.nextafter(problem.ceiling_m, 0.0))
    floor = min(problem.movement.min_flight_m, top)
    most_valuable = np.argsort(-costs.gain, kind="stable")[:8]
    for x, y, z in problem.position_m[most_valuable].tolist():
        heights = (floor, 0.15 * top, 0.3 * top, 0.6 * top, z)
        positions += [np.array([x, y, min(max(height, floor), top)]) for height in heights]
    stacked = np.stack(positions)
    return stacked[problem.allowed(stacked)]


def _highest_altitude(objective: PositionObjective, value: float) -> float:
    """Return the altitude above which hovering alone costs more than a plan of this value."""
    hover, scale = objective.movement.in_air[HOVER], objective.movement.in_air[ALTITUDE]
    budget = value + float(objective.devices[:, GAIN].sum())
    if not (hover > 0 and math.isfinite(budget) and budget > 0 and math.isfinite(scale)):
        return math.inf
    return scale * math.log(budget / hover) * (1 + 1e-9) + 1e-9 * scale


class _Search:
    """Best-first branch and bound over boxes, stored as rows of arrays."""

    def __init__(
        self,
        objective: PositionObjective,
        gap: float,
        slack: float,
        deadline: float,
        max_boxes: int,
    ) -> None:
        self.objective, self.gap, self.slack, self.deadline = objective, gap, slack, deadline
        self.max_boxes, self.boxes = max_boxes, 0
        self.best_value, self.best_position = math.inf, np.zeros(3)
        self.dropped = math.inf  # the least lower bound among boxes that were given up
        self.status: SearchStatus = "optimal"
        self.smallest = _SMALLEST * objective.problem.region_m
        self.none = self.open = objective.bound(np.zeros((0, 3)), np.zeros((0, 3)))

    def try_positions(self, positions: Array) -> None:
        """Start from the best two of these positions, and from the best near them."""
        values = self.objective.bound(positions, np.zeros_like(positions)).centre_value
        best_two = np.argsort(values, kind="stable")[:2]
        for index in best_two:
            again = index != best_two[0] and (positions[index] == positions[best_two[0]]).all()
            if math.isfinite(values[index]) and not again:
                self._improve(positions[index], values[index])

    def start(self, boxes: Array) -> None:
        """Bound the boxes that cover what is allowed."""
        self._add(self.objective.bound(boxes[:, 0], boxes[:, 1]))

    def run(self) -> None:
        """Halve boxes until the gap is proven, or until time or boxes run out."""
        while len(self.open):
            if self.boxes >= self.max_boxes or time.perf_counter() > self.deadline:
                self.status = "time_limit"
                return
            parents = self._most_promising()
            small = (parents.half_width <= self.smallest).all(axis=1)
            if small.any():
                self.dropped = min(self.dropped, float(parents.lower_bound[small].min()))
                parents = parents.take(np.flatnonzero(~small))
                if not len(parents):
                    continue
            self._add(self.objective.halves(parents))
        if self.lower_bound() < self._threshold():
            self.status = "time_limit"

    def lower_bound(self) -> float:
        """Return a lower bound of the objective everywhere (less the constant)."""
        still_open = self.open.lower_bound.min() if len(self.open) else math.inf
        return min(self.dropped, float(still_open), self.best_value)

    def _threshold(self) -> float:
        """Return the lower bound from which a box holds nothing better, but for the gap."""
        total = max(abs(self.objective.constant + self.best_value), SMALLEST_OBJECTIVE)
        return self.best_value - max(0.999 * self.gap * total - self.slack, 0.0)

    def _most_promising(self) -> Boxes:
        """Take the boxes to halve next out of the open ones."""
        count = BATCH // 2
        if len(self.open) <= count:
            chosen, self.open = self.open, self.none
            return chosen
        which = np.sort(np.argpartition(self.open.lower_bound, count - 1)[:count])
        chosen, rest = self.open.take(which), np.ones(len(self.open), dtype=np.bool_)
        rest[which] = False
        self.open = self.open.take(rest)
        return chosen

    def _add(self, boxes: Boxes) -> None:
        """Add bounded boxes to the open ones; drop those that hold nothing better."""
        self.boxes += len(boxes)
        best = int(boxes.centre_value.argmin()) if len(boxes) else -1
        if best >= 0 and boxes.centre_value[best] < self.best_value:
            value = self.objective.true_value(boxes.centre[best], boxes.centre_value[best])
            if value < self.best_value:
                self._improve(boxes.centre[best], value)
        self.open = self.open.concatenate(boxes) if len(self.open) else boxes
        hopeless = self.open.lower_bound >= self._threshold()
        if hopeless.any():
            self.dropped = min(self.dropped, float(self.open.lower_bound[hopeless].min()))
            self.open = self.open.take(np.flatnonzero(~hopeless))

    def _improve(self, position: Array, value: float) -> None:
        """Keep a position if it is the best so far, and then the best one near it."""
        self._keep_if_best(position, value)
        polished = polish(self.objective, position)
        self._keep_if_best(polished, self.objective.value(polished))

    def _keep_if_best(self, position: Array, value: float) -> None:
        if value < self.best_value and self.objective.problem.allowed(position):
            self.best_value, self.best_position = float(value), np.array(position)
