"""A comparison as one JSON object, for programs: `scdn compare --json`."""

from __future__ import annotations

from dataclasses import asdict

from scdn.record.run_reader import Event, Run
from scdn.report.study import Study
from scdn.report.verdict import verdicts


def comparison(study: Study) -> Event:
    """Return every run with its costs and targets, and the methods compared with the reference.

    `compared` has the measures of the report: for each target the joules, seconds, rounds and bits
    to reach it, then the final metrics and costs; `baselines` are headline scores that need no
    network; `verdicts` say which method to choose.
    """
    return {
        "schema": 1,
        "runs": compared_runs(study),
        "compared": {
            "reference": study.reference,
            "methods": list(study.methods),
            "seeds": study.seeds,
            "baselines": study.baselines(),
            "measures": [asdict(measure) for measure in study.measures()],
            "notes": list(study.notes),
            "verdicts": [asdict(verdict) for verdict in verdicts(study)],
        },
    }


def compared_runs(study: Study) -> list[Event]:
    """Return every run with its final metrics, its costs and its targets."""
    return [_run(study, run) for run in study.runs]


def _run(study: Study, run: Run) -> Event:
    return {
        "method": run.method,
        "seed": run.seed,
        "status": "unfinished" if run.end is None else run.end.get("status", "done"),
        "rounds": len(run.rounds),
        "metrics": (run.rounds[-1].get("metrics") or {}) if run.rounds else {},
        **asdict(study.totals(run)),
        "targets": study.target_results(run),
    }
