"""An estimate as text for a terminal: a table of rounds, batteries, and what it assumes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scdn.methods import method
from scdn.record.round_totals import OPTIONAL_TERMS, TERMS
from scdn.simulation.estimate import Estimate

MOST_ROWS = 10  # of rounds; more are put together
MOST_BATTERIES = 8  # the emptiest
_LABELS = {
    "transmission_j": "sending J",
    "processing_j": "processing J",
    "movement_j": "movement J",
    "server_compute_j": "server computing J",
    "server_transmission_j": "server sending J",
    "circuit_j": "circuits J",
    "idle_j": "idling J",
}
ASSUMPTIONS = (
    "Nothing was trained. Churn and channels are those of this seed; importance, smoothness and "
    "gradients stay as before round 0, and embeddings are sent once a round."
)
# From docs/results/estimates.jsonl (benchmarks/estimates.py): two networks, two bills.
MEASURED = "Runs of sc-dn and gsp-matched took 0.3 to 1.6 times the joules of their estimates."
MEASURED_MISSION = (
    "A mission plans by progress that it measures, here by a first guess: runs took 0.5 to 1.0 "
    "times the joules of their estimates."
)


def estimate_text(estimate: Estimate) -> str:
    """Return the estimate as a table with a sentence on what it assumes."""
    document = estimate.document()
    joules, seconds = _number(document["energy"]["total_j"]), _number(document["seconds"])
    head = (
        f"{document['scenario']}, {document['method']}, seed {document['seed']}: "
        f"{joules} J and {seconds} s expected in {document['rounds']} rounds"
    )
    blocks = [head, "\n".join(_table(document))]
    if document["batteries"]:
        blocks.append("\n".join(_batteries(document["batteries"])))
    if document["ended"]:
        blocks.append(f"Expected to end after {document['rounds']} rounds: {document['ended']}")
    mission = method(estimate.scenario.method).uses_progress
    blocks.append(f"{ASSUMPTIONS} {MEASURED_MISSION if mission else MEASURED}")
    return "\n\n".join(blocks)


def _table(document: dict[str, Any]) -> list[str]:
    energy, rows = document["energy"], document["by_round"]
    terms = [term for term in TERMS if term not in OPTIONAL_TERMS or energy[term]]
    table = [["rounds", "devices", "active", *(_LABELS[t] for t in terms), "J", "seconds"]]
    size = max(1, -(-len(rows) // MOST_ROWS))
    groups = [rows[first : first + size] for first in range(0, len(rows), size)]
    table += [_cells(_span(group), group, terms) for group in groups]
    return _aligned([*table, _cells("all", rows, terms)])


def _span(group: Sequence[dict[str, Any]]) -> str:
    first, last = group[0]["round"] + 1, group[-1]["round"] + 1
    return str(first) if first == last else f"{first}–{last}"


def _cells(name: str, group: Sequence[dict[str, Any]], terms: Sequence[str]) -> list[str]:
    """Return a row of the table: means of devices, and sums of joules and seconds."""

    def total(key: str) -> float:
        return float(sum(row[key] for row in group))

    means = [f"{total(key) / max(1, len(group)):.3g}" for key in ("present", "active")]
    joules = sum(total(term) for term in TERMS)
    sums = [*(total(term) for term in terms), joules, total("seconds")]
    return [name, *means, *map(_number, sums)]


def _batteries(levels: Sequence[dict[str, Any]]) -> Iterator[str]:
    emptiest = sorted(levels, key=lambda level: level["left_j"] / level["battery_j"])
    rows = [
        [
            "server" if level["id"] is None else level["id"],
            _number(level["battery_j"]),
            _number(level["left_j"]),
            f"{100 * level['left_j'] / level['battery_j']:.0f} %",
        ]
        for level in emptiest[:MOST_BATTERIES]
    ]
    yield from _aligned([["battery", "full J", "left J", ""], *rows])
    if len(emptiest) > MOST_BATTERIES:
        fuller = len(emptiest) - MOST_BATTERIES
        yield f"and {fuller} more with at least {rows[-1][-1]}"


def _number(value: float) -> str:
    return f"{value:.4g}" if value < 1000 else f"{value:,.0f}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
