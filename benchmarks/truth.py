"""What Algorithm 3's links are worth under the true channel, and what moves the exact plan.

    python benchmarks/truth.py                       # both tables, in Markdown
    python benchmarks/truth.py --part sensitivity    # only what moves the plan of the example

The truth table: the paper replaces log(1 + SNR) by a Padé approximant, good at small SNR, and so
at short payloads or long delays only. For each delay limit it counts the links that Algorithm 3's
raw plan uses and those of them that report in time, first under Shannon's rate, then with
`rate_model = "pade"`, where the approximant is the channel.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
from control import table
from problems import random_problem

from scdn.control.plan import Plan
from scdn.control.plan_request import make_request, problem_of
from scdn.control.problem import Decision, Evaluation, RoundProblem, evaluate
from scdn.control.solve import solve, warm_up
from scdn.file_io import read_document
from scdn.scenario import RateModel

DELAYS_S = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.06, 0.1, 1.0)  # 0.06 s is the default
DEVICES = 6
NETWORKS = 10
LATE = 0.01  # a report later than this, relative, is late: the program is solved to a tolerance
LIMIT_S = 10.0  # for one exact solve; what is not proven by then is marked
REQUEST = Path(__file__).parents[1] / "examples" / "request.json"


# --- the truth table ------------------------------------------------------------------------------


class Truth(NamedTuple):
    """One network under one delay limit and rate."""

    used: int  # links that the raw plan uses
    in_time: int  # of these, those that are in time with the power it chose
    in_reach: int  # of these, those in time at full power, from where the plan puts the server
    lateness: tuple[float, ...]  # delay over its limit of each link used
    ratio: float  # repaired objective / proven optimum
    optimal_links: int  # links of the exact plan
    proven: bool
    iterations: int


def truth(delay_s: float, seed: int, rate_model: RateModel, iterations: int) -> Truth:
    """Algorithm 3 and the optimum on one network."""
    from scdn.control.algorithm3.algorithm3 import Algorithm3Settings, solve_algorithm3

    drawn = random_problem(DEVICES, seed)
    radio = drawn.radio.model_copy(update={"rate_model": rate_model})
    problem = replace(drawn, max_delay_s=delay_s, radio=radio)
    found = solve_algorithm3(problem, Algorithm3Settings(iterations=iterations))
    raw = found.raw
    delay = evaluate(problem, raw).delay_s
    in_reach = problem.least_power(raw.server_m) <= problem.max_power_w * (1 + LATE)
    best = solve(problem, time_limit_s=LIMIT_S)
    return Truth(
        used=int(raw.active.sum()),
        in_time=int((raw.active & (delay <= delay_s * (1 + LATE))).sum()),
        in_reach=int((raw.active & in_reach).sum()),
        lateness=tuple((delay[raw.active] / delay_s).tolist()),
        ratio=evaluate(problem, found.repaired).objective / best.objective,
        optimal_links=int(best.decision.active.sum()),
        proven=best.status == "optimal",
        iterations=found.iterations,
    )


def truth_table(networks: int, iterations: int) -> str:
    """A line for each delay limit and rate."""
    lines = []
    for rate_model in get_args(RateModel):
        for delay_s in DELAYS_S:
            rows = [truth(delay_s, seed, rate_model, iterations) for seed in range(networks)]
            ratios = [row.ratio for row in rows]
            late = [share for row in rows for share in row.lateness]
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
    return table(head, lines)


# --- sensitivity ----------------------------------------------------------------------------------

Change = Callable[[dict[str, Any]], None]


def put(path: str, number: Any) -> Change:
    """Sets one field, such as `weights.movement`."""

    def change(document: dict[str, Any]) -> None:
        *parents, last = path.split(".")
        for parent in parents:
            document = document.setdefault(parent, {})
        document[last] = number

    return change


def put_device(which: int | None, name: str, number: Callable[[float], float]) -> Change:
    """Changes a field of one device, or of all."""

    def change(document: dict[str, Any]) -> None:
        filled = make_request(document).devices
        for index, (device, full) in enumerate(zip(document["devices"], filled, strict=True)):
            if which is None or which == index:
                device[name] = number(getattr(full, name))

    return change


def times(factor: float) -> Callable[[float], float]:
    """Multiplies."""
    return lambda value: value * factor


def changes(base: dict[str, Any]) -> Iterator[tuple[str, Change]]:
    """Every change, with its name."""
    request = make_request(base)
    for weight, value in request.weights.model_dump().items():
        for name, factor in (("× 10", 10), ("÷ 10", 0.1), ("0", 0)):
            yield f"weight of {weight} {name}", put(f"weights.{weight}", value * factor)
    for name, factor in (("× 2", 2), ("÷ 2", 0.5)):
        yield f"delay limit {name}", put("max_delay_s", request.max_delay_s * factor)
    for decibels in (3, 10):
        yield f"margin {decibels} dB", put("radio.margin_db", decibels)
    for most in (1, 2, 10):
        yield f"max_iterations {most}", put("max_iterations", most)
    for limit in ("max_power_w", "cpu_max_hz", "flops_per_cycle"):
        for name, factor in (("× 2", 2), ("÷ 2", 0.5), ("÷ 10", 0.1)):
            yield f"{limit} {name}", put_device(None, limit, times(factor))
    for name, factor in (("× 10", 10), ("÷ 10", 0.1), ("0", 0)):
        yield f"importance of d3 {name}", put_device(2, "importance", times(factor))
    for number in (0.5, 0.1, 0.0):
        yield f"survival of d3 {number:g}", put_device(2, "survival", lambda _, n=number: n)
    yield "server held at its start", put("candidates_m", [base["server"]["position_m"]])
    yield "nobody may iterate (max_iterations 0)", put("max_iterations", 0)


def differs(plan: Plan, base: Plan) -> str:
    """Which controls are not those of the base: by more than the proof leaves open."""
    new, old = plan.decision, base.decision
    found = []
    if np.linalg.norm(new.server_m - old.server_m) > 0.5:
        found.append("position")
    if (new.active != old.active).any():
        found.append("active")
    if (new.iterations != old.iterations).any():
        found.append("iterations")
    both = new.active & old.active
    if not np.allclose(new.power_w[both], old.power_w[both], rtol=0.02):
        found.append("power")
    if not np.allclose(new.cpu_hz[both], old.cpu_hz[both], rtol=1e-6):
        found.append("clock")
    return ", ".join(found) or "nothing"


def sensitivity_line(name: str, decision: Decision, value: Evaluation, note: str) -> list[str]:
    """One line of the table."""
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
    """What each change does to the exact plan of the example request."""
    document = read_document(str(REQUEST))
    base = solve(problem_of(make_request(document)), time_limit_s=LIMIT_S)
    lines = [sensitivity_line("as it is", base.decision, base.evaluation, "-")]
    for name, change in changes(document):
        changed = copy.deepcopy(document)
        change(changed)
        plan = solve(problem_of(make_request(changed)), time_limit_s=LIMIT_S)
        note = differs(plan, base) + (
            "" if plan.status == "optimal" else f" (NOT PROVEN: {plan.gap:.1g})"
        )
        lines.append(sensitivity_line(name, plan.decision, plan.evaluation, note))
    for name, held in at_maximum(base):
        value = evaluate(base.problem, held)
        lines.append(sensitivity_line(name, held, value, "held, not planned"))
    head = ["change", "server (m)", "active", "mean iterations", "transmission J"]
    return table([*head, "processing J", "movement J", "objective", "differs in"], lines)


def at_maximum(plan: Plan) -> Iterator[tuple[str, Decision]]:
    """The same plan with a control at its maximum instead of the least that suffices."""
    problem: RoundProblem = plan.problem
    active = plan.decision.active
    power = np.where(active, problem.max_power_w, 0.0)
    clock = np.where(active, problem.cpu_max_hz, plan.decision.cpu_hz)
    yield "same plan, power at its maximum", plan.decision._replace(power_w=power)
    yield "same plan, clock at its maximum", plan.decision._replace(cpu_hz=clock)


# --- running --------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the tables."""
    words = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    words.add_argument("--part", choices=("truth", "sensitivity"), help="one table only")
    words.add_argument("--networks", type=int, default=NETWORKS, help="networks per delay limit")
    words.add_argument("--iterations", type=int, default=30, help="of Algorithm 3, at most")
    options = words.parse_args(arguments)
    warm_up()
    start = time.perf_counter()
    if options.part != "sensitivity":
        print(f"Algorithm 3 under the true channel: {options.networks} networks of {DEVICES}\n")
        print(truth_table(options.networks, options.iterations))
    if options.part != "truth":
        print("\nWhat moves the exact plan of examples/request.json\n")
        print(sensitivity_table())
    print(f"\nTook {time.perf_counter() - start:.0f} s.")


if __name__ == "__main__":
    main()
