"""A plan: a solver's decision with its true objective and bound, and its form as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import ValidationError

from scdn.arrays import Array, Mask
from scdn.control.evaluation import Decision, Evaluation, evaluate
from scdn.control.problem import SMALLEST_OBJECTIVE, RoundProblem
from scdn.errors import dotted, input_error
from scdn.file_io import Table
from scdn.scenario.field_types import FrozenModel, SchemaVersion, Vector3, setting

Status = Literal["optimal", "time_limit", "heuristic"]
Reason = Literal["out_of_reach", "clock_too_slow", "battery", "not_worth_it"]


@dataclass(frozen=True, eq=False)
class Plan:
    """A solver's decision, evaluated under the true model."""

    problem: RoundProblem
    solver: str
    status: Status
    decision: Decision
    evaluation: Evaluation
    lower_bound: float | None
    solve_seconds: float
    boxes: int | None = None  # bounded by branch and bound
    history: tuple[float, ...] = ()  # objective of P′ after each iteration of Algorithm 3
    repaired: Plan | None = None
    worth_j: float | None = None  # of a unit of progress, in a mission
    battery_limited: Mask | None = None  # devices whose batteries lowered their limits
    waits_for: tuple[str, ...] | None = None  # devices whose reports the round ends with; None: all

    @property
    def objective(self) -> float:
        """Return the true objective."""
        return self.evaluation.objective

    @property
    def gap(self) -> float | None:
        """Return how far the objective may be above the optimum, relative; None if not proven."""
        if self.lower_bound is None:
            return None
        return (self.objective - self.lower_bound) / max(abs(self.objective), SMALLEST_OBJECTIVE)

    @property
    def server_m(self) -> Array:
        """Return the server's position."""
        return self.decision.server_m

    def reasons(self) -> list[Reason | None]:
        """Return why each device is inactive; None for an active one."""
        problem = self.problem
        in_reach = problem.least_power(self.server_m) <= problem.max_power_w
        slow = problem.least_cpu_hz(1.0) > problem.cpu_max_hz * (1 + 1e-12)
        reasons = np.where(slow, "clock_too_slow", "not_worth_it")
        reasons = np.where(in_reach, reasons, "out_of_reach")
        if self.battery_limited is not None:
            reasons = np.where(self.battery_limited, "battery", reasons)
        return [
            None if active else reason
            for active, reason in zip(self.decision.active, reasons.tolist(), strict=True)
        ]

    def answer(self) -> PlanAnswer:
        """Return the plan in the form that is written as JSON; refuse numbers that are infinite."""
        for violation in self.evaluation.violations:
            if not math.isfinite(violation.value):
                allowed = "must be finite: a radio constant or a payload is out of range"
                raise input_error("problem", violation.constraint, f"is {violation.value}", allowed)
        try:
            return self._answer()
        except ValidationError as error:
            entry = error.errors(include_url=False)[0]
            fault, allowed = f"is {entry['input']}", "must be finite: a number is out of range"
            raise input_error("problem", dotted(entry["loc"]), fault, allowed) from None

    @np.errstate(over="ignore", invalid="ignore")
    def _answer(self) -> PlanAnswer:
        x, y, z = self.server_m.tolist()
        return PlanAnswer(
            status=self.status,
            solver=self.solver,
            objective=self.objective,
            lower_bound=self.lower_bound,
            gap=self.gap,
            solve_seconds=self.solve_seconds,
            server=ServerPlan(position_m=(x, y, z), path_m=self._path_m()),
            terms=ObjectiveTerms(**self.evaluation.terms),
            weighted=WeightedTerms(**self.evaluation.weighted),
            violations=tuple(PlanViolation(**v._asdict()) for v in self.evaluation.violations),
            devices=tuple(_device_plans(self)),
            repaired=self.repaired.answer() if self.repaired else None,
        )

    def document(self) -> Table:
        """Return the answer as plain values for JSON; path and `repaired` only if there is one."""
        answer = self.answer().model_dump(mode="json", by_alias=True)
        for part in (answer, answer["repaired"]):
            if part is not None and part["server"]["path_m"] is None:
                del part["server"]["path_m"]
        if answer["repaired"] is None:
            del answer["repaired"]
        else:
            del answer["repaired"]["repaired"]
        return answer

    def _path_m(self) -> tuple[tuple[float, float, float], ...] | None:
        routes = self.problem.routes
        if routes is None:
            return None
        return tuple((x, y, z) for x, y, z in routes.waypoints(self.server_m).tolist())


def make_plan(
    problem: RoundProblem,
    solver: str,
    status: Status,
    decision: Decision,
    seconds: float,
    *,
    lower_bound: float | None = None,
    boxes: int | None = None,
    history: tuple[float, ...] = (),
    repaired: Plan | None = None,
) -> Plan:
    """Evaluate a decision and make it a plan; its objective must be finite."""
    value = evaluate(problem, decision)
    if not math.isfinite(value.objective):
        term = next(name for name, cost in value.weighted.items() if not math.isfinite(cost))
        allowed = "must be finite: a weight, a constant or an altitude is too large"
        raise input_error("problem", term, f"costs {value.weighted[term]}", allowed)
    return Plan(
        problem, solver, status, decision, value, lower_bound, seconds, boxes, history, repaired
    )


class ServerPlan(FrozenModel):
    """The server's position in the round, and where flights go round boxes its way there."""

    position_m: Vector3
    path_m: tuple[Vector3, ...] | None = None


class ObjectiveTerms(FrozenModel):
    """The objective's terms before their weights."""

    convergence: float
    transmission_j: float
    processing_j: float
    movement_j: float


class WeightedTerms(FrozenModel):
    """The objective's terms times their weights."""

    convergence: float
    transmission: float
    processing: float
    movement: float


class PlanViolation(FrozenModel):
    """A violated constraint; the server's where `device` is null."""

    device: str | None
    constraint: str
    value: float
    limit: float


class DevicePlan(FrozenModel):
    """One device's part of a plan."""

    id: str
    active: bool
    reason: Reason | None
    iterations: int | float
    power_w: float
    cpu_hz: float
    delay_s: float | None
    transmission_j: float
    processing_j: float
    link: Literal["a2g", "a2a"] | None


class PlanAnswer(FrozenModel):
    """A plan in the form that is written as JSON."""

    schema_version: SchemaVersion = setting(1, "version of this form", alias="schema")
    status: Status
    solver: str
    objective: float
    lower_bound: float | None
    gap: float | None
    solve_seconds: float
    server: ServerPlan
    terms: ObjectiveTerms
    weighted: WeightedTerms
    violations: tuple[PlanViolation, ...]
    devices: tuple[DevicePlan, ...]
    repaired: PlanAnswer | None = None


def _device_plans(plan: Plan) -> Iterator[DevicePlan]:
    decision, value = plan.decision, plan.evaluation
    controls = (decision.active, decision.iterations, decision.power_w, decision.cpu_hz)
    costs = (value.delay_s, value.transmission_j, value.processing_j)
    columns = (np.where(value.air_to_air, "a2a", "a2g"), *controls, *costs)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for id_, reason, row in zip(plan.problem.ids, plan.reasons(), rows, strict=True):
        link, active, iterations, power, cpu, delay, transmission, processing = row
        yield DevicePlan(
            id=id_,
            active=active,
            reason=reason,
            iterations=int(iterations) if iterations.is_integer() else iterations,
            power_w=power,
            cpu_hz=cpu,
            delay_s=delay if active and math.isfinite(delay) else None,
            transmission_j=transmission,
            processing_j=processing,
            link=link if active else None,
        )
