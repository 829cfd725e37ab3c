"""The paper's bounds against what they bound.

Theorem 1's against measured gradients, and Remark 1's smoothness, both from `scdn.paper.theorem`;
Proposition 1's against the losses of a real and an ideal network, from `scdn.paper.ideal`.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from scdn.data import Dataset, load
from scdn.learning.features import Rows
from scdn.learning.tensors import Place
from scdn.paper import ideal, theorem
from scdn.paper.artefact import Claim, Drawing, Found, Numbers, Setting, Table
from scdn.paper.blocks import own_settings
from scdn.paper.control import network_job
from scdn.paper.counting import MOST
from scdn.paper.digits import between, plus_minus
from scdn.paper.draw import band, legend, logarithmic, tidy
from scdn.paper.jobs import Job
from scdn.paper.judging import judged
from scdn.paper.theorem import HALVE, KINDS, SMOOTHNESS, measure, shorter, summary

RATES = {"halves": "rates halve", "stays": "rates stay"}


# --- jobs -----------------------------------------------------------------------------------------


def jobs(setting: Setting) -> list[Job]:
    """Per seed: Theorem 1 for each size, rates halving or not; Proposition 1 in each block."""
    scenario = setting.scenario()
    found = []
    for seed in setting.seeds:
        for parties in setting.sweep["parties"]:
            for rates in RATES:
                arguments = {
                    "dataset": scenario.learning.dataset,
                    "parties": parties,
                    "seed": seed,
                    "rounds": scenario.learning.rounds,
                    "halves": rates == "halves",
                }
                key = f"theorem-{parties}-{rates}-{seed}"
                found.append(Job(key, "scdn.paper.bounds:gradients", arguments))
        for block, table in setting.blocks.items():
            method = f"method={table['methods'][0]}"
            settings = [*own_settings(setting, block), method, f"seed={seed}"]
            key = f"proposition-{block}-{seed}"
            found.append(network_job(key, "scdn.paper.ideal:losses", setting, settings))
    return found


def gradients(arguments: dict[str, Any], _: object) -> dict[str, Any]:
    """Theorem 1's two sides on one run, in 64-bit floats, and smoothness round by round."""
    rounds = arguments["rounds"]
    dataset, rows = _data(arguments["dataset"])
    every = HALVE if arguments["halves"] else rounds
    run = measure(dataset, rows, arguments["parties"], arguments["seed"], rounds, every)
    return shorter(run | summary(run))


@cache
def _data(name: str) -> tuple[Dataset, Rows]:
    dataset = load(name).scaled("standard", np.float64)
    return dataset, Rows.of(dataset, Place("cpu", "float64"))


# --- kept -----------------------------------------------------------------------------------------


def numbers(setting: Setting, found: Found) -> Numbers:
    """Both sides of each bound: curves averaged over seeds, and what verdicts need seed by seed."""
    cases = []
    for parties in setting.sweep["parties"]:
        for rates in RATES:
            runs = [found[f"theorem-{parties}-{rates}-{seed}"] for seed in setting.seeds]
            cases.append({"parties": parties, "rates": rates, **theorem.averaged(runs)})
    return {
        "theorem": cases,
        "proposition": {
            block: ideal.averaged([found[f"proposition-{block}-{seed}"] for seed in setting.seeds])
            for block in setting.blocks
        },
    }


# --- shown ----------------------------------------------------------------------------------------


def show(numbers: Numbers) -> list[Table | Drawing]:
    """Three pictures and two tables."""
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


def _halving(numbers: Numbers) -> list[dict[str, Any]]:
    """Theorem 1's cases with the paper's rates, which halve."""
    return [case for case in numbers["theorem"] if case["rates"] == "halves"]


def _draw_theorem(numbers: Numbers, figure: Any) -> None:
    cases = _halving(numbers)
    panels = figure.subplots(1, len(cases), sharey=True, squeeze=False)[0]
    labels = {
        "measured": "Σ‖∇F‖² itself",
        "bound_paper": "bound, paper's L",
        "bound_measured": "bound, measured L",
    }
    for axes, case in zip(panels, cases, strict=True):
        tidy(axes, "rounds", "sum so far" if axes is panels[0] else "")
        axes.set_title(f"{case['parties']} parties", fontsize=9.5, loc="left")
        logarithmic(axes)
        for place, (name, label) in enumerate(labels.items()):
            curve, first = case["so_far"][name], axes is panels[0]
            dash = "--" if name == "bound_measured" else "-"
            band(axes, range(1, len(curve) + 1), curve, None, label if first else "", place,
                 linestyle=dash)  # fmt: skip
        axes.locator_params(axis="x", integer=True)
    legend(figure)


def _draw_smoothness(numbers: Numbers, figure: Any) -> None:
    panels = figure.subplots(1, 2)
    for axes, which, title in zip(panels, KINDS, ("spectral norms", "measured"), strict=True):
        tidy(axes, "round", "mean L of the parties")
        axes.set_title(title, fontsize=9.5, loc="left")
        for place, case in enumerate(_halving(numbers)):
            curve = case["smoothness"][f"{which}_party"]
            label = f"{case['parties']} parties" if axes is panels[0] else ""
            band(axes, range(len(curve)), curve, None, label, place)
    legend(figure)


