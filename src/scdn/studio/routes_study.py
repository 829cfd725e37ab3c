"""Routes of comparisons: numbers, tables, pictures."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from scdn.studio.forms import StudyForm
from scdn.studio.parts import MISSING, Parts
from scdn.studio.places import folder_of

RunNames = Annotated[
    list[str], Query(min_length=1, max_length=200, description="runs, or folders above them")
]


def study_routes(parts: Parts) -> APIRouter:
    """Everything about comparisons."""
    routes = APIRouter()

    def chosen(run: list[str], reference: str | None) -> Any:
        from scdn.studio.study import study_of  # pandas takes a second to load

        return study_of([folder_of(parts.settings.runs, name) for name in run], reference)

    @routes.get("/api/study", response_model=StudyForm, responses=MISSING)
    def study(run: RunNames, reference: str | None = None) -> StudyForm:
        """Methods side by side over seeds."""
        from scdn.studio.study import study_form

        return study_form(chosen(run, reference))

    @routes.get(
        "/api/study.csv",
        response_class=Response,
        responses={**MISSING, 200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
    )
    def study_csv(run: RunNames) -> Response:
        """One row per run and round."""
        from scdn.studio.study import as_csv

        return _download(as_csv(chosen(run, None)), "text/csv", "rounds.csv")

    @routes.get(
        "/api/study.png",
        response_class=Response,
        responses={**MISSING, 200: {"content": {"image/png": {"schema": {"type": "string"}}}}},
    )
    def study_png(run: RunNames, figure: str = "metric", reference: str | None = None) -> Response:
        """One of the report's pictures."""
        from scdn.studio.study import as_png

        return _download(as_png(chosen(run, reference), figure), "image/png", f"{figure}.png")

    return routes


def _download(content: str | bytes, kind: str, name: str) -> Response:
    where = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=where)
