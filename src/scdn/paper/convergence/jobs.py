"""The objective of P′ after each iteration of Algorithm 3, beside the published tables."""

from __future__ import annotations

import math
from functools import partial
from statistics import median_high
from typing import Any

import numpy as np

from scdn.paper.artefact import ArtefactSpec, Drawing, Numbers, Part, Results, ResultTable
from scdn.paper.convergence.claims import PUBLISHED, PUBLISHED_ITERATIONS, RunSummary, objective_at
from scdn.paper.plotting import COLOURS, plot_band, use_log_scale
from scdn.paper.published_tables import published_tables
from scdn.paper.single_round import STARTS, first_round_problem, run_algorithm3, scenario_job
from scdn.paper.summaries import mean_std, nested, rounded, rounded_list
from scdn.paper.sweep import ArtefactJob
from scdn.paper.value_text import listed, plus_minus, without_repeats
from scdn.report.matplotlib_style import style_axes
from scdn.report.palette import GRID
from scdn.scenario import make_scenario

PENALTIES = {"raised": 100.0, "single": None}  # of χ^T: ours, and the paper's ψ̂ for everything
PSI_HAT = 1e-4  # ψ̂
START_ITERATIONS = 1e-9  # τ of [x]^0, the smallest there is: the published first value implies it


def jobs(spec: ArtefactSpec) -> list[ArtefactJob]:
    """Return one job per start, size and seed."""
    return [
        scenario_job(
            f"{start}-{devices}-{seed}",
            trace,
            spec,
            [f"server.start={start}", f"fleet.0.count={devices}", f"seed={seed}"],
            iterations=spec.sweep["iterations"],
        )
        for start in STARTS
        for devices in spec.sweep["devices"]
        for seed in spec.seeds
    ]


def trace(arguments: dict[str, Any]) -> dict[str, Any]:
    """Run all iterations of Algorithm 3 without stopping early, with either penalty of χ^T."""
    problem = first_round_problem(make_scenario(arguments["scenario"]))
    traces = {}
    for name, penalty in PENALTIES.items():
        result = run_algorithm3(
            problem,
            iterations=arguments["iterations"],
            tolerance=0.0,
            link_penalty=penalty,
            start_iterations=START_ITERATIONS,
        )
        distance = np.linalg.norm(problem.position_m - result.raw.server_m, axis=1)
        centroid = problem.position_m.mean(axis=0)
        traces[name] = {
            "objective": rounded_list(result.surrogate),
            "change": rounded_list(result.change),
            "active": int(result.raw.active.sum()),
            "iterations": rounded_list(result.raw.iterations),
            "distance_sq": rounded((distance**2).sum()),
            "centroid_m": rounded(float(np.linalg.norm(result.raw.server_m - centroid))),
        }
    return traces


def numbers(spec: ArtefactSpec, results: Results) -> Numbers:
    """Return, per penalty, start and size, the mean curve, its spread, and how each run ended."""
    sizes, tolerance = spec.sweep["devices"], spec.sweep["tolerance"]

    def summary(penalty: str, start: str, n: int) -> RunSummary:
        runs = [results[f"{start}-{n}-{seed}"][penalty] for seed in spec.seeds]
        return _summary(runs, tolerance)

    penalties = nested(summary, PENALTIES, STARTS, sizes)
    return {"devices": sizes, "tolerance": tolerance, "penalties": penalties}


def _summary(runs: list[dict[str, Any]], tolerance: float) -> RunSummary:
    length = min(len(run["objective"]) for run in runs)
    objective = np.array([run["objective"][:length] for run in runs])
    rises = np.diff(objective, axis=1) / objective[:, :-1]
    shares = [PSI_HAT * run["distance_sq"] / run["objective"][-1] for run in runs]
    return {
        **mean_std(objective),
        "rise": rounded(rises.max(initial=0.0), 3),
        "stopped": [_stopping_iteration(run["change"], tolerance) for run in runs],
        "active": [run["active"] for run in runs],
        "unheard": [_training_but_inactive(run) for run in runs],
        "iterations": rounded(np.mean([np.mean(run["iterations"]) for run in runs]), 4),
        "penalty_share": rounded(np.mean(shares), 3),
        "centroid_m": rounded(np.mean([run["centroid_m"] for run in runs]), 3),
    }


