"""What SC-DN adds to a round in time: importance, the solver, smoothness."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from scdn.paper.artefact import Claim, Drawing, Found, Numbers, Setting, Table
from scdn.paper.control import network_job
from scdn.paper.counting import mean_std
from scdn.paper.digits import between, plus_minus, rounded, short
from scdn.paper.draw import band, level, logarithmic, tidy
from scdn.paper.jobs import Job
from scdn.paper.judging import judged
from scdn.paper.published import published
from scdn.pictures.palette import MUTED

HOME = "scdn.paper.timing"
SOLVERS = {
    "rebuilt": "Algorithm 3, rebuilt each time",
    "parametrised": "Algorithm 3, compiled once",
    "exact": "exact",
}
READINGS = {"round": "a round as run here", "epochs": "an epoch for each iteration"}
LIMIT_MS = float(published()["importance_overhead"]["wall_ms_upper_for_N<=10"])
LIMIT_S = 4.0  # to estimate smoothness
STRAIGHT = 0.95  # R² from which on a line is one


# --- jobs -----------------------------------------------------------------------------------------


def jobs(setting: Setting) -> list[Job]:
    """Per seed: importance and smoothness of each data set, and solvers for each size."""
    sweep = setting.sweep
    found = []
    for seed in setting.seeds:
        for name, own in sweep["datasets"].items():
            for what in ("importance", "smoothness"):
                more = {what: sweep[what]}
                settings = [*own, f"seed={seed}"]
                key = f"{what}-{name}-{seed}"
                found.append(network_job(key, f"{HOME}:{what}", setting, settings, **more))
        for devices in sweep["devices"]:
            settings = ["profile=paper", f"fleet.0.count={devices}", f"seed={seed}"]
            key = f"solvers-{devices}-{seed}"
            more = {"iterations": sweep["iterations"]}
            found.append(network_job(key, f"{HOME}:solvers", setting, settings, **more))
    return found


# --- kept -----------------------------------------------------------------------------------------


def numbers(setting: Setting, found: Found) -> Numbers:
    """Means and deviations over seeds, and straight lines through the means."""
    sweep, seeds = setting.sweep, setting.seeds
    alone: dict[str, Any] = {}
    for name in sweep["datasets"]:
        runs = [found[f"importance-{name}-{seed}"] for seed in seeds]
        alone[name] = {
            way: _line(sweep["importance"], [run[way] for run in runs])
            for way in ("seconds", "one_by_one")
        } | {"passes": runs[0]["passes"]}
    by_size = [[found[f"solvers-{n}-{seed}"] for n in sweep["devices"]] for seed in seeds]
    return {
        "importance": {"parties": sweep["importance"], "data": alone},
        "solvers": {
            "devices": sweep["devices"],
            "iterations": sweep["iterations"],
            "ways": {
                way: _line(sweep["devices"], [[run[way] for run in sizes] for sizes in by_size])
                for way in SOLVERS
            },
        },
        "smoothness": {
            name: _overhead([found[f"smoothness-{name}-{seed}"] for seed in seeds])
            for name in sweep["datasets"]
        },
    }


def _line(x: Sequence[float], rows: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Means and deviations of the columns, and the least-squares line through the means."""
    mean, std = mean_std(rows)
    if len(x) < 2:
        return {"mean": mean, "std": std, "slope": 0.0, "intercept": mean[0], "r2": 0.0}
    slope, intercept = np.polyfit(x, mean, 1)
    left = np.asarray(mean) - (slope * np.asarray(x) + intercept)
    total = float(np.var(mean))
    r2 = 1 - float(np.mean(left**2)) / total if total else 0.0
    fit = dict(zip(("slope", "intercept", "r2"), short([slope, intercept, r2]), strict=True))
    return {"mean": mean, "std": std, **fit}


