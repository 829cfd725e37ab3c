"""The time that SC-DN adds to a round: importance, the solver, smoothness."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import linregress

from scdn.paper.artefact import ArtefactSpec, Drawing, Numbers, Part, Results, ResultTable
from scdn.paper.overheads.claims import LIMIT_MS, READINGS, SOLVERS, fit_text
from scdn.paper.overheads.wall_times import time_importance, time_smoothness, time_solvers
from scdn.paper.plotting import add_reference_line, plot_band, use_log_scale
from scdn.paper.published_tables import published_tables
from scdn.paper.single_round import scenario_job
from scdn.paper.summaries import mean_std, rounded, rounded_list
from scdn.paper.sweep import ArtefactJob
from scdn.paper.value_text import plus_minus
from scdn.report.matplotlib_style import style_axes
from scdn.report.palette import MUTED


def jobs(spec: ArtefactSpec) -> list[ArtefactJob]:
    """Return, per seed, importance and smoothness of each data set, and solvers for each size."""
    sweep = spec.sweep
    timers = {"importance": time_importance, "smoothness": time_smoothness}
    planned = []
    for seed in spec.seeds:
        for data, changes in sweep["datasets"].items():
            settings = [*changes, f"seed={seed}"]
            for name, function in timers.items():
                key, arguments = f"{name}-{data}-{seed}", {name: sweep[name]}
                planned.append(scenario_job(key, function, spec, settings, **arguments))
        for devices in sweep["devices"]:
            settings = ["profile=paper", f"fleet.0.count={devices}", f"seed={seed}"]
            key, count = f"solvers-{devices}-{seed}", sweep["iterations"]
            planned.append(scenario_job(key, time_solvers, spec, settings, iterations=count))
    return planned


def numbers(spec: ArtefactSpec, results: Results) -> Numbers:
    """Return means and deviations over seeds, and straight lines through the means."""
    sweep, seeds = spec.sweep, spec.seeds
    importance: dict[str, Any] = {}
    for data in sweep["datasets"]:
        runs = [results[f"importance-{data}-{seed}"] for seed in seeds]
        importance[data] = {
            way: fit_line(sweep["importance"], [run[way] for run in runs])
            for way in ("seconds", "one_by_one")
        } | {"passes": runs[0]["passes"]}
    by_size = [[results[f"solvers-{n}-{seed}"] for n in sweep["devices"]] for seed in seeds]
    return {
        "importance": {"parties": sweep["importance"], "data": importance},
        "solvers": {
            "devices": sweep["devices"],
            "iterations": sweep["iterations"],
            "ways": {
                way: fit_line(sweep["devices"], [[run[way] for run in sizes] for sizes in by_size])
                for way in SOLVERS
            },
        },
        "smoothness": {
            data: _smoothness_overhead([results[f"smoothness-{data}-{seed}"] for seed in seeds])
            for data in sweep["datasets"]
        },
    }


def fit_line(x: Sequence[float], rows: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return the columns' means and deviations, and the least-squares line through the means."""
    curve = mean_std(rows)
    if len(x) < 2:
        return {**curve, "slope": 0.0, "intercept": curve["mean"][0], "r2": 0.0}
    line = linregress(x, curve["mean"])
    slope, intercept, r2 = rounded_list([line.slope, line.intercept, line.rvalue**2])
    return {**curve, "slope": slope, "intercept": intercept, "r2": r2}


