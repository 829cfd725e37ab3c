"""All solvers of one round side by side: time, boxes, and how far from the proven optimum.

    python benchmarks/control.py                      # everything: about ten minutes
    python benchmarks/control.py --quick              # up to ten devices: under a minute
    python benchmarks/control.py --part exact --plot times.png

Set OMP_NUM_THREADS=1 for times that compare. MAiNGO is skipped where it is not installed
(`pip install maingopy`); Algorithm 3 needs the extra `paper`, the rest of the rivals SciPy.
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
from problems import FAMILIES, Family, random_problem

from scdn.arrays import Array
from scdn.control.exact.closed_form import DeviceCosts, decision_at, device_costs
from scdn.control.problem import RoundProblem, evaluate
from scdn.control.solve import solve, warm_up
from scdn.scenario import Link
from scdn.world.path_loss import LIGHT_M_PER_S, db_to_ratio

GAPS = (1e-2, 1e-3, 1e-4)
SMALL = (2, 4, 6, 8, 10)
LARGE = (100, 1_000, 10_000, 100_000)
HUGE = 100_000  # measured in a process of its own, at the coarsest gap only
SEEDS = {100: 10, 1_000: 5, 10_000: 3, HUGE: 1}  # up to so many devices, so many seeds


@dataclass(frozen=True)
class Row:
    """One solve."""

    solver: str
    family: str
    devices: int
    gap: float  # asked for; NaN where nothing is proven
    seed: int
    seconds: float
    work: float  # boxes, evaluations, nodes or iterations
    excess: float  # objective above the best proven one, relative
    proven: bool = True
    reached: float = math.nan  # the gap that was proven
    peak_gib: float = math.nan


@dataclass(frozen=True)
class Effort:
    """How much to run."""

    sizes: Sequence[int]
    seeds: int
    paper_seeds: int
    scipy_seeds: int
    rebuilt_sizes: Sequence[int]
    maingo_sizes: Sequence[int]
    time_limit_s: float

    def seeds_for(self, devices: int) -> int:
        """Fewer for more devices."""
        return min(self.seeds, next(n for size, n in SEEDS.items() if devices <= size))


def say(line: str) -> None:
    """Progress and what was skipped, away from the tables."""
    print(line, file=sys.stderr, flush=True)


@cache
def optimum(devices: int, seed: int, family: Family) -> float:
    """The objective proven to 1e-4, which every other solver is measured against."""
    plan = solve(random_problem(devices, seed, family), gap=GAPS[-1], time_limit_s=300)
    if plan.status != "optimal":
        say(f"NO PROOF of the optimum: {family}, {devices} devices, seed {seed}, gap {plan.gap}")
    return plan.objective


def above(value: float, best: float) -> float:
    """How far a value is above the best, relative."""
    return (value - best) / abs(best)


# --- exact ----------------------------------------------------------------------------------------


def exact_rows(effort: Effort) -> Iterator[Row]:
    """Every family, size and gap."""
    for family in FAMILIES:
        for devices in effort.sizes:
            gaps = GAPS[:1] if devices >= HUGE else GAPS
            if len(gaps) < len(GAPS):
                say(f"skipped: exact with {devices:,} devices at gaps finer than {GAPS[0]:g}")
            for gap in gaps:
                for seed in range(effort.seeds_for(devices)):
                    yield exact_row(family, devices, gap, seed, effort.time_limit_s)


def exact_row(family: Family, devices: int, gap: float, seed: int, limit_s: float) -> Row:
    """One solve; the largest in a process of its own, so that its peak memory is its own."""
    if devices >= HUGE:
        inputs = json.dumps([family, devices, gap, seed, limit_s])
        command = [sys.executable, __file__, "--one", inputs]
        answer = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
        return Row(**json.loads(answer.stdout))
    return solved(family, devices, gap, seed, limit_s)


def solved(family: Family, devices: int, gap: float, seed: int, limit_s: float) -> Row:
    """One solve, here."""
    plan = solve(random_problem(devices, seed, family), gap=gap, time_limit_s=limit_s)
    assert plan.boxes is not None
    assert plan.gap is not None
    if plan.evaluation.violations:
        say(f"VIOLATIONS by exact: {family}, {devices} devices, seed {seed}")
    return Row(
        solver=f"exact {gap:g}",
        family=family,
        devices=devices,
        gap=gap,
        seed=seed,
        seconds=plan.solve_seconds,
        work=plan.boxes,
        excess=math.nan,
        proven=plan.status == "optimal",
        reached=plan.gap,
        peak_gib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    )


# --- the paper's Algorithm 3 ----------------------------------------------------------------------


def paper_rows(effort: Effort) -> Iterator[Row]:
    """Thirty iterations, never stopped early; excess is the repaired plan's."""
    try:
        from scdn.control.algorithm3.algorithm3 import Algorithm3Settings, solve_algorithm3
    except ImportError:
        say("SKIPPED: Algorithm 3, since CVXPY is not installed (pip install 'scdn[paper]')")
        return
    solve_algorithm3(random_problem(2, 0), Algorithm3Settings(iterations=1))  # loads the solver
    for rebuild in (False, True):
        settings = Algorithm3Settings(tolerance=0, rebuild=rebuild)
        for devices in SMALL:
            if rebuild and devices not in effort.rebuilt_sizes:
                say(f"skipped: Algorithm 3 rebuilt with {devices} devices")
                continue
            for seed in range(1 if rebuild else effort.paper_seeds):
                problem = random_problem(devices, seed)
                start = time.perf_counter()
                found = solve_algorithm3(problem, settings)
                seconds = time.perf_counter() - start
                yield Row(
                    solver="Algorithm 3 rebuilt" if rebuild else "Algorithm 3",
                    family="default",
                    devices=devices,
                    gap=math.nan,
                    seed=seed,
                    seconds=seconds,
                    work=found.iterations,
                    excess=above(
                        evaluate(problem, found.repaired).objective,
                        optimum(devices, seed, "default"),
                    ),
                )