def _overhead(runs: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Estimation against training: a round's own steps, and an epoch for each iteration."""
    estimate, step = (
        float(np.mean([run[key] for run in runs])) for key in ("estimate_s", "step_s")
    )
    first = runs[0]
    steps = {
        "round": first["steps_round"],
        "epochs": first["steps_epoch"] * first["iterations"],
    }
    percent = {reading: 100 * estimate / (count * step) for reading, count in steps.items()}
    return {
        "estimate_s": rounded(estimate),
        "step_s": rounded(step),
        **{f"steps_{reading}": count for reading, count in steps.items()},
        **{f"percent_{reading}": rounded(value) for reading, value in percent.items()},
    }


# --- shown ----------------------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Table | Drawing]:
    """Figures of the two algorithms with their lines, and the tables."""
    return [
        Drawing("overheads", "Time of Algorithms 2 and 3 against the number of devices",
                partial(_draw, numbers), (10.0, 3.4)),
        _importance_table(numbers),
        _solver_table(numbers),
        _smoothness_table(numbers),
    ]  # fmt: skip


def _draw(numbers: Numbers, figure: Any) -> None:
    left, right = figure.subplots(1, 2)
    parties = numbers["importance"]["parties"]
    tidy(left, "devices", "Algorithm 2, ms")
    for place, (name, ways) in enumerate(numbers["importance"]["data"].items()):
        found = ways["seconds"]
        mean, std = ([1e3 * value for value in found[part]] for part in ("mean", "std"))
        band(left, parties, mean, std, name, place)
    level(left, LIMIT_MS, "paper: under 20 ms")
    devices = numbers["solvers"]["devices"]
    tidy(right, "devices", f"{numbers['solvers']['iterations']} iterations of Algorithm 3, s")
    for place, (way, label) in enumerate(SOLVERS.items()):
        found = numbers["solvers"]["ways"][way]
        band(right, devices, found["mean"], found["std"], label, place)
    theirs = published()["solver_runtime_seconds_fit"]
    line = [theirs["slope_per_device"] * n + theirs["intercept"] for n in devices]
    right.plot(
        devices, line, color=MUTED, linestyle=(0, (2, 3)), linewidth=1.2, label="paper's fit"
    )
    logarithmic(right)
    for axes, ticks in ((left, parties), (right, devices)):
        axes.set_xticks(ticks)
    left.legend(fontsize=8, frameon=False)
    right.legend(fontsize=8, frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.35))


def _importance_table(numbers: Numbers) -> Table:
    parties, rows = numbers["importance"]["parties"], []
    for name, found in numbers["importance"]["data"].items():
        for way, label in (("seconds", "batched"), ("one_by_one", "one by one")):
            line = found[way]
            times = [
                plus_minus(1e3 * mean, 1e3 * std)
                for mean, std in zip(line["mean"], line["std"], strict=True)
            ]
            rows.append((name, label, *times, _fit(line, 1e3)))
    passes = next(iter(numbers["importance"]["data"].values()))["passes"]
    rows.append(("passes of the fusion model", "", *map(str, passes), ""))
    return Table(
        "Algorithm 2: importance by exclusion, ms a round",
        ("", "", *(f"N = {n}" for n in parties), "line"),
        tuple(rows),
        "One thread, the sample of 2,048 rows. The package leaves all parties out in one batched "
        "pass; one by one is the algorithm word by word. The paper counts 4 passes at N = 2 and 20 "
        "at N = 10.",
    )


def _solver_table(numbers: Numbers) -> Table:
    found = numbers["solvers"]
    theirs = published()["solver_runtime_seconds_fit"]
    rows = [
        (
            label,
            *map(plus_minus, line["mean"], line["std"]),
            _fit(line, 1),
        )
        for way, label in SOLVERS.items()
        for line in (found["ways"][way],)
    ]
    line = f"{theirs['slope_per_device']:g}·N − {-theirs['intercept']:g}"
    return Table(
        f"The round's solver, s ({found['iterations']} iterations of Algorithm 3)",
        ("", *(f"N = {n}" for n in found["devices"]), "line"),
        (*rows, ("paper", *[""] * len(found["devices"]), line)),
    )


