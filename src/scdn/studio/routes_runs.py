"""Routes of runs: what is there, starting and stopping, live views."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from scdn.studio.forms import ActionForm, JobForm, RunForm, RunList, StartForm
from scdn.studio.jobs import Jobs
from scdn.studio.parts import BUSY, Parts, Responses
from scdn.studio.places import folder_of, run_folder
from scdn.studio.runs import shown
from scdn.studio.streams import events

_STREAM: Responses = {**BUSY, 200: {"content": {"text/event-stream": {}}}}

RunName = Annotated[str, Query(max_length=1000, description="as in /api/runs")]


def run_routes(parts: Parts) -> APIRouter:
    """Everything about runs."""
    routes, settings, jobs = APIRouter(), parts.settings, parts.jobs

    @routes.get("/api/runs", response_model=RunList)
    def runs() -> RunList:
        """Every run below the runs directory, and the jobs that were started here."""
        listed = jobs.forms()
        forms, left_out = shown(parts.index.forms())
        return RunList(
            runs_dir=str(settings.runs),
            runs=[_with_job(form, jobs) for form in forms],
            jobs=listed,
            left_out=left_out,
        )

    @routes.post("/api/runs", response_model=JobForm, responses=BUSY, status_code=201)
    def start(form: StartForm) -> JobForm:
        """Starts a run, or a comparison of several methods or seeds."""
        return jobs.start(form)

    @routes.post("/api/jobs", response_model=JobForm, responses=BUSY)
    def act(form: ActionForm) -> JobForm:
        """Pauses, goes on with, stops or resumes a job."""
        return jobs.act(form.job, form.action)

    @routes.get("/api/events", response_class=StreamingResponse, responses=_STREAM)
    async def watch(run: RunName, follow: bool = True) -> StreamingResponse:
        """A run's events as they are written: `begin`, `line` for each, `over`."""
        folder = await run_sync(run_folder, settings.runs, run)
        return _stream(parts.viewers.counted(events(folder, follow)))

    @routes.get("/api/points", response_class=StreamingResponse, responses=_STREAM)
    async def points(study: RunName, follow: bool = True) -> StreamingResponse:
        """Curves of every run below a folder as they grow."""
        folder = await run_sync(folder_of, settings.runs, study)
        return _stream(parts.viewers.counted(parts.curves.watch(folder, follow)))

    return routes


def _stream(pieces: AsyncIterator[bytes]) -> StreamingResponse:
    return StreamingResponse(pieces, media_type="text/event-stream")


def _with_job(form: RunForm, jobs: Jobs) -> RunForm:
    """A run's status as its job knows it."""
    job = jobs.of_run(form.run)
    if job is None:
        return form
    name, state = job
    status = form.status
    if status in ("running", "unfinished"):
        status = state if state in ("running", "paused") else "stopped"
    return form.model_copy(update={"job": name, "status": status})