# --- SciPy ----------------------------------------------------------------------------------------


def true_objective(problem: RoundProblem, found: DeviceCosts, place: Array) -> float:
    """The objective with the server at a place; where it may not be, at the nearest height."""
    x, y, z = place
    floor = problem.movement.min_flight_m
    if 0 < z < floor:
        z = floor if z > floor / 2 else 0.0
    z = min(z, float(np.nextafter(problem.ceiling_m, 0.0)))
    return evaluate(problem, decision_at(problem, found, np.array([x, y, z]))).objective


def scipy_rows(effort: Effort) -> Iterator[Row]:
    """DIRECT and differential evolution as SciPy sets them up, on the same three coordinates."""
    try:
        from scipy.optimize import differential_evolution, direct
    except ImportError:
        say("SKIPPED: SciPy is not installed")
        return

    def evolve(objective: Callable[[Array], float], bounds: Any, seed: int) -> Any:
        return differential_evolution(objective, bounds, seed=seed)

    def divide(objective: Callable[[Array], float], bounds: Any, _seed: int) -> Any:
        return direct(objective, bounds)

    solvers = {"SciPy direct": divide, "SciPy diff. evolution": evolve}
    for name, minimise in solvers.items():
        for devices in (n for n in effort.sizes if n <= 100):
            for seed in range(effort.scipy_seeds):
                problem = random_problem(devices, seed)
                found = device_costs(problem)
                bounds = [(0.0, float(side)) for side in problem.region_m]

                def objective(
                    place: Array, problem: RoundProblem = problem, found: DeviceCosts = found
                ) -> float:
                    return true_objective(problem, found, place)

                start = time.perf_counter()
                best = minimise(objective, bounds, seed)
                yield Row(
                    solver=name,
                    family="default",
                    devices=devices,
                    gap=math.nan,
                    seed=seed,
                    seconds=time.perf_counter() - start,
                    work=best.nfev,
                    excess=above(float(best.fun), optimum(devices, seed, "default")),
                )


# --- MAiNGO ---------------------------------------------------------------------------------------


