"""Compare the solvers of one round: time, boxes, and distance from the proven optimum.

    python benchmarks/solvers.py                      # everything: about ten minutes
    python benchmarks/solvers.py --quick              # up to ten devices: under a minute
    python benchmarks/solvers.py --part exact --plot times.png

Set OMP_NUM_THREADS=1 for comparable times. MAiNGO is skipped where it is not installed
(`pip install maingopy`); Algorithm 3 needs the extra `paper`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from maingo_model import maingo_model_class
from random_problems import FAMILIES, Family, random_problem
from scipy.optimize import differential_evolution, direct
from solver_tables import (
    SolverRun,
    exact_table,
    other_solvers_table,
    plot_times,
    side_by_side_table,
    to_frame,
)

from scdn.arrays import Array
from scdn.control.evaluation import evaluate
from scdn.control.exact.closed_form import DeviceCosts, decision_at, device_costs
from scdn.control.problem import RoundProblem
from scdn.control.solve import solve, warm_up

GAPS = (1e-2, 1e-3, 1e-4)
SMALL = (2, 4, 6, 8, 10)
LARGE = (100, 1_000, 10_000, 100_000)
HUGE = 100_000  # measured in a separate process, at the coarsest gap only
SEEDS = {100: 10, 1_000: 5, 10_000: 3, HUGE: 1}  # number of seeds by the largest number of devices


@dataclass(frozen=True)
class Effort:
    """How many problems each part solves."""

    sizes: Sequence[int]
    seeds: int
    paper_seeds: int
    scipy_seeds: int
    rebuilt_sizes: Sequence[int]
    maingo_sizes: Sequence[int]
    time_limit_s: float

    def seeds_for(self, devices: int) -> int:
        """Return the number of seeds, which is smaller for many devices."""
        return min(self.seeds, next(n for size, n in SEEDS.items() if devices <= size))


def log(line: str) -> None:
    """Print progress to stderr, so that stdout holds the tables only."""
    print(line, file=sys.stderr, flush=True)


@cache
def optimum(devices: int, seed: int, family: Family) -> float:
    """Return the objective proven to 1e-4, the reference for every other solver."""
    plan = solve(random_problem(devices, seed, family), gap=GAPS[-1], time_limit_s=300)
    if plan.status != "optimal":
        log(f"NO PROOF of the optimum: {family}, {devices} devices, seed {seed}, gap {plan.gap}")
    return plan.objective


def relative_excess(value: float, best: float) -> float:
    """Return how far a value is above the best one, relative to the best."""
    return (value - best) / abs(best)


# --- exact ----------------------------------------------------------------------------------------


def exact_runs(effort: Effort) -> Iterator[SolverRun]:
    """Solve problems of every family and size to every gap."""
    for family in FAMILIES:
        for devices in effort.sizes:
            gaps = GAPS[:1] if devices >= HUGE else GAPS
            if len(gaps) < len(GAPS):
                log(f"skipped: exact with {devices:,} devices at gaps finer than {GAPS[0]:g}")
            for gap in gaps:
                for seed in range(effort.seeds_for(devices)):
                    run = exact_run_apart if devices >= HUGE else exact_run
                    yield run(family, devices, gap, seed, effort.time_limit_s)


def exact_run_apart(*arguments: Any) -> SolverRun:
    """Call `exact_run` in a separate process, so that its peak memory is its own."""
    command = [sys.executable, __file__, "--one", json.dumps(arguments)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return SolverRun(**json.loads(answer.stdout))


def exact_run(family: Family, devices: int, gap: float, seed: int, limit_s: float) -> SolverRun:
    """Solve one problem with the exact solver."""
    plan = solve(random_problem(devices, seed, family), gap=gap, time_limit_s=limit_s)
    assert plan.boxes is not None
    assert plan.gap is not None
    if plan.evaluation.violations:
        log(f"VIOLATIONS by exact: {family}, {devices} devices, seed {seed}")
    return SolverRun(
        solver=f"exact {gap:g}",
        family=family,
        devices=devices,
        gap=gap,
        seed=seed,
        seconds=plan.solve_seconds,
        work=plan.boxes,
        proven=plan.status == "optimal",
        proven_gap=plan.gap,
        peak_gib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    )


# --- the paper's Algorithm 3 ----------------------------------------------------------------------


def algorithm3_runs(effort: Effort) -> Iterator[SolverRun]:
    """Run thirty iterations without early stop; the excess is that of the repaired plan."""
    try:
        from scdn.control.algorithm3.algorithm3 import Algorithm3Settings, solve_algorithm3
    except ImportError:
        log("SKIPPED: Algorithm 3, since CVXPY is not installed (pip install 'scdn[paper]')")
        return
    solve_algorithm3(random_problem(2, 0), Algorithm3Settings(iterations=1))  # loads the solver
    for rebuild in (False, True):
        settings = Algorithm3Settings(tolerance=0, rebuild=rebuild)
        for devices in SMALL:
            if rebuild and devices not in effort.rebuilt_sizes:
                log(f"skipped: Algorithm 3 rebuilt with {devices} devices")
                continue
            for seed in range(1 if rebuild else effort.paper_seeds):
                problem = random_problem(devices, seed)
                start = time.perf_counter()
                result = solve_algorithm3(problem, settings)
                seconds = time.perf_counter() - start
                objective = evaluate(problem, result.repaired).objective
                yield SolverRun(
                    solver="Algorithm 3 rebuilt" if rebuild else "Algorithm 3",
                    family="default",
                    devices=devices,
                    seed=seed,
                    seconds=seconds,
                    work=result.iterations,
                    excess=relative_excess(objective, optimum(devices, seed, "default")),
                )


# --- SciPy ----------------------------------------------------------------------------------------


def true_objective(problem: RoundProblem, costs: DeviceCosts, position: Array) -> float:
    """Return the objective with the server at a position, moved to the nearest allowed altitude."""
    x, y, z = position
    lowest_flight = problem.movement.min_flight_m
    if 0 < z < lowest_flight:
        z = lowest_flight if z > lowest_flight / 2 else 0.0
    z = min(z, float(np.nextafter(problem.ceiling_m, 0.0)))
    return evaluate(problem, decision_at(problem, costs, np.array([x, y, z]))).objective


def scipy_runs(effort: Effort) -> Iterator[SolverRun]:
    """Run DIRECT and differential evolution with SciPy's settings on the same coordinates."""

    def run_direct(objective: Callable[[Array], float], bounds: Any, _seed: int) -> Any:
        return direct(objective, bounds)

    def run_evolution(objective: Callable[[Array], float], bounds: Any, seed: int) -> Any:
        return differential_evolution(objective, bounds, seed=seed)

    solvers = {"SciPy direct": run_direct, "SciPy diff. evolution": run_evolution}
    for name, minimise in solvers.items():
        for devices in (n for n in effort.sizes if n <= 100):
            for seed in range(effort.scipy_seeds):
                problem = random_problem(devices, seed)
                costs = device_costs(problem)

                def objective(
                    position: Array, problem: RoundProblem = problem, costs: DeviceCosts = costs
                ) -> float:
                    return true_objective(problem, costs, position)

                start = time.perf_counter()
                best = minimise(objective, [(0.0, float(side)) for side in problem.region_m], seed)
                yield SolverRun(
                    solver=name,
                    family="default",
                    devices=devices,
                    seed=seed,
                    seconds=time.perf_counter() - start,
                    work=best.nfev,
                    excess=relative_excess(float(best.fun), optimum(devices, seed, "default")),
                )


