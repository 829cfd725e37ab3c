"""Characteristic curves: what changes as one of the four weights grows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from scdn.control.problem import Decision, RoundProblem
from scdn.paper.artefact import Drawing, Found, Numbers, Setting, Table
from scdn.paper.control import (
    STARTS,
    algorithm_3,
    drawn_problem,
    network_job,
    optimal,
    scenario_of,
)
from scdn.paper.counting import mean_std
from scdn.paper.digits import short
from scdn.paper.draw import band, legend, logarithmic, tidy
from scdn.paper.jobs import Job
from scdn.paper.weights_claims import CHANGED, TITLES, Cell, claims
from scdn.pictures.palette import GRID

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["claims", "jobs", "numbers", "show"]

WORK = "scdn.paper.weights:curve"
WEIGHTS = tuple(CHANGED)
KEPT = ("active", "iterations", "gradient", "power_w", "distance_sq", "moved_m", "height_m")
LABELS = {
    "iterations": "iterations, mean",
    "gradient": "gradient bound, of its largest",
    "power_w": "power (W), mean",
    "distance_sq": "squared distance (m²)",
    "moved_m": "moved in xy (m)",
    "active": "active devices",
}
SYMBOLS = {"convergence": "ψ^G", "processing": "ψ^P", "transmission": "ψ^R", "movement": "ψ^S"}


def jobs(setting: Setting) -> list[Job]:
    """One per block, weight, start, size and seed."""
    sweep = setting.sweep
    return [
        network_job(
            f"{block}-{weight}-{start}-{devices}-{seed}",
            WORK,
            setting,
            [*own, f"server.start={start}", f"fleet.0.count={devices}", f"seed={seed}"],
            block=block,
            weight=weight,
            exponents=sweep[block][weight],
        )
        for block, own in setting.blocks.items()
        for weight in WEIGHTS
        for start in STARTS
        for devices in sweep["devices"]
        for seed in setting.seeds
    ]


def curve(arguments: dict[str, Any], _: object) -> dict[str, Any]:
    """One row of numbers for each value of the weight."""
    problem = drawn_problem(scenario_of(arguments))
    rows, proven = [], 0
    for exponent in arguments["exponents"]:
        weights = problem.weights.model_copy(update={arguments["weight"]: 10.0**exponent})
        weighed = replace(problem, weights=weights)
        if arguments["block"] == "published":
            decision = algorithm_3(weighed).raw
        else:
            found = optimal(weighed)
            decision, proven = found.decision, proven + (found.status == "optimal")
        rows.append(short(_measured(weighed, decision)))
    return {"rows": rows, "proven": proven}


def _measured(problem: RoundProblem, decision: Decision) -> tuple[float, ...]:
    """The numbers of `KEPT`, means over devices; who is inactive sends with no power."""
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


def numbers(setting: Setting, found: Found) -> Numbers:
    """Means and standard deviations over runs of what each weight is said to change."""
    sweep = setting.sweep
    seeds = setting.seeds
    kept: Numbers = {"devices": sweep["devices"], "exponents": {}, "curves": {}, "runs": len(seeds)}
    for block in setting.blocks:
        kept["exponents"][block] = sweep[block]
        kept["curves"][block] = {
            weight: {
                start: {
                    str(n): _curve(
                        [found[f"{block}-{weight}-{start}-{n}-{seed}"]["rows"] for seed in seeds],
                        weight,
                    )
                    for n in sweep["devices"]
                }
                for start in STARTS
            }
            for weight in WEIGHTS
        }
    return kept


def _curve(runs: list[list[list[float]]], weight: str) -> Cell:
    """One mean and one deviation per value of the weight, of what this weight moves."""
    rows = np.array(runs)  # (runs, points, kept)
    found = {}
    for name in (*CHANGED[weight], "active", "moved_m", "height_m"):
        mean, std = mean_std(rows[:, :, KEPT.index(name)])
        found[name] = {"mean": mean, "std": std}
    return found


# --- what is shown --------------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Table | Drawing]:
    """A drawing for each block and start, and where everything ends."""
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
    return [*drawings, *(_ends(numbers, block) for block in numbers["curves"])]


def _draw(numbers: Numbers, block: str, start: str, figure: Figure) -> None:
    panels = figure.subplots(3, len(WEIGHTS), sharex="col")
    for column, weight in enumerate(WEIGHTS):
        by = numbers["curves"][block][weight][start]
        values = [10.0**exponent for exponent in numbers["exponents"][block][weight]]
        names = (*CHANGED[weight], "active")
        for axes, name in zip(panels[:, column], names, strict=True):
            curves = {f"{n} devices": by[str(n)][name] for n in numbers["devices"]}
            if name == "gradient":
                curves = _of_largest(curves)
            for number, (label, curve) in enumerate(curves.items()):
                mean, std = curve["mean"], curve["std"]
                band(axes, values, mean, std, label, number, (0.0, inf), markersize=3)
            logarithmic(axes, "xy" if name == "gradient" else "x")
            lowest = axes is panels[-1][column]
            tidy(axes, SYMBOLS[weight] if lowest else "", LABELS[name])
            axes.grid(axis="y", color=GRID)
    legend(figure, panels[0][0])


def _of_largest(curves: Cell) -> Cell:
    """Curves over the largest mean of all; their bands stay above 0, as logarithms need it."""
    unit = max(max(curve["mean"]) for curve in curves.values()) or 1.0
    return {
        label: {
            "mean": [mean / unit for mean in curve["mean"]],
            "std": [
                min(std / unit, 0.99 * (mean / unit))
                for mean, std in zip(curve["mean"], curve["std"], strict=True)
            ],
        }
        for label, curve in curves.items()
    }


def _ends(numbers: Numbers, block: str) -> Table:
    rows = []
    for weight in WEIGHTS:
        exponents = numbers["exponents"][block][weight]
        over = f"1e{exponents[0]:g} → 1e{exponents[-1]:g}"
        for start in STARTS:
            for n in numbers["devices"]:
                cell = numbers["curves"][block][weight][start][str(n)]
                means = [cell[name]["mean"] for name in (*CHANGED[weight], "active")]
                ends = [f"{mean[0]:.3g} → {mean[-1]:.3g}" for mean in means]
                rows.append((SYMBOLS[weight], over, start, str(n), *ends))
    return Table(
        f"{TITLES[block]}: from the least weight to the largest",
        ("weight", "from … to", "start", "devices", "first panel", "second panel", "active"),
        tuple(rows),
        "Panels as drawn: iterations and gradient bound (ψ^G, "
        "ψ^P), power in W and squared distance in m² (ψ^R), power and metres moved (ψ^S).",
    )
