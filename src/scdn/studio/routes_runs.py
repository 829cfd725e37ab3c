"""HTTP routes of runs: list, start, control, follow, annotate, compare and delete them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from scdn.studio.api_models import (
    DeletedRuns,
    JobActionRequest,
    JobInfo,
    NoteRequest,
    RunInfo,
    RunList,
    RunNote,
    SettingsDiff,
    StartRequest,
)
from scdn.studio.event_streams import stream_events
from scdn.studio.run_jobs import RunJobs
from scdn.studio.run_notes import write_note
from scdn.studio.run_removal import delete_run
from scdn.studio.services import NOT_FOUND, TOO_MANY, Responses, Services
from scdn.studio.settings import MAX_DIFFERENCES, MAX_RUNS
from scdn.studio.settings_diff import settings_diff

_STREAM: Responses = {**TOO_MANY, 200: {"content": {"text/event-stream": {}}}}

RunName = Annotated[str, Query(max_length=1000, description="as in /api/runs")]


def run_routes(services: Services) -> APIRouter:
    """Return the routes that list, control and follow runs."""
    routes, jobs = APIRouter(), services.jobs

    @routes.get("/api/runs", response_model=RunList)
    def runs() -> RunList:
        """List the runs below the runs directory, and the jobs that were started here."""
        job_infos, infos = jobs.infos(), services.index.runs()
        return RunList(
            runs_dir=str(services.runs.root),
            runs=[_with_job(info, jobs) for info in infos[:MAX_RUNS]],
            jobs=job_infos,
            opened=services.runs.opened,
            left_out=max(0, len(infos) - MAX_RUNS),
        )

    @routes.post("/api/runs", response_model=JobInfo, responses=TOO_MANY, status_code=201)
    def start(form: StartRequest) -> JobInfo:
        """Start a run, or a comparison of several methods or seeds."""
        return jobs.start(form)

    @routes.delete("/api/runs", response_model=DeletedRuns, responses=NOT_FOUND)
    def delete(run: RunName) -> DeletedRuns:
        """Delete a run or a whole study, with everything in its folder, unless it is running."""
        return DeletedRuns(deleted=delete_run(services.runs, services.index, jobs, run))

    @routes.post("/api/notes", response_model=RunNote, responses=NOT_FOUND)
    def annotate(form: NoteRequest) -> RunNote:
        """Store a note about a run beside its events."""
        note = write_note(services.runs.resolve_run(form.run), form.note)
        services.index.forget()
        return RunNote(run=form.run, note=note)

    @routes.get("/api/settings-diff", response_model=SettingsDiff, responses=NOT_FOUND)
    def compare_settings(run: RunName, other: RunName) -> SettingsDiff:
        """Return the settings in which two runs differ."""
        first, second = (services.runs.resolve_run(name) for name in (run, other))
        differences = settings_diff(first, second)
        left_out = max(0, len(differences) - MAX_DIFFERENCES)
        return SettingsDiff(differences=differences[:MAX_DIFFERENCES], left_out=left_out)

    @routes.post("/api/jobs", response_model=JobInfo, responses=TOO_MANY)
    def act(form: JobActionRequest) -> JobInfo:
        """Pause, continue, stop or resume a job."""
        return jobs.act(form.job, form.action)

    @routes.get("/api/events", response_class=StreamingResponse, responses=_STREAM)
    async def events(run: RunName, follow: bool = True) -> StreamingResponse:
        """Stream a run's events as they are written: `begin`, a `line` for each, `over`."""
        folder = await run_sync(services.runs.resolve_run, run)
        return _stream(services.streams.counted(stream_events(folder, follow)))

    @routes.get("/api/points", response_class=StreamingResponse, responses=_STREAM)
    async def points(study: RunName, follow: bool = True) -> StreamingResponse:
        """Stream the curves of every run of a study, or below a folder, as they grow."""
        folder = await run_sync(services.runs.resolve_folder, study)
        return _stream(services.streams.counted(services.curves.stream(folder, follow)))

    return routes


def _stream(chunks: AsyncIterator[bytes]) -> StreamingResponse:
    return StreamingResponse(chunks, media_type="text/event-stream")


def _with_job(info: RunInfo, jobs: RunJobs) -> RunInfo:
    """Return the run with its job's name and state; the job knows more than the file."""
    job = jobs.of_run(info.run)
    if job is None:
        return info
    name, state = job
    status = info.status
    if status in ("running", "unfinished"):
        status = state if state in ("running", "paused") else "stopped"
    return info.model_copy(update={"job": name, "status": status})
