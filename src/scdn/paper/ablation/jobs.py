"""What each part of the round's problem is for: Algorithm 3's iterations, the terms, the controls.

Three studies on the dynamic network:

    iterations  Algorithm 3 stops after fewer iterations than 30.
    terms       The weight of movement, processing or transmission is zero. Nothing then limits the
                clock or the power it paid for, so active devices use the maximum. Also: a server
                that never moves.
    controls    On the exact controller, each of position, power, clock and iterations follows the
                greedy rule while the others are optimised, and the other way round. Which devices
                are active is always optimised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from scdn.paper import plotting
from scdn.paper.ablation.ablated_controller import (
    CONTROLS,
    FIXED,
    FULL,
    ablation_cases,
    case_with_iterations,
    simulate_ablated,
)
from scdn.paper.ablation.claims import ABLATED, QUANTITIES, saved_percent, saving_text
from scdn.paper.artefact import ArtefactSpec, Drawing, Numbers, Part, Results, ResultTable
from scdn.paper.method_grid import WORST, own_settings, score_decimals, score_label
from scdn.paper.published_tables import published_tables
from scdn.paper.single_round import scenario_job
from scdn.paper.summaries import rounded, summarise
from scdn.paper.sweep import ArtefactJob
from scdn.paper.training_run import TrainingRecord, mean_per_round
from scdn.paper.value_text import plus_minus
from scdn.report.matplotlib_style import style_axes

JOULES = ("server_j", "processing_j", "transmission_j")
OPTIMISED = {  # case → what is optimised in it
    FULL: "everything",
    FIXED: "all but position",
    **{f"without-{control}": f"all but {control}" for control in CONTROLS[1:]},
    **{f"only-{control}": f"only {control}" for control in CONTROLS},
    "none": "only which devices are active",
}


def jobs(spec: ArtefactSpec) -> list[ArtefactJob]:
    """Return one job per block, seed and case."""
    return [
        job
        for block in spec.judged_blocks
        for seed in spec.seeds
        for job in _jobs_in_turn(spec, block, seed)
    ]


def _jobs_in_turn(spec: ArtefactSpec, block: str, seed: int) -> Iterator[ArtefactJob]:
    """Yield a job per case; each waits for the one before, with which it may share training.

    The worker that has ended one case is then free for the next, and remembers what was trained.
    """
    before = None
    for case, settings, control in ablation_cases(block, spec.sweep["iterations"]):
        job = scenario_job(
            f"{block}-{case}-{seed}",
            simulate_ablated,
            spec,
            [*own_settings(spec, block), *settings, "method=ablation", f"seed={seed}"],
            control=control,
        )
        yield replace(job, after=before)
        before = job.key


def _all_cases(spec: ArtefactSpec) -> Iterator[tuple[str, str, tuple[str, ...], dict[str, Any]]]:
    for block in spec.judged_blocks:
        for case in ablation_cases(block, spec.sweep["iterations"]):
            yield block, *case


def numbers(spec: ArtefactSpec, results: Results) -> Numbers:
    """Return each case's final score and sums over rounds and devices, per seed."""
    blocks: dict[str, dict[str, Any]] = {}
    for block, case, _, _ in _all_cases(spec):
        runs = [results[f"{block}-{case}-{seed}"] for seed in spec.seeds]
        blocks.setdefault(block, {})[case] = {
            "score": [_final(run, "score", spec.metric) for run in runs],
            "later": [_final(run, "later", spec.metric) for run in runs],
            **{key: [rounded(sum(run[key])) for run in runs] for key in QUANTITIES},
            "iterations": [summarise(mean_per_round(run, "iterations"))["mean"] for run in runs],
            "diverged": sum(run["status"] != "done" for run in runs),
        }
    return {
        "data": spec.data,
        "metric": spec.metric,
        "counts": sorted(spec.sweep["iterations"]),
        "trivial": next(iter(results.values()))["trivial"],
        "blocks": blocks,
    }


def _final(run: TrainingRecord, key: str, metric: str) -> float:
    """Return the last round's score; a run that diverged has the worst possible one."""
    return float(run[key][-1] if run["status"] == "done" else WORST[metric])


# --- tables ---------------------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Part]:
    """Return a picture and a table for each study that has runs."""
    parts: list[Part] = []
    blocks = numbers["blocks"]
    if "published" in blocks:
        parts += [_iterations_drawing(numbers), _iterations_table(numbers)]
    parts += [_terms_table(numbers, block) for block in blocks]
    if "true" in blocks:
        parts += [_controls_drawing(numbers), _controls_table(numbers)]
    return parts


def _iterations_table(numbers: Numbers) -> ResultTable:
    rows = [(str(count), *_cells(numbers, case)) for count, case in _by_iterations(numbers)]
    trivial = f"{numbers['trivial']:.{score_decimals(numbers)}f}"
    return ResultTable(
        "Algorithm 3 with fewer iterations, block “published”",
        ("iterations", *_columns(numbers)),
        (("trivial predictor", trivial, *[""] * 5), *rows),
        "J are sums over a run's rounds and devices, clock the sum of active devices' clocks, "
        "iterations means over the devices present and rounds.",
    )