def maingo_rows(effort: Effort) -> Iterator[Row]:
    """MAiNGO, a general global solver with McCormick relaxations, on the same three coordinates.

    The ground plane and the air are solved one after the other, as two problems; both times count.
    """
    try:
        import maingopy
    except ImportError:
        say("SKIPPED: MAiNGO is not installed (pip install maingopy)")
        return
    model = _maingo_model(maingopy)
    for devices in effort.maingo_sizes:
        for gap in GAPS:
            for seed in range(effort.seeds_for(devices)):
                problem = random_problem(devices, seed)
                yield _maingo_row(maingopy, model, problem, gap, seed, effort.time_limit_s)


def _maingo_row(
    mg: Any, model: Any, problem: RoundProblem, gap: float, seed: int, limit_s: float
) -> Row:
    found = device_costs(problem)
    best, bound, seconds, nodes, proven = math.inf, math.inf, 0.0, 0.0, True
    for ground in (True, False):
        given = model(problem, found, ground)  # kept: the solver does not hold on to it
        solver = mg.MAiNGO(given)
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
        place = np.array([*solver.get_solution_point(), 0.0][:3])
        best = min(best, true_objective(problem, found, place))
    proved = optimum(len(problem), seed, "default")
    if bound > proved * (1 + 1e-9) or best < proved * (1 - GAPS[-1]):
        say(f"DISAGREE: MAiNGO [{bound}, {best}] and exact {proved}, seed {seed}")
    return Row(
        solver=f"MAiNGO {gap:g}",
        family="default",
        devices=len(problem),
        gap=gap,
        seed=seed,
        seconds=seconds,
        work=nodes,
        excess=above(best, proved),
        proven=proven,
        reached=above(best, bound),
    )


def _maingo_model(mg: Any) -> Any:
    """The class of models, made here since its base is only known once MAiNGO is loaded.

    A device out of reach is a step function of its transmission cost. Binary activity variables
    with reach as a constraint gave the same optima, one and a half to three times slower.
    """

    class Model(mg.MAiNGOmodel):  # type: ignore[misc]
        """min over the position of Σ min(off, on + price·loss) where in reach + movement."""

        def __init__(self, problem: RoundProblem, found: DeviceCosts, ground: bool) -> None:
            super().__init__()
            self.problem, self.found, self.ground = problem, found, ground

        def get_variables(self) -> list[Any]:
            x, y, z = (float(side) for side in self.problem.region_m)
            limits = [("x", 0.0, x), ("y", 0.0, y)]
            if not self.ground:
                limits.append(("z", self.problem.movement.min_flight_m, z * (1 - 1e-9)))
            return [
                mg.OptimizationVariable(mg.Bounds(low, high), mg.VT_CONTINUOUS, name)
                for name, low, high in limits
            ]

        def get_initial_point(self) -> list[float]:
            return [float(c) for c in self.problem.server_m][: 2 if self.ground else 3]

        def evaluate(self, place: Sequence[Any]) -> Any:
            x, y = place[0], place[1]
            z = 0.0 if self.ground else place[2]
            total = self._movement(x, y, z)
            for device in range(len(self.problem)):
                total = total + self._device(device, x, y, z)
            result = mg.EvaluationContainer()
            result.objective = total
            return result

        def _device(self, device: int, x: Any, y: Any, z: Any) -> Any:
            problem, found = self.problem, self.found
            off, gain = float(found.off[device]), float(found.gain[device])
            if gain <= 0:
                return off
            px, py, pz = (float(c) for c in problem.position_m[device])
            link = problem.radio.a2a if pz > 0 and not self.ground else problem.radio.a2g
            run_sq = mg.sqr(x - px) + mg.sqr(y - py)
            cost = float(found.price[device]) * self._loss(link, run_sq, z - pz)
            net = mg.min(cost - gain, 0.0)
            limit = float(found.price[device] * found.reach[device])
            return off + (net * mg.fstep(limit - cost) if limit < gain else net)

        def _loss(self, link: Link, run_sq: Any, rise: Any) -> Any:
            radio = self.problem.radio
            floor, wavenumber = radio.min_distance_m, 4 * math.pi * radio.carrier_hz / LIGHT_M_PER_S
            run = mg.sqrt(mg.max(run_sq, 1e-12))  # arcsine would leave its domain when relaxed
            rise_sq, height = (rise**2, abs(rise)) if self.ground else (mg.sqr(rise), mg.fabs(rise))
            distance = mg.sqrt(mg.max(run_sq + rise_sq, floor**2))
            steep = mg.atan(height / run)
            angle = math.degrees(1.0) * steep - link.los_scale
            sight = 1.0 / (1.0 + link.los_scale * mg.exp(-link.los_slope * angle))
            los, nlos = db_to_ratio(link.los_loss_db), db_to_ratio(link.nlos_loss_db)
            spread = mg.sqr(distance) if link.exponent == 2 else mg.pow(distance, link.exponent)
            scale = wavenumber**link.exponent * db_to_ratio(radio.margin_db)
            return scale * spread * (nlos - (nlos - los) * sight)

        def _movement(self, x: Any, y: Any, z: Any) -> Any:
            problem, move = self.problem, self.problem.movement
            x0, y0, z0 = (float(c) for c in problem.server_m)
            cost = move.lateral_j_per_m * mg.euclidean_norm_2d(x - x0, y - y0)
            if self.ground:
                return problem.weights.movement * (cost + move.hover_j)
            climb = mg.log((problem.ceiling_m - z0) / (problem.ceiling_m - z))
            cost = cost + move.hover_j * mg.exp(z / move.altitude_scale_m)
            return problem.weights.movement * (cost + move.climb_j * mg.max(climb, 0.0))

    return Model


