"""Objective of P′ after each iteration of Algorithm 3, beside the published tables."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from scdn.paper.artefact import Drawing, Found, Numbers, Setting, Table
from scdn.paper.control import STARTS, algorithm_3, drawn_problem, network_job, scenario_of
from scdn.paper.convergence_claims import AT, PUBLISHED, at, claims
from scdn.paper.counting import mean_std
from scdn.paper.digits import listed, plus_minus, rounded, short
from scdn.paper.draw import COLOURS, band, logarithmic, tidy
from scdn.paper.jobs import Job
from scdn.paper.published import published
from scdn.pictures.palette import GRID

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["claims", "jobs", "numbers", "show"]

WORK = "scdn.paper.convergence:trace"
PENALTIES = {"raised": 100.0, "single": None}  # of χ^T: ours, and the paper's ψ̂ for everything
PSI_HAT = 1e-4  # ψ̂
START = 1e-9  # τ of [x]^0: the least there is, as the published first value says


def jobs(setting: Setting) -> list[Job]:
    """One per start, size and seed."""
    how = {"iterations": setting.sweep["iterations"]}
    return [
        network_job(
            f"{start}-{devices}-{seed}",
            WORK,
            setting,
            [f"server.start={start}", f"fleet.0.count={devices}", f"seed={seed}"],
            **how,
        )
        for start in STARTS
        for devices in setting.sweep["devices"]
        for seed in setting.seeds
    ]


def trace(arguments: dict[str, Any], _: object) -> dict[str, Any]:
    """All iterations, none saved by stopping early, with either penalty of χ^T."""
    problem = drawn_problem(scenario_of(arguments))
    found = {}
    for name, penalty in PENALTIES.items():
        result = algorithm_3(
            problem,
            iterations=arguments["iterations"],
            tolerance=0.0,
            link_penalty=penalty,
            start_iterations=START,
        )
        distance = np.linalg.norm(problem.position_m - result.raw.server_m, axis=1)
        centroid = problem.position_m.mean(axis=0)
        found[name] = {
            "objective": short(result.surrogate),
            "change": short(result.change),
            "active": int(result.raw.active.sum()),
            "iterations": short(result.raw.iterations),
            "distance_sq": rounded((distance**2).sum()),
            "centroid_m": rounded(float(np.linalg.norm(result.raw.server_m - centroid))),
        }
    return found


def numbers(setting: Setting, found: Found) -> Numbers:
    """Per penalty, start and size: the mean curve, its spread, and how each run went."""
    sweep = setting.sweep
    return {
        "devices": sweep["devices"],
        "tolerance": sweep["tolerance"],
        "penalties": {
            penalty: {
                start: {
                    str(n): _cell(
                        [found[f"{start}-{n}-{seed}"][penalty] for seed in setting.seeds],
                        sweep["tolerance"],
                    )
                    for n in sweep["devices"]
                }
                for start in STARTS
            }
            for penalty in PENALTIES
        },
    }


def _cell(runs: list[dict[str, Any]], tolerance: float) -> dict[str, Any]:
    """Ten runs of one start and size."""
    length = min(len(run["objective"]) for run in runs)
    objective = np.array([run["objective"][:length] for run in runs])
    mean, std = mean_std(objective)
    rises = np.diff(objective, axis=1) / objective[:, :-1]
    shares = [PSI_HAT * run["distance_sq"] / run["objective"][-1] for run in runs]
    return {
        "mean": mean,
        "std": std,
        "rise": rounded(rises.max(initial=0.0), 3),
        "stopped": [_stopped(run["change"], tolerance) for run in runs],
        "active": [run["active"] for run in runs],
        "unheard": [_unheard(run) for run in runs],
        "iterations": rounded(np.mean([np.mean(run["iterations"]) for run in runs]), 4),
        "penalty_share": rounded(np.mean(shares), 3),
        "centroid_m": rounded(np.mean([run["centroid_m"] for run in runs]), 3),
    }


def _unheard(run: dict[str, Any]) -> int:
    """How many devices train though they are not active."""
    return max(0, sum(iterations > 0.5 for iterations in run["iterations"]) - run["active"])


def _stopped(change: list[float], tolerance: float) -> int | None:
    """The iteration after which Algorithm 3's own rule would have stopped."""
    return next((number for number, value in enumerate(change, 1) if value < tolerance), None)


