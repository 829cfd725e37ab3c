"""One round's problem as plain numbers, and the true value of any decision.

Every solver's answer passes through `evaluate`: the objective, its four terms and the list of
broken constraints are always the true model's, whatever a solver used inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scdn import theory
from scdn.arrays import Array, IntArray, Mask, floats
from scdn.scenario import Movement, Radio, RoundLearningSettings, Weights
from scdn.theory import StepWeights, step_weights
from scdn.world import energy, geometry, transmission
from scdn.world.path_loss import is_air_to_air, path_loss

TOLERANCE = 1e-9  # relative, on every limit
SMALLEST_OBJECTIVE = 1e-12  # a gap is relative to the objective, or to this


@dataclass(frozen=True, eq=False)
class RoundProblem:
    """What is given: the place, the channel, the weights, and N devices as arrays."""

    region_m: Array
    server_m: Array  # where the server stands before the round
    radio: Radio
    weights: Weights
    movement: Movement
    learning: RoundLearningSettings
    max_delay_s: float
    max_iterations: int
    integer_iterations: bool
    keep_out_m: Array  # (K, 6)
    candidates_m: Array | None  # (C, 3)
    ids: tuple[str, ...]
    position_m: Array  # (N, 3)
    max_power_w: Array
    payload_bits: Array
    bandwidth_hz: Array
    cpu_min_hz: Array
    cpu_max_hz: Array
    capacitance: Array
    connections: Array
    flops_per_cycle: Array
    importance: Array
    survival: Array
    learning_rate: Array
    smoothness: Array
    gradient_bound_sq: Array
    gradient_variance: Array
    optimizer: IntArray  # SGD, PROXIMAL or MOMENTUM of scdn.theory
    optimizer_value: Array  # mu, rho, or 0
    count: int = -1  # N in the bound; by default the number of devices here
    noise_w: Array = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise_w", transmission.noise_w(self.radio, self.bandwidth_hz))
        if self.count < 0:
            object.__setattr__(self, "count", len(self.ids))

    def take(self, which: IntArray) -> RoundProblem:
        """The same problem for some of the devices, each with the same share of the bound."""
        arrays = {name: getattr(self, name)[which] for name in _PER_DEVICE}
        return replace(self, ids=tuple(self.ids[i] for i in which), **arrays)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def ceiling_m(self) -> float:
        """z_max, which the server only keeps if it stood there before."""
        return float(self.region_m[2])

    def steps(self, iterations: ArrayLike) -> Array:
        """Mini-batch steps of so many iterations, q."""
        return self.learning.steps_per_iteration * floats(iterations)

    def cycles(self, iterations: ArrayLike) -> Array:
        """Clock cycles of so many iterations."""
        q = self.steps(iterations)
        return energy.cycles(q, self.learning.batch_size, self.connections, self.flops_per_cycle)

    def most_iterations(self) -> Array:
        """The most iterations, relaxed, that each device's fastest clock and the limit allow."""
        one = self.cycles(np.ones(len(self)))
        budget = self.cpu_max_hz * self.learning.compute_deadline_s
        limit = np.full(len(self), float(self.max_iterations))
        return np.minimum(limit, np.divide(budget, one, out=limit.copy(), where=one > 0))

    def least_cpu_hz(self, iterations: ArrayLike) -> Array:
        """The slowest clock that carries the iterations; may exceed the device's fastest."""
        deadline = self.learning.compute_deadline_s
        return energy.least_cpu_hz(self.cycles(iterations), deadline, self.cpu_min_hz)

    def processing_j(self, iterations: ArrayLike, cpu_hz: ArrayLike) -> Array:
        """Energy of computing the iterations at a clock."""
        return energy.processing_j(self.cycles(iterations), self.capacitance, cpu_hz)

    def convergence(self, iterations: ArrayLike) -> Array:
        """Each device's share of Theorem 1's bound, weighted by importance."""
        q = self.steps(iterations)
        weights = self.step_weights(q)
        drift = self.drift(q * self.survival, weights.largest)
        return self.importance * self.bound(drift, self.progress(q))

    def step_weights(self, q: Array) -> StepWeights:
        """w̄ and w_max of q steps."""
        return step_weights(self.optimizer, q, self.learning_rate, self.optimizer_value)

    def drift(self, effective_steps: Array, largest_weight: Array) -> Array:
        """The bound's Υ."""
        smoothness, overall = self.smoothness, self.learning.global_smoothness
        return theory.drift(
            effective_steps, self.learning_rate, largest_weight, smoothness, overall
        )

    def progress(self, q: Array) -> Array:
        """The bound's denominator: what q steps gain, kept from zero by epsilon."""
        mean, largest = self.step_weights(q)
        effective, epsilon = q * self.survival, self.learning.epsilon
        return theory.progress(effective, self.learning_rate, mean, largest, epsilon)

    def bound(self, drift: Array, progress: Array) -> Array:
        """Theorem 1's bound, before importance."""
        start = self.learning.initial_loss / (self.learning.rounds * max(self.count, 1))
        return theory.theorem_1(
            start, self.gradient_bound_sq, self.gradient_variance, drift, progress
        )

    def path_loss(self, server_m: ArrayLike) -> Array:
        """Mean path loss of every link from a server position (…, 3): (…, N)."""
        return path_loss(server_m, self.position_m, self.radio)

    def least_power_per_loss(self) -> Array:
        """Least power that meets the delay, per unit of path loss: P = this · path loss."""
        ones = np.ones(len(self))
        return transmission.least_power(
            ones,
            self.payload_bits,
            self.bandwidth_hz,
            self.noise_w,
            self.max_delay_s,
            self.radio.rate_model,
        )

    def least_power(self, server_m: ArrayLike) -> Array:
        """Least power that reports in time to positions (…, 3): (…, N); may exceed the limit."""
        per_loss = self.least_power_per_loss()
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(per_loss > 0, per_loss * self.path_loss(server_m), 0.0)

    def delay_s(self, power_w: ArrayLike, loss: ArrayLike) -> Array:
        """Time each device needs to send its payload."""
        snr = transmission.snr(power_w, loss, self.noise_w)
        speed = transmission.rate(snr, self.bandwidth_hz, self.radio.rate_model)
        return transmission.delay(self.payload_bits, speed)

    def movement_j(self, server_m: ArrayLike) -> energy.MovementJ:
        """What it costs the server to be at a position (…, 3) in this round."""
        return energy.movement_j(self.server_m, server_m, self.movement, self.ceiling_m)

    def allowed(self, server_m: ArrayLike) -> Mask:
        """Whether the server may be at positions (…, 3): region, keep-outs, floor, ceiling."""
        p = floats(server_m)
        z = p[..., 2]
        airborne = (z == 0) | (z >= self.movement.min_flight_m)
        below = (z < self.ceiling_m) | (self.server_m[2] == self.ceiling_m)
        inside = geometry.in_region(p, self.region_m)
        return airborne & below & inside & ~geometry.in_keep_out(p, self.keep_out_m)