# --- tables ---------------------------------------------------------------------------------------


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    rows = [head, ["---:"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def seconds(value: float) -> str:
    """A time, to two digits."""
    if not math.isfinite(value):
        return "-"
    if value < 1:
        return f"{float(f'{value * 1e3:.2g}'):g} ms"
    return f"{float(f'{value:.3g}'):g} s"


def percent(value: float) -> str:
    """A relative excess."""
    if abs(value) >= 0.1:
        return f"{100 * value:,.0f} %"
    return f"{100 * value:.1g} %" if abs(value) >= 5e-7 else "0 %"


def exact_table(rows: Sequence[Row]) -> str:
    """Exact's times and boxes for one family."""
    lines = []
    for devices in sorted({row.devices for row in rows}):
        for gap in GAPS:
            some = [row for row in rows if row.devices == devices and row.gap == gap]
            if not some:
                lines.append([f"{devices:,}", f"{gap:g}", "skipped", *["-"] * 5])
                continue
            times, boxes = [row.seconds for row in some], [row.work for row in some]
            open_ = [row.reached for row in some if not row.proven]
            lines.append(
                [
                    f"{devices:,}",
                    f"{gap:g}",
                    str(len(some)),
                    seconds(float(np.median(times))),
                    seconds(max(times)),
                    f"{np.median(boxes):,.0f}",
                    f"{max(boxes):,.0f}",
                    f"{len(open_)} (gap up to {max(open_):.2g})" if open_ else "0",
                ]
            )
    head = ["N", "gap", "seeds", "median", "max", "boxes, median", "boxes, max", "not proven"]
    return table(head, lines)


def others_table(rows: Sequence[Row]) -> str:
    """The other solvers: time, and how far above the optimum they end."""
    lines = []
    for name in dict.fromkeys(row.solver for row in rows):
        for devices in sorted({row.devices for row in rows if row.solver == name}):
            some = [row for row in rows if row.solver == name and row.devices == devices]
            times, excess = [row.seconds for row in some], [row.excess for row in some]
            lines.append(
                [
                    name,
                    f"{devices:,}",
                    str(len(some)),
                    seconds(float(np.median(times))),
                    seconds(max(times)),
                    f"{np.median([row.work for row in some]):,.0f}",
                    percent(float(np.median(excess))),
                    percent(max(excess)),
                    str(sum(not row.proven for row in some)) if some[0].gap > 0 else "all",
                ]
            )
    head = ["solver", "N", "seeds", "median", "max", "work", "above, median", "above, max"]
    return table([*head, "not proven"], lines)


def side_by_side(rows: Sequence[Row]) -> str:
    """Median seconds of every solver on the default family."""
    rows = [row for row in rows if row.family == "default"]
    names = list(dict.fromkeys(row.solver for row in rows))
    sizes = sorted({row.devices for row in rows})
    lines = []
    for name in names:
        cells = [[r.seconds for r in rows if r.solver == name and r.devices == n] for n in sizes]
        lines.append([name, *(seconds(float(np.median(c))) if c else "-" for c in cells)])
    return table(["median time", *(f"N = {n:,}" for n in sizes)], lines)


def plot(rows: Sequence[Row], path: Path) -> None:
    """Time against the number of devices: medians as lines, maxima as faint points."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    styles = {"default": "-", "worth it": "--"}
    for name in dict.fromkeys(row.solver for row in rows):
        color = None
        for family, style in styles.items():
            some = [row for row in rows if row.solver == name and row.family == family]
            if not some:
                continue
            sizes = sorted({row.devices for row in some})
            times = [[row.seconds for row in some if row.devices == n] for n in sizes]
            label = name if family == "default" else f"{name}, worth it"
            medians = [float(np.median(t)) for t in times]
            (line,) = axes.plot(sizes, medians, style, marker="o", ms=3, color=color, label=label)
            color = line.get_color()
            axes.plot(sizes, [max(t) for t in times], "^", ms=4, color=color, alpha=0.35)
    axes.set(xscale="log", yscale="log", xlabel="devices", ylabel="seconds (△ slowest seed)")
    sizes = sorted({row.devices for row in rows})
    axes.set_xticks(sizes, [f"{n:,}" for n in sizes], rotation=45)
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", fontsize="small", frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


# --- running --------------------------------------------------------------------------------------

PARTS: dict[str, Callable[[Effort], Iterator[Row]]] = {
    "exact": exact_rows,
    "paper": paper_rows,
    "scipy": scipy_rows,
    "maingo": maingo_rows,
}


def effort_of(options: argparse.Namespace) -> Effort:
    """How much the options ask for."""
    if options.quick:
        return Effort(SMALL, 3, 1, 1, (2,), (2, 4, 10), options.time_limit)
    return Effort((*SMALL, 20, *LARGE), 10, 3, 5, SMALL, (*SMALL, 20), options.time_limit)


def main() -> None:
    """Runs the parts and prints the tables."""
    words = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    words.add_argument("--part", choices=PARTS, help="one part only")
    words.add_argument("--quick", action="store_true", help="up to ten devices, few seeds")
    words.add_argument("--plot", type=Path, metavar="FILE.png", help="also draw the times")
    words.add_argument("--time-limit", type=float, default=300, help="seconds for one solve")
    words.add_argument("--one", help=argparse.SUPPRESS)
    options = words.parse_args()
    warm_up()
    if options.one:
        print(json.dumps(vars(solved(*json.loads(options.one)))))
        return
    effort, rows = effort_of(options), list[Row]()
    start = time.perf_counter()
    for name in [options.part] if options.part else PARTS:
        began = time.perf_counter()
        rows += PARTS[name](effort)
        say(f"{name}: {time.perf_counter() - began:.0f} s")
    exact = [row for row in rows if row.solver.startswith("exact")]
    others = [row for row in rows if not row.solver.startswith("exact")]
    for family in FAMILIES if exact else ():
        print(f"\nExact, {family} (limit {effort.time_limit_s:g} s a solve)\n")
        print(exact_table([row for row in exact if row.family == family]))
    for row in exact:
        if row.devices >= HUGE:
            print(f"\nPeak memory, {row.devices:,} devices, {row.family}: {row.peak_gib:.2f} GiB")
    if others:
        print("\nOther solvers, default family; above: objective over the proven optimum's\n")
        print(others_table(others))
    if rows:
        print("\nSide by side, default family\n\n" + side_by_side(rows))
    if rows and options.plot:
        plot(rows, options.plot)
    print(f"\nAll of it took {time.perf_counter() - start:.0f} s.")


if __name__ == "__main__":
    main()