# --- what is shown --------------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Table | Drawing]:
    """The curves, and the published tables beside ours."""
    return [
        Drawing(
            "convergence",
            "Objective of P′ after each iteration of Algorithm 3",
            partial(_draw, numbers),
            (12.0, 5.4),
        ),
        *(_table(numbers, start) for start in STARTS),
        _ends(numbers),
    ]


def _draw(numbers: Numbers, figure: Figure) -> None:
    rows = figure.subplots(2, len(STARTS), sharey="row", squeeze=False)
    for first, row in enumerate(rows, 1):  # below, the first iteration is left out
        for axes, start in zip(row, STARTS, strict=True):
            _draw_start(numbers, start, axes, first)
    for axes, start in zip(rows[0], STARTS, strict=True):
        axes.set_title(start, fontsize=10)
    rows[0][-1].legend(fontsize=8)


def _draw_start(numbers: Numbers, start: str, axes: Any, first: int) -> None:
    """One start, from an iteration on; the published means are crosses."""
    for number, n in enumerate(numbers["devices"]):
        mean = numbers["penalties"]["raised"][start][str(n)]["mean"]
        band(axes, range(first, len(mean) + 1), mean[first - 1 :], None, f"{n} devices", number)
        theirs = published()[PUBLISHED[start]].get(str(n), {"iterations": [], "mean": []})
        for iteration, value in zip(theirs["iterations"], theirs["mean"], strict=True):
            if iteration >= first:
                axes.plot(iteration, value, "x", color=COLOURS[number], markersize=6)
    logarithmic(axes)
    if first > 1:
        axes.set_yticks([0.3, 1, 3, 10], ["0.3", "1", "3", "10"])
    axes.grid(axis="y", color=GRID)
    tidy(axes, "iteration", "objective (crosses: published)" if start == STARTS[0] else "")


def _table(numbers: Numbers, start: str) -> Table:
    rows = []
    for n in numbers["devices"]:
        cell = numbers["penalties"]["raised"][start][str(n)]
        theirs = published()[PUBLISHED[start]].get(str(n))
        row = [str(n)]
        for number, iteration in enumerate(AT):
            ours = at(cell, iteration)
            row.append(plus_minus(*ours) if ours else "–")
            row.append(plus_minus(theirs["mean"][number], theirs["std"][number]) if theirs else "–")
        rows.append(tuple(row))
    head = ("devices", *(f"{number}, {who}" for number in AT for who in ("here", "published")))
    title = f"Objective at iterations {listed(AT)}, server at start: {start}"
    return Table(title, head, tuple(rows))


def _ends(numbers: Numbers) -> Table:
    rows = tuple(
        (
            words,
            start,
            str(n),
            _median(cell["stopped"]),
            f"{np.mean(cell['active']):.1f}",
            f"{cell['iterations']:.2f}",
            f"{100 * cell['penalty_share']:.0f} %",
            f"{cell['centroid_m']:.1f}",
        )
        for penalty, words in (("raised", "100"), ("single", "1e-4, as all"))
        for start in STARTS
        for n in numbers["devices"]
        for cell in (numbers["penalties"][penalty][start][str(n)],)
    )
    return Table(
        "Where Algorithm 3 ends",
        (
            "penalty of χ^T",
            "start",
            "devices",
            "stops after (median)",
            "α ≥ 0.5",
            "iterations τ",
            "ψ̂·Σ distance² of the objective",
            "metres from the centroid",
        ),
        rows,
        "“Stops” is the first iteration in which no control moved by more than "
        f"{numbers['tolerance']:g} of its range; – where most runs had not after the last.",
    )


def _median(stopped: list[int | None]) -> str:
    known = sorted(value if value is not None else 10**9 for value in stopped)
    middle = known[len(known) // 2]
    return str(middle) if middle < 10**9 else "–"
