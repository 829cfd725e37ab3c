"""What the paper says about optimality and feasibility of Algorithm 3, and our claim about time."""

from __future__ import annotations

from typing import Any

import numpy as np

from scdn.paper.artefact import BEYOND_PAPER, Claim, Numbers
from scdn.paper.value_text import labelled_medians
from scdn.paper.verdicts import count_agreeing, count_claim

LABELS = {"pade": "Padé's rate, 1 ms", "shannon": "true rate, 60 ms", "patient": "true rate, 1 s"}
CLOSE = 0.01  # a plan this close to the optimum counts as optimal

Comparison = dict[str, Any]  # both solvers' plans of one network


def objective_ratio(pair: Comparison) -> float:
    """Return the repaired plan's objective over the optimum."""
    return float(pair["repaired"]["objective"] / pair["exact"]["objective"])


def claims(numbers: Numbers) -> list[Claim]:
    """Judge optimality and feasibility, which the paper states, and time."""
    regimes = {
        LABELS[regime]: [pair for pairs in by_size.values() for pair in pairs]
        for regime, by_size in numbers["regimes"].items()
    }
    ratios = {label: [objective_ratio(pair) for pair in pairs] for label, pairs in regimes.items()}
    proven = [pair["exact"]["proven"] for pairs in regimes.values() for pair in pairs]
    delays = {
        label: [ratio for pair in pairs for ratio in pair["paper"]["delay_over_limit"]]
        for label, pairs in regimes.items()
    }
    speedups = {
        label: [pair["paper"]["seconds"] / pair["exact"]["seconds"] for pair in pairs]
        for label, pairs in regimes.items()
    }
    return [
        count_claim(
            "General Convergence; Optimization Solver",
            "Algorithm 3 converges to the optimal point of P^r",
            count_agreeing(ratios, lambda ratio: ratio <= 1 + CLOSE),
            f"networks (repaired plan within {100 * CLOSE:.0f} % of the proven optimum)",
            "Median ratio: "
            + ", ".join(f"{np.median(values):.3g}" for values in ratios.values())
            + "; worst: "
            + ", ".join(f"{max(values):.3g}" for values in ratios.values())
            + f". Optimum proven to 1e-4 in {sum(proven)} of {len(proven)}.",
        ),
        count_claim(
            "eq:time_con1",
            "Its plans report within T^max",
            count_agreeing(regimes, lambda pair: pair["paper"]["late"] == 0),
            "networks",
            f"Median delay of its links over the limit: {labelled_medians(delays)}."
            if any(delays.values())
            else "",
        ),
        count_claim(
            "eq:time_con1 to eq:select_vals",
            "The active devices of its plans are in reach of where it puts the server",
            count_agreeing(regimes, lambda pair: pair["paper"]["out_of_reach"] == 0),
            "networks (at full power)",
        ),
        count_claim(
            BEYOND_PAPER,
            "The exact optimum takes less time than Algorithm 3",
            count_agreeing(
                regimes, lambda pair: pair["exact"]["seconds"] < pair["paper"]["seconds"]
            ),
            "networks",
            f"Median ratio of times: {labelled_medians(speedups, '.0f')}.",
        ),
    ]
