"""The closed form of each device's decision, given only its path loss.

Transmission energy rises with power, so power is the least that meets the delay; processing energy
rises with the clock, so the clock is the least that carries the iterations; and the best number of
iterations does not depend on the server's position. What remains of a device is a function of its
path loss L alone:

    cost(L) = min(off, on + price·L)   while L ≤ reach,   else off.

Below `floor_loss` the least power that the device can transmit is more than it needs. It then sends
faster, and its cost is floor_cost/ln(1 + floor_snr/L) instead of price·L.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scdn.arrays import Array, floats
from scdn.control.evaluation import Decision
from scdn.control.problem import RoundProblem
from scdn.errors import input_error
from scdn.scenario import RateModel
from scdn.theory import MOMENTUM
from scdn.world.transmission import least_snr

_GOLDEN = (np.sqrt(5) - 1) / 2
_AT_ONCE = 8  # numbers of iterations whose cost is computed together
_ROUNDING = 1e-12  # a power above its limit by no more than this is at its limit


@dataclass(frozen=True, eq=False)
class DeviceCosts:
    """Each device's part of the objective when active and inactive, and its best iterations."""

    off: Array  # cost when inactive
    on: Array  # cost when active, transmission aside
    slack: Array  # a proven lower bound on `on` is `on − slack`
    iterations: Array  # of an active device
    price: Array  # weighted transmission energy = this · path loss
    reach: Array  # largest path loss that the transmit limit can overcome
    floor_loss: Array  # path loss below which it transmits at its least power
    floor_cost: Array  # weighted transmission energy there = this / ln(1 + floor_snr / path loss)
    floor_snr: Array

    @property
    def gain(self) -> Array:
        """Return what being active saves, transmission aside; ≤ 0 means never active."""
        return self.off - self.on

    def break_even_loss(self, model: RateModel) -> Array:
        """Return the path loss up to which transmission costs no more than it saves."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            break_even = np.where(self.price > 0, self.gain / self.price, np.inf)
            at_floor = self.floor_snr / least_snr(self.floor_cost / self.gain, model)
        floored = (break_even < self.floor_loss) & (self.gain > 0)
        return np.where(floored, at_floor, break_even)


def device_costs(problem: RoundProblem, gap: float = 1e-4) -> DeviceCosts:
    """Return all devices' closed forms; relaxed iterations are exact to a twentieth of the gap."""
    off = problem.weights.convergence * problem.convergence(np.zeros(len(problem)))
    if problem.integer_iterations:
        iterations, on, slack = _whole_iterations(problem)
    else:
        iterations, on, slack = _relaxed_iterations(problem, min(gap / 20, 1e-5))
    per_loss = problem.least_power_per_loss()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        price = problem.weights.transmission * per_loss * problem.max_delay_s
        reach = np.where(per_loss > 0, problem.max_power_w / per_loss, np.inf)
        floor_loss = np.where(per_loss > 0, problem.min_power_w / per_loss, 0.0)
    symbols = problem.payload_bits * np.log(2.0) / problem.bandwidth_hz
    floor_cost = problem.weights.transmission * problem.min_power_w * symbols
    floor_snr = problem.min_power_w / problem.noise_w
    return DeviceCosts(off, on, slack, iterations, price, reach, floor_loss, floor_cost, floor_snr)


@np.errstate(over="ignore", invalid="ignore")
def _running_cost(problem: RoundProblem, iterations: Array) -> Array:
    """Return the cost of convergence and processing at the least clock; ∞ if it is not possible."""
    cpu_hz = problem.least_cpu_hz(iterations)
    weights = problem.weights
    cost = weights.convergence * problem.convergence(iterations)
    cost = cost + weights.processing * problem.processing_j(iterations, cpu_hz)
    possible = (cpu_hz <= problem.cpu_max_hz) & (iterations <= problem.iteration_cap())
    return np.where(possible, cost, np.inf)


def _whole_iterations(problem: RoundProblem) -> tuple[Array, Array, Array]:
    """Return the best whole iterations, their cost, and no slack: every number is tried."""
    best, best_cost = np.zeros(len(problem)), np.full(len(problem), np.nan)
    for first in range(0, problem.max_iterations + 1, _AT_ONCE):
        counts = np.arange(first, min(first + _AT_ONCE, problem.max_iterations + 1))
        costs = _running_cost(problem, np.repeat(floats(counts)[:, None], len(problem), axis=1))
        for count, cost in zip(counts, costs, strict=True):
            if count == 0:
                best_cost = cost
            elif np.isinf(cost).all():  # no clock carries more
                return best, best_cost, np.zeros(len(problem))
            better = cost < best_cost
            best, best_cost = np.where(better, count, best), np.where(better, cost, best_cost)
    return best, best_cost, np.zeros(len(problem))


