"""The exact optimum of a round, with a proof.

Given the server's position every device has a closed form (`closed_form`), so what is left is to
minimise over three coordinates. Boxes of positions are bounded from below (`bounds_numpy` says
how) and halved, the most promising first, until none can hold anything better than the best plan
found, less the gap. The plan is a function of the problem, the gap and the warm start alone: boxes
are taken in batches of a fixed size, ties go by index, and threads only share out a batch.
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
    no_boxes,
    position_objective,
)
from scdn.control.problem import SMALLEST_OBJECTIVE, Decision, RoundProblem
from scdn.errors import InputError, input_error

BATCH = 256  # boxes bounded at a time
_SMALLEST = 1e-9  # boxes narrower than this part of the region are not halved any more


@dataclass(frozen=True, eq=False)
class ExactResult:
    """The best decision, what it was proven against, and how much work that was."""

    decision: Decision
    choices: DeviceCosts
    lower_bound: float
    status: Literal["optimal", "time_limit"]
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
    """The global optimum to within `gap`, relative.

    Parameters
    ----------
    problem
        The round's problem.
    gap
        Stop when (objective − lower bound) ≤ gap·|objective|.
    warm_start
        A position worth trying first, such as the last round's.
    time_limit_s, max_boxes
        Stop earlier, with the best plan so far and its honest bound.
    backend
        The compiled bounds, or the plain NumPy ones.
    """
    found = device_costs(problem, gap)
    surface = position_objective(problem, found, backend)
    if problem.candidates_m is not None:
        return _among_candidates(problem, found, surface)
    slack = float(found.slack.sum())
    search = _Search(surface, gap, slack, time.perf_counter() + time_limit_s, max_boxes)
    search.try_places(_first_places(problem, found, warm_start))
    search.start(allowed_boxes(problem, _highest(surface, search.best_value)))
    search.run()
    if not math.isfinite(search.best_value):
        raise _nowhere()
    decision = decision_at(problem, found, search.best_place)
    bound = surface.constant + search.lower_bound() - slack
    return ExactResult(decision, found, bound, search.status, search.boxes)


def _nowhere() -> InputError:
    allowed = "there must be a place at a finite cost"
    return input_error("problem", "server", "has nowhere to be", allowed)


def _among_candidates(
    problem: RoundProblem, found: DeviceCosts, surface: PositionObjective
) -> ExactResult:
    """All places are tried, as boxes without extent: they are their own bound, but for rounding."""
    places = floats([] if problem.candidates_m is None else problem.candidates_m)
    places = places[problem.allowed(places) & np.isfinite(problem.movement_j(places).total)]
    if not len(places):
        raise _nowhere()
    boxes = surface.bound(places, np.zeros_like(places))
    best = places[boxes.value.argmin()]
    bound = surface.constant + float(boxes.floor.min()) - float(found.slack.sum())
    return ExactResult(decision_at(problem, found, best), found, bound, "optimal", len(places))


def _first_places(problem: RoundProblem, found: DeviceCosts, warm_start: Array | None) -> Array:
    """Places worth a look before any box: here, down, the warm start, at and above devices."""
    here = problem.server_m
    places = [here, here * [1.0, 1.0, 0.0]]
    if warm_start is not None:
        places.append(floats(warm_start))
    top = float(np.nextafter(problem.ceiling_m, 0.0))
    floor = min(problem.movement.min_flight_m, top)
    worth = np.argsort(-found.gain, kind="stable")[:8]
    for x, y, z in problem.position_m[worth].tolist():
        heights = (floor, 0.15 * top, 0.3 * top, 0.6 * top, z)
        places += [np.array([x, y, min(max(height, floor), top)]) for height in heights]
    stacked = np.stack(places)
    return stacked[problem.allowed(stacked)]


def _highest(surface: PositionObjective, value: float) -> float:
    """Above this, hovering alone costs more than a plan of this value, whatever else is saved."""
    hover, scale = surface.move[HOVER], surface.move[ALTITUDE]
    budget = value + float(surface.devices[:, GAIN].sum())
    if not (hover > 0 and math.isfinite(budget) and budget > 0):
        return math.inf
    return scale * math.log(budget / hover) * (1 + 1e-9) + 1e-9 * scale


class _Search:
    """Best-first branch and bound over boxes, stored as rows of arrays."""

    def __init__(
        self, surface: PositionObjective, gap: float, slack: float, deadline: float, max_boxes: int
    ) -> None:
        self.surface, self.gap, self.slack, self.deadline = surface, gap, slack, deadline
        self.max_boxes, self.boxes = max_boxes, 0
        self.best_value, self.best_place = math.inf, np.zeros(3)
        self.dropped = math.inf  # the least floor among boxes that were given up
        self.status: Literal["optimal", "time_limit"] = "optimal"
        self.smallest = _SMALLEST * surface.problem.region_m
        self.none = self.open = no_boxes(surface)

    def try_places(self, places: Array) -> None:
        """Offers the best of these places, and the best near them."""
        values = self.surface.bound(places, np.zeros_like(places)).value
        first, *second = np.argsort(values, kind="stable")[:2]
        others = [index for index in second if (places[index] != places[first]).any()]
        for index in [first, *others]:
            if math.isfinite(values[index]):
                self._offer(places[index], values[index])
                self._polish(places[index])

    def start(self, pieces: Array) -> None:
        """Bounds the pieces of free space."""
        self._add(self.surface.bound(pieces[:, 0], pieces[:, 1]))

    def run(self) -> None:
        """Halves boxes until the proof is there."""
        while len(self.open.floor):
            if self.boxes >= self.max_boxes or time.perf_counter() > self.deadline:
                self.status = "time_limit"
                return
            parents = self._most_promising()
            small = (parents.width <= self.smallest).all(axis=1)
            if small.any():
                self.dropped = min(self.dropped, float(parents.floor[small].min()))
                parents = parents.take(np.flatnonzero(~small))
                if not len(parents.floor):
                    continue
            self._add(self.surface.halves(parents))
        if self.lower_bound() < self._threshold():
            self.status = "time_limit"

    def lower_bound(self) -> float:
        """Below the objective everywhere (less the constant)."""
        still_open = self.open.floor.min() if len(self.open.floor) else math.inf
        return min(self.dropped, float(still_open), self.best_value)

    def _threshold(self) -> float:
        """Boxes whose floor is at least this hold nothing better, but for the gap."""
        total = max(abs(self.surface.constant + self.best_value), SMALLEST_OBJECTIVE)
        return self.best_value - max(0.999 * self.gap * total - self.slack, 0.0)

    def _most_promising(self) -> Boxes:
        """Takes the boxes to halve next from those that are open."""
        count = BATCH // 2
        if len(self.open.floor) <= count:
            chosen, self.open = self.open, self.none
            return chosen
        which = np.sort(np.argpartition(self.open.floor, count - 1)[:count])
        chosen, rest = self.open.take(which), np.ones(len(self.open.floor), dtype=np.bool_)
        rest[which] = False
        self.open = self.open.take(rest)
        return chosen

    def _add(self, boxes: Boxes) -> None:
        self.boxes += len(boxes.floor)
        best = int(boxes.value.argmin()) if len(boxes.value) else -1
        if best >= 0 and boxes.value[best] < self.best_value:
            self._offer(boxes.centre[best], boxes.value[best])
            self._polish(boxes.centre[best])
        self.open = self.open.joined(boxes) if len(self.open.floor) else boxes
        hopeless = self.open.floor >= self._threshold()
        if hopeless.any():
            self.dropped = min(self.dropped, float(self.open.floor[hopeless].min()))
            self.open = self.open.take(np.flatnonzero(~hopeless))

    def _offer(self, place: Array, value: float) -> None:
        if value < self.best_value and self.surface.problem.allowed(place):
            self.best_value, self.best_place = float(value), np.array(place)

    def _polish(self, place: Array) -> None:
        better = polish(self.surface, place)
        self._offer(better, self.surface.value(better))
