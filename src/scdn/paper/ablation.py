"""What each part of the round's problem is for: Algorithm 3's iterations, its terms, its controls.

Three studies on the dynamic network:

    iterations  so many of Algorithm 3's, in place of 30
    terms       the weight of movement, processing or transmission is zero and what it paid for is
                free: nothing is left to say against the fastest clock or the highest power, so a
                device that takes part has them; and a server that never moves
    controls    on the exact controller, each of position, power, clock and iterations in turn as
                the greedy rule has it while the rest is decided, and in turn decided while the rest
                is greedy; who takes part is always decided
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from scdn.paper import learning
from scdn.paper.ablation_claims import WITHOUT, WORDS, claims, saved_words, saving
from scdn.paper.artefact import Drawing, Found, Numbers, Setting, Table
from scdn.paper.blocks import decimals, metric, own_settings, spread
from scdn.paper.control import network_job
from scdn.paper.digits import plus_minus, rounded
from scdn.paper.draw import COLOURS, WITHIN, band, fit, legend, level, tidy
from scdn.paper.jobs import Job
from scdn.paper.published import published
from scdn.paper.switches import CONTROLS, FIXED, FULL, cases_of, iterated

__all__ = ["claims", "jobs", "numbers", "show"]

WORK = "scdn.paper.switches:run"
JOULES = ("server_j", "processing_j", "transmission_j")
SWITCHED = {
    FULL: "everything",
    FIXED: "all but position",
    **{f"without-{name}": f"all but {name}" for name in CONTROLS[1:]},
    **{f"only-{name}": f"only {name}" for name in CONTROLS},
    "none": "only who takes part",
}


# --- jobs -----------------------------------------------------------------------------------------


def jobs(setting: Setting) -> list[Job]:
    """One per block, case and seed."""
    return [
        network_job(
            f"{block}-{case}-{seed}",
            WORK,
            setting,
            [*own_settings(setting, block), *settings, "method=ablation", f"seed={seed}"],
            control=control,
        )
        for block, case, settings, control in _all_cases(setting)
        for seed in setting.seeds
    ]


def _all_cases(setting: Setting) -> Iterator[tuple[str, str, tuple[str, ...], dict[str, Any]]]:
    for block in setting.table["blocks"]:
        if not setting.only or block in setting.only:
            for case in cases_of(block, setting.sweep["iterations"]):
                yield block, *case


# --- kept -----------------------------------------------------------------------------------------


def numbers(setting: Setting, found: Found) -> Numbers:
    """Of each case: the final score, and sums over rounds and devices, seed by seed."""
    blocks: dict[str, dict[str, Any]] = {}
    for block, case, _, _ in _all_cases(setting):
        runs = [found[f"{block}-{case}-{seed}"] for seed in setting.seeds]
        blocks.setdefault(block, {})[case] = {
            "score": [_final(run, "score") for run in runs],
            "later": [_final(run, "later") for run in runs],
            **{key: [rounded(sum(run[key])) for run in runs] for key in WORDS},
            "iterations": [_per_round(run) for run in runs],
            "diverged": sum(run["status"] != "done" for run in runs),
        }
    return {
        "data": setting.table["data"],
        "metric": setting.table["metric"],
        "counts": sorted(setting.sweep["iterations"]),
        "trivial": next(iter(found.values()))["trivial"],
        "blocks": blocks,
    }


def _final(run: learning.Record, what: str) -> float:
    """After the last round; a model that ran away is worth the trivial predictor."""
    return float(run[what][-1] if run["status"] == "done" else run["trivial"])


def _per_round(run: learning.Record) -> float:
    """Iterations of a device and round; none where not even one round was done."""
    return rounded(float(np.mean(learning.mean_iterations(run) or [0.0])))


# --- shown ----------------------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Table | Drawing]:
    """A picture and a table for each study that there are runs of."""
    parts: list[Table | Drawing] = []
    blocks = numbers["blocks"]
    if "published" in blocks:
        parts += [_iterations_drawing(numbers), _iterations_table(numbers)]
    parts += [_terms_table(numbers, block) for block in blocks]
    if "true" in blocks:
        parts += [_controls_drawing(numbers), _controls_table(numbers)]
    return parts


def _iterations_table(numbers: Numbers) -> Table:
    rows = [(str(count), *_cells(numbers, case)) for count, case in _by_iterations(numbers)]
    trivial = f"{numbers['trivial']:.{decimals(numbers)}f}"
    return Table(
        "Algorithm 3 with fewer iterations, block “published”",
        ("iterations", *_head(numbers)),
        (("trivial predictor", trivial, *[""] * 5), *rows),
        "J are sums over a run's rounds and devices, clock the sum of active devices' clocks, "
        "iterations means over the devices present and rounds.",
    )


def _by_iterations(numbers: Numbers) -> list[tuple[int, dict[str, Any]]]:
    """Each number of Algorithm 3's iterations, and its case."""
    cases, counts = numbers["blocks"]["published"], numbers["counts"]
    return [(count, cases[iterated(count, counts)]) for count in counts]


