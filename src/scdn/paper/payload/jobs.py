"""The optimal plan of a round, and one with a server that stays, for reports of different sizes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from scdn.control.evaluation import evaluate
from scdn.paper.artefact import ArtefactSpec, Numbers, Part, Results, ResultTable
from scdn.paper.method_grid import own_settings
from scdn.paper.single_round import first_round_problem, scenario_job, solve_closely
from scdn.paper.summaries import rounded, summarise
from scdn.paper.sweep import ArtefactJob
from scdn.paper.value_text import without_repeats
from scdn.scenario import make_scenario


def jobs(spec: ArtefactSpec) -> list[ArtefactJob]:
    """Return one job per report, size and seed."""
    return [
        scenario_job(
            f"{bits}-{devices}-{seed}",
            plan_round,
            spec,
            [
                *own_settings(spec, "true"),
                f"fleet.0.payload_bits={bits}",
                f"fleet.0.count={devices}",
                f"seed={seed}",
            ],
        )
        for bits in spec.sweep["reports"].values()
        for devices in spec.sweep["devices"]
        for seed in spec.seeds
    ]


def plan_round(arguments: dict[str, Any]) -> dict[str, Any]:
    """Solve the first round's problem, and again with a server that may not move."""
    scenario = make_scenario(arguments["scenario"])
    problem = first_round_problem(scenario)
    best = solve_closely(problem).decision
    stays = solve_closely(replace(problem, candidates_m=problem.server_m[None])).decision
    evaluation, without = evaluate(problem, best), evaluate(problem, stays)
    bits_per_hz = problem.payload_bits[0] / (scenario.radio.bandwidth_hz * scenario.max_delay_s)
    return {
        "snr_db": rounded(10 * math.log10(2.0**bits_per_hz - 1)),
        "active": rounded(float(best.active.mean())),
        "active_if_it_stays": rounded(float(stays.active.mean())),
        "height_m": rounded(float(best.server_m[2])),
        "moved_m": rounded(float(np.hypot(*(best.server_m - problem.server_m)[:2]))),
        "movement_j": rounded(evaluation.terms["movement_j"]),
        "transmission_j": rounded(evaluation.terms["transmission_j"]),
        "stays_over_best": rounded(without.objective / evaluation.objective),
    }


def numbers(spec: ArtefactSpec, results: Results) -> Numbers:
    """Return one row per report and size."""
    rows = []
    for report, bits in spec.sweep["reports"].items():
        for devices in spec.sweep["devices"]:
            runs = [results[f"{bits}-{devices}-{seed}"] for seed in spec.seeds]
            row = {"report": report, "bits": bits, "devices": devices, "snr_db": runs[0]["snr_db"]}
            for key in ("active", "active_if_it_stays", "height_m", "moved_m", "movement_j",
                        "transmission_j"):  # fmt: skip
                row[key] = summarise(run[key] for run in runs)
            rows.append({**row, "stays_over_best": [run["stays_over_best"] for run in runs]})
    return {"rows": rows}


def show(numbers: Numbers) -> list[Part]:
    """Return a table."""
    rows = [
        (
            row["report"],
            f"{row['bits']:,}",
            f"{row['snr_db']:.0f}",
            str(row["devices"]),
            f"{100 * row['active']['mean']:.0f} %",
            f"{100 * row['active_if_it_stays']['mean']:.0f} %",
            f"{row['height_m']['mean']:.0f}",
            f"{row['moved_m']['mean']:.0f}",
            f"{row['movement_j']['mean']:.3g}",
            f"{row['transmission_j']['mean']:.2g}",
            f"{float(np.median(row['stays_over_best'])):.3g}",
        )
        for row in numbers["rows"]
    ]
    return [
        ResultTable(
            "The first round's optimal plan, static MNIST networks, true rate",
            ("report", "bits", "SNR needed (dB)", "N", "active", "active if the server stays",
             "height (m)", "moved in xy (m)", "movement J", "transmission J",
             "objective if it stays, over optimum (median)"),
            without_repeats(rows, 3),
            "The paper bills a report as the device's whole model; vertical learning sends "
            "embeddings. docs/what-is-counted.md has whole runs by both bills: there a run takes "
            "43 % of the joules or a sixth by what is sent, and with 4 bits a number the server "
            "never leaves the ground.",
        )
    ]  # fmt: skip