def _relaxed_iterations(problem: RoundProblem, gap: float) -> tuple[Array, Array, Array]:
    """Return the best relaxed iterations, their cost, and how far that may be above the least."""
    most = problem.most_iterations()
    _refuse_poles(problem, most)
    best, cost, slack = _golden_section(problem, most)
    momentum = np.flatnonzero(problem.optimizer == MOMENTUM)
    if len(momentum):
        best[momentum], cost[momentum], slack[momentum] = _bisection(
            problem.take(momentum), most[momentum], best[momentum], cost[momentum], gap
        )
    return best, cost, slack


def _refuse_poles(problem: RoundProblem, most: Array) -> None:
    """Refuse problems whose bound has a pole, which relaxed iterations could approach.

    Only proximal SGD outside Theorem 1's conditions has one, where the bound's denominator is zero.
    The denominator is concave in the iterations, so it has a zero if it is not positive at `most`.
    """
    pole = (problem.progress(problem.steps(most)) <= 0) & (problem.importance > 0)
    if problem.weights.convergence > 0 and pole.any():
        index = int(pole.argmax())
        rate, mu = problem.learning_rate[index], problem.optimizer_value[index]
        allowed = "relaxed iterations need Theorem 1's conditions, or the bound has no minimum"
        fault = f"{rate:g} is too large for mu = {mu:g}"
        raise input_error("problem", f"learning_rate of {problem.ids[index]}", fault, allowed)


def _golden_section(problem: RoundProblem, most: Array) -> tuple[Array, Array, Array]:
    """Minimise costs that are convex in the iterations by golden section.

    Those of standard and proximal SGD are: a square over a concave function is convex, and so is
    the processing energy.
    """
    low, high = np.zeros_like(most), most.copy()
    for _ in range(60):
        width = _GOLDEN * (high - low)
        left, right = high - width, low + width
        keep_left = _running_cost(problem, left) <= _running_cost(problem, right)
        low, high = np.where(keep_left, low, left), np.where(keep_left, right, high)
    ends = np.stack([np.zeros_like(most), (low + high) / 2, most])
    costs = np.stack([_running_cost(problem, end) for end in ends])
    best = costs.argmin(axis=0), np.arange(len(most))
    return ends[best], costs[best], 1e-9 * np.abs(costs[best])


def _bisection(
    problem: RoundProblem, most: Array, best: Array, cost: Array, gap: float
) -> tuple[Array, Array, Array]:
    """Minimise momentum's costs by bisection with bounds: all devices' intervals in one list."""
    tolerance = gap * np.abs(cost)
    device, low, high = np.arange(len(problem)), np.zeros(len(problem)), most.copy()
    for _ in range(50):
        bound = _interval_bound(problem.take(device), low, high)
        still_open = bound < cost[device] - tolerance[device]
        device, low, high = device[still_open], low[still_open], high[still_open]
        if not len(device):
            break
        middle = (low + high) / 2
        middle_cost = _running_cost(problem.take(device), middle)
        order = np.lexsort((middle_cost, device))
        cheapest = order[np.flatnonzero(np.diff(device[order], prepend=-1))]  # of each device
        better = cheapest[middle_cost[cheapest] < cost[device[cheapest]]]
        cost[device[better]], best[device[better]] = middle_cost[better], middle[better]
        device = np.concatenate([device, device])
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    return best, cost, tolerance


def _interval_bound(problem: RoundProblem, low: Array, high: Array) -> Array:
    """Return a lower bound of the cost in [low, high]: every factor at its favourable end."""
    weights, rate = problem.weights, problem.learning_rate * problem.survival
    q_low, q_high = problem.steps(low), problem.steps(high)
    mean, largest = problem.step_weights(q_high).mean, problem.step_weights(q_low).largest
    largest = np.where(q_low > 0, largest, 0.0)  # its limit, as the steps go to none
    drift = problem.drift(q_low * problem.survival, largest)
    progress = rate * (q_high * mean - q_low * largest / 2) + problem.learning.epsilon
    processing = problem.processing_j(low, problem.least_cpu_hz(low))
    bound = weights.convergence * problem.importance * problem.bound(drift, progress)
    return bound + weights.processing * processing


def _sending_s(problem: RoundProblem, power: Array, server_m: Array) -> Array | float:
    """Return how long reports take at a power: T^max, or less at a device's least power."""
    floored = (power <= problem.min_power_w) & (power > 0)
    if not floored.any():
        return problem.max_delay_s
    delay = problem.delay_s(power, problem.path_loss(server_m))
    return np.where(floored, delay, problem.max_delay_s)


def decision_at(problem: RoundProblem, costs: DeviceCosts, server_m: Array) -> Decision:
    """Return the best decision with the server at a position: the closed forms, evaluated there."""
    least = problem.least_power(server_m)
    in_reach = least <= problem.max_power_w * (1 + _ROUNDING)
    power = np.where(in_reach, np.minimum(least, problem.max_power_w), 0.0)
    transmission = problem.weights.transmission * power * _sending_s(problem, power, server_m)
    active = in_reach & (transmission < costs.gain)
    iterations = np.where(active, costs.iterations, 0.0)
    return Decision(
        server_m=server_m,
        active=active,
        iterations=iterations,
        power_w=np.where(active, power, 0.0),
        cpu_hz=problem.least_cpu_hz(iterations),
    )
