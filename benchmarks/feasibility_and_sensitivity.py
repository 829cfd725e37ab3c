"""Check Algorithm 3's links under the true channel, and what changes the exact plan.

    python benchmarks/feasibility_and_sensitivity.py                       # both tables
    python benchmarks/feasibility_and_sensitivity.py --part sensitivity

Feasibility: the paper replaces log(1 + SNR) by a Padé approximant, which is accurate at small SNR
only, that is for short payloads or long delays. For each delay limit the table counts the links
that Algorithm 3's raw plan uses and those that report in time, under Shannon's rate and with
`rate_model = "pade"`, where the approximant is the channel. Sensitivity: which controls of the
exact plan of `examples/request.json` change with each parameter.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
from random_problems import random_problem
from solver_tables import markdown_table

from scdn.control.evaluation import Decision, Evaluation, evaluate
from scdn.control.plan import Plan
from scdn.control.plan_request import make_request, problem_of
from scdn.control.problem import RoundProblem
from scdn.control.solve import solve, warm_up
from scdn.file_io import read_document
from scdn.scenario import RateModel

DELAYS_S = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.06, 0.1, 1.0)  # 0.06 s is the default
DEVICES = 6
NETWORKS = 10
TOLERANCE = 0.01  # relative; the geometric program is solved to a tolerance
LIMIT_S = 10.0  # for one exact solve; plans that are not proven by then are marked
REQUEST = Path(__file__).parents[1] / "examples" / "request.json"


# --- feasibility ----------------------------------------------------------------------------------


class Feasibility(NamedTuple):
    """Algorithm 3's links on one network, under one delay limit and rate model."""

    used: int  # links that the raw plan uses
    in_time: int  # used links that are in time with the planned power
    in_reach: int  # used links that are in time at full power from the planned position
    lateness: tuple[float, ...]  # delay / limit of each used link
    ratio: float  # repaired objective / proven optimum
    optimal_links: int  # links of the exact plan
    proven: bool
    iterations: int


def feasibility(delay_s: float, seed: int, rate_model: RateModel, iterations: int) -> Feasibility:
    """Run Algorithm 3 and the exact solver on one network."""
    from scdn.control.algorithm3.algorithm3 import Algorithm3Settings, solve_algorithm3

    shannon = random_problem(DEVICES, seed)
    radio = shannon.radio.model_copy(update={"rate_model": rate_model})
    problem = replace(shannon, max_delay_s=delay_s, radio=radio)
    result = solve_algorithm3(problem, Algorithm3Settings(iterations=iterations))
    raw = result.raw
    delay = evaluate(problem, raw).delay_s
    in_reach = problem.least_power(raw.server_m) <= problem.max_power_w * (1 + TOLERANCE)
    best = solve(problem, time_limit_s=LIMIT_S)
    return Feasibility(
        used=int(raw.active.sum()),
        in_time=int((raw.active & (delay <= delay_s * (1 + TOLERANCE))).sum()),
        in_reach=int((raw.active & in_reach).sum()),
        lateness=tuple((delay[raw.active] / delay_s).tolist()),
        ratio=evaluate(problem, result.repaired).objective / best.objective,
        optimal_links=int(best.decision.active.sum()),
        proven=best.status == "optimal",
        iterations=result.iterations,
    )


def feasibility_table(networks: int, iterations: int) -> str:
    """Return a line for each delay limit and rate model."""
    lines = []
    for rate_model in get_args(RateModel):
        for delay_s in DELAYS_S:
            rows = [feasibility(delay_s, seed, rate_model, iterations) for seed in range(networks)]
            ratios = [row.ratio for row in rows]
            late = [ratio for row in rows for ratio in row.lateness]
            lines.append(
                [
                    rate_model,
                    f"{delay_s:g} s",
                    str(sum(row.used for row in rows)),
                    str(sum(row.in_time for row in rows)),
                    f"{np.median(late):.3g}" if late else "-",
                    str(sum(row.in_reach for row in rows)),
                    str(sum(row.optimal_links for row in rows)),
                    f"{np.median(ratios):.3g}",
                    f"{max(ratios):.3g}",
                    f"{np.median([row.iterations for row in rows]):g}",
                    str(sum(not row.proven for row in rows)),
                ]
            )
    head = [
        "rate",
        "delay limit",
        "links it uses",
        "in time as sent",
        "delay / limit, median",
        "in time at full power",
        "links of the optimum",
        "repaired / optimum, median",
        "worst",
        "iterations",
        "optimum not proven",
    ]
    return markdown_table(head, lines)


# --- sensitivity ----------------------------------------------------------------------------------

Change = Callable[[dict[str, Any]], None]


def set_field(path: str, number: Any) -> Change:
    """Return a change of one field, such as `weights.movement`."""

    def change(document: dict[str, Any]) -> None:
        *parents, last = path.split(".")
        for parent in parents:
            document = document.setdefault(parent, {})
        document[last] = number

    return change


def map_device_field(which: int | None, name: str, function: Callable[[float], float]) -> Change:
    """Return a change of a field of one device, or of all."""

    def change(document: dict[str, Any]) -> None:
        with_defaults = make_request(document).devices
        devices = zip(document["devices"], with_defaults, strict=True)
        for index, (device, complete) in enumerate(devices):
            if which is None or which == index:
                device[name] = function(getattr(complete, name))

    return change


