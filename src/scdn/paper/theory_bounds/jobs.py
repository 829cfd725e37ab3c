"""The paper's bounds against what they bound.

Theorem 1 against measured gradients, and Remark 1's smoothness, both from `theorem1`; Proposition 1
against the losses of a real and an ideal network, from `proposition1`.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from scdn.data import Dataset, load
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.tensors import TensorOptions
from scdn.paper.artefact import ArtefactSpec, Drawing, Numbers, Part, Results, ResultTable
from scdn.paper.method_grid import own_settings
from scdn.paper.plotting import add_legend, plot_band, use_log_scale
from scdn.paper.single_round import scenario_job
from scdn.paper.sweep import ArtefactJob
from scdn.paper.theory_bounds import proposition1, theorem1
from scdn.paper.theory_bounds.claims import RATES, with_halving_rates
from scdn.paper.theory_bounds.theorem1 import ESTIMATES, HALVE_RATE_EVERY, SMOOTHNESS
from scdn.paper.value_text import plus_minus, value_range
from scdn.report.matplotlib_style import style_axes


def jobs(spec: ArtefactSpec) -> list[ArtefactJob]:
    """Return, per seed, Theorem 1 for each size and rate rule, and Proposition 1 in each block."""
    learning = spec.scenario().learning
    planned = []
    for seed in spec.seeds:
        for parties in spec.sweep["parties"]:
            for rates in RATES:
                arguments = {
                    "dataset": learning.dataset,
                    "parties": parties,
                    "seed": seed,
                    "rounds": learning.rounds,
                    "halves": rates == "halves",
                }
                key = f"theorem-{parties}-{rates}-{seed}"
                planned.append(ArtefactJob(key, measure_theorem1, arguments))
        for block in spec.judged_blocks:
            method = f"method={spec.all_blocks[block]['methods'][0]}"
            settings = [*own_settings(spec, block), method, f"seed={seed}"]
            key = f"proposition-{block}-{seed}"
            planned.append(scenario_job(key, proposition1.measure_losses, spec, settings))
    return planned


def measure_theorem1(arguments: dict[str, Any]) -> dict[str, Any]:
    """Measure both sides of Theorem 1 on one run in 64-bit floats, and smoothness per round."""
    rounds = arguments["rounds"]
    dataset, tensors = _data(arguments["dataset"])
    halve_every = HALVE_RATE_EVERY if arguments["halves"] else rounds
    parties, seed = arguments["parties"], arguments["seed"]
    run = theorem1.measure(dataset, tensors, parties, seed, rounds, halve_every)
    return theorem1.rounded_values(run | theorem1.summary(run))


@cache
def _data(name: str) -> tuple[Dataset, DatasetTensors]:
    dataset = load(name).scaled("standard", np.float64)
    return dataset, DatasetTensors.from_dataset(dataset, TensorOptions("cpu", "float64"))


def numbers(spec: ArtefactSpec, results: Results) -> Numbers:
    """Return both sides of each bound averaged over seeds, and what verdicts need per seed."""
    return {
        "theorem": [
            {
                "parties": parties,
                "rates": rates,
                **theorem1.averaged(
                    [results[f"theorem-{parties}-{rates}-{seed}"] for seed in spec.seeds]
                ),
            }
            for parties in spec.sweep["parties"]
            for rates in RATES
        ],
        "proposition": {
            block: proposition1.averaged(
                [results[f"proposition-{block}-{seed}"] for seed in spec.seeds]
            )
            for block in spec.judged_blocks
        },
    }


# --- tables and pictures --------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Part]:
    """Return three pictures and two tables."""
    return [
        Drawing("bounds-theorem", "Theorem 1 on MNIST: the bound and what it bounds",
                partial(_draw_theorem, numbers)),
        _theorem_table(numbers),
        Drawing("bounds-smoothness", "Remark 1 on MNIST: smoothness as training goes on",
                partial(_draw_smoothness, numbers)),
        Drawing("bounds-proposition", "Proposition 1 on MNIST: the real network and an ideal one",
                partial(_draw_proposition, numbers)),
        _proposition_table(numbers),
    ]  # fmt: skip


def _draw_theorem(numbers: Numbers, figure: Any) -> None:
    cases = with_halving_rates(numbers)
    panels = figure.subplots(1, len(cases), sharey=True, squeeze=False)[0]
    labels = {
        "measured": "Σ‖∇F‖² itself",
        "bound_paper": "bound, paper's L",
        "bound_measured": "bound, measured L",
    }
    for axes, case in zip(panels, cases, strict=True):
        is_first = axes is panels[0]
        style_axes(axes, "rounds", "sum so far" if is_first else "")
        axes.set_title(f"{case['parties']} parties", fontsize=9.5, loc="left")
        use_log_scale(axes)
        for number, (name, label) in enumerate(labels.items()):
            curve = case["so_far"][name]
            dash = "--" if name == "bound_measured" else "-"
            plot_band(axes, range(1, len(curve) + 1), curve, None, label if is_first else "",
                      number, linestyle=dash)  # fmt: skip
        axes.locator_params(axis="x", integer=True)
    add_legend(figure)


def _draw_smoothness(numbers: Numbers, figure: Any) -> None:
    panels = figure.subplots(1, 2)
    titles = ("spectral norms", "measured")
    for axes, estimate, title in zip(panels, ESTIMATES, titles, strict=True):
        style_axes(axes, "round", "mean L of the parties")
        axes.set_title(title, fontsize=9.5, loc="left")
        for number, case in enumerate(with_halving_rates(numbers)):
            curve = case["smoothness"][f"{estimate}_party"]
            label = f"{case['parties']} parties" if axes is panels[0] else ""
            plot_band(axes, range(len(curve)), curve, None, label, number)
    add_legend(figure)


def _draw_proposition(numbers: Numbers, figure: Any) -> None:
    left, right = figure.subplots(1, 2)
    style_axes(left, "round", "training loss as it begins")
    style_axes(right, "round", "log₁₀ of the sum so far")
    for number, (block, curves) in enumerate(numbers["proposition"].items()):
        for name, dash in (("real", "-"), ("ideal", "--")):
            mean, std = curves[name], curves[f"{name}_std"]
            plot_band(left, range(len(mean)), mean, std, f"{block}, {name}", number,
                      linestyle=dash)  # fmt: skip
        bound = curves["bound_log10"]
        plot_band(right, range(len(bound)), bound, None, f"{block}, bound", number, linestyle="--")
        gap = [float(np.log10(value)) if value > 0 else np.nan for value in curves["gap_so_far"]]
        plot_band(right, range(len(gap)), gap, None, f"{block}, real − ideal", number)
    for axes in (left, right):
        axes.legend(fontsize=8, frameon=False)


def _theorem_table(numbers: Numbers) -> ResultTable:
    rows = []
    for case in numbers["theorem"]:
        bounds = [
            f"{case['so_far'][f'bound_{estimate}'][-1]:.4g} "
            f"({value_range(case['ratio'][estimate])} times)"
            for estimate in ESTIMATES
        ]
        curves = [case["smoothness"][key] for key in SMOOTHNESS]
        rows.append(
            (
                f"N = {case['parties']}, {RATES[case['rates']]}",
                f"{case['so_far']['measured'][-1]:.3g}",
                *bounds,
                f"{case['below']['paper']}, {case['below']['measured']}",
                *(f"{curve[0]:.2f} to {curve[-1]:.2f}" for curve in curves),
            )
        )
    return ResultTable(
        "Theorem 1, and smoothness from the first round to the last",
        ("", "Σ‖∇F‖²", "bound, paper's L", "bound, measured L", "violations (paper's, measured)",
         "paper's L_n", "paper's L", "measured L_n", "measured L"),
        tuple(rows),
        "Violations are counted over sums so far, bounds of runs that ended early, and single "
        "terms.",
    )  # fmt: skip


def _proposition_table(numbers: Numbers) -> ResultTable:
    rows = [
        (
            block,
            str(after),
            plus_minus(curves["real"][after], curves["real_std"][after], 3),
            plus_minus(curves["ideal"][after], curves["ideal_std"][after], 3),
            f"{curves['gap_so_far'][after - 1]:.3g}",
            f"10^{curves['bound_log10'][after - 1]:.1f}",
        )
        for block, curves in numbers["proposition"].items()
        for after in sorted({min(n, len(curves["bound_log10"])) for n in (10, 20, 30)})
    ]
    return ResultTable(
        "Proposition 1",
        ("block", "after rounds", "real loss", "ideal loss", "Σ real − ideal", "bound"),
        tuple(rows),
        "The proposition bounds Σ ideal − real. Where the ideal network has the smaller loss that "
        "sum is negative, and any bound holds.",
    )
