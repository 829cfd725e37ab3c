"""That ε does not matter, which the paper implies by not naming it."""

from __future__ import annotations

from typing import Any

from scdn.paper.artefact import BEYOND_PAPER, Claim, Finding, Numbers
from scdn.paper.value_text import value_range
from scdn.paper.verdicts import block_claim

SIMILAR = 0.5  # iterations per device and round


def claims(numbers: Numbers) -> list[Claim]:
    """Judge whether plans are alike for every ε."""
    by_size: dict[str, list[dict[str, Any]]] = {}
    for row in numbers["rows"]:
        by_size.setdefault(f"N = {row['devices']}", []).append(row)
    findings: dict[str, Finding | None] = {
        label: _alike([row["planned"]["mean"] for row in rows]) for label, rows in by_size.items()
    }
    text = f"Planned iterations do not depend on ε (within {SIMILAR:g} over all values tried)."
    return [block_claim(f"{BEYOND_PAPER}: the paper does not name ε", text, findings)]


def _alike(iterations: list[float]) -> Finding:
    return Finding(max(iterations) - min(iterations) <= SIMILAR, value_range(iterations))
