"""A decision for a round, and its true objective, its terms and the constraints it violates.

Every solver's decision passes through `evaluate`: the result is always the true model's, whatever a
solver used inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scdn.arrays import Array, Mask, floats
from scdn.control.problem import TOLERANCE, RoundProblem
from scdn.world import energy, geometry
from scdn.world.link_models.link_model import is_air_to_air


class Decision(NamedTuple):
    """A solution of P^r: the server's position φ, and each device's α, τ, P and g."""

    server_m: Array
    active: Mask
    iterations: Array
    power_w: Array
    cpu_hz: Array


class Violation(NamedTuple):
    """A violated constraint; `device` is None where it is the server's."""

    device: str | None
    constraint: str
    value: float
    limit: float


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The true objective of a decision, its terms and the constraints it violates."""

    objective: float  # the sum of `weighted` and the problem's fixed cost
    terms: dict[str, float]  # convergence, and joules by kind
    weighted: dict[str, float]
    delay_s: Array  # NaN where inactive
    transmission_j: Array
    processing_j: Array
    air_to_air: Mask
    violations: tuple[Violation, ...]


@np.errstate(over="ignore", invalid="ignore")
def evaluate(problem: RoundProblem, decision: Decision) -> Evaluation:
    """Compute the objective, its terms and every violated constraint of any decision.

    Absurd numbers make the objective infinite or NaN; `make_plan` refuses those.
    """
    loss = problem.path_loss(decision.server_m)
    sending = decision.active & (problem.payload_bits > 0)
    power = np.maximum(decision.power_w, 0.0)  # a negative power is a violation
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
        objective=sum(weighted.values()) + problem.fixed_cost,
        terms=terms,
        weighted=weighted,
        delay_s=np.where(decision.active, delay, np.nan),
        transmission_j=transmission,
        processing_j=processing,
        air_to_air=is_air_to_air(decision.server_m, problem.position_m),
        violations=tuple(_violations(problem, decision, delay)),
    )


def _violations(problem: RoundProblem, decision: Decision, delay: Array) -> list[Violation]:
    """Return the server's violations, then the devices' constraint by constraint."""
    violations = _server_violations(problem, decision.server_m)
    for check in _device_checks(problem, decision, delay):
        if not check.violated.any():
            continue
        limits = np.broadcast_to(floats(check.limit), check.value.shape)
        for device in np.flatnonzero(check.violated):
            value, limit = float(check.value[device]), float(limits[device])
            violations.append(Violation(problem.ids[device], check.constraint, value, limit))
    return violations


class _Check(NamedTuple):
    constraint: str
    value: Array
    limit: Array | float
    violated: Mask


def _device_checks(problem: RoundProblem, decision: Decision, delay: Array) -> Iterator[_Check]:
    iterations, power, cpu = decision.iterations, decision.power_w, decision.cpu_hz
    needed = problem.cycles(iterations) / problem.compute_deadline_s

    def at_most(
        constraint: str, value: Array, limit: Array | float, where: Mask | bool = True
    ) -> _Check:
        return _Check(constraint, value, limit, where & _above(value, limit))

    def at_least(constraint: str, value: Array, limit: Array | float) -> _Check:
        return _Check(constraint, value, limit, _above(limit, value))

    yield at_most("max_delay_s", delay, problem.max_delay_s, decision.active)
    yield at_most("inactive_iterations", iterations, 0.0, ~decision.active)
    yield at_most("inactive_power_w", power, 0.0, ~decision.active)
    yield at_most("max_iterations", iterations, problem.iteration_cap())
    yield at_least("min_iterations", iterations, 0.0)
    if problem.integer_iterations:
        whole = np.rint(iterations)
        yield _Check("whole_iterations", iterations, whole, np.abs(iterations - whole) > TOLERANCE)
    yield at_least("compute_deadline_s", cpu, needed)
    yield at_least("cpu_min_hz", cpu, problem.cpu_min_hz)
    yield at_most("cpu_max_hz", cpu, problem.cpu_max_hz)
    sending = decision.active & (problem.payload_bits > 0)
    yield at_least("min_power_w", power, np.where(sending, problem.min_power_w, 0.0))
    yield at_most("max_power_w", power, problem.max_power_w)


def _above(value: Array | float, limit: Array | float) -> Mask:
    """Return where values exceed a limit by more than the relative tolerance, or are NaN."""
    return ~(value <= limit + TOLERANCE * np.abs(limit))


def _server_violations(problem: RoundProblem, server_m: Array) -> list[Violation]:
    violations = []
    for axis, name in enumerate("xyz"):
        x, size = float(server_m[axis]), float(problem.region_m[axis])
        if not 0 <= x <= size:
            violations.append(Violation(None, f"region_{name}", x, size if x > size else 0.0))
    z = float(server_m[2])
    if problem.stays:
        moved = float(geometry.distance(server_m, problem.server_m))
        return [Violation(None, "mast", moved, 0.0)] if moved > 0 else []
    on_ground, floor = problem.movement.on_ground, problem.movement.min_flight_m
    if 0 < z < floor and not problem.allowed(server_m):
        constraint, limit = ("on_ground", 0.0) if on_ground else ("min_flight_m", floor)
        violations.append(Violation(None, constraint, z, limit))
    if z >= problem.ceiling_m and problem.server_m[2] != problem.ceiling_m:
        violations.append(Violation(None, "ceiling", z, problem.ceiling_m))
    if geometry.in_keep_out(server_m, problem.keep_out_m):
        violations.append(Violation(None, "keep_out", 1.0, 0.0))
    if not problem.reachable(server_m):
        violations.append(Violation(None, "no_way", 1.0, 0.0))
    if problem.candidates_m is not None:
        nearest = float(geometry.distance(problem.candidates_m, server_m).min())
        if nearest > 0:
            violations.append(Violation(None, "candidates", nearest, 0.0))
    return violations
