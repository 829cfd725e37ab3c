"""A plan: a decision with its true value, its proof or its violations, and how it is written."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from scdn.arrays import Array
from scdn.control.problem import (
    SMALLEST_OBJECTIVE,
    Decision,
    Evaluation,
    RoundProblem,
    evaluate,
)
from scdn.errors import input_error
from scdn.file_io import Table
from scdn.scenario.field_types import FrozenModel, SchemaVersion, Vector3, setting

Status = Literal["optimal", "time_limit", "heuristic"]
Reason = Literal["out_of_reach", "not_worth_it"]


@dataclass(frozen=True, eq=False)
class Plan:
    """What a solver answered, evaluated under the true model."""

    problem: RoundProblem
    solver: str
    status: Status
    decision: Decision
    evaluation: Evaluation
    lower_bound: float | None
    solve_seconds: float
    boxes: int | None = None
    history: tuple[float, ...] = ()  # the surrogate objective per iteration, for Algorithm 3
    repaired: Plan | None = None

    @property
    def objective(self) -> float:
        """The true objective."""
        return self.evaluation.objective

    @property
    def gap(self) -> float | None:
        """How far the objective may be above the optimum, relative; None without a proof."""
        if self.lower_bound is None:
            return None
        return (self.objective - self.lower_bound) / max(abs(self.objective), SMALLEST_OBJECTIVE)

    @property
    def server_m(self) -> Array:
        """Where the server goes."""
        return self.decision.server_m

    def reasons(self) -> list[Reason | None]:
        """Why each inactive device is off."""
        reached = self.problem.least_power(self.server_m) <= self.problem.max_power_w
        return [
            None if active else "not_worth_it" if near else "out_of_reach"
            for active, near in zip(self.decision.active, reached, strict=True)
        ]

    def answer(self) -> PlanAnswer:
        """The plan in the form that outsiders read."""
        return PlanAnswer(
            status=self.status,
            solver=self.solver,
            objective=self.objective,
            lower_bound=self.lower_bound,
            gap=self.gap,
            solve_seconds=self.solve_seconds,
            server=ServerPlan(position_m=_point(self.server_m)),
            terms=ObjectiveTerms(**self.evaluation.terms),
            weighted=WeightedTerms(**self.evaluation.weighted),
            violations=tuple(BrokenLimit(**v._asdict()) for v in self.evaluation.violations),
            devices=tuple(_devices(self)),
            repaired=self.repaired.answer() if self.repaired else None,
        )

    def document(self) -> Table:
        """The answer as plain values for JSON; `repaired` only where there is one."""
        answer = self.answer().model_dump(mode="json", by_alias=True)
        if answer["repaired"] is None:
            del answer["repaired"]
        else:
            del answer["repaired"]["repaired"]
        return answer


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
    """A decision with its true value, which must be a number."""
    found = evaluate(problem, decision)
    if not math.isfinite(found.objective):
        endless = next(name for name, cost in found.weighted.items() if not math.isfinite(cost))
        allowed = "some weight, constant or altitude is too large"
        raise input_error("problem", endless, "its cost is not finite", allowed)
    return Plan(
        problem, solver, status, decision, found, lower_bound, seconds, boxes, history, repaired
    )


class ServerPlan(FrozenModel):
    """Where the server goes."""

    position_m: Vector3


class ObjectiveTerms(FrozenModel):
    """The objective's terms as they are."""

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


class BrokenLimit(FrozenModel):
    """A violated constraint; the server's where `device` is null."""

    device: str | None
    constraint: str
    value: float
    limit: float


class DevicePlan(FrozenModel):
    """What one device does."""

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
    """A plan as JSON."""

    schema_version: SchemaVersion = setting(1, "form of this answer", alias="schema")
    status: Status
    solver: str
    objective: float
    lower_bound: float | None
    gap: float | None
    solve_seconds: float
    server: ServerPlan
    terms: ObjectiveTerms
    weighted: WeightedTerms
    violations: tuple[BrokenLimit, ...]
    devices: tuple[DevicePlan, ...]
    repaired: PlanAnswer | None = None


def _point(place: Array) -> tuple[float, float, float]:
    x, y, z = (float(c) for c in place)
    return x, y, z


def _devices(plan: Plan) -> list[DevicePlan]:
    decision, true = plan.decision, plan.evaluation
    rows = zip(
        plan.problem.ids,
        decision.active.tolist(),
        plan.reasons(),
        decision.iterations.tolist(),
        decision.power_w.tolist(),
        decision.cpu_hz.tolist(),
        true.delay_s.tolist(),
        true.transmission_j.tolist(),
        true.processing_j.tolist(),
        np.where(true.air_to_air, "a2a", "a2g").tolist(),
        strict=True,
    )
    return [
        DevicePlan(
            id=name,
            active=active,
            reason=reason,
            iterations=int(count) if count.is_integer() else count,
            power_w=power,
            cpu_hz=clock,
            delay_s=delay if active and math.isfinite(delay) else None,
            transmission_j=sent,
            processing_j=computed,
            link=link if active else None,
        )
        for name, active, reason, count, power, clock, delay, sent, computed, link in rows
    ]
