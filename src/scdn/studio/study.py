"""Methods side by side, as numbers for the page: the report's study in another dress."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path

from scdn.errors import format_value, input_error
from scdn.record.frames import frame
from scdn.record.read import find_runs
from scdn.report.curves import Chart, bars, charts
from scdn.report.statistics import Spread, compare, spread
from scdn.report.study import Measure, Study, make_study
from scdn.report.tables import verdict
from scdn.studio.forms import (
    ChartForm,
    LedgerForm,
    LevelForm,
    LineForm,
    MeasureForm,
    SpreadForm,
    StudyForm,
)


def study_of(folders: Sequence[Path], reference: str | None) -> Study:
    """The runs in these folders, compared."""
    return make_study(find_runs(folders), reference)


def study_form(study: Study) -> StudyForm:
    """Everything that the page shows of a study."""
    drawn = charts(study)
    return StudyForm(
        methods=list(study.methods),
        reference=study.reference,
        seeds=study.seeds,
        metric=study.metric.key,
        notes=list(study.notes),
        measures=[_measure(study, measure) for measure in study.measures()],
        charts=[_chart(chart) for chart in drawn],
        ledger=_ledger(study),
        figures=[*(chart.name for chart in drawn), "energy"],
    )


def _measure(study: Study, measure: Measure) -> MeasureForm:
    metric = measure.metric
    found = [_spread(study, measure, method) for method in study.methods]
    return MeasureForm(
        key=metric.key,
        label=metric.label,
        unit=metric.unit,
        better=metric.better,
        main=measure.main,
        values=[form for form in found if form is not None],
    )


def _spread(study: Study, measure: Measure, method: str) -> SpreadForm | None:
    mine = measure.values.get(method, {})
    found = spread(mine.values())
    if found is None:
        return None
    form = _plain(method, found)
    theirs = measure.values.get(study.reference, {})
    paired = None if method == study.reference else compare(mine, theirs)
    if paired is None:
        return form
    told = {name: getattr(paired, name) for name in ("difference", "low", "high", "p_t", "p_flip")}
    return form.model_copy(update={**told, "verdict": verdict(paired, measure.metric)})


def _plain(method: str, found: Spread) -> SpreadForm:
    return SpreadForm(method=method, mean=found.mean, std=found.std, seeds=found.count)


def _chart(chart: Chart) -> ChartForm:
    return ChartForm(
        name=chart.name,
        title=chart.title,
        about=chart.about,
        x_label=chart.x_label,
        y_label=chart.y_label,
        low=chart.y_range[0],
        high=chart.y_range[1],
        lines=[
            LineForm(
                method=line.method,
                x=line.x.tolist(),
                mean=line.mean.tolist(),
                std=None if line.std is None else line.std.tolist(),
                future=line.future,
                step=line.step,
            )
            for line in chart.lines
        ],
        levels=[
            LevelForm(label=lv.label, value=lv.value, name_at=lv.name_at) for lv in chart.levels
        ],
    )


def _ledger(study: Study) -> LedgerForm:
    found = bars(study)
    totals = [_plain(m, s) for m, s in zip(found.methods, found.totals, strict=True)]
    clean = {t: [v if math.isfinite(v) else 0.0 for v in vs] for t, vs in found.terms.items()}
    return LedgerForm(methods=list(found.methods), terms=clean, totals=totals)


def as_csv(study: Study) -> str:
    """One row per run and round."""
    buffer = io.StringIO()
    frame(study.runs).to_csv(buffer, index=False)
    return buffer.getvalue()


def as_png(study: Study, name: str) -> bytes:
    """One of the report's pictures."""
    from scdn.report.figures import figures, png

    known = []
    for found, figure in figures(study):
        if found == name:
            return png(figure)
        known.append(found)
    raise input_error(
        "study", "figure", f"got {format_value(name)}", f"must be one of {', '.join(known)}"
    )
