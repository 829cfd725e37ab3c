"""Whether SC-DN's lead over its rivals survives fading and changing optimisers."""

from __future__ import annotations

from scdn.paper.artefact import BEYOND_PAPER, Claim, Finding, Numbers
from scdn.paper.verdicts import block_claim, significantly_better

LABELS = {"sc-dn-greedy": "SC-DN without P^r", "gsp": "GSP", "vafl": "VAFL"}


def claims(numbers: Numbers) -> list[Claim]:
    """Judge SC-DN's final score against each rival's, under every condition."""
    rows = {(row["condition"], row["method"]): row for row in numbers["rows"]}
    conditions = dict.fromkeys(row["condition"] for row in numbers["rows"])
    judged = []
    for rival, label in LABELS.items():
        findings: dict[str, Finding | None] = {
            condition: significantly_better(
                rows[condition, "sc-dn"]["last"], rows[condition, rival]["last"], 1
            )
            for condition in conditions
        }
        text = f"SC-DN ends better than {label} under every condition."
        judged.append(block_claim(f"{BEYOND_PAPER}, mnist", text, findings))
    return judged