# --- MAiNGO ---------------------------------------------------------------------------------------


def maingo_runs(effort: Effort) -> Iterator[SolverRun]:
    """Run MAiNGO on the same three coordinates, first on the ground plane and then in the air."""
    try:
        import maingopy
    except ImportError:
        log("SKIPPED: MAiNGO is not installed (pip install maingopy)")
        return
    model_class = maingo_model_class(maingopy)
    for devices in effort.maingo_sizes:
        for gap in GAPS:
            for seed in range(effort.seeds_for(devices)):
                problem = random_problem(devices, seed)
                yield _maingo_run(maingopy, model_class, problem, gap, seed, effort.time_limit_s)


def _maingo_run(
    mg: Any, model_class: Any, problem: RoundProblem, gap: float, seed: int, limit_s: float
) -> SolverRun:
    costs = device_costs(problem)
    best, bound, seconds, nodes, proven = math.inf, math.inf, 0.0, 0.0, True
    for on_ground in (True, False):
        model = model_class(problem, costs, on_ground)  # the solver does not keep it alive
        solver = mg.MAiNGO(model)
        solver.set_result_file_name(os.devnull)
        solver.set_option("epsilonR", gap)
        solver.set_option("epsilonA", 1e-9)
        solver.set_option("maxTime", limit_s)
        for option in ("loggingDestination", "BAB_verbosity", "LBP_verbosity", "UBP_verbosity"):
            solver.set_option(option, 0)
        start = time.perf_counter()
        status = solver.solve()
        seconds += time.perf_counter() - start
        nodes += solver.get_iterations()
        proven &= status == mg.GLOBALLY_OPTIMAL
        bound = min(bound, solver.get_final_LBD())
        position = np.array([*solver.get_solution_point(), 0.0][:3])
        best = min(best, true_objective(problem, costs, position))
    reference = optimum(len(problem), seed, "default")
    if bound > reference * (1 + 1e-9) or best < reference * (1 - GAPS[-1]):
        log(f"DISAGREE: MAiNGO [{bound}, {best}] and exact {reference}, seed {seed}")
    return SolverRun(
        solver=f"MAiNGO {gap:g}",
        family="default",
        devices=len(problem),
        gap=gap,
        seed=seed,
        seconds=seconds,
        work=nodes,
        excess=relative_excess(best, reference),
        proven=proven,
        proven_gap=relative_excess(best, bound),
    )


