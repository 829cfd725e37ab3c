"""A bound for a whole mission: no plan buys a run's progress for less.

The plan may know every round's gains in advance, skip rounds, and move the server for free. Give a
unit of progress a worth of λ joules. Then for every λ ≥ 0

    λ·progress + Σ over rounds of min(0, the least of joules − λ·gain)

is a bound: a plan with this progress costs no less. Each term is a round's plan by worth, solved
with its proof, and it is the proven bound that counts here, not the plan's own cost. So the result
holds at any gap, and for any λ; the search for the best λ only makes it tighter. The sum is concave
in λ. Positions that solves have found bound it from above for all λ, in all rounds: the next λ is
where this ceiling is highest, until ceiling and bound are close.

No run falls below its own bound
--------------------------------
It is enough that in every round some decision of the bound's problem gains what the run gained, and
costs no more than the run was billed. `billed_round` sees to that:

- Whatever the bill has beyond the problem raises it alone: flights, repeated sendings, first
  samples, the way down, electronics, a stay that is longer than `round_s`.
- A device that spent energy in vain (its link failed, it left, its training diverged, its update
  did harm) rests in this decision, and then costs nothing. So it does not matter that a device that
  left sends nothing, or that one that diverged sends less than was planned.
- A true channel that is better than the planned one, by a margin or by luck, makes a report shorter
  than planned. The problem's path losses are lowered to the true ones.
- Iterations that are not whole, and stays of an asynchronous round that are shorter than `round_s`,
  are billed at less than the problem's joules. What is missing is taken off `fixed_j`, which may be
  negative.

Limits that only a real plan has to keep (batteries, budgets, deadlines, walls that cut off a part
of the region) can be left out: without them no plan becomes dearer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from scdn.arrays import Array
from scdn.control.problem import RoundProblem
from scdn.mission.free_round import BoundRound, FreeRound, Purchase
from scdn.scenario import Prices

_ROUNDING = 1e-12  # relative: of sums over rounds
_LARGEST_WORTH, _SMALLEST_GAIN = 1e30, 1e-300
_MOST_CROSSINGS = 200
_NOTHING = Purchase(0.0, 0.0, np.zeros(3))


@dataclass(frozen=True)
class MissionBound:
    """What no plan for a run's progress falls below.

    Attributes
    ----------
    joules
        The bound, in priced joules; infinite if no plan makes so much progress.
    attained_j
        Priced joules of a plan that makes it, with free moves; infinite if none is known. What is
        between the two is not known.
    worth
        λ: the priced joules per unit of progress, at which the bound was proven.
    solves
        The exact solves that it took.
    """

    joules: float
    attained_j: float
    worth: float
    solves: int

    @property
    def gap(self) -> float:
        """Return how far the bound may be below the least that is needed, relative."""
        if self.attained_j == self.joules:
            return 0.0
        return 1.0 - self.joules / self.attained_j


def mission_bound(
    rounds: Sequence[BoundRound],
    prices: Prices,
    progress: float,
    *,
    tolerance: float = 0.005,
    max_passes: int = 12,
    max_boxes: int = 20_000,
) -> MissionBound:
    """Return the least priced energy with which so much progress could have been bought.

    Parameters
    ----------
    rounds
        All rounds in which progress could be bought, the run's first one first; `billed_round`
        makes one from a run's round.
    prices
        The price of a joule, of the devices and of the server.
    progress
        The progress of the run: in each round its `base_gain` and the gains of the
        iterations that were executed.
    tolerance
        Stop when no other worth could raise the bound by more than this, relative.
    max_passes, max_boxes
        Stop earlier: after so many values of the worth; each solve after so many boxes.
    """
    if progress <= 0:
        return MissionBound(0.0, 0.0, 0.0, 0)
    search = _WorthSearch(rounds, prices, progress, max_boxes)
    if not search.within_reach():
        return MissionBound(math.inf, math.inf, math.inf, search.solves)
    return search.run(tolerance, max_passes)


class _WorthSearch:
    """The search for the worth of progress at which the bound is highest."""

    def __init__(
        self, rounds: Sequence[BoundRound], prices: Prices, progress: float, max_boxes: int
    ) -> None:
        self.progress, self.max_boxes, self.solves = progress, max_boxes, 0
        self.start_m = rounds[0].problem.server_m if rounds else np.zeros(3)
        self.rounds = [FreeRound(entry, prices, self.start_m) for entry in rounds]
        executed = [entry.executed_m for entry in rounds if entry.executed_m is not None]
        self._share([self.start_m, *executed])

    def _share(self, positions: Sequence[Array]) -> None:
        """Let every round know positions that are good in one."""
        for entry in self.rounds:
            entry.add(np.stack(positions))

    def within_reach(self) -> bool:
        """Return whether some plan may make the progress; learn where, if that is not known."""
        needed = self.progress * (1 - 1e-9)
        if self._most_known_gain() >= needed:
            return True
        if sum(max(0.0, entry.most_gain) for entry in self.rounds) < needed:
            return False
        most, positions = 0.0, [self.start_m]
        for entry in self.rounds:
            gain, position = entry.solve_for_gain(self.start_m, self.max_boxes)
            positions.append(position)
            self.solves += 1
            most += max(gain, 0.0)
        self._share(positions)
        return most >= needed

    def _most_known_gain(self) -> float:
        return sum(max(0.0, entry.most_known_gain()) for entry in self.rounds)

    def run(self, tolerance: float, max_passes: int) -> MissionBound:
        """Raise the bound from worth to worth, until it is close to the ceiling."""
        best, before = MissionBound(0.0, math.inf, 0.0, self.solves), -1.0
        for _ in range(max_passes):
            worth, plan_j = self._best_known_worth()
            best = replace(best, attained_j=min(best.attained_j, plan_j))
            known_j = [_purchase(entry, worth).net_j for entry in self.rounds]
            ceiling_j = self._total_j(worth, known_j)
            if worth == before or best.joules >= (1 - tolerance) * ceiling_j:
                break
            slack_j = tolerance * ceiling_j / (2 * len(self.rounds))
            joules, before = self._proven_j(worth, slack_j), worth
            if joules > best.joules:
                best = replace(best, joules=joules, worth=worth)
        return replace(best, solves=self.solves)

    def _best_known_worth(self) -> tuple[float, float]:
        """Return where the ceiling is highest, and the joules of a known plan that gains enough.

        The ceiling is concave and made of straight pieces. Its top is between a piece that rises,
        where too little is bought, and one that does not; two such tangents cross closer to it.
        """
        enough = min(self.progress, self._most_known_gain()) * (1 - _ROUNDING)
        worth, low, high = 0.0, self._tangent(0.0), self._tangent(1.0)
        while high.gain < enough and high.worth < _LARGEST_WORTH:
            low, high = high, self._tangent(8 * high.worth)
        if low.gain >= enough:
            return low.worth, low.plan_j
        for _ in range(_MOST_CROSSINGS):
            worth = (high.plan_j - low.plan_j) / max(high.gain - low.gain, _SMALLEST_GAIN)
            middle = self._tangent(worth)
            if not low.worth < worth < high.worth or middle.gain in (low.gain, high.gain):
                break
            low, high = (low, middle) if middle.gain >= enough else (middle, high)
        return worth, high.plan_j if high.gain >= enough else math.inf

    def _tangent(self, worth: float) -> _Tangent:
        purchases = [_purchase(entry, worth) for entry in self.rounds]
        plan_j = sum(purchase.net_j + worth * purchase.gain for purchase in purchases)
        return _Tangent(worth, plan_j, sum(purchase.gain for purchase in purchases))

    def _total_j(self, worth: float, nets_j: Sequence[float]) -> float:
        return worth * self.progress + sum(min(0.0, net_j) for net_j in nets_j)

    def _proven_j(self, worth: float, slack_j: float) -> float:
        """Return the bound at a worth, from exact solves; share the positions that they find."""
        proven_j, positions = [], [self.start_m]
        for entry in self.rounds:
            if entry.least_net_j(worth) >= 0:
                continue
            known = entry.best_known(worth)
            start_m, spare_j = self.start_m, slack_j
            if known is not None:  # where it is better not flown, less has to be proven
                start_m, spare_j = known.position, slack_j + max(0.0, known.net_j)
            net_j, position = entry.solve(worth, spare_j, start_m, self.max_boxes)
            proven_j.append(net_j)
            positions.append(position)
            self.solves += 1
        self._share(positions)
        joules = self._total_j(worth, proven_j)
        return float(joules - _ROUNDING * (2 * worth * self.progress + abs(joules)))


class _Tangent(NamedTuple):
    """The known plan that is best at some worth: a straight line over all worths."""

    worth: float
    plan_j: float
    gain: float


def _purchase(entry: FreeRound, worth: float) -> Purchase:
    """Return the best that is known of a round; nothing, if it is better not flown."""
    known = entry.best_known(worth)
    return known if known is not None and known.net_j < 0 else _NOTHING


def billed_round(
    problem: RoundProblem,
    server_m: Array,
    iterations: Array,
    path_loss: Array,
    *,
    gains: Array,
    base_gain: float,
    fixed_j: float,
    billed_j: float,
    prices: Prices,
) -> BoundRound:
    """Return a round of a run, such that the run does not fall below the mission's bound.

    Parameters
    ----------
    problem
        The problem that was planned, with the limits that devices have without their batteries.
    server_m, iterations, path_loss
        Where the server was, the iterations that devices executed and reported in time, and their
        true path losses.
    gains, base_gain, fixed_j
        As in `BoundRound`; `gains` has the measured gain at the iterations that were executed.
    billed_j
        All priced joules of the round.
    prices
        The price of a joule, of the devices and of the server.
    """
    rows, counts = np.arange(len(problem)), np.rint(iterations).astype(np.int64)
    counts = np.where(gains[rows, counts] > gains[:, 0], counts, 0)
    better = np.minimum(path_loss / problem.path_loss(server_m), 1.0)
    as_it_was = replace(
        problem,
        wall_loss_db=problem.wall_loss_db + 10 * np.log10(better),
        cpu_max_hz=np.maximum(problem.cpu_max_hz, problem.least_cpu_hz(counts)),
    )
    entry = BoundRound(as_it_was, gains, base_gain, fixed_j, server_m)
    least_j = FreeRound(entry, prices, problem.server_m).cost_j(server_m, counts)
    return replace(entry, fixed_j=min(fixed_j, billed_j - least_j))
