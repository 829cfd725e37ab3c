"""A controller with some controls held at the greedy rule, and the cases of the ablations.

Held controls replace the plan's afterwards, except for the position, which the solver knows to be
fixed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from scdn.control.evaluation import Decision
from scdn.control.plan import Plan, make_plan
from scdn.control.problem import RoundProblem
from scdn.methods import Method, RoundContext, exact_controller, register_method
from scdn.paper.ablation.shared_training import create_sharing_simulation
from scdn.paper.single_round import run_algorithm3
from scdn.paper.training_run import TrainingRecord, simulate

CONTROLS = ("position", "power", "clock", "iterations")
TERMS = {"movement": (), "processing": ("clock",), "transmission": ("power",)}  # what each pays for
FULL, FIXED = "full", "fixed"  # cases of every block: nothing held; the server does not move


def ablation_cases(
    block: str, counts: Sequence[int]
) -> Iterator[tuple[str, tuple[str, ...], dict[str, Any]]]:
    """Yield each case's name, settings and controller; `counts` are Algorithm 3's iterations."""
    uses_paper = block == "published"
    solver = {"solver": "paper" if uses_paper else "exact", "iterations": max(counts)}
    yield FULL, (), solver | {"held": []}
    for term, controls in TERMS.items():
        yield f"no-{term}", (f"weights.{term}=0.0",), solver | {"held": list(controls)}
    yield FIXED, (), solver | {"held": ["position"]}
    if uses_paper:
        for count in sorted(set(counts) - {max(counts)}):
            yield (
                case_with_iterations(count, counts),
                (),
                solver | {"held": [], "iterations": count},
            )
        return
    for control in CONTROLS[1:]:  # holding the position is `FIXED`
        yield f"without-{control}", (), solver | {"held": [control]}
    for control in CONTROLS:
        others = [other for other in CONTROLS if other != control]
        yield f"only-{control}", (), solver | {"held": others}
    yield "none", (), solver | {"held": list(CONTROLS)}


def case_with_iterations(count: int, counts: Sequence[int]) -> str:
    """Return the case with so many iterations of Algorithm 3; the full method has the most."""
    return FULL if count == max(counts) else f"iterations-{count}"


def simulate_ablated(arguments: dict[str, Any], _: TrainingRecord | None = None) -> TrainingRecord:
    """Run a simulation with the controller that the arguments describe.

    It waits for another case, but needs nothing of its record.
    """
    register_method(Method("ablation", partial(ablated_controller, **arguments["control"])))
    return simulate(arguments, create=create_sharing_simulation)


def ablated_controller(
    problem: RoundProblem,
    context: RoundContext,
    *,
    solver: str,
    iterations: int,
    held: Sequence[str],
) -> Plan:
    """Return a solver's plan with the controls in `held` as the greedy rule has them."""
    if "position" in held:
        problem = replace(problem, candidates_m=problem.server_m[None])
    if solver == "exact":
        decision = exact_controller(problem, context).decision
    else:
        decision = _solve_with_algorithm3(problem, iterations)
    return make_plan(problem, solver, "heuristic", _hold(problem, decision, held), 0.0)


def _solve_with_algorithm3(problem: RoundProblem, iterations: int) -> Decision:
    """Return Algorithm 3's decision, repaired where it violates the true model."""
    result = run_algorithm3(problem, iterations=iterations)
    plan = make_plan(problem, "paper", "heuristic", result.raw, 0.0)
    return result.repaired if plan.evaluation.violations else result.raw


def _hold(problem: RoundProblem, decision: Decision, held: Sequence[str]) -> Decision:
    """Set the held controls of active devices to their maximum."""
    server_m, active, iterations, power, clock = decision
    if "iterations" in held:
        most = np.floor(problem.most_iterations() * (1 + 1e-12))
        iterations = np.where(active, most, iterations)
        clock = np.where(active, np.maximum(clock, problem.least_cpu_hz(iterations)), clock)
    if "clock" in held:
        clock = np.where(active, problem.cpu_max_hz, clock)
    if "power" in held:
        power = np.where(active & (problem.payload_bits > 0), problem.max_power_w, power)
    return Decision(server_m, active, iterations, power, clock)