_PER_DEVICE = (
    "position_m",
    "max_power_w",
    "payload_bits",
    "bandwidth_hz",
    "cpu_min_hz",
    "cpu_max_hz",
    "capacitance",
    "connections",
    "flops_per_cycle",
    "importance",
    "survival",
    "learning_rate",
    "smoothness",
    "gradient_bound_sq",
    "gradient_variance",
    "optimizer",
    "optimizer_value",
)


class Decision(NamedTuple):
    """What is decided: where the server goes, and for each device the four controls."""

    server_m: Array
    active: Mask
    iterations: Array
    power_w: Array
    cpu_hz: Array


class Violation(NamedTuple):
    """A broken constraint; `device` is None where it is the server's."""

    device: str | None
    constraint: str
    value: float
    limit: float


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The true value of a decision."""

    objective: float
    terms: dict[str, float]  # convergence, and joules by kind
    weighted: dict[str, float]
    delay_s: Array  # NaN where inactive
    transmission_j: Array
    processing_j: Array
    air_to_air: Mask
    violations: tuple[Violation, ...]


@np.errstate(over="ignore", invalid="ignore")
def evaluate(problem: RoundProblem, decision: Decision) -> Evaluation:
    """The objective, its terms and every broken constraint of any decision.

    Absurd numbers make the objective infinite, or none; `make_plan` refuses those.
    """
    loss = problem.path_loss(decision.server_m)
    sending = decision.active & (problem.payload_bits > 0)
    power = np.maximum(decision.power_w, 0.0)  # a negative one is a violation, not a signal
    delay = np.where(sending, problem.delay_s(power, loss), 0.0)
    transmission = np.where(sending, energy.transmission_j(power, delay), 0.0)
    processing = problem.processing_j(decision.iterations, decision.cpu_hz)
    terms = {
        "convergence": float(problem.convergence(decision.iterations).sum()),
        "transmission_j": float(transmission.sum()),
        "processing_j": float(processing.sum()),
        "movement_j": float(problem.movement_j(decision.server_m).total),
    }
    weights = problem.weights
    weighted = {
        "convergence": weights.convergence * terms["convergence"],
        "transmission": weights.transmission * terms["transmission_j"],
        "processing": weights.processing * terms["processing_j"],
        "movement": weights.movement * terms["movement_j"],
    }
    return Evaluation(
        objective=sum(weighted.values()),
        terms=terms,
        weighted=weighted,
        delay_s=np.where(decision.active, delay, np.nan),
        transmission_j=transmission,
        processing_j=processing,
        air_to_air=is_air_to_air(decision.server_m, problem.position_m),
        violations=tuple(_violations(problem, decision, delay)),
    )


def _violations(problem: RoundProblem, decision: Decision, delay: Array) -> list[Violation]:
    """Every broken constraint, the server's first, then constraint by constraint."""
    found = _server_violations(problem, decision.server_m)
    for check in _device_checks(problem, decision, delay):
        if not check.broken.any():
            continue
        limits = np.broadcast_to(floats(check.limit), check.value.shape)
        for device in np.flatnonzero(check.broken):
            amount, limit = float(check.value[device]), float(limits[device])
            found.append(Violation(problem.ids[device], check.name, amount, limit))
    return found