# --- command line ---------------------------------------------------------------------------------

PARTS: dict[str, Callable[[Effort], Iterator[SolverRun]]] = {
    "exact": exact_runs,
    "paper": algorithm3_runs,
    "scipy": scipy_runs,
    "maingo": maingo_runs,
}


def effort_for(options: argparse.Namespace) -> Effort:
    """Return how much the options ask for."""
    if options.quick:
        return Effort(SMALL, 3, 1, 1, (2,), (2, 4, 10), options.time_limit)
    return Effort((*SMALL, 20, *LARGE), 10, 3, 5, SMALL, (*SMALL, 20), options.time_limit)


def main() -> None:
    """Run the parts and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--part", choices=PARTS, help="run one part only")
    parser.add_argument("--quick", action="store_true", help="up to ten devices, few seeds")
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="also plot the times")
    parser.add_argument("--time-limit", type=float, default=300, help="seconds for one solve")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warm_up()
    if options.one:
        print(json.dumps(vars(exact_run(*json.loads(options.one)))))
        return
    effort, solver_runs = effort_for(options), list[SolverRun]()
    start = time.perf_counter()
    for name in [options.part] if options.part else PARTS:
        part_start = time.perf_counter()
        solver_runs += PARTS[name](effort)
        log(f"{name}: {time.perf_counter() - part_start:.0f} s")
    runs = to_frame(solver_runs)
    is_exact = runs.solver.str.startswith("exact")
    exact, others = runs[is_exact], runs[~is_exact]
    for family, of_family in exact.groupby("family", sort=False):
        print(f"\nExact, {family} (limit {effort.time_limit_s:g} s a solve)\n")
        print(exact_table(of_family, GAPS))
    for run in exact[exact.devices >= HUGE].itertuples():
        print(f"\nPeak memory, {run.devices:,} devices, {run.family}: {run.peak_gib:.2f} GiB")
    if len(others):
        print("\nOther solvers, default family; above: objective over the proven optimum's\n")
        print(other_solvers_table(others))
    if len(runs):
        print("\nSide by side, default family\n\n" + side_by_side_table(runs))
    if len(runs) and options.plot:
        plot_times(runs, options.plot)
    print(f"\nTotal time: {time.perf_counter() - start:.0f} s.")


if __name__ == "__main__":
    main()
