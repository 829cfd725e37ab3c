"""Algorithm 3's plan, as it is and repaired, against the proven optimum of the true problem."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from scdn.control.solve import solve, warm_up
from scdn.paper.artefact import Claim, Drawing, Found, Numbers, Setting, Table
from scdn.paper.control import NEVER_S, drawn_problem, network_job, scenario_of
from scdn.paper.counting import counted, tallies
from scdn.paper.digits import rounded, short
from scdn.paper.draw import COLOURS, band, logarithmic, tidy
from scdn.paper.jobs import Job
from scdn.pictures.palette import GRID

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORK = "scdn.paper.exact_rival:duel"
LATE = 0.01  # a report this much over its limit is late: the program is solved to a tolerance
CLOSE = 0.01
WORDS = {
    "pade": "Padé's rate, 1 ms",
    "shannon": "true rate, 60 ms",
    "patient": "true rate, 1 s",
}

Pair = dict[str, Any]


def jobs(setting: Setting) -> list[Job]:
    """One per regime, size and seed."""
    return [
        network_job(
            f"{regime}-{devices}-{seed}",
            WORK,
            setting,
            [*own, f"fleet.0.count={devices}", f"seed={seed}"],
        )
        for regime, own in setting.sweep["regimes"].items()
        for devices in setting.sweep["devices"]
        for seed in setting.seeds
    ]


def duel(arguments: dict[str, Any], _: object) -> dict[str, Any]:
    """Both solvers on one network; compiling the exact one's kernels does not count."""
    problem = drawn_problem(scenario_of(arguments))
    warm_up()
    best = solve(problem)
    raw = solve(problem, "paper")
    assert raw.repaired is not None  # noqa: S101
    used, limit = raw.decision.active, problem.max_delay_s
    late = used & ~(raw.evaluation.delay_s <= limit * (1 + LATE))
    reached = problem.least_power(raw.server_m) <= problem.max_power_w * (1 + LATE)
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
            "iterations": len(raw.history),
            "active": int(used.sum()),
            "late": int(late.sum()),
            "out_of_reach": int((used & ~reached).sum()),
            "delay_over_limit": short(np.minimum(raw.evaluation.delay_s[used], NEVER_S) / limit),
            "violations": sorted({broken.constraint for broken in raw.evaluation.violations}),
            "seconds": round(raw.solve_seconds, 6),
        },
        "repaired": {
            "objective": raw.repaired.objective,
            "active": int(raw.repaired.decision.active.sum()),
            "violations": len(raw.repaired.evaluation.violations),
            "off_m": rounded(float(np.linalg.norm(raw.repaired.server_m - best.server_m)), 4),
        },
    }


def numbers(setting: Setting, found: Found) -> Numbers:
    """Every pair of plans, by regime and size."""
    sweep = setting.sweep
    return {
        "devices": sweep["devices"],
        "regimes": {
            regime: {
                str(n): [found[f"{regime}-{n}-{seed}"] for seed in setting.seeds]
                for n in sweep["devices"]
            }
            for regime in sweep["regimes"]
        },
    }


# --- what is shown --------------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Table | Drawing]:
    """Ratios and times over the number of devices, and all of it as a table."""
    drawing = Drawing(
        "exact",
        "Algorithm 3, repaired, over the proven optimum; and the time both take",
        partial(_draw, numbers),
        (10.0, 3.6),
    )
    return [drawing, _table(numbers)]


