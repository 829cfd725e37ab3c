"""What each device would do, given only its path loss: the round's problem without the position.

Transmission energy rises with power, so power is the least that meets the delay; processing energy
rises with the clock, so the clock is the least that carries the iterations; and the best number of
iterations does not depend on where the server is. What remains of a device is a function of its
path loss L alone:

    cost(L) = min(off, on + price·L)   while L ≤ reach,   else off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scdn.arrays import Array, floats
from scdn.control.problem import Decision, RoundProblem
from scdn.errors import input_error
from scdn.theory import MOMENTUM

_GOLDEN = (np.sqrt(5) - 1) / 2
_AT_ONCE = 8  # whole iterations whose cost is computed together
_ROUNDING = 1e-12  # a power over its limit by no more than this is at its limit


@dataclass(frozen=True, eq=False)
class DeviceCosts:
    """Each device's part of the objective, and what it does when active."""

    off: Array  # cost when inactive
    on: Array  # cost when active, transmission aside
    slack: Array  # a proven lower bound on `on` is `on − slack`
    iterations: Array  # what an active device runs
    price: Array  # weighted transmission energy = this · path loss
    reach: Array  # largest path loss that the transmit limit can overcome

    @property
    def gain(self) -> Array:
        """What being active saves, transmission aside; never active where it is ≤ 0."""
        return self.off - self.on


def device_costs(problem: RoundProblem, gap: float = 1e-4) -> DeviceCosts:
    """The closed forms of all devices; relaxed iterations to a twentieth of the gap, or better."""
    off = problem.weights.convergence * problem.convergence(np.zeros(len(problem)))
    if problem.integer_iterations:
        iterations, on, slack = _whole_iterations(problem)
    else:
        iterations, on, slack = _relaxed_iterations(problem, min(gap / 20, 1e-5))
    per_loss = problem.least_power_per_loss()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        price = problem.weights.transmission * per_loss * problem.max_delay_s
        reach = np.where(per_loss > 0, problem.max_power_w / per_loss, np.inf)
    return DeviceCosts(off, on, slack, iterations, price, reach)


@np.errstate(over="ignore", invalid="ignore")
def _running_cost(problem: RoundProblem, iterations: Array) -> Array:
    """Convergence and processing of so many iterations at the least clock; ∞ if it is too fast."""
    clock = problem.least_cpu_hz(iterations)
    weights = problem.weights
    cost = weights.convergence * problem.convergence(iterations)
    cost = cost + weights.processing * problem.processing_j(iterations, clock)
    return np.where(clock <= problem.cpu_max_hz, cost, np.inf)


def _whole_iterations(problem: RoundProblem) -> tuple[Array, Array, Array]:
    best, cost = np.zeros(len(problem)), np.full(len(problem), np.nan)
    for first in range(0, problem.max_iterations + 1, _AT_ONCE):
        counts = np.arange(first, min(first + _AT_ONCE, problem.max_iterations + 1))
        costs = _running_cost(problem, np.repeat(floats(counts)[:, None], len(problem), axis=1))
        for count, found in zip(counts, costs, strict=True):
            if count == 0:
                cost = found
            elif np.isinf(found).all():  # no clock carries more
                return best, cost, np.zeros(len(problem))
            better = found < cost
            best, cost = np.where(better, count, best), np.where(better, found, cost)
    return best, cost, np.zeros(len(problem))


def _relaxed_iterations(problem: RoundProblem, gap: float) -> tuple[Array, Array, Array]:
    most = problem.most_iterations()
    _refuse_poles(problem, most)
    best, cost, slack = _golden(problem, most)
    heavy = np.flatnonzero(problem.optimizer == MOMENTUM)
    if len(heavy):
        part = problem.take(heavy)
        best[heavy], cost[heavy], slack[heavy] = _by_intervals(
            part, most[heavy], best[heavy], cost[heavy], gap
        )
    return best, cost, slack