def _smoothness_overhead(runs: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Compare estimation with training: a round's own steps, or an epoch per iteration."""
    estimate, step = (
        float(np.mean([run[key] for run in runs])) for key in ("estimate_s", "step_s")
    )
    first = runs[0]
    steps = {"round": first["steps_round"], "epochs": first["steps_epoch"] * first["iterations"]}
    percent = {reading: 100 * estimate / (count * step) for reading, count in steps.items()}
    return {
        "estimate_s": rounded(estimate),
        "step_s": rounded(step),
        **{f"steps_{reading}": count for reading, count in steps.items()},
        **{f"percent_{reading}": rounded(value) for reading, value in percent.items()},
    }


# --- tables and picture ---------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Part]:
    """Return a drawing of both algorithms' times, and the tables."""
    title = "Time of Algorithms 2 and 3 against the number of devices"
    return [
        Drawing("overheads", title, partial(_draw, numbers), (10.0, 3.4)),
        _importance_table(numbers),
        _solver_table(numbers),
        _smoothness_table(numbers),
    ]


def _draw(numbers: Numbers, figure: Any) -> None:
    left, right = figure.subplots(1, 2)
    parties = numbers["importance"]["parties"]
    style_axes(left, "devices", "Algorithm 2, ms")
    for number, (data, ways) in enumerate(numbers["importance"]["data"].items()):
        mean, std = ([1e3 * value for value in ways["seconds"][part]] for part in ("mean", "std"))
        plot_band(left, parties, mean, std, data, number)
    add_reference_line(left, LIMIT_MS, "paper: under 20 ms")
    devices = numbers["solvers"]["devices"]
    style_axes(right, "devices", f"{numbers['solvers']['iterations']} iterations of Algorithm 3, s")
    for number, (way, label) in enumerate(SOLVERS.items()):
        line = numbers["solvers"]["ways"][way]
        plot_band(right, devices, line["mean"], line["std"], label, number)
    fit = published_tables()["solver_runtime_seconds_fit"]
    seconds = [fit["slope_per_device"] * n + fit["intercept"] for n in devices]
    right.plot(
        devices, seconds, color=MUTED, linestyle=(0, (2, 3)), linewidth=1.2, label="paper's fit"
    )
    use_log_scale(right)
    for axes, ticks in ((left, parties), (right, devices)):
        axes.set_xticks(ticks)
    left.legend(fontsize=8, frameon=False)
    right.legend(fontsize=8, frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.35))


def _importance_table(numbers: Numbers) -> ResultTable:
    parties, rows = numbers["importance"]["parties"], []
    for data, ways in numbers["importance"]["data"].items():
        for way, label in (("seconds", "batched"), ("one_by_one", "one by one")):
            line = ways[way]
            times = [
                plus_minus(1e3 * mean, 1e3 * std)
                for mean, std in zip(line["mean"], line["std"], strict=True)
            ]
            rows.append((data, label, *times, fit_text(line, 1e3)))
    passes = next(iter(numbers["importance"]["data"].values()))["passes"]
    rows.append(("passes of the fusion model", "", *map(str, passes), ""))
    return ResultTable(
        "Algorithm 2: importance by exclusion, ms per round",
        ("", "", *(f"N = {n}" for n in parties), "line"),
        tuple(rows),
        "One thread, the sample of 2,048 rows. The package leaves out all parties in one batched "
        "pass; one by one is the algorithm as printed. The paper counts 4 passes at N = 2 and 20 "
        "at N = 10.",
    )


def _solver_table(numbers: Numbers) -> ResultTable:
    solvers = numbers["solvers"]
    fit = published_tables()["solver_runtime_seconds_fit"]
    rows = [
        (label, *map(plus_minus, line["mean"], line["std"]), fit_text(line, 1))
        for way, label in SOLVERS.items()
        for line in (solvers["ways"][way],)
    ]
    published = f"{fit['slope_per_device']:g}·N − {-fit['intercept']:g}"
    return ResultTable(
        f"The round's solver, s ({solvers['iterations']} iterations of Algorithm 3)",
        ("", *(f"N = {n}" for n in solvers["devices"]), "line"),
        (*rows, ("paper", *[""] * len(solvers["devices"]), published)),
    )


def _smoothness_table(numbers: Numbers) -> ResultTable:
    rows = []
    for data, times in numbers["smoothness"].items():
        published = published_tables()["smoothness_estimation"][data]
        rows.append(
            (
                data,
                f"{1e3 * times['estimate_s']:.3g} ms",
                f"{1e3 * times['step_s']:.3g} ms",
                *(
                    f"{times[f'percent_{reading}']:.3g} % ({times[f'steps_{reading}']} steps)"
                    for reading in READINGS
                ),
                f"{published['overhead_percent']:g} % ({published['estimate_s']:g} of "
                f"{published['training_s']:g} s)",
            )
        )
    return ResultTable(
        "Smoothness estimation against local training, per device",
        ("", "estimate", "a training step", *READINGS.values(), "paper"),
        tuple(rows),
        "The paper does not say how many steps its training time has. A step's time is measured "
        "over a round's steps, forward passes for the exchange included, and taken to be the same "
        "for an epoch.",
    )