def _draw(numbers: Numbers, figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    sizes = numbers["devices"]
    for number, (regime, by) in enumerate(numbers["regimes"].items()):
        ratios = [[_ratio(pair) for pair in by[str(n)]] for n in sizes]
        band(left, sizes, [float(np.median(r)) for r in ratios], None, WORDS[regime], number)
        for n, values in zip(sizes, ratios, strict=True):
            left.plot([n] * len(values), values, ".", color=COLOURS[number], alpha=0.35)
    for number, (solver, words) in enumerate((("paper", "Algorithm 3"), ("exact", "exact"))):
        seconds = [_seconds(numbers, solver, n) for n in sizes]
        band(right, sizes, [float(np.median(s)) for s in seconds], None, words, number + 3)
        low, high = [min(s) for s in seconds], [max(s) for s in seconds]
        right.fill_between(sizes, low, high, color=COLOURS[number + 3], alpha=0.13, linewidth=0)
    for axes, label in ((left, "objective / optimum"), (right, "seconds, median and range")):
        logarithmic(axes)
        tidy(axes, "devices", label)
        axes.set_xticks(sizes)
        axes.grid(axis="y", color=GRID)
        axes.legend(fontsize=8)


def _table(numbers: Numbers) -> Table:
    rows = []
    for regime, by in numbers["regimes"].items():
        for n in numbers["devices"]:
            pairs = by[str(n)]
            ratios = [_ratio(pair) for pair in pairs]
            rows.append(
                (
                    WORDS[regime],
                    str(n),
                    f"{_sum(pairs, 'exact', 'active')} of {n * len(pairs)}",
                    str(_sum(pairs, "paper", "active")),
                    str(_sum(pairs, "paper", "late")),
                    str(_sum(pairs, "paper", "out_of_reach")),
                    str(_sum(pairs, "repaired", "active")),
                    f"{np.median(ratios):.3g} (worst {max(ratios):.3g})",
                    f"{1e3 * np.median([pair['exact']['seconds'] for pair in pairs]):.3g}",
                    f"{1e3 * np.median([pair['paper']['seconds'] for pair in pairs]):.3g}",
                )
            )
    return Table(
        "Both solvers on the same networks",
        (
            "channel",
            "devices",
            "links of the optimum",
            "links of Algorithm 3",
            "of these late",
            "out of reach",
            "left after repair",
            "repaired / optimum, median",
            "exact (ms)",
            "Algorithm 3 (ms)",
        ),
        tuple(rows),
        "Server in the centre. Repair keeps the position and sets least power and clock; times are "
        "medians on one core and differ from run to run, all else does not.",
    )


def _sum(pairs: list[Pair], solver: str, name: str) -> int:
    return int(sum(pair[solver][name] for pair in pairs))


def _ratio(pair: Pair) -> float:
    return float(pair["repaired"]["objective"] / pair["exact"]["objective"])


def _seconds(numbers: Numbers, solver: str, n: int) -> list[float]:
    return [pair[solver]["seconds"] for by in numbers["regimes"].values() for pair in by[str(n)]]


# --- what is judged -------------------------------------------------------------------------------


def claims(numbers: Numbers) -> list[Claim]:
    """Optimality and feasibility, which the paper states, and time, which is ours."""
    regimes = {
        WORDS[regime]: [pair for pairs in by.values() for pair in pairs]
        for regime, by in numbers["regimes"].items()
    }
    ratios = {words: [_ratio(pair) for pair in pairs] for words, pairs in regimes.items()}
    return [
        counted(
            "General Convergence; Optimization Solver",
            "Algorithm 3 converges to the optimal point of P^r",
            tallies(ratios, lambda ratio: ratio <= 1 + CLOSE),
            f"networks (repaired plan within {100 * CLOSE:.0f} % of the proven optimum)",
            "Median ratio: "
            + ", ".join(f"{np.median(values):.3g}" for values in ratios.values())
            + "; worst: "
            + ", ".join(f"{max(values):.3g}" for values in ratios.values())
            + f". {_proofs(regimes)}",
        ),
        counted(
            "eq:time_con1",
            "Its plans report within T^max",
            tallies(regimes, lambda pair: pair["paper"]["late"] == 0),
            "networks",
            _lateness(regimes),
        ),
        counted(
            "eq:time_con1 to eq:select_vals",
            "Who is active in its plans can be heard from where it puts the server",
            tallies(regimes, lambda pair: pair["paper"]["out_of_reach"] == 0),
            "networks (at full power)",
        ),
        counted(
            "beyond the paper",
            "The exact optimum takes less time than Algorithm 3",
            tallies(regimes, lambda pair: pair["exact"]["seconds"] < pair["paper"]["seconds"]),
            "networks",
            _speed(regimes),
        ),
    ]


def _proofs(regimes: dict[str, list[Pair]]) -> str:
    every = [pair["exact"]["proven"] for pairs in regimes.values() for pair in pairs]
    return f"Optimum proven to 1e-4 in {sum(every)} of {len(every)}."


def _lateness(regimes: dict[str, list[Pair]]) -> str:
    words = []
    for name, pairs in regimes.items():
        over = [value for pair in pairs for value in pair["paper"]["delay_over_limit"]]
        if over:
            words.append(f"{np.median(over):.3g} ({name})")
    return f"Median delay over the limit of its links: {', '.join(words)}." if words else ""


def _speed(regimes: dict[str, list[Pair]]) -> str:
    words = [
        f"{np.median([p['paper']['seconds'] / p['exact']['seconds'] for p in pairs]):.0f} ({name})"
        for name, pairs in regimes.items()
        if pairs
    ]
    return f"Median of the ratio of times: {', '.join(words)}."
