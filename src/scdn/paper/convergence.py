"""Objective of P′ after each iteration of Algorithm 3, beside the published tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from scdn.paper.artefact import Claim, Drawing, Found, Numbers, Setting, Table
from scdn.paper.control import STARTS, algorithm_3, drawn_problem, network_job, scenario_of, short
from scdn.paper.counting import counted, mean_std, tally
from scdn.paper.draw import COLOURS, band, tidy
from scdn.paper.jobs import Job
from scdn.paper.published import published
from scdn.pictures.palette import GRID

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORK = "scdn.paper.convergence:trace"
PENALTIES = {"raised": 100.0, "single": None}  # of χ^T: ours, and the paper's ψ̂ for everything
WORDS = {"raised": "penalty of χ^T 100", "single": "penalty 1e-4 for all"}
PUBLISHED = {
    start: f"solver_objective_{start.replace('centre', 'center').replace('-', '_')}"
    for start in STARTS
}
AT = (1, 15, 30)  # iterations of the published tables
PSI_HAT = 1e-4  # ψ̂
RISE = 1e-6  # of the objective: the solver's own tolerance
NEAR = 0.05
EQUAL = 1.5
ALIKE = 0.1
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
            "distance_sq": float(f"{(distance**2).sum():.6g}"),
            "centroid_m": float(f"{np.linalg.norm(result.raw.server_m - centroid):.6g}"),
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
    return {
        "mean": mean,
        "std": std,
        "rise": float(f"{max(0.0, rises.max(initial=0.0)):.3g}"),
        "stopped": [_stopped(run["change"], tolerance) for run in runs],
        "active": [run["active"] for run in runs],
        "unheard": [_unheard(run) for run in runs],
        "iterations": float(f"{np.mean([np.mean(run['iterations']) for run in runs]):.4g}"),
        "penalty_share": float(
            f"{np.mean([PSI_HAT * run['distance_sq'] / run['objective'][-1] for run in runs]):.3g}"
        ),
        "centroid_m": float(f"{np.mean([run['centroid_m'] for run in runs]):.3g}"),
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
    axes.set_yscale("log")
    axes.minorticks_off()
    if first > 1:
        axes.set_yticks([0.3, 1, 3, 10], ["0.3", "1", "3", "10"])
    axes.grid(axis="y", color=GRID)
    tidy(axes, "iteration", "objective (× published)" if start == STARTS[0] else "")


def _table(numbers: Numbers, start: str) -> Table:
    rows = []
    for n in numbers["devices"]:
        cell = numbers["penalties"]["raised"][start][str(n)]
        theirs = published()[PUBLISHED[start]].get(str(n))
        row = [str(n)]
        for number, at in enumerate(AT):
            ours = _at(cell, at)
            row.append(f"{ours[0]:.3g} ± {ours[1]:.2g}" if ours else "–")
            row.append(
                f"{theirs['mean'][number]:.3g} ± {theirs['std'][number]:.2g}" if theirs else "–"
            )
        rows.append(tuple(row))
    head = ("devices", *(f"{at}, {who}" for at in AT for who in ("here", "published")))
    return Table(
        f"Objective at iterations {_listed(AT)}, server at start: {start}", head, tuple(rows)
    )


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


def _listed(values: tuple[int, ...]) -> str:
    return ", ".join(map(str, values))


def _at(cell: dict[str, Any], iteration: int) -> tuple[float, float] | None:
    if iteration > len(cell["mean"]):
        return None
    return cell["mean"][iteration - 1], cell["std"][iteration - 1]


# --- what is judged -------------------------------------------------------------------------------


def claims(numbers: Numbers) -> list[Claim]:
    """Of the running text and of the five tables."""
    cells = {
        (start, n): numbers["penalties"]["raised"][start][str(n)]
        for start in STARTS
        for n in numbers["devices"]
    }
    return [
        _monotone(numbers),
        _fifteen(cells),
        _larger(numbers),
        _equal_at_first(numbers),
        _starts(numbers),
        *_published(cells),
        _heard(numbers),
    ]


def _monotone(numbers: Numbers) -> Claim:
    counts, worst = {}, 0.0
    for penalty, words in WORDS.items():
        every = [cell for by in numbers["penalties"][penalty].values() for cell in by.values()]
        counts[words] = tally(cell["rise"] <= RISE for cell in every)
        worst = max(worst, *(cell["rise"] for cell in every))
    return counted(
        "General Convergence; Fig. obj_fxn_convergence, mod_convapp",
        "The objective decreases monotonically for every network size and initial position",
        counts,
        "cells",
        f"Largest rise in any iteration of any run, to six digits: {worst:.1g} of the objective.",
    )


def _fifteen(cells: dict[tuple[str, int], dict[str, Any]]) -> Claim:
    middle, last = AT[1:]
    curves = [cell["mean"] for cell in cells.values() if len(cell["mean"]) >= last]
    above = [curve[middle - 1] / curve[-1] - 1 for curve in curves]
    theirs = [
        entry["mean"][1] / entry["mean"][2] - 1
        for start in STARTS
        for entry in published()[PUBLISHED[start]].values()
    ]
    settled = [_settled(curve) for curve in curves]
    near = f"{100 * NEAR:.0f} %"
    return counted(
        "General Convergence",
        f"The optimal point is reached in about {middle} iterations, whatever N and start",
        {f"mean at iteration {middle} within {near} of the last": tally(a <= NEAR for a in above)},
        "cells",
        f"At iteration {middle} the mean is {_range(above)} above its last value, in the published "
        f"tables {_range(theirs)}. It comes within {near} after {min(settled)} to {max(settled)} "
        "iterations."
        if curves
        else "",
    )


def _range(shares: list[float]) -> str:
    return f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %"


def _settled(mean: list[float]) -> int:
    """The first iteration from which on a curve is near its last value."""
    far = [number for number, value in enumerate(mean, 1) if value > (1 + NEAR) * mean[-1]]
    return max(far, default=0) + 1


def _larger(numbers: Numbers) -> Claim:
    ends = {
        start: [
            numbers["penalties"]["raised"][start][str(n)]["mean"][-1] for n in numbers["devices"]
        ]
        for start in STARTS
    }
    return counted(
        "General Convergence",
        "Larger networks have larger objective values, even at convergence",
        {"last iteration": tally(bool(np.all(np.diff(values) > 0)) for values in ends.values())},
        "starts",
        f"From {ends['centre'][0]:.3g} to {ends['centre'][-1]:.3g} from the centre. The reason is "
        "not the one given (more transmissions): ψ̂·Σ distance² is "
        f"{100 * _share(numbers):.0f} % of it.",
    )


def _share(numbers: Numbers) -> float:
    by = numbers["penalties"]["raised"]
    return float(
        np.mean([cell["penalty_share"] for cells in by.values() for cell in cells.values()])
    )


def _equal_at_first(numbers: Numbers) -> Claim:
    apart = {}
    for start in STARTS:
        curves = [numbers["penalties"]["raised"][start][str(n)]["mean"] for n in numbers["devices"]]
        length = min(map(len, curves))
        curve = np.array([curve[:length] for curve in curves])
        ratio = curve.max(axis=0) / curve.min(axis=0)
        apart[start] = next((k for k, value in enumerate(ratio, 1) if value > EQUAL), length + 1)
    return counted(
        "General Convergence",
        "Objective values are approximately equal until roughly the 10th iteration",
        {f"within a factor of {EQUAL:g} through iteration 8": tally(k > 8 for k in apart.values())},
        "starts",
        f"The sizes part in iteration {min(apart.values())} to {max(apart.values())}. Iteration 1 "
        "is ψ^G·F/(R·ε^G) at τ ≈ 0 for any size; the next condensation is already free of it.",
    )


def _starts(numbers: Numbers) -> Claim:
    by = numbers["penalties"]["raised"]
    spread = {
        n: max(ends) / min(ends) - 1
        for n in numbers["devices"]
        for ends in ([by[start][str(n)]["mean"][-1] for start in STARTS],)
    }
    tables = [published()[PUBLISHED[start]] for start in STARTS]
    theirs = [
        max(ends) / min(ends) - 1
        for n in tables[0]
        for ends in ([table[n]["mean"][-1] for table in tables],)
    ]
    return counted(
        "App. more_exps",
        "Initial positions shift the final objective only nominally",
        {
            f"starts within {100 * ALIKE:.0f} % of each other": tally(
                value <= ALIKE for value in spread.values()
            )
        },
        "sizes",
        "Largest over smallest of the five: "
        + ", ".join(f"{100 * value:.0f} % (N = {n})" for n, value in spread.items())
        + f"; published {100 * min(theirs):.0f} to {100 * max(theirs):.0f} %. P′ as printed "
        "charges ψ̂·χ^L for the squared way, so a start in a corner must cost more; the published "
        "tables do not show it.",
    )


def _published(cells: dict[tuple[str, int], dict[str, Any]]) -> Iterator[Claim]:
    for number, at in enumerate(AT):
        flags, factors = [], []
        for (start, n), cell in cells.items():
            theirs, ours = published()[PUBLISHED[start]].get(str(n)), _at(cell, at)
            if theirs and ours:
                flags.append(abs(ours[0] - theirs["mean"][number]) <= theirs["std"][number])
                factors.append(ours[0] / theirs["mean"][number])
        between = (
            f"Ours over published: {min(factors):.2f} to {max(factors):.2f}." if factors else ""
        )
        yield counted(
            "Tables center_, rng_, origin_, max_, rngedge_conv_avgstd",
            f"The mean objective at iteration {at}",
            {"within one published standard deviation": tally(flags)},
            "cells",
            between,
        )


def _heard(numbers: Numbers) -> Claim:
    counts = {
        words: tally(
            unheard == 0
            for by in numbers["penalties"][penalty].values()
            for cell in by.values()
            for unheard in cell["unheard"]
        )
        for penalty, words in WORDS.items()
    }
    return counted(
        "eq:time_con2 as it stands in P′, ψ̂ = 1e-4",
        "A device that is not active does not train",
        counts,
        "runs",
        "With the paper's one penalty, slack on this constraint costs next to nothing: devices "
        "train and are not heard.",
    )