def times(factor: float) -> Callable[[float], float]:
    """Return a function that multiplies by `factor`."""
    return lambda value: value * factor


def changes(base: dict[str, Any]) -> Iterator[tuple[str, Change]]:
    """Yield every change with its name."""
    request = make_request(base)
    for weight, value in request.weights.model_dump().items():
        for name, factor in (("× 10", 10), ("÷ 10", 0.1), ("0", 0)):
            yield f"weight of {weight} {name}", set_field(f"weights.{weight}", value * factor)
    for name, factor in (("× 2", 2), ("÷ 2", 0.5)):
        yield f"delay limit {name}", set_field("max_delay_s", request.max_delay_s * factor)
    for decibels in (3, 10):
        yield f"margin {decibels} dB", set_field("radio.margin_db", decibels)
    for most in (1, 2, 10):
        yield f"max_iterations {most}", set_field("max_iterations", most)
    for limit in ("max_power_w", "cpu_max_hz", "flops_per_cycle"):
        for name, factor in (("× 2", 2), ("÷ 2", 0.5), ("÷ 10", 0.1)):
            yield f"{limit} {name}", map_device_field(None, limit, times(factor))
    for name, factor in (("× 10", 10), ("÷ 10", 0.1), ("0", 0)):
        yield f"importance of d3 {name}", map_device_field(2, "importance", times(factor))
    for number in (0.5, 0.1, 0.0):
        yield f"survival of d3 {number:g}", map_device_field(2, "survival", lambda _, n=number: n)
    yield "server held at its start", set_field("candidates_m", [base["server"]["position_m"]])
    yield "nobody may iterate (max_iterations 0)", set_field("max_iterations", 0)


def changed_controls(plan: Plan, base: Plan, least_move_m: float = 0.5) -> str:
    """Return the controls that differ from the base plan by more than its proven gap allows."""
    new, old = plan.decision, base.decision
    names = []
    if np.linalg.norm(new.server_m - old.server_m) > least_move_m:
        names.append("position")
    if (new.active != old.active).any():
        names.append("active")
    if (new.iterations != old.iterations).any():
        names.append("iterations")
    both = new.active & old.active
    if not np.allclose(new.power_w[both], old.power_w[both], rtol=0.02):
        names.append("power")
    if not np.allclose(new.cpu_hz[both], old.cpu_hz[both], rtol=1e-6):
        names.append("clock")
    return ", ".join(names) or "nothing"


def sensitivity_line(name: str, decision: Decision, value: Evaluation, note: str) -> list[str]:
    """Return one line of the table."""
    active = decision.active
    mean = decision.iterations[active].mean() if active.any() else 0.0
    return [
        name,
        ", ".join(f"{c:.1f}" for c in decision.server_m),
        str(int(active.sum())),
        f"{mean:.2f}",
        f"{value.terms['transmission_j']:.3g}",
        f"{value.terms['processing_j']:.3g}",
        f"{value.terms['movement_j']:.3g}",
        f"{value.objective:.4g}",
        note,
    ]


def sensitivity_table() -> str:
    """Return what each change does to the exact plan of the example request."""
    document = read_document(str(REQUEST))
    base = solve(problem_of(make_request(document)), time_limit_s=LIMIT_S)
    lines = [sensitivity_line("as it is", base.decision, base.evaluation, "-")]
    for name, change in changes(document):
        changed = copy.deepcopy(document)
        change(changed)
        plan = solve(problem_of(make_request(changed)), time_limit_s=LIMIT_S)
        note = changed_controls(plan, base) + (
            "" if plan.status == "optimal" else f" (NOT PROVEN: {plan.gap:.1g})"
        )
        lines.append(sensitivity_line(name, plan.decision, plan.evaluation, note))
    for name, held in at_maximum(base):
        value = evaluate(base.problem, held)
        lines.append(sensitivity_line(name, held, value, "set, not planned"))
    head = ["change", "server (m)", "active", "mean iterations", "transmission J"]
    return markdown_table([*head, "processing J", "movement J", "objective", "differs in"], lines)


def at_maximum(plan: Plan) -> Iterator[tuple[str, Decision]]:
    """Yield the same plan with one control at its maximum instead of its least value."""
    problem: RoundProblem = plan.problem
    active = plan.decision.active
    power = np.where(active, problem.max_power_w, 0.0)
    clock = np.where(active, problem.cpu_max_hz, plan.decision.cpu_hz)
    yield "same plan, power at its maximum", plan.decision._replace(power_w=power)
    yield "same plan, clock at its maximum", plan.decision._replace(cpu_hz=clock)


# --- command line ---------------------------------------------------------------------------------


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--part", choices=("feasibility", "sensitivity"), help="print one table only"
    )
    parser.add_argument("--networks", type=int, default=NETWORKS, help="networks per delay limit")
    parser.add_argument(
        "--iterations", type=int, default=30, help="largest number of iterations of Algorithm 3"
    )
    options = parser.parse_args()
    warm_up()
    start = time.perf_counter()
    if options.part != "sensitivity":
        print(f"Algorithm 3 under the true channel: {options.networks} networks of {DEVICES}\n")
        print(feasibility_table(options.networks, options.iterations))
    if options.part != "feasibility":
        print("\nWhat changes the exact plan of examples/request.json\n")
        print(sensitivity_table())
    print(f"\nTotal time: {time.perf_counter() - start:.0f} s.")


if __name__ == "__main__":
    main()
