"""Small runs of the paper's artefacts, and what tests ask of their results."""

from __future__ import annotations

import json

from scdn.file_io import to_json
from scdn.paper.artefact import Drawing, ResultTable
from scdn.paper.plotting import draw_png
from scdn.paper.sweep import run_sweep


def run_jobs_of(spec, folder):
    """Return an artefact's numbers, as its file would hold them, and its jobs' results."""
    records = run_sweep(spec.job_module.jobs(spec), folder)
    results = {key: record["result"] for key, record in records.items()}
    return json.loads(to_json(spec.job_module.numbers(spec, results))), results


def verdicts(claims_module, numbers):
    """Return verdicts by the text of their claims."""
    return {claim.text: claim.verdict for claim in claims_module.claims(numbers)}


def verdict_on(claims_module, numbers, words):
    """Return the verdict on the only claim with these words."""
    by_text = verdicts(claims_module, numbers)
    (verdict,) = [verdict for text, verdict in by_text.items() if words in text]
    return verdict


def assert_can_be_shown(jobs_module, numbers, drawings=None):
    """Draw the pictures, or some of them, and check that tables are rectangular."""
    parts = jobs_module.show(numbers)
    for drawing in [part for part in parts if isinstance(part, Drawing)][:drawings]:
        assert draw_png(drawing).startswith(b"\x89PNG")
    for table in [part for part in parts if isinstance(part, ResultTable)]:
        assert {len(row) for row in table.rows} == {len(table.header)}