def _draw_proposition(numbers: Numbers, figure: Any) -> None:
    left, right = figure.subplots(1, 2)
    tidy(left, "round", "training loss as it begins")
    tidy(right, "round", "log₁₀ of the sum so far")
    for place, (block, found) in enumerate(numbers["proposition"].items()):
        for name, dash in (("real", "-"), ("ideal", "--")):
            curve = found[name]
            band(left, range(len(curve)), curve, found[f"{name}_std"], f"{block}, {name}", place,
                 linestyle=dash)  # fmt: skip
        bound = found["bound_log10"]
        band(right, range(len(bound)), bound, None, f"{block}, bound", place, linestyle="--")
        gap = [float(np.log10(value)) if value > 0 else np.nan for value in found["gap_so_far"]]
        band(right, range(len(gap)), gap, None, f"{block}, real − ideal", place)
    for axes in (left, right):
        axes.legend(fontsize=8, frameon=False)


def _theorem_table(numbers: Numbers) -> Table:
    rows = []
    for case in numbers["theorem"]:
        ends = (case["smoothness"][key] for key in SMOOTHNESS)
        rows.append(
            (
                f"N = {case['parties']}, {RATES[case['rates']]}",
                f"{case['so_far']['measured'][-1]:.3g}",
                *(
                    f"{case['so_far'][f'bound_{which}'][-1]:.4g} ({between(case['ratio'][which])} "
                    "times)"
                    for which in KINDS
                ),
                f"{case['below']['paper']}, {case['below']['measured']}",
                *(f"{curve[0]:.2f} to {curve[-1]:.2f}" for curve in ends),
            )
        )
    return Table(
        "Theorem 1, and smoothness from the first round to the last",
        ("", "Σ‖∇F‖²", "bound, paper's L", "bound, measured L", "times broken (paper's, measured)",
         "paper's L_n", "paper's L", "measured L_n", "measured L"),
        tuple(rows),
        "Broken counts sums so far, bounds of runs that ended early, and single terms.",
    )  # fmt: skip


def _proposition_table(numbers: Numbers) -> Table:
    rows = [
        (
            block,
            str(after),
            plus_minus(found["real"][after], found["real_std"][after], 3),
            plus_minus(found["ideal"][after], found["ideal_std"][after], 3),
            f"{found['gap_so_far'][after - 1]:.3g}",
            f"10^{found['bound_log10'][after - 1]:.1f}",
        )
        for block, found in numbers["proposition"].items()
        for after in sorted({min(n, len(found["bound_log10"])) for n in (10, 20, 30)})
    ]
    return Table(
        "Proposition 1",
        ("block", "after rounds", "real loss", "ideal loss", "Σ real − ideal", "bound"),
        tuple(rows),
        "The proposition bounds Σ ideal − real. Where the ideal network has the smaller loss that "
        "sum is negative, and any bound holds.",
    )


# --- judged ---------------------------------------------------------------------------------------


def claims(numbers: Numbers) -> list[Claim]:
    """The bounds, the remark, and the growing gap."""
    halving = {f"N = {case['parties']}": case for case in _halving(numbers)}
    blocks = numbers["proposition"]
    return [
        judged(
            "Theorem 1",
            "The bound on the summed squared gradients holds (with the paper's estimate of L).",
            {label: _theorem_holds(numbers, rates) for rates, label in RATES.items()},
        ),
        judged(
            "Remark 1",
            "Lipschitz-smooth coefficients L_n generally decrease as training goes on.",
            {where: _falls(case) for where, case in halving.items()},
        ),
        judged(
            "Proposition 1",
            "The bound on the summed gap between the ideal and the real network's loss holds.",
            {block: _gap_bounded(found) for block, found in blocks.items()},
        ),
        judged(
            "Sec. III, after Proposition 1",
            "Lost features and iterations let the real network fall behind the ideal one, more and "
            "more as training goes on.",
            {block: _gap_grows(found) for block, found in blocks.items()},
        ),
    ]


def _theorem_holds(numbers: Numbers, rates: str) -> tuple[bool, str]:
    cases = [case for case in numbers["theorem"] if case["rates"] == rates]
    ratios = [ratio for case in cases for ratio in case["ratio"]["paper"]]
    broken = sum(case["below"]["paper"] for case in cases)
    return broken == 0, f"broken {broken} times; {between(ratios)} times what it bounds"


def _falls(case: dict[str, Any]) -> tuple[bool, str]:
    """In most runs, as estimated; measured values beside."""
    ends = {which: case["smoothness"][f"{which}_party"] for which in KINDS}
    words = ", ".join(
        f"{name} {ends[which][0]:.2f} to {ends[which][-1]:.2f}"
        for which, name in zip(KINDS, ("estimated", "measured"), strict=True)
    )
    falls = case["falls"]["paper"]
    return 2 * sum(falls) > len(falls), f"{words}; falls in {sum(falls)} of {len(falls)} runs"


def _gap_bounded(found: dict[str, Any]) -> tuple[bool, str]:
    gap, bound = -found["gap_so_far"][-1], found["bound_log10"][-1]
    words = f"Σ ideal − real is {gap:.3g}, the bound 10^{bound:.0f}"
    if gap <= 0:
        words += "; what is negative meets any bound"
    return found["broken"] == 0, f"{words}; broken {found['broken']} times"


def _gap_grows(found: dict[str, Any]) -> tuple[bool, str]:
    """Real less ideal, in the last third of the rounds against the first."""
    pairs = list(zip(found["early"], found["late"], strict=True))
    grown = sum(late > max(early, 0.0) for early, late in pairs)
    early, late = (float(np.mean(values)) for values in (found["early"], found["late"]))
    words = f"mean gap {early:.3g} in the first third, {late:.3g} in the last"
    return grown >= MOST * len(pairs), f"{words}; grows in {grown} of {len(pairs)} runs"
