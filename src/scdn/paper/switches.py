"""Controllers with one thing or another switched off, and the cases of the ablations.

A control that is held is put into the plan afterwards, except for the position, which the solver
knows to be fixed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from scdn.control.plan import Plan, make_plan
from scdn.control.problem import Decision, RoundProblem
from scdn.methods import Method, Notes, exact, register
from scdn.paper import learning
from scdn.paper.control import algorithm_3

CONTROLS = ("position", "power", "clock", "iterations")
TERMS = {"movement": (), "processing": ("clock",), "transmission": ("power",)}  # what each pays for
FULL, FIXED = "full", "fixed"  # cases of every block: all as it should be; the server stays


def cases_of(
    block: str, counts: Sequence[int]
) -> Iterator[tuple[str, tuple[str, ...], dict[str, Any]]]:
    """Each case's name, settings and controller."""
    paper = block == "published"
    solver: dict[str, Any] = {"solver": "paper" if paper else "exact", "iterations": max(counts)}
    yield FULL, (), solver | {"held": []}
    for term, freed in TERMS.items():
        yield f"no-{term}", (f"weights.{term}=0.0",), solver | {"held": list(freed)}
    yield FIXED, (), solver | {"held": ["position"]}
    if paper:
        for count in sorted(set(counts) - {max(counts)}):
            yield iterated(count, counts), (), solver | {"held": [], "iterations": count}
        return
    for name in CONTROLS[1:]:  # without the position is `fixed`
        yield f"without-{name}", (), solver | {"held": [name]}
    for name in CONTROLS:
        rest = [other for other in CONTROLS if other != name]
        yield f"only-{name}", (), solver | {"held": rest}
    yield "none", (), solver | {"held": list(CONTROLS)}


def iterated(count: int, counts: Sequence[int]) -> str:
    """The case of so many of Algorithm 3's iterations; the most of all are the full method."""
    return FULL if count == max(counts) else f"iterations-{count}"


def run(arguments: dict[str, Any], _: object) -> learning.Record:
    """A run whose plans are made by the controller that the arguments describe."""
    register(Method("ablation", partial(controlled, **arguments["control"])))
    return learning.simulate(arguments, None)


# --- the controller -------------------------------------------------------------------------------


def controlled(
    problem: RoundProblem, notes: Notes, *, solver: str, iterations: int, held: Sequence[str]
) -> Plan:
    """A solver's plan with the controls in `held` as the greedy rule has them."""
    if "position" in held:
        problem = replace(problem, candidates_m=problem.server_m[None])
    if solver == "exact":
        decision = exact(problem, notes).decision
    else:
        decision = _by_algorithm_3(problem, iterations)
    return make_plan(problem, solver, "heuristic", greedier(problem, decision, held), 0.0)


def _by_algorithm_3(problem: RoundProblem, iterations: int) -> Decision:
    """As the method `sc-dn-paper` has it: repaired where it breaks the true model."""
    found = algorithm_3(problem, iterations=iterations)
    raw = make_plan(problem, "paper", "heuristic", found.raw, 0.0)
    return found.repaired if raw.evaluation.violations else found.raw


def greedier(problem: RoundProblem, decision: Decision, held: Sequence[str]) -> Decision:
    """The decision with iterations, clock or power of those who take part at their most."""
    on, count, clock, power = (
        decision.active,
        decision.iterations,
        decision.cpu_hz,
        decision.power_w,
    )
    if "iterations" in held:
        most = np.floor(problem.most_iterations() * (1 + 1e-12))
        count = np.where(on, most, count)
        clock = np.where(on, np.maximum(clock, problem.least_cpu_hz(count)), clock)
    if "clock" in held:
        clock = np.where(on, problem.cpu_max_hz, clock)
    if "power" in held:
        power = np.where(on & (problem.payload_bits > 0), problem.max_power_w, power)
    return Decision(decision.server_m, on, count, power, clock)
