"""Theorem 1, Remark 1, Proposition 1, and the growing gap to the ideal network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scdn.paper.artefact import Claim, Finding, Numbers
from scdn.paper.stale_results import changes_text
from scdn.paper.value_text import value_range
from scdn.paper.verdicts import block_claim, mostly

RATES = {"halves": "rates halve", "stays": "rates stay"}


def with_halving_rates(numbers: Numbers) -> list[dict[str, Any]]:
    """Return Theorem 1's cases with the paper's learning rates, which halve."""
    return [case for case in numbers["theorem"] if case["rates"] == "halves"]


def claims(numbers: Numbers) -> list[Claim]:
    """Judge the bounds, the remark, and the growing gap."""
    return [
        block_claim(
            "Theorem 1",
            "The bound on the summed squared gradients holds (with the paper's estimate of L).",
            {label: _theorem_holds(numbers, rates) for rates, label in RATES.items()},
        ),
        block_claim(
            "Remark 1",
            "Lipschitz-smooth coefficients L_n generally decrease as training goes on.",
            {f"N = {c['parties']}": _smoothness_falls(c) for c in with_halving_rates(numbers)},
        ),
        block_claim(
            "Proposition 1",
            "The bound on the summed gap between the ideal and the real network's loss holds.",
            _by_block(numbers, _gap_is_bounded),
        ),
        block_claim(
            "Sec. III, after Proposition 1",
            "Lost features and iterations make the real network fall behind the ideal one.",
            _by_block(numbers, _falls_behind),
        ),
        block_claim(
            "Sec. III, after Proposition 1",
            "The real network falls behind more and more as training goes on.",
            _by_block(numbers, _gap_grows),
        ),
    ]


def _by_block(
    numbers: Numbers, check: Callable[[dict[str, Any]], Finding]
) -> dict[str, Finding | None]:
    """Check a statement about Proposition 1 in blocks that were made with today's settings."""
    stale = numbers.get("stale", {})
    return {
        block: Finding("not recomputed", changes_text(stale[block]))
        if block in stale
        else check(curves)
        for block, curves in numbers["proposition"].items()
    }


def _theorem_holds(numbers: Numbers, rates: str) -> Finding:
    cases = [case for case in numbers["theorem"] if case["rates"] == rates]
    ratios = [ratio for case in cases for ratio in case["ratio"]["paper"]]
    violations = sum(case["below"]["paper"] for case in cases)
    evidence = f"violated {violations} times; {value_range(ratios)} times what it bounds"
    return Finding(violations == 0, evidence)


def _smoothness_falls(case: dict[str, Any]) -> Finding:
    """Return whether estimated smoothness falls in most runs; measured values are shown too."""
    labels = {"paper": "estimated", "measured": "measured"}
    curves = {label: case["smoothness"][f"{key}_party"] for key, label in labels.items()}
    ends = ", ".join(f"{label} {c[0]:.2f} to {c[-1]:.2f}" for label, c in curves.items())
    falls = case["falls"]["paper"]
    return Finding(mostly(falls), f"{ends}; falls in {sum(falls)} of {len(falls)} runs")


def _gap_is_bounded(curves: dict[str, Any]) -> Finding:
    gap, bound = -curves["gap_so_far"][-1], curves["bound_log10"][-1]
    evidence = f"Σ ideal − real is {gap:.3g}, the bound 10^{bound:.0f}"
    if gap <= 0:
        evidence += "; a negative sum meets any bound"
    return Finding(curves["broken"] == 0, f"{evidence}; violated {curves['broken']} times")


def _falls_behind(curves: dict[str, Any]) -> Finding:
    """Compare real with ideal in the last third of the rounds."""
    behind = [late > 0 for late in curves["late"]]
    evidence = f"mean gap {float(np.mean(curves['late'])):.3g} in the last third"
    return Finding(mostly(behind), f"{evidence}; behind in {sum(behind)} of {len(behind)} runs")


def _gap_grows(curves: dict[str, Any]) -> Finding:
    """Compare real less ideal in the last third of the rounds with the first."""
    pairs = list(zip(curves["early"], curves["late"], strict=True))
    grown = [late > max(early, 0.0) for early, late in pairs]
    early, late = (float(np.mean(values)) for values in (curves["early"], curves["late"]))
    evidence = f"mean gap {early:.3g} in the first third, {late:.3g} in the last"
    return Finding(mostly(grown), f"{evidence}; grows in {sum(grown)} of {len(grown)} runs")
