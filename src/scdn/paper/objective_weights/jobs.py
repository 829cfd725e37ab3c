"""Characteristic curves: what changes as one of the objective's four weights grows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

import numpy as np

from scdn.control.evaluation import Decision
from scdn.control.problem import RoundProblem
from scdn.paper.artefact import ArtefactSpec, Drawing, Numbers, Part, Results, ResultTable
from scdn.paper.objective_weights.claims import CHANGES, TITLES, Curves
from scdn.paper.plotting import Curve, add_legend, plot_band, use_log_scale
from scdn.paper.single_round import (
    STARTS,
    first_round_problem,
    run_algorithm3,
    scenario_job,
    solve_closely,
)
from scdn.paper.summaries import mean_std, nested, rounded_list
from scdn.paper.sweep import ArtefactJob
from scdn.paper.value_text import without_repeats
from scdn.report.matplotlib_style import style_axes
from scdn.report.palette import GRID
from scdn.scenario import make_scenario

WEIGHTS = tuple(CHANGES)
QUANTITIES = ("active", "iterations", "gradient", "power_w", "distance_sq", "moved_m", "height_m")
LABELS = {
    "iterations": "iterations, mean",
    "gradient": "gradient bound, of its largest",
    "power_w": "power (W), mean",
    "distance_sq": "squared distance (m²)",
    "moved_m": "moved in xy (m)",
    "active": "active devices",
}
SYMBOLS = {"convergence": "ψ^G", "processing": "ψ^P", "transmission": "ψ^R", "movement": "ψ^S"}


def jobs(spec: ArtefactSpec) -> list[ArtefactJob]:
    """Return one job per block, weight, start, size and seed."""
    return [
        scenario_job(
            f"{block}-{weight}-{start}-{devices}-{seed}",
            sweep_weight,
            spec,
            [
                *table["settings"],
                f"server.start={start}",
                f"fleet.0.count={devices}",
                f"seed={seed}",
            ],
            block=block,
            weight=weight,
            exponents=spec.sweep[block][weight],
        )
        for block, table in spec.blocks.items()
        for weight in WEIGHTS
        for start in STARTS
        for devices in spec.sweep["devices"]
        for seed in spec.seeds
    ]


def sweep_weight(arguments: dict[str, Any]) -> dict[str, Any]:
    """Solve the problem for each value of the weight."""
    problem = first_round_problem(make_scenario(arguments["scenario"]))
    rows, proven = [], 0
    for exponent in arguments["exponents"]:
        weights = problem.weights.model_copy(update={arguments["weight"]: 10.0**exponent})
        weighted = replace(problem, weights=weights)
        if arguments["block"] == "published":
            decision = run_algorithm3(weighted).raw
        else:
            best = solve_closely(weighted)
            decision, proven = best.decision, proven + (best.status == "optimal")
        rows.append(rounded_list(_measure(weighted, decision)))
    return {"rows": rows, "proven": proven}


def _measure(problem: RoundProblem, decision: Decision) -> tuple[float, ...]:
    """Return the values of `QUANTITIES`, means over devices; inactive devices have no power."""
    offset = problem.position_m - decision.server_m
    return (
        float(decision.active.sum()),
        float(decision.iterations.mean()),
        float(problem.convergence(decision.iterations).sum()),
        float(np.where(decision.active, decision.power_w, 0.0).mean()),
        float((offset**2).sum(axis=1).mean()),
        float(np.hypot(*(decision.server_m - problem.server_m)[:2])),
        float(decision.server_m[2]),
    )


def numbers(spec: ArtefactSpec, results: Results) -> Numbers:
    """Return means and deviations over runs of what each weight is said to change."""

    def curves(block: str, weight: str, start: str, n: int) -> Curves:
        keys = [f"{block}-{weight}-{start}-{n}-{seed}" for seed in spec.seeds]
        rows = np.array([results[key]["rows"] for key in keys])  # (runs, points, quantities)
        names = (*CHANGES[weight], "active", "moved_m", "height_m")
        return {name: mean_std(rows[:, :, QUANTITIES.index(name)]) for name in names}

    sizes = spec.sweep["devices"]
    return {
        "devices": sizes,
        "exponents": {block: spec.sweep[block] for block in spec.blocks},
        "curves": nested(curves, spec.blocks, WEIGHTS, STARTS, sizes),
        "runs": len(spec.seeds),
    }


# --- tables and pictures --------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Part]:
    """Return a drawing for each block and start, and a table of the curves' ends."""
    drawings = [
        Drawing(
            f"weights-{block}-{start}",
            f"{TITLES[block]}, server before: {start}",
            partial(_draw, numbers, block, start),
            (12.0, 6.6),
        )
        for block in numbers["curves"]
        for start in STARTS
    ]
    return [*drawings, *(_end_table(numbers, block) for block in numbers["curves"])]


def _draw(numbers: Numbers, block: str, start: str, figure: Any) -> None:
    panels = figure.subplots(3, len(WEIGHTS), sharex="col")
    for column, weight in enumerate(WEIGHTS):
        by_size = numbers["curves"][block][weight][start]
        values = [10.0**exponent for exponent in numbers["exponents"][block][weight]]
        for axes, name in zip(panels[:, column], (*CHANGES[weight], "active"), strict=True):
            curves = {f"{n} devices": by_size[str(n)][name] for n in numbers["devices"]}
            if name == "gradient":
                curves = _relative_to_largest(curves)
            for number, (label, curve) in enumerate(curves.items()):
                mean, std = curve["mean"], curve["std"]
                plot_band(axes, values, mean, std, label, number, (0.0, inf), markersize=3)
            use_log_scale(axes, "xy" if name == "gradient" else "x")
            is_lowest = axes is panels[-1][column]
            style_axes(axes, SYMBOLS[weight] if is_lowest else "", LABELS[name])
            axes.grid(axis="y", color=GRID)
    add_legend(figure, panels[0][0])


def _relative_to_largest(curves: dict[str, Curve]) -> dict[str, Curve]:
    """Divide curves by the largest mean of all; bands stay above 0 for the logarithmic axis."""
    largest = max(max(curve["mean"]) for curve in curves.values()) or 1.0
    relative: dict[str, Curve] = {}
    for label, curve in curves.items():
        mean, std = (np.divide(curve[part], largest) for part in ("mean", "std"))
        relative[label] = {"mean": mean, "std": np.minimum(std, 0.99 * mean)}
    return relative


def _end_table(numbers: Numbers, block: str) -> ResultTable:
    rows = []
    for weight in WEIGHTS:
        exponents = numbers["exponents"][block][weight]
        value_range = f"1e{exponents[0]:g} → 1e{exponents[-1]:g}"
        for start in STARTS:
            for n in numbers["devices"]:
                curves = numbers["curves"][block][weight][start][str(n)]
                means = [curves[name]["mean"] for name in (*CHANGES[weight], "active")]
                ends = [f"{mean[0]:.3g} → {mean[-1]:.3g}" for mean in means]
                rows.append((SYMBOLS[weight], value_range, start, str(n), *ends))
    return ResultTable(
        f"{TITLES[block]}: from the smallest weight to the largest",
        ("weight", "from … to", "start", "devices", "first panel", "second panel", "active"),
        without_repeats(rows, 3),
        "Panels as drawn: iterations and gradient bound (ψ^G, ψ^P), power in W and squared "
        "distance in m² (ψ^R), power and metres moved (ψ^S).",
    )
