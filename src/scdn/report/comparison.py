"""A comparison as one JSON object, for programs: `scdn compare --json`."""

from __future__ import annotations

from dataclasses import asdict

from scdn.record.round_totals import RoundTotals, cumulative_totals
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
        "runs": [_run(study, run) for run in study.runs],
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


def _run(study: Study, run: Run) -> Event:
    total = cumulative_totals(run.rounds)[-1] if run.rounds else RoundTotals()
    return {
        "method": run.method,
        "seed": run.seed,
        "status": "unfinished" if run.end is None else run.end.get("status", "done"),
        "rounds": len(run.rounds),
        "metrics": run.rounds[-1].get("metrics") if run.rounds else {},
        **asdict(total),
        "targets": study.target_results(run),
    }
