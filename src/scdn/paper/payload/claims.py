"""That placing the server matters, by the paper's bill and by what is sent."""

from __future__ import annotations

from typing import Any

from scdn.paper.artefact import BEYOND_PAPER, Claim, Finding, Numbers
from scdn.paper.value_text import value_range
from scdn.paper.verdicts import block_claim, mostly

MATTERS = 1.05  # objective with a server that stays, over the optimum


def claims(numbers: Numbers) -> list[Claim]:
    """Judge for each size of a report whether the server's position matters."""
    findings: dict[str, Finding | None] = {
        report: _matters([row for row in numbers["rows"] if row["report"] == report])
        for report in dict.fromkeys(row["report"] for row in numbers["rows"])
    }
    text = "Placing the server lowers the objective of a round (by a twentieth or more)."
    return [block_claim(f"{BEYOND_PAPER}: P^r places the server", text, findings)]


def _matters(rows: list[dict[str, Any]]) -> Finding:
    ratios = [ratio for row in rows for ratio in row["stays_over_best"]]
    heights = [row["height_m"]["mean"] for row in rows]
    return Finding(
        mostly([ratio >= MATTERS for ratio in ratios]),
        f"{sum(ratio >= MATTERS for ratio in ratios)} of {len(ratios)} networks, ratios "
        f"{value_range(ratios)}, mean height {value_range(heights, '.0f')} m",
    )
