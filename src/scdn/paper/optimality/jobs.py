"""Algorithm 3's plan, as planned and repaired, against the proven optimum of the true problem."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from scdn.control.solve import solve, warm_up
from scdn.paper.artefact import ArtefactSpec, Drawing, Numbers, Part, Results, ResultTable
from scdn.paper.optimality.claims import LABELS, Comparison, objective_ratio
from scdn.paper.plotting import COLOURS, plot_band, use_log_scale
from scdn.paper.single_round import NEVER_S, first_round_problem, scenario_job
from scdn.paper.summaries import nested, rounded, rounded_list
from scdn.paper.sweep import ArtefactJob
from scdn.paper.value_text import without_repeats
from scdn.report.matplotlib_style import style_axes
from scdn.report.palette import GRID
from scdn.scenario import make_scenario

_TOLERANCE = 0.01  # of a limit: Algorithm 3's program is solved to a tolerance


def jobs(spec: ArtefactSpec) -> list[ArtefactJob]:
    """Return one job per regime, size and seed."""
    return [
        scenario_job(
            f"{regime}-{devices}-{seed}",
            compare_solvers,
            spec,
            [*settings, f"fleet.0.count={devices}", f"seed={seed}"],
        )
        for regime, settings in spec.sweep["regimes"].items()
        for devices in spec.sweep["devices"]
        for seed in spec.seeds
    ]


def compare_solvers(arguments: dict[str, Any]) -> dict[str, Any]:
    """Run both solvers on one network; the exact one's kernels are compiled before."""
    problem = first_round_problem(make_scenario(arguments["scenario"]))
    warm_up()
    best = solve(problem)
    paper = solve(problem, "paper")
    assert paper.repaired is not None  # noqa: S101
    active, limit = paper.decision.active, problem.max_delay_s
    late = active & ~(paper.evaluation.delay_s <= limit * (1 + _TOLERANCE))
    in_reach = problem.least_power(paper.server_m) <= problem.max_power_w * (1 + _TOLERANCE)
    delay = np.minimum(paper.evaluation.delay_s[active], NEVER_S)
    return {
        "exact": {
            "objective": best.objective,
            "gap": best.gap,
            "proven": best.status == "optimal",
            "active": int(best.decision.active.sum()),
            "boxes": best.boxes,
            "seconds": round(best.solve_seconds, 6),
        },
        "paper": {
            "iterations": len(paper.history),
            "active": int(active.sum()),
            "late": int(late.sum()),
            "out_of_reach": int((active & ~in_reach).sum()),
            "delay_over_limit": rounded_list(delay / limit),
            "violations": sorted({broken.constraint for broken in paper.evaluation.violations}),
            "seconds": round(paper.solve_seconds, 6),
        },
        "repaired": {
            "objective": paper.repaired.objective,
            "active": int(paper.repaired.decision.active.sum()),
            "violations": len(paper.repaired.evaluation.violations),
            "off_m": rounded(float(np.linalg.norm(paper.repaired.server_m - best.server_m)), 4),
        },
    }


def numbers(spec: ArtefactSpec, results: Results) -> Numbers:
    """Return every comparison, by regime and size."""

    def comparisons(regime: str, n: int) -> list[Comparison]:
        return [results[f"{regime}-{n}-{seed}"] for seed in spec.seeds]

    sizes, regimes = spec.sweep["devices"], spec.sweep["regimes"]
    return {"devices": sizes, "regimes": nested(comparisons, regimes, sizes)}


# --- table and picture ----------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Part]:
    """Return ratios and times over the number of devices, drawn and as a table."""
    drawing = Drawing(
        "exact",
        "Algorithm 3, repaired, over the proven optimum; and the time both take",
        partial(_draw, numbers),
        (10.0, 3.6),
    )
    return [drawing, _table(numbers)]


def _draw(numbers: Numbers, figure: Any) -> None:
    left, right = figure.subplots(1, 2)
    sizes = numbers["devices"]
    for number, (regime, by_size) in enumerate(numbers["regimes"].items()):
        ratios = [[objective_ratio(pair) for pair in by_size[str(n)]] for n in sizes]
        medians = [float(np.median(values)) for values in ratios]
        plot_band(left, sizes, medians, None, LABELS[regime], number)
        for n, values in zip(sizes, ratios, strict=True):
            left.plot([n] * len(values), values, ".", color=COLOURS[number], alpha=0.35)
    for number, (solver, label) in enumerate((("paper", "Algorithm 3"), ("exact", "exact")), 3):
        seconds = [
            [pair[solver]["seconds"] for by in numbers["regimes"].values() for pair in by[str(n)]]
            for n in sizes
        ]
        plot_band(right, sizes, [float(np.median(s)) for s in seconds], None, label, number)
        low, high = [min(s) for s in seconds], [max(s) for s in seconds]
        right.fill_between(sizes, low, high, color=COLOURS[number], alpha=0.13, linewidth=0)
    for axes, label in ((left, "objective / optimum"), (right, "seconds, median and range")):
        use_log_scale(axes)
        style_axes(axes, "devices", label)
        axes.set_xticks(sizes)
        axes.grid(axis="y", color=GRID)
        axes.legend(fontsize=8)


def _table(numbers: Numbers) -> ResultTable:
    rows = []
    for regime, by_size in numbers["regimes"].items():
        for n in numbers["devices"]:
            pairs = by_size[str(n)]
            ratios = [objective_ratio(pair) for pair in pairs]
            rows.append(
                (
                    LABELS[regime],
                    str(n),
                    f"{_total(pairs, 'exact', 'active')} of {n * len(pairs)}",
                    str(_total(pairs, "paper", "active")),
                    str(_total(pairs, "paper", "late")),
                    str(_total(pairs, "paper", "out_of_reach")),
                    str(_total(pairs, "repaired", "active")),
                    f"{np.median(ratios):.3g} (worst {max(ratios):.3g})",
                    f"{1e3 * np.median([pair['exact']['seconds'] for pair in pairs]):.3g}",
                    f"{1e3 * np.median([pair['paper']['seconds'] for pair in pairs]):.3g}",
                )
            )
    return ResultTable(
        "Both solvers on the same networks",
        ("channel", "devices", "links of the optimum", "links of Algorithm 3", "of these late",
         "out of reach", "left after repair", "repaired / optimum, median", "exact (ms)",
         "Algorithm 3 (ms)"),
        without_repeats(rows, 1),
        "Server in the centre. Repair keeps the position and sets the least power and clock. Times "
        "are medians on one core and differ from run to run; everything else does not.",
    )  # fmt: skip


def _total(pairs: list[Comparison], solver: str, name: str) -> int:
    return int(sum(pair[solver][name] for pair in pairs))
