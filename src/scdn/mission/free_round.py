"""A round of a mission in which the server moves for free, and progress has a worth.

What a round costs, less what its progress is worth, is bounded from both sides: from below by an
exact solve, from above by the best of some known positions. Given a position every device's choice
is a closed form for all worths at once, so what one solve finds serves every later one, and in
every round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from scdn.arrays import Array, IntArray, floats
from scdn.control.exact.branch_and_bound import ExactResult, solve_exact
from scdn.control.problem import TOLERANCE, RoundProblem
from scdn.control.worth import RoundWorth, problem_by_worth
from scdn.scenario import Prices

_ROUNDING = 1e-12  # relative: of sums with the worth of progress
_LEAST_GAP, _LARGEST_GAP = 1e-6, 0.5
_FREE = Prices(device=0.0, server=0.0)


@dataclass(frozen=True, eq=False)
class BoundRound:
    """A round as the mission's bound takes it; see `mission_bound`.

    Attributes
    ----------
    problem
        The round's problem; the server's position before the round does not matter.
    gains
        (N, τ^g + 1): the progress that each device adds, by its iterations.
    base_gain
        The progress that the round brings besides, if it is flown.
    fixed_j
        Priced joules that a flown round costs in any case, beside what the problem knows.
    executed_m
        Where the server was in this round: a good position to begin with.
    """

    problem: RoundProblem
    gains: Array
    base_gain: float = 0.0
    fixed_j: float = 0.0
    executed_m: Array | None = None


class Purchase(NamedTuple):
    """What a round buys at some worth: its net cost (joules less the worth of gains), and gain."""

    net_j: float
    gain: float
    position: Array


class FreeRound:
    """A round with free movement, and positions that are known for it."""

    def __init__(self, entry: BoundRound, prices: Prices, start_m: Array) -> None:
        self.entry, self.prices = entry, prices
        self.problem = _free_of_movement(entry.problem, prices, start_m)
        self.gains = floats(entry.gains)
        self.running_j = self._running_j()
        in_time = np.isfinite(self.running_j)
        self.best_gains = np.where(in_time, self.gains, -np.inf).max(axis=1, initial=-np.inf)
        self.positions, self.staying_j = np.zeros((0, 3)), np.zeros(0)
        self.sending_j = np.zeros((0, len(self.problem)))
        self._known: set[bytes] = set()
        if self.problem.candidates_m is not None:
            self.add(self.problem.candidates_m)
        elif self.problem.stays:
            self.add(self.problem.server_m[None])

    @property
    def most_gain(self) -> float:
        """Return a gain that no decision exceeds."""
        return self.entry.base_gain + float(self.best_gains.sum())

    # --- known positions --------------------------------------------------------------------------

    def add(self, positions: Array) -> None:
        """Add positions to the known ones, but for those that are not allowed."""
        new = positions[self.problem.allowed(positions)]
        if self.problem.candidates_m is not None:
            new = new[(new[:, None] == self.problem.candidates_m).all(axis=2).any(axis=1)]
        fresh = []
        for position in new:
            if position.tobytes() not in self._known:
                self._known.add(position.tobytes())
                fresh.append(position)
        if not fresh:
            return
        stacked = np.stack(fresh)
        self.positions = np.concatenate([self.positions, stacked])
        staying = self.prices.server * self.problem.movement_j(stacked).total
        self.staying_j = np.concatenate([self.staying_j, staying])
        self.sending_j = np.concatenate([self.sending_j, self._sending_j(stacked)])

    def best_known(self, worth: float) -> Purchase | None:
        """Return the best purchase at a known position, if there is one."""
        if not len(self.positions):
            return None
        rows, trained = np.arange(len(self.problem)), self.running_j - worth * self.gains
        counts = 1 + trained[:, 1:].argmin(axis=1) if trained.shape[1] > 1 else 0 * rows
        rests, trains = trained[:, 0], trained[rows, counts]
        active = self.sending_j + trains < rests
        nets = np.where(active, self.sending_j + trains, rests).sum(axis=1) + self.staying_j
        best = int(nets.argmin())
        bought = self.gains[rows, np.where(active[best], counts, 0)].sum()
        gain = self.entry.base_gain + float(bought)
        net_j = float(nets[best]) + self.entry.fixed_j - worth * self.entry.base_gain
        return Purchase(net_j, gain, self.positions[best])

    def cost_j(self, position: Array, counts: IntArray) -> float:
        """Return the priced joules of a decision, but for `fixed_j`."""
        running = self.running_j[np.arange(len(counts)), counts]
        devices = np.where(counts > 0, running + self._sending_j(position[None])[0], 0.0)
        staying = self.prices.server * self.problem.movement_j(position).total
        return float(devices.sum() + staying)

    def most_known_gain(self) -> float:
        """Return the largest gain at a known position; −∞ if there is none."""
        if not len(self.positions):
            return -math.inf
        heard = np.where(np.isfinite(self.sending_j), self.best_gains, self.gains[:, 0])
        return self.entry.base_gain + float(np.maximum(heard, self.gains[:, 0]).sum(axis=1).max())

    # --- all positions ----------------------------------------------------------------------------

    def least_net_j(self, worth: float) -> float:
        """Return a net cost that no decision falls below, as if messages were free."""
        staying_j = self.problem.movement.staying_j([0.0, np.finfo(np.float64).tiny]).min()
        devices_j = (self.running_j - worth * self.gains).min(axis=1).sum()
        net_j = self.prices.server * staying_j + devices_j - worth * self.entry.base_gain
        return float(net_j + self.entry.fixed_j - self._rounding_j(worth))

    def solve(
        self, worth: float, slack_j: float, start_m: Array, max_boxes: int
    ) -> tuple[float, Array]:
        """Return a net cost that no decision falls below, up to about `slack_j`, and a position."""
        offset_j = worth * (self.entry.base_gain + self._best_sum()) - self.entry.fixed_j
        known = self.best_known(worth)
        objective = known.net_j + offset_j if known else 0.0
        gap = min(max(slack_j / objective, _LEAST_GAP), _LARGEST_GAP) if objective > 0 else 1e-3
        problem = self._problem_at(worth, self.prices)
        result = solve_exact(problem, gap, warm_start=start_m, max_boxes=max_boxes)
        net_j = float(result.lower_bound) - offset_j - self._rounding_j(worth)
        return net_j, result.decision.server_m

    def solve_for_gain(self, start_m: Array, max_boxes: int) -> tuple[float, Array]:
        """Return a gain that no decision exceeds, whatever it costs, and a position."""
        result = self._solve_free(start_m, max_boxes)
        most = self.entry.base_gain + self._best_sum() - float(result.lower_bound)
        return most + self._rounding_j(1.0), result.decision.server_m

    def _solve_free(self, start_m: Array, max_boxes: int) -> ExactResult:
        problem = self._problem_at(1.0, _FREE)
        return solve_exact(problem, 1e-4, warm_start=start_m, max_boxes=max_boxes)

    def _problem_at(self, worth: float, prices: Prices) -> RoundProblem:
        round_worth = RoundWorth(worth * self.gains, prices, serving_rounds=math.inf)
        return problem_by_worth(self.problem, round_worth)

    def _best_sum(self) -> float:
        """Return what `problem_by_worth` counts as forgone by nobody, at a worth of 1."""
        return float(self.gains.max(axis=1, initial=0.0).sum())

    def _rounding_j(self, worth: float) -> float:
        """Return how far sums of this size may be off."""
        size = abs(self.entry.base_gain) + float(np.abs(self.gains).max(axis=1, initial=0.0).sum())
        return _ROUNDING * (worth * size + abs(self.entry.fixed_j))

    def _running_j(self) -> Array:
        """Return the priced joules (N, τ^g + 1) of computing; ∞ where no clock is fast enough."""
        counts = floats(range(self.problem.max_iterations + 1))
        columns = []
        for count in counts:
            clock = self.problem.least_cpu_hz(np.full(len(self.problem), count))
            joules = self.prices.device * self.problem.processing_j(count, clock)
            columns.append(np.where(clock <= self.problem.cpu_max_hz, joules, np.inf))
        return np.stack(columns, axis=1)

    def _sending_j(self, positions: Array) -> Array:
        """Return the priced joules (positions, N) of reports; ∞ where no power is enough."""
        power = self.problem.least_power(positions)
        joules = power * self.problem.delay_s(power, self.problem.path_loss(positions))
        in_reach = power <= self.problem.max_power_w * (1 + TOLERANCE)
        return np.where(in_reach, self.prices.device * joules, np.inf)


def _free_of_movement(problem: RoundProblem, prices: Prices, start_m: Array) -> RoundProblem:
    """Return the problem with flights that take no energy and lead everywhere, without batteries.

    The start only matters at the ceiling, where the server may stay but not climb to.
    """
    no_gains = np.zeros((len(problem), problem.max_iterations + 1))
    free = problem_by_worth(problem, RoundWorth(no_gains, prices, serving_rounds=math.inf))
    movement = replace(free.movement, cruise_m=0.0, goes_around=False)
    server_m = problem.server_m if problem.stays else start_m
    return replace(
        free,
        movement=movement,
        server_m=server_m,
        forgone=None,
        fixed_cost=0.0,
        iteration_caps=None,
    )
