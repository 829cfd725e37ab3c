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
from scdn.control.evaluation import Decision
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
from scdn.control.problem import SMALLEST_OBJECTIVE, RoundProblem
from scdn.errors import InputError, input_error

BATCH = 256  # boxes bounded at a time
MAX_BOXES = 2_000_000  # after which a search ends without its proof; runs set less
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
    max_boxes: int = MAX_BOXES,
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
    prepared = prepare(problem, gap, warm_start, backend)
    deadline = time.perf_counter() + time_limit_s
    result = search(prepared, gap, deadline=deadline, max_boxes=max_boxes)
    if result.position is None:
        raise no_position()
    decision = decision_at(problem, prepared.costs, result.position)
    return ExactResult(decision, result.lower_bound, result.status, result.boxes)


@dataclass(frozen=True, eq=False)
class PreparedProblem:
    """A problem as it is searched: its objective, bounded at the positions that are tried first."""

    problem: RoundProblem
    costs: DeviceCosts
    objective: PositionObjective
    first: Boxes  # without extent; the candidates, if there are any

    @property
    def slack(self) -> float:
        """Return how far the objective may be below what is bounded."""
        return float(self.costs.slack.sum())


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The best position and its objective, and a lower bound everywhere.

    Without a position that is better than the cutoff, `position` is None and `value` the cutoff.
    """

    position: Array | None
    value: float
    lower_bound: float
    status: SearchStatus
    boxes: int


def prepare(
    problem: RoundProblem,
    gap: float,
    warm_start: Array | None = None,
    backend: Backend = "auto",
    costs: DeviceCosts | None = None,
) -> PreparedProblem:
    """Return a problem as it is searched; `costs` are its devices', if they are known."""
    costs = device_costs(problem, gap) if costs is None else costs
    objective = position_objective(problem, costs, backend)
    if problem.candidates_m is None:
        positions = _first_positions(problem, costs, warm_start)
    else:
        positions = _usable_candidates(problem, problem.candidates_m)
    first = objective.bound(positions, np.zeros_like(positions))
    return PreparedProblem(problem, costs, objective, first)


def search(
    prepared: PreparedProblem,
    gap: float,
    *,
    cutoff: float = math.inf,
    near: Array | None = None,
    deadline: float = math.inf,
    max_boxes: int = MAX_BOXES,
) -> SearchResult:
    """Search all positions until the gap is proven.

    `cutoff` is the objective of a plan of another problem, if only a better one is of interest. It
    is enough then to prove that nothing here is better than that plan, but for the gap. `near` is a
    position to try.
    """
    objective, problem, slack = prepared.objective, prepared.problem, prepared.slack
    if problem.candidates_m is not None:
        return _best_candidate(prepared)
    boxes = _Search(objective, gap, slack, deadline, max_boxes, cutoff - objective.constant)
    if math.isinf(cutoff):
        boxes.try_positions(prepared.first)
    boxes.start(allowed_boxes(problem, _highest_altitude(objective, boxes.best_value)))
    if math.isfinite(cutoff) and len(boxes.open):
        boxes.try_positions(prepared.first)
        if near is not None and problem.allowed(near):
            boxes.try_positions(objective.bound(near[None], np.zeros((1, 3))))
    boxes.run()
    return SearchResult(
        boxes.best_position,
        objective.constant + boxes.best_value,
        objective.constant + boxes.lower_bound() - slack,
        boxes.status,
        boxes.boxes,
    )


def no_position() -> InputError:
    """Return the fault of a problem without a position for the server."""
    fault = "no allowed position can be reached at a finite cost"
    return input_error("problem", "server", fault, "at least one must have")


def _usable_candidates(problem: RoundProblem, candidates: Array) -> Array:
    """Return the candidates that are allowed, and reached at a finite cost."""
    finite = np.isfinite(problem.movement_j(candidates).total) & problem.reachable(candidates)
    return candidates[problem.allowed(candidates) & finite]


def _best_candidate(prepared: PreparedProblem) -> SearchResult:
    """Return the best candidate.

    Candidates are boxes without extent: their bound is their value, less the rounding error.
    """
    boxes, constant = prepared.first, prepared.objective.constant
    if not len(boxes):
        return SearchResult(None, math.inf, math.inf, "optimal", 0)
    best = boxes.centre_value.argmin()
    lower_bound = constant + float(boxes.lower_bound.min()) - prepared.slack
    value = constant + float(boxes.centre_value[best])
    return SearchResult(boxes.centre[best], value, lower_bound, "optimal", len(boxes))


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
        cutoff: float = math.inf,
    ) -> None:
        self.objective, self.gap, self.slack, self.deadline = objective, gap, slack, deadline
        self.max_boxes, self.boxes = max_boxes, 0
        self.best_value = cutoff
        self.best_position: Array | None = None
        self.dropped = math.inf  # the least lower bound among boxes that were given up
        self.status: SearchStatus = "optimal"
        self.smallest = _SMALLEST * objective.problem.region_m
        self.none = self.open = objective.bound(np.zeros((0, 3)), np.zeros((0, 3)))

    def try_positions(self, first: Boxes) -> None:
        """Start from the best two of these positions, and from the best near them."""
        positions, values, limit = first.centre, first.centre_value, self.best_value
        best_two = np.argsort(values, kind="stable")[:2]
        for index in best_two:
            again = index != best_two[0] and (positions[index] == positions[best_two[0]]).all()
            if values[index] < limit and not again:
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