def _refuse_poles(problem: RoundProblem, most: Array) -> None:
    """Relaxed iterations can come as near as they like to where the bound's denominator is zero.

    Only proximal SGD outside Theorem 1's conditions has such a place. The denominator is concave in
    the iterations, so it has a zero if it is not positive at their most.
    """
    pole = (problem.progress(problem.steps(most)) <= 0) & (problem.importance > 0)
    if problem.weights.convergence > 0 and pole.any():
        device = problem.ids[int(pole.argmax())]
        allowed = "with relaxed iterations Theorem 1's conditions must hold (or the bound is −∞)"
        raise input_error("problem", f"learning_rate of {device}", "too large for its mu", allowed)


def _golden(problem: RoundProblem, most: Array) -> tuple[Array, Array, Array]:
    """Golden section, for costs that are convex in the iterations.

    Standard and proximal SGD are: a square over a concave function is convex, and so is the
    processing energy.
    """
    low, high = np.zeros_like(most), most.copy()
    for _ in range(60):
        width = _GOLDEN * (high - low)
        left, right = high - width, low + width
        keep_left = _running_cost(problem, left) <= _running_cost(problem, right)
        low, high = np.where(keep_left, low, left), np.where(keep_left, right, high)
    ends = np.stack([np.zeros_like(most), (low + high) / 2, most])
    costs = np.stack([_running_cost(problem, end) for end in ends])
    pick = costs.argmin(axis=0)
    columns = np.arange(len(most))
    cost = costs[pick, columns]
    return ends[pick, columns], cost, 1e-9 * np.abs(cost)


def _by_intervals(
    problem: RoundProblem, most: Array, best: Array, cost: Array, gap: float
) -> tuple[Array, Array, Array]:
    """Bisection with interval bounds, for momentum: all devices' intervals in one list."""
    tolerance = gap * np.abs(cost)
    who, low, high = np.arange(len(problem)), np.zeros(len(problem)), most.copy()
    for _ in range(50):
        part = problem.take(who)
        still = _interval_bound(part, low, high) < cost[who] - tolerance[who]
        who, low, high = who[still], low[still], high[still]
        if not len(who):
            break
        middle = (low + high) / 2
        found = _running_cost(problem.take(who), middle)
        order = np.lexsort((found, who))
        first = np.flatnonzero(np.diff(who[order], prepend=-1))
        owner, value, place = who[order][first], found[order][first], middle[order][first]
        better = value < cost[owner]
        cost[owner[better]], best[owner[better]] = value[better], place[better]
        who = np.concatenate([who, who])
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    return best, cost, tolerance


def _interval_bound(problem: RoundProblem, low: Array, high: Array) -> Array:
    """Below the cost anywhere in [low, high]: every monotone factor at its favourable end."""
    weights, rate = problem.weights, problem.learning_rate * problem.survival
    q_low, q_high = problem.steps(low), problem.steps(high)
    mean, largest = problem.step_weights(q_high).mean, problem.step_weights(q_low).largest
    largest = np.where(q_low > 0, largest, 0.0)  # its limit, as the steps go to none
    drift = problem.drift(q_low * problem.survival, largest)
    progress = rate * (q_high * mean - q_low * largest / 2) + problem.learning.epsilon
    processing = problem.processing_j(low, problem.least_cpu_hz(low))
    bound = weights.convergence * problem.importance * problem.bound(drift, progress)
    return bound + weights.processing * processing


def decision_at(problem: RoundProblem, found: DeviceCosts, server_m: Array) -> Decision:
    """The best decision with the server at a given place: the closed forms, evaluated there."""
    least = problem.least_power(server_m)
    reached = least <= problem.max_power_w * (1 + _ROUNDING)
    power = np.where(reached, np.minimum(least, problem.max_power_w), 0.0)
    cost = problem.weights.transmission * power * problem.max_delay_s
    active = reached & (cost < found.gain)
    iterations = np.where(active, found.iterations, 0.0)
    return Decision(
        server_m=server_m,
        active=active,
        iterations=iterations,
        power_w=np.where(active, power, 0.0),
        cpu_hz=problem.least_cpu_hz(iterations),
    )
