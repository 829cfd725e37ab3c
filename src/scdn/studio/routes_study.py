"""HTTP routes of studies: methods compared as JSON, CSV and PNG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from scdn.errors import format_value, input_error
from scdn.record.run_reader import find_runs
from scdn.record.run_tables import exported_rounds
from scdn.report.charts import energy_ledger, study_charts
from scdn.report.comparison import comparison
from scdn.report.mission_results import mission_results, mission_sentences
from scdn.report.study import Study
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
        return _summary(read_study(run, reference, target))

    @routes.get("/api/study.csv", **_downloads("text/csv"))
    def study_csv(run: RunNames) -> Response:
        """Return a row per run and round, counted from 1."""
        table = exported_rounds(read_study(run).runs).to_csv(index=False)
        return _download(table, "text/csv", "rounds.csv")

    @routes.get("/api/study.png", **_downloads("image/png"))
    def study_png(
        run: RunNames,
        figure: str = "metric",
        reference: str | None = None,
        target: Targets = (),
    ) -> Response:
        """Draw one of the report's figures."""
        picture = _png(read_study(run, reference, target), figure)
        return _download(picture, "image/png", f"{figure}.png")

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


def _summary(study: Study) -> StudySummary:
    charts = study_charts(study)
    return StudySummary(
        methods=list(study.methods),
        reference=study.reference,
        seeds=study.seeds,
        metric=study.headline.metric,
        targets=[str(target) for target in study.targets],
        runs=comparison(study)["runs"],
        notes=list(study.notes),
        missions=[
            f"{method} {sentence}."
            for method, sentence in mission_sentences(mission_results(study.runs)).items()
        ],
        measures=study.measures(),
        charts=charts,
        ledger=energy_ledger(study),
        figures=[*(chart.name for chart in charts), "energy"],
    )


def _png(study: Study, name: str) -> bytes:
    from scdn.report.matplotlib_figures import figures, png  # Matplotlib takes a second to load

    known = []
    for figure_name, figure in figures(study):
        if figure_name == name:
            return png(figure)
        known.append(figure_name)
    allowed = f"must be one of {', '.join(known)}"
    raise input_error("study", "figure", f"got {format_value(name)}", allowed)


def _download(content: str | bytes, media_type: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)