def _by_iterations(numbers: Numbers) -> list[tuple[int, dict[str, Any]]]:
    cases, counts = numbers["blocks"]["published"], numbers["counts"]
    return [(count, cases[case_with_iterations(count, counts)]) for count in counts]


def _terms_table(numbers: Numbers, block: str) -> ResultTable:
    cases = numbers["blocks"][block]
    published = published_tables()["ablation_dynamic"]
    full_score = _published_score(numbers, "full")
    rows = [("all terms", *_cells(numbers, cases[FULL]), "", "", full_score)]
    for case, ablated in ABLATED.items():
        percent = published[ablated.published_row][ablated.published_percent][numbers["data"]]
        rows.append(
            (
                ablated.label,
                *_cells(numbers, cases[case]),
                saving_text(saved_percent(cases, case), ablated.quantity),
                f"{percent:g} %",
                _published_score(numbers, ablated.published_row),
            )
        )
    score = f"paper: {score_label(numbers)}"
    return ResultTable(
        f"Terms of the objective, block “{block}”",
        ("", *_columns(numbers), "saved by counting it", "paper: saved", score),
        tuple(rows),
        "Without processing costs the clock, and without transmission costs the power, of active "
        "devices is at its maximum: nothing limits it.",
    )


def _controls_table(numbers: Numbers) -> ResultTable:
    cases = numbers["blocks"]["true"]
    return ResultTable(
        "Controls one by one on the exact solver, block “true”",
        ("optimised", *_columns(numbers)),
        tuple((label, *_cells(numbers, cases[case])) for case, label in OPTIMISED.items()),
        "The other controls follow the greedy rule: the server stays; power, clock and iterations "
        "of active devices are at their maximum.",
    )


def _columns(numbers: Numbers) -> tuple[str, ...]:
    joules = ("server J", "processing J", "transmission J")
    return (score_label(numbers), *joules, "clock GHz", "iterations")


def _cells(numbers: Numbers, case: dict[str, Any]) -> tuple[str, ...]:
    score, decimals = summarise(case["score"]), score_decimals(numbers)
    diverged = f", {case['diverged']} diverged" if case["diverged"] else ""
    return (
        plus_minus(score["mean"], score["std"], decimals, len(case["score"])) + diverged,
        *(f"{summarise(case[key])['mean']:.3g}" for key in JOULES),
        f"{summarise(case['clock_hz'])['mean'] / 1e9:.3g}",
        f"{summarise(case['iterations'])['mean']:.3g}",
    )


def _published_score(numbers: Numbers, row: str) -> str:
    mean, deviation = published_tables()["ablation_dynamic"][row][numbers["data"]]
    return f"{mean:g} ± {deviation:g}"


# --- pictures -------------------------------------------------------------------------------------


def _iterations_drawing(numbers: Numbers) -> Drawing:
    x, cases = zip(*_by_iterations(numbers), strict=True)

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        style_axes(left, "iterations of Algorithm 3", f"final {score_label(numbers)}")
        style_axes(right, "iterations of Algorithm 3", "J, sum of a run")
        scores = [summarise(case["score"]) for case in cases]
        mean, std = ([score[part] for score in scores] for part in ("mean", "std"))
        plotting.plot_band(left, x, mean, std, "", 0, plotting.SCORE_LIMITS[numbers["metric"]])
        plotting.add_reference_line(left, numbers["trivial"], "trivial")
        for number, key in enumerate(JOULES):
            means = [summarise(case[key])["mean"] for case in cases]
            plotting.plot_band(right, x, means, None, QUANTITIES[key], number,
                      markersize=7 - 1.5 * number,
                      linestyle=("-", (0, (4, 2)), (0, (1, 1)))[number])  # fmt: skip
        joules = [summarise(case[key])["mean"] for case in cases for key in JOULES]
        plotting.fit_axis(right, [{"mean": joules, "std": [0.0] * len(joules)}], zero=True)
        plotting.add_legend(figure)

    name = f"ablation-{numbers['data']}-iterations"
    title = f"Fewer iterations of Algorithm 3, {numbers['data']}, dynamic network"
    return Drawing(name, title, draw)


def _controls_drawing(numbers: Numbers) -> Drawing:
    cases = numbers["blocks"]["true"]

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, 4, sharey=True)
        for axes, key in zip(panels, ("score", *JOULES), strict=True):
            label = score_label(numbers) if key == "score" else f"{QUANTITIES[key]}, J"
            style_axes(axes, label, "")
            summaries = [summarise(cases[case][key]) for case in OPTIMISED]
            means, deviations = ([entry[part] for entry in summaries] for part in ("mean", "std"))
            rows = range(len(summaries))
            colours = [(plotting.COLOURS[0], 1.0 if case == FULL else 0.5) for case in OPTIMISED]
            axes.barh(rows, means, xerr=deviations, height=0.62, color=colours,
                      error_kw={"elinewidth": 0.8, "ecolor": plotting.COLOURS[-1]})  # fmt: skip
            axes.set_yticks(rows, list(OPTIMISED.values()), fontsize=8.5)
            axes.locator_params(axis="x", nbins=4)
            axes.margins(x=0.08)
        panels[0].invert_yaxis()

    name = f"ablation-{numbers['data']}-controls"
    title = f"Controls optimised one by one, {numbers['data']}, dynamic network, true rates"
    return Drawing(name, title, draw, (10.0, 3.8))
