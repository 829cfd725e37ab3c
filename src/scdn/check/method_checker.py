"""The checker of methods: the controller plans small rounds, and every plan is verified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from scdn.check.user_code import call, collect
from scdn.control.evaluation import Decision, evaluate
from scdn.control.oort import PartyUtilities
from scdn.control.plan import Plan
from scdn.control.plan_request import make_request, problem_of
from scdn.control.problem import RoundProblem
from scdn.errors import InputError
from scdn.learning.memories import memory
from scdn.learning.schedules import schedule
from scdn.methods import Method, RoundContext
from scdn.mission.round_search import MissionRound
from scdn.scenario import Prices

_SITE = {"region_m": [100, 100, 100], "server": {"position_m": [50, 50, 20]}}
_DEVICES: list[dict[str, Any]] = [
    {"id": "a", "position_m": [10, 20, 0], "importance": 2.0},
    {"id": "b", "position_m": [80, 30, 0], "survival": 0.9},
    {"id": "c", "position_m": [40, 90, 10], "optimizer": {"kind": "momentum", "rho": 0.2}},
    {"id": "d", "position_m": [60, 60, 30], "optimizer": {"kind": "proximal", "mu": 0.1}},
    {"id": "e", "position_m": [5, 95, 0]},
]
ROUNDS: dict[str, dict[str, Any]] = {
    "no devices": {"devices": []},
    "one device": {"devices": _DEVICES[:1]},
    "no device in reach": {"devices": [{**d, "max_power_w": 1e-15} for d in _DEVICES]},
    "five devices": {"devices": _DEVICES},
    "a keep-out box": {"devices": _DEVICES, "keep_out_m": [[20, 20, 0, 45, 45, 60]]},
    "relaxed iterations": {"devices": _DEVICES, "integer_iterations": False},
}


def check_method(method: Method) -> list[str]:
    """Return the problems of a method: its fields, and its controller's plans of small rounds.

    A plan must have one entry per device, keep every limit but the delay, be the same for the same
    problem, and leave the problem unchanged.
    """
    if not isinstance(method, Method):
        return [f"It is a {type(method).__name__}; make it Method(name, controller)."]
    return collect(_fields(method), *(_round(method, name) for name in ROUNDS))


def _fields(method: Method) -> Iterator[str]:
    if not method.name or ":" in method.name:
        yield f"Its name is {method.name!r}; give it a name without a colon."
    for part, get, name in (
        ("memory", memory, method.memory),
        ("schedule", schedule, method.schedule),
    ):
        try:
            get(name)
        except InputError as error:
            fault = error.faults[0]
            yield f"Its {part} is unknown ({fault.found}); it {fault.allowed}."


def _round(method: Method, name: str) -> Iterator[str]:
    situation = f"In a round with {name}, the controller"
    problem, untouched = _problem(name), _problem(name)
    advice = "it must return a plan for every problem, even an empty one"
    plan = call(situation, advice, method.controller, problem, _context(method, untouched))
    if not isinstance(plan, Plan):
        yield f"{situation} returned a {type(plan).__name__}; return make_plan(problem, ...)."
        return
    for field in fields(RoundProblem):
        before, after = getattr(untouched, field.name), getattr(problem, field.name)
        if isinstance(before, np.ndarray) and not np.array_equal(before, after):
            yield f"{situation} changed the problem's {field.name}; copy it before writing to it."
    malformed = list(_shapes(situation, plan.decision, len(untouched)))
    yield from malformed
    if malformed:
        return
    yield from _limits(situation, untouched, plan.decision)
    again = call(situation, advice, method.controller, _problem(name), _context(method, untouched))
    if not isinstance(again, Plan) or not _same(plan.decision, again.decision):
        yield f"{situation} made two plans for one problem; draw from the context's rng."


def _problem(name: str) -> RoundProblem:
    return problem_of(make_request({**_SITE, **ROUNDS[name]}))


def _context(method: Method, problem: RoundProblem) -> RoundContext:
    iterations = np.minimum(2.0, np.floor(problem.most_iterations())) if method.rival else None
    gains = np.tile(np.sqrt(np.arange(problem.max_iterations + 1.0)), (len(problem), 1))
    mission = (
        MissionRound(gains, 1.0, Prices(), "energy", rounds_left=10)
        if method.uses_progress
        else None
    )
    utilities = _utilities(len(problem)) if method.uses_utilities else None
    return RoundContext(problem.server_m.copy(), iterations, mission, utilities, round=3)


def _utilities(count: int) -> PartyUtilities:
    """Return utilities of which the first device has none yet, and the last one is the best."""
    gains, last_round = np.linspace(-0.1, 0.3, count), np.arange(count) - 1
    gains[:1] = np.nan
    return PartyUtilities(gains, last_round, count, np.linspace(0.0, 0.9, count))


def _shapes(situation: str, decision: Decision, devices: int) -> Iterator[str]:
    for name, value in decision._asdict().items():
        expected = (3,) if name == "server_m" else (devices,)
        if not isinstance(value, np.ndarray) or value.shape != expected:
            shape = getattr(value, "shape", type(value).__name__)
            yield f"{situation} planned {name} of shape {shape}; make it an array of {expected}."
        elif name == "active" and value.dtype != bool:
            yield f"{situation} planned active of type {value.dtype}; make it an array of bool."
        elif not np.isfinite(value).all():
            yield f"{situation} planned {name} that is not finite; keep to the problem's limits."


def _limits(situation: str, problem: RoundProblem, decision: Decision) -> Iterator[str]:
    reported = set()
    for broken in evaluate(problem, decision).violations:
        if broken.constraint == "max_delay_s" or broken.constraint in reported:
            continue  # a late report fails, which runs record
        reported.add(broken.constraint)
        owner = "the server" if broken.device is None else f"device {broken.device}"
        yield (
            f"{situation} broke {broken.constraint} for {owner} ({broken.value:.6g}, limit "
            f"{broken.limit:.6g}); keep it, or runs replace the plan by a fallback."
        )


def _same(one: Decision, other: Decision) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
