"""The tables of a comparison for other programs, each as one data frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

import pandas as pd

from scdn.record.run_tables import exported_rounds
from scdn.report.charts import energy_ledger
from scdn.report.pareto import pareto_chart
from scdn.report.study import Study


def _targets(study: Study) -> pd.DataFrame:
    """Return a row per run and target; rounds are counted from 1."""
    columns = ["method", "seed", "target", "reached", "round", "joules", "seconds", "bits"]
    rows = [
        {**result, "method": run.method, "seed": run.seed, "target": str(target),
         "round": None if result["round"] is None else result["round"] + 1}
        for run in study.runs
        for target, result in zip(study.targets, study.target_results(run), strict=True)
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(round=table["round"].astype("Int64"))


def _statistics(study: Study) -> pd.DataFrame:
    """Return a row per measure and method: value over seeds, difference and tests."""
    return pd.DataFrame(
        [
            {"measure": measure.key, "label": measure.label, "unit": measure.unit,
             "better": measure.better, "reference": study.reference, **asdict(result)}
            for measure in study.measures()
            for result in measure.values
        ]
    )  # fmt: skip


def _ledger(study: Study) -> pd.DataFrame:
    """Return a row per method: joules by term, mean over seeds, and their total."""
    ledger = energy_ledger(study)
    table = pd.DataFrame(
        {"method": ledger.methods, **{f"{t}_j": j for t, j in ledger.terms.items()}}
    )
    totals = ledger.totals
    return table.assign(
        total_j=[t.mean for t in totals], std_j=[t.std for t in totals],
        seeds=[t.seeds for t in totals],
    )  # fmt: skip


def _pareto(study: Study) -> pd.DataFrame:
    """Return a row per point: runs first, then the means of methods, which have no seed."""
    chart = pareto_chart(study)
    fronts = {(front.cost, method) for front in chart.fronts for method in front.methods}
    rows = [
        {"method": p.method, "setting": p.setting, "seed": p.seed, "status": p.status,
         chart.metric: p.score, "joules": p.joules, "seconds": p.seconds,
         **{f"on_front_{cost}": p.seed is None and (cost, p.method) in fronts
            for cost in ("joules", "seconds")}}
        for p in (*chart.runs, *chart.means)
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    return table.assign(seed=table["seed"].astype("Int64"))


TABLES: dict[str, Callable[[Study], pd.DataFrame]] = {
    "rounds": lambda study: exported_rounds(study.runs),
    "targets": _targets,
    "statistics": _statistics,
    "ledger": _ledger,
    "pareto": _pareto,
}
