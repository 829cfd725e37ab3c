"""Which results were made with other settings than the artefacts have today, and with which.

Results that take a GPU or hours are recomputed later than a setting changes. Until then the page
says with what they were made, and gives no verdict that depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scdn.errors import dotted
from scdn.file_io import apply_settings, to_json
from scdn.paper.artefact import ArtefactSpec
from scdn.paper.provenance import leaves
from scdn.scenario.learning_settings import complete_learning_table

# What was done before there was a choice, where that is not what artefacts do today.
VAFL_ONLY = "learning.arrival_steps"  # it changes VAFL's results alone
BEFORE_THE_CHOICE = {VAFL_ONLY: "party"}
_NOT_COMPARED = {"method", "seed", "start", "count"}  # they vary within a case

Changes = dict[str, tuple[Any, Any]]  # setting → its value in the results, and today's


def stale_blocks(document: Mapping[str, Any], spec: ArtefactSpec) -> dict[str, Changes]:
    """Return for each block what has changed since its results were made; "" if it has none.

    `spec` must have the settings with which the document was made.
    """
    scenarios = {
        job.key: job.arguments["scenario"]
        for job in spec.job_module.jobs(spec)
        if "scenario" in job.arguments
    }
    has_vafl = "vafl" in document.get("varied", {}).get("scenario.method", [])
    stale: dict[str, Changes] = {}
    for key, case in document.get("cases", {}).items():
        if key in scenarios:
            settings = [f"{name}={to_json(value)}" for name, value in case["scenario"].items()]
            made_with = apply_settings(document["scenario"], settings)
            changes = changed_settings(made_with, scenarios[key])
            if not has_vafl:
                changes.pop(VAFL_ONLY, None)
            if changes:
                stale.setdefault(_block_of(key, spec), {}).update(changes)
    return stale


def changed_settings(made_with: Mapping[str, Any], today: Mapping[str, Any]) -> Changes:
    """Return the settings of two scenarios that differ; one that is new is as it was before."""
    learning = complete_learning_table(made_with["learning"])  # earlier names of settings
    old = {dotted(k): value for k, value in leaves({**made_with, "learning": learning}).items()}
    changes = {}
    for keys, value in leaves(today).items():
        name = dotted(keys)
        before = old.get(name, BEFORE_THE_CHOICE.get(name, value))
        if keys[-1] not in _NOT_COMPARED and before != value:
            changes[name] = (before, value)
    return changes


def _block_of(key: str, spec: ArtefactSpec) -> str:
    return next((block for block in spec.all_blocks if f"-{block}-" in f"-{key}-"), "")


def changes_text(changes: Changes) -> str:
    """Return with what the results were made, and what they are to be recomputed with."""
    return "; ".join(
        f"made with {name} = {before}, to be recomputed with {today}"
        for name, (before, today) in changes.items()
    )
