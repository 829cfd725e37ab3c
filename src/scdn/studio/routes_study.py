"""HTTP routes of studies: methods compared as JSON, CSV, PNG and SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response

from scdn.errors import format_value, input_error
from scdn.record.run_reader import find_runs
from scdn.report.charts import energy_ledger, study_charts
from scdn.report.comparison import compared_runs
from scdn.report.mission_results import mission_results, mission_sentences
from scdn.report.pareto import PARETO_COSTS, pareto_chart
from scdn.report.study import Study
from scdn.report.tables import TABLES
from scdn.report.verdict import verdicts
from scdn.studio.api_models import StudySummary
from scdn.studio.services import NOT_FOUND, Services
from scdn.targets import Target, parse_target

Targets = Annotated[
    Sequence[str],
    Query(max_length=20, description="such as top3=95; by default those of the runs' scenarios"),
]
RunNames = Annotated[
    list[str], Query(min_length=1, max_length=200, description="runs, or folders above them")
]
TableName = Annotated[str, Query(description=f"one of {', '.join(TABLES)}")]
FigureName = Annotated[str, Query(description="one of the study's `figures`")]
LogScale = Annotated[
    bool | None,
    Query(description="whether costs of the Pareto view are on a logarithmic scale"),
]


def study_routes(services: Services) -> APIRouter:
    """Return the routes that compare runs."""
    routes = APIRouter()

    def read_study(
        run: list[str], reference: str | None = None, target: Sequence[str] = ()
    ) -> Study:
        chosen = [services.runs.resolve_folder(name) for name in run]
        folders = [
            path for folder in chosen for path in services.runs.run_folders_of(folder) or [folder]
        ]
        return Study.from_runs(find_runs(folders), reference, _targets(target))

    @routes.get("/api/study", response_model=StudySummary, responses=NOT_FOUND)
    def study(run: RunNames, reference: str | None = None, target: Targets = ()) -> StudySummary:
        """Compare methods over seeds."""
        compared = read_study(run, reference, target)
        names = [services.runs.name(run.folder) for run in compared.runs]
        return _summary(compared, names)

    @routes.get("/api/study.csv", **_downloads("text/csv"))
    def study_csv(
        run: RunNames,
        table: TableName = "rounds",
        reference: str | None = None,
        target: Targets = (),
    ) -> Response:
        """Return a table of the comparison; by default a row per run and round, counted from 1."""
        if table not in TABLES:
            allowed = f"must be one of {', '.join(TABLES)}"
            raise input_error("study", "table", f"got {format_value(table)}", allowed)
        frame = TABLES[table](read_study(run, reference, target))
        return _download(frame.to_csv(index=False), "text/csv", f"{table}.csv")

    @routes.get("/api/study.png", **_downloads("image/png"))
    def study_png(
        run: RunNames,
        figure: FigureName = "metric",
        reference: str | None = None,
        target: Targets = (),
        log: LogScale = None,
    ) -> Response:
        """Draw one of the report's figures."""
        drawn = _picture(read_study(run, reference, target), figure, "png", log)
        return _download(drawn, "image/png", f"{figure}.png")

    @routes.get("/api/study.svg", **_downloads("image/svg+xml"))
    def study_svg(
        run: RunNames,
        figure: FigureName = "metric",
        reference: str | None = None,
        target: Targets = (),
        log: LogScale = None,
    ) -> Response:
        """Draw one of the report's figures as vectors."""
        drawn = _picture(read_study(run, reference, target), figure, "svg", log)
        return _download(drawn, "image/svg+xml", f"{figure}.svg")

    return routes


def _downloads(media_type: str) -> dict[str, Any]:
    content = {"content": {media_type: {"schema": {"type": "string"}}}}
    return {"response_class": Response, "responses": {**NOT_FOUND, 200: content}}


def _targets(texts: Sequence[str]) -> Sequence[Target] | None:
    """Return the targets in a request; None, the runs' own, where it has none."""
    targets = []
    for text in texts:
        try:
            targets.append(parse_target(text))
        except ValueError as error:
            raise input_error("study", "target", f"got {format_value(text)}", str(error)) from None
    return list(dict.fromkeys(targets)) or None


def _summary(study: Study, run_names: list[str]) -> StudySummary:
    charts = study_charts(study)
    return StudySummary(
        methods=list(study.methods),
        reference=study.reference,
        seeds=study.seeds,
        metric=study.headline.metric,
        targets=[str(target) for target in study.targets],
        runs=compared_runs(study),
        notes=list(study.notes),
        missions=[
            f"{method} {sentence}."
            for method, sentence in mission_sentences(mission_results(study.runs)).items()
        ],
        measures=study.measures(),
        charts=charts,
        ledger=energy_ledger(study),
        verdicts=verdicts(study),
        pareto=pareto_chart(study),
        run_names=run_names,
        figures=[
            *(f"pareto_{cost}" for cost in PARETO_COSTS),
            *(chart.name for chart in charts),
            "energy",
        ],
        tables=list(TABLES),
    )


def _picture(study: Study, name: str, kind: Literal["png", "svg"], log_x: bool | None) -> bytes:
    from scdn.report.matplotlib_figures import (  # Matplotlib takes a second to load
        figure_drawers,
        picture,
    )

    drawers = figure_drawers(study, log_x)
    if name not in drawers:
        allowed = f"must be one of {', '.join(drawers)}"
        raise input_error("study", "figure", f"got {format_value(name)}", allowed)
    return picture(drawers[name](), kind)


def _download(content: str | bytes, media_type: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)