def _smoothness_table(numbers: Numbers) -> Table:
    theirs, rows = published()["smoothness_estimation"], []
    for name, found in numbers["smoothness"].items():
        paper = theirs[name]
        rows.append(
            (
                name,
                f"{1e3 * found['estimate_s']:.3g} ms",
                f"{1e3 * found['step_s']:.3g} ms",
                *(
                    f"{found[f'percent_{reading}']:.3g} % ({found[f'steps_{reading}']} steps)"
                    for reading in READINGS
                ),
                f"{paper['overhead_percent']:g} % ({paper['estimate_s']:g} of "
                f"{paper['training_s']:g} s)",
            )
        )
    return Table(
        "Smoothness estimation against local training, per device",
        ("", "estimate", "a training step", *READINGS.values(), "paper"),
        tuple(rows),
        "The paper does not say how many steps its training time has. A step's time is measured "
        "over a round's steps, forward passes for the exchange included, and taken to be the same "
        "for an epoch.",
    )


def _fit(line: dict[str, Any], unit: float) -> str:
    slope, intercept = unit * line["slope"], unit * line["intercept"]
    sign = "+" if intercept >= 0 else "−"
    return f"{slope:.3g}·N {sign} {abs(intercept):.3g}, R² {line['r2']:.3f}"


# --- judged ---------------------------------------------------------------------------------------


def claims(numbers: Numbers) -> list[Claim]:
    """Bounds on times, straight lines, and the share of smoothness."""
    data = numbers["importance"]["data"]
    theirs = published()
    fit = theirs["solver_runtime_seconds_fit"]
    shares = [row["overhead_percent"] for row in theirs["smoothness_estimation"].values()]
    ways, parties = numbers["solvers"]["ways"], numbers["importance"]["parties"]
    return [
        judged(
            "App. alg_costs, Fig. alg2_overhead",
            f"Importance takes under {LIMIT_MS:g} ms a round for N ≤ 10.",
            {
                name: (max(found["seconds"]["mean"]) * 1e3 < LIMIT_MS,
                              f"{1e3 * max(found['seconds']['mean']):.3g} ms at most")
                for name, found in data.items()
            },
        ),
        judged(
            "Fig. alg2_overhead",
            f"The time of importance grows linearly with N (R² ≥ {STRAIGHT:g}).",
            {name: _straight(found["seconds"], 1e3) for name, found in data.items()},
        ),
        judged(
            "Fig. alg3_timing",
            f"Algorithm 3's time grows linearly with N, {fit['slope_per_device']:g}·N − "
            f"{-fit['intercept']:g} s there (R² ≥ {STRAIGHT:g}).",
            {SOLVERS[way]: _straight(ways[way], 1) for way in ("rebuilt", "parametrised")},
        ),
        judged(
            "Table lip_train_time",
            f"Estimating smoothness takes {between(shares, 'g')} % of local training's "
            "time, or less.",
            {
                label: _light(numbers["smoothness"], reading, max(shares))
                for reading, label in READINGS.items()
            },
        ),
        judged(
            "Fig. alg2_overhead",
            "Importance adds 4 forward passes at N = 2 and 20 at N = 10, two a device.",
            {
                name: (all(p == 2 * n for p, n in zip(found["passes"], parties, strict=True)),
                       f"{found['passes'][0]} at N = {parties[0]}, {found['passes'][-1]} at "
                       f"N = {parties[-1]}")
                for name, found in data.items()
            },
        ),
        judged(
            "Table lip_train_time",
            f"Estimating smoothness takes under {LIMIT_S:g} s.",
            {
                name: (found["estimate_s"] < LIMIT_S, f"{found['estimate_s']:.2g} s")
                for name, found in numbers["smoothness"].items()
            },
        ),
    ]  # fmt: skip


def _straight(line: dict[str, Any], unit: float) -> tuple[bool, str]:
    return bool(line["r2"] >= STRAIGHT and line["slope"] > 0), _fit(line, unit)


def _light(found: dict[str, Any], reading: str, most: float) -> tuple[bool, str]:
    percents = {name: row[f"percent_{reading}"] for name, row in found.items()}
    words = ", ".join(f"{name} {percent:.3g} %" for name, percent in percents.items())
    return max(percents.values()) <= most, words