def _training_but_inactive(run: dict[str, Any]) -> int:
    return max(0, sum(iterations > 0.5 for iterations in run["iterations"]) - run["active"])


def _stopping_iteration(change: list[float], tolerance: float) -> int | None:
    """Return the iteration after which Algorithm 3's own rule would have stopped."""
    return next((number for number, value in enumerate(change, 1) if value < tolerance), None)


# --- tables and pictures --------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Part]:
    """Return the curves, and the published tables beside ours."""
    return [
        Drawing(
            "convergence",
            "Objective of P′ after each iteration of Algorithm 3",
            partial(_draw, numbers),
            (12.0, 5.4),
        ),
        _objective_table(numbers),
        _end_table(numbers),
    ]


def _draw(numbers: Numbers, figure: Any) -> None:
    rows = figure.subplots(2, len(STARTS), sharey="row", squeeze=False)
    for first, row in enumerate(rows, 1):  # the lower row leaves the first iteration out
        for axes, start in zip(row, STARTS, strict=True):
            _draw_start(numbers, start, axes, first)
    for axes, start in zip(rows[0], STARTS, strict=True):
        axes.set_title(start, fontsize=10)
    rows[0][-1].legend(fontsize=8)


def _draw_start(numbers: Numbers, start: str, axes: Any, first: int) -> None:
    """Draw one start from an iteration on; the published means are crosses."""
    for number, n in enumerate(numbers["devices"]):
        mean = numbers["penalties"]["raised"][start][str(n)]["mean"]
        iterations = range(first, len(mean) + 1)
        plot_band(axes, iterations, mean[first - 1 :], None, f"{n} devices", number)
        published = published_tables()[PUBLISHED[start]].get(str(n), {"iterations": [], "mean": []})
        for iteration, value in zip(published["iterations"], published["mean"], strict=True):
            if iteration >= first:
                axes.plot(iteration, value, "x", color=COLOURS[number], markersize=6)
    use_log_scale(axes)
    if first > 1:
        axes.set_yticks([0.3, 1, 3, 10], ["0.3", "1", "3", "10"])
    axes.grid(axis="y", color=GRID)
    style_axes(axes, "iteration", "objective (crosses: published)" if start == STARTS[0] else "")


def _objective_table(numbers: Numbers) -> ResultTable:
    rows = []
    for start in STARTS:
        for n in numbers["devices"]:
            summary = numbers["penalties"]["raised"][start][str(n)]
            published = published_tables()[PUBLISHED[start]].get(str(n))
            row = [start, str(n)]
            for index, iteration in enumerate(PUBLISHED_ITERATIONS):
                ours = objective_at(summary, iteration)
                pair = published and (published["mean"][index], published["std"][index])
                row += [plus_minus(*values) if values else "–" for values in (ours, pair)]
            rows.append(tuple(row))
    columns = [f"{n}, {source}" for n in PUBLISHED_ITERATIONS for source in ("here", "published")]
    title = f"Objective at iterations {listed(PUBLISHED_ITERATIONS)}"
    return ResultTable(title, ("start", "devices", *columns), without_repeats(rows, 1))


def _end_table(numbers: Numbers) -> ResultTable:
    rows = tuple(
        (
            label,
            start,
            str(n),
            _median_stop(summary["stopped"]),
            f"{np.mean(summary['active']):.1f}",
            f"{summary['iterations']:.2f}",
            f"{100 * summary['penalty_share']:.0f} %",
            f"{summary['centroid_m']:.1f}",
        )
        for penalty, label in (("raised", "100"), ("single", "1e-4, as all"))
        for start in STARTS
        for n in numbers["devices"]
        for summary in (numbers["penalties"][penalty][start][str(n)],)
    )
    return ResultTable(
        "Where Algorithm 3 ends",
        ("penalty of χ^T", "start", "devices", "stops after (median)", "α ≥ 0.5", "iterations τ",
         "ψ̂·Σ distance² of the objective", "metres from the centroid"),
        without_repeats(rows, 2),
        "“Stops” is the first iteration in which no control changed by more than "
        f"{numbers['tolerance']:g} of its range; – where most runs did not stop.",
    )  # fmt: skip


def _median_stop(stopped: list[int | None]) -> str:
    median = median_high(math.inf if value is None else value for value in stopped)
    return "–" if median == math.inf else str(median)