def _terms_table(numbers: Numbers, block: str) -> Table:
    cases = numbers["blocks"][block]
    theirs = published()["ablation_dynamic"]
    rows = [("all terms", *_cells(numbers, cases[FULL]), "", "", _paper_score(numbers, "full"))]
    for case, (label, quantity, key, percent) in WITHOUT.items():
        rows.append(
            (
                label,
                *_cells(numbers, cases[case]),
                saved_words(saving(cases, case), quantity),
                f"{theirs[key][percent][numbers['data']]:g} %",
                _paper_score(numbers, key),
            )
        )
    return Table(
        f"Terms of the objective, block “{block}”",
        ("", *_head(numbers), "saved by counting it", "paper: saved", f"paper: {metric(numbers)}"),
        tuple(rows),
        "Without processing costs the clock, and without transmission costs the power, of those "
        "who take part is at its maximum: nothing is left to say against it.",
    )


def _controls_table(numbers: Numbers) -> Table:
    cases = numbers["blocks"]["true"]
    return Table(
        "Controls one by one on the exact solver, block “true”",
        ("decided", *_head(numbers)),
        tuple((label, *_cells(numbers, cases[case])) for case, label in SWITCHED.items()),
        "What is not decided is greedy: the server stays, power, clock and iterations of those who "
        "take part are at their maximum.",
    )


def _head(numbers: Numbers) -> tuple[str, ...]:
    joules = ("server J", "processing J", "transmission J")
    return (metric(numbers), *joules, "clock GHz", "iterations")


def _cells(numbers: Numbers, case: dict[str, Any]) -> tuple[str, ...]:
    score, digits = spread(case["score"]), decimals(numbers)
    told = plus_minus(score["mean"], score["std"], digits, len(case["score"]))
    lost = f", {case['diverged']} diverged" if case["diverged"] else ""
    return (
        f"{told}{lost}",
        *(f"{spread(case[key])['mean']:.3g}" for key in JOULES),
        f"{spread(case['clock_hz'])['mean'] / 1e9:.3g}",
        f"{spread(case['iterations'])['mean']:.3g}",
    )


def _paper_score(numbers: Numbers, key: str) -> str:
    mean, deviation = published()["ablation_dynamic"][key][numbers["data"]]
    return f"{mean:g} ± {deviation:g}"


def _iterations_drawing(numbers: Numbers) -> Drawing:
    x, cases = zip(*_by_iterations(numbers), strict=True)

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        tidy(left, "iterations of Algorithm 3", f"final {metric(numbers)}")
        tidy(right, "iterations of Algorithm 3", "J, sum of a run")
        scores = [spread(case["score"]) for case in cases]
        within = WITHIN[numbers["metric"]]
        band(left, x, [s["mean"] for s in scores], [s["std"] for s in scores], "", 0, within)
        level(left, numbers["trivial"], "trivial")
        for place, key in enumerate(JOULES):
            means = [spread(case[key])["mean"] for case in cases]
            band(right, x, means, None, WORDS[key], place, markersize=7 - 1.5 * place,
                 linestyle=("-", (0, (4, 2)), (0, (1, 1)))[place])  # fmt: skip
        joules = [spread(case[key])["mean"] for case in cases for key in JOULES]
        fit(right, [{"mean": joules, "std": [0.0] * len(joules)}], zero=True)
        legend(figure)

    name = f"ablation-{numbers['data']}-iterations"
    title = f"Fewer iterations of Algorithm 3, {numbers['data']}, dynamic network"
    return Drawing(name, title, draw)


def _controls_drawing(numbers: Numbers) -> Drawing:
    cases = numbers["blocks"]["true"]

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, 4, sharey=True)
        for axes, key in zip(panels, ("score", *JOULES), strict=True):
            tidy(axes, metric(numbers) if key == "score" else f"{WORDS[key]}, J", "")
            found = [spread(cases[case][key]) for case in SWITCHED]
            means, deviations = ([entry[part] for entry in found] for part in ("mean", "std"))
            rows = range(len(found))
            shades = [1.0 if case == FULL else 0.5 for case in SWITCHED]
            colours = [(COLOURS[0], shade) for shade in shades]
            axes.barh(rows, means, xerr=deviations, height=0.62, color=colours,
                      error_kw={"elinewidth": 0.8, "ecolor": COLOURS[-1]})  # fmt: skip
            axes.set_yticks(rows, list(SWITCHED.values()), fontsize=8.5)
            axes.locator_params(axis="x", nbins=4)
            axes.margins(x=0.08)
        panels[0].invert_yaxis()

    name = f"ablation-{numbers['data']}-controls"
    title = f"Controls decided one by one, {numbers['data']}, dynamic network, true rates"
    return Drawing(name, title, draw, (10.0, 3.8))