class _Check(NamedTuple):
    name: str
    value: Array
    limit: Array | float
    broken: Mask


def _device_checks(problem: RoundProblem, decision: Decision, delay: Array) -> Iterator[_Check]:
    iterations, power, cpu = decision.iterations, decision.power_w, decision.cpu_hz
    needed = problem.cycles(iterations) / problem.learning.compute_deadline_s

    def at_most(name: str, value: Array, limit: Array | float) -> _Check:
        return _Check(name, value, limit, _above(value, limit))

    def at_least(name: str, value: Array, limit: Array | float) -> _Check:
        return _Check(name, value, limit, _above(limit, value))

    def only(where: Mask, check: _Check) -> _Check:
        return check._replace(broken=where & check.broken)

    yield only(decision.active, at_most("max_delay_s", delay, problem.max_delay_s))
    yield only(~decision.active, at_most("inactive_iterations", iterations, 0.0))
    yield only(~decision.active, at_most("inactive_power_w", power, 0.0))
    yield at_most("max_iterations", iterations, problem.max_iterations)
    yield at_least("min_iterations", iterations, 0.0)
    if problem.integer_iterations:
        whole = np.rint(iterations)
        yield _Check("whole_iterations", iterations, whole, np.abs(iterations - whole) > TOLERANCE)
    yield at_least("compute_deadline_s", cpu, needed)
    yield at_least("cpu_min_hz", cpu, problem.cpu_min_hz)
    yield at_most("cpu_max_hz", cpu, problem.cpu_max_hz)
    yield at_least("min_power_w", power, 0.0)
    yield at_most("max_power_w", power, problem.max_power_w)


def _above(value: Array | float, limit: Array | float) -> Mask:
    """Above by more than rounding: relative to the limit, and not fooled by NaN."""
    return ~(value <= limit + TOLERANCE * np.abs(limit))


def _server_violations(problem: RoundProblem, server_m: Array) -> list[Violation]:
    found = []
    for axis, name in enumerate("xyz"):
        place, size = float(server_m[axis]), float(problem.region_m[axis])
        if not 0 <= place <= size:
            found.append(Violation(None, f"region_{name}", place, size if place > size else 0.0))
    z, floor = float(server_m[2]), problem.movement.min_flight_m
    if 0 < z < floor:
        found.append(Violation(None, "min_flight_m", z, floor))
    if z >= problem.ceiling_m and problem.server_m[2] != problem.ceiling_m:
        found.append(Violation(None, "ceiling", z, problem.ceiling_m))
    if geometry.in_keep_out(server_m, problem.keep_out_m):
        found.append(Violation(None, "keep_out", 1.0, 0.0))
    if problem.candidates_m is not None:
        steps = geometry.distance(problem.candidates_m, server_m)
        if steps.min() > 0:
            found.append(Violation(None, "candidates", float(steps.min()), 0.0))
    return found
