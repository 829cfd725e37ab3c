"""The HTTP interface and the page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles

from scdn import __version__
from scdn.control.plan import Answer
from scdn.control.request import PlanRequest
from scdn.control.solve import Solver
from scdn.documents import OutputError
from scdn.faults import Fault, InputError, dotted, printable
from scdn.methods import methods
from scdn.studio import planning
from scdn.studio.files import examples, opened, saved
from scdn.studio.forms import (
    About,
    ActionForm,
    Example,
    Faults,
    FileForm,
    JobForm,
    MethodForm,
    Opened,
    RunForm,
    RunList,
    Saved,
    SaveForm,
    Shells,
    StartForm,
    StudyForm,
    Surface,
)
from scdn.studio.guard import BodyTooLargeError, Guard
from scdn.studio.jobs import BusyError, Jobs
from scdn.studio.places import NotThereError, folder_of, run_folder
from scdn.studio.planning import Planner, as_json
from scdn.studio.runs import RunIndex, shown
from scdn.studio.settings import MAX_SECONDS, MAX_VIEWERS, Settings
from scdn.studio.streams import Curves, events

PAGE = Path(__file__).parent / "page"

_SOLVING_AT_ONCE = 4
_WRONG: dict[int | str, dict[str, Any]] = {422: {"model": Faults}}
_MISSING: dict[int | str, dict[str, Any]] = {**_WRONG, 404: {"model": Faults}}
_BUSY: dict[int | str, dict[str, Any]] = {**_MISSING, 429: {"model": Faults}}
_REQUEST = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PlanRequest"}}},
    }
}
_STREAM: dict[int | str, dict[str, Any]] = {
    **_BUSY,
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
}

Gap = Annotated[float, Query(ge=1e-9, lt=1, description="proven relative gap")]
Seconds = Annotated[float, Query(gt=0, le=MAX_SECONDS, description="when exact stops")]
RunName = Annotated[str, Query(max_length=1000, description="as in /api/runs")]
RunNames = Annotated[
    list[str], Query(min_length=1, max_length=200, description="runs, or folders above them")
]


def make_app(settings: Settings) -> FastAPI:
    """The studio of a runs directory."""
    planner, jobs = Planner(), Jobs(settings.runs)
    index, curves = RunIndex(settings.runs), Curves(settings.runs)
    solvers, viewers = CapacityLimiter(_SOLVING_AT_ONCE), _Viewers()

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        from scdn.control.solve import warm_up

        await run_sync(warm_up)
        yield
        await run_sync(jobs.close)
        planner.close()

    app = FastAPI(
        title="scdn studio",
        version=__version__,
        description="Plan rounds, start and watch runs, compare methods.",
        docs_url=None,  # its pages would be fetched from elsewhere
        redoc_url=None,
        lifespan=life,
    )
    app.add_middleware(Guard, settings=settings)
    _add_handlers(app)
    _add_schema(app)

    async def solved(work: Callable[[], Any]) -> Response:
        found = await run_sync(work, limiter=solvers)
        return Response(as_json(found), media_type="application/json")

    @app.get("/api/about", response_model=About)
    def about() -> About:
        """What this studio is and knows."""
        from scdn.learning.data import store

        return About(
            version=__version__,
            runs_dir=str(settings.runs),
            methods=[MethodForm(name=m.name, about=m.about) for m in methods()],
            datasets=sorted(store.stored()),
            examples=[example.name for example in examples()],
        )

    @app.get("/api/examples", response_model=list[Example])
    def begin_with() -> list[Example]:
        """Requests and scenarios to begin with."""
        return examples()

    @app.post(
        "/api/plan",
        response_class=Response,
        responses={**_WRONG, 200: {"model": Answer}},
        openapi_extra=_REQUEST,
    )
    async def plan(
        request: Request, solver: Solver = "exact", gap: Gap = 1e-4, time_limit_s: Seconds = 10.0
    ) -> Response:
        """Plans one round: takes a plan request, gives a plan, both as on the command line."""
        body = await request.body()
        return await solved(lambda: planner.plan(body, solver, gap, time_limit_s))

    @app.post(
        "/api/surface",
        response_class=Response,
        responses={**_WRONG, 200: {"model": Surface}},
        openapi_extra=_REQUEST,
    )
    async def surface(
        request: Request,
        altitude_m: Annotated[float, Query(allow_inf_nan=False)],
        points: Annotated[int, Query(ge=2, le=201)] = 61,
    ) -> Response:
        """The best objective with the server anywhere at an altitude."""
        body = await request.body()
        return await solved(lambda: planning.surface(body, altitude_m, points).model_dump())

    @app.post(
        "/api/reach",
        response_class=Response,
        responses={**_WRONG, 200: {"model": Shells}},
        openapi_extra=_REQUEST,
    )
    async def reach(request: Request) -> Response:
        """How far each device is heard at full power, by elevation."""
        body = await request.body()
        return await solved(lambda: planning.shells(body).model_dump())

    @app.post("/api/open", response_model=Opened, responses=_WRONG)
    def open_file(file: FileForm) -> Opened:
        """Reads a request or a scenario, TOML or JSON."""
        return opened(file)

    @app.post("/api/scenario", response_model=Saved, responses=_WRONG)
    def save_scenario(form: SaveForm) -> Saved:
        """Writes a network as a scenario."""
        return Saved(text=saved(form))

    @app.get("/api/runs", response_model=RunList)
    def runs() -> RunList:
        """Every run below the runs directory, and the jobs that were started here."""
        listed = jobs.forms()
        forms, left_out = shown(index.forms())
        return RunList(
            runs_dir=str(settings.runs),
            runs=[_with_job(form, jobs) for form in forms],
            jobs=listed,
            left_out=left_out,
        )

    @app.post("/api/runs", response_model=JobForm, responses=_BUSY, status_code=201)
    def start(form: StartForm) -> JobForm:
        """Starts a run, or a comparison of several methods or seeds."""
        return jobs.start(form)

    @app.post("/api/jobs", response_model=JobForm, responses=_BUSY)
    def act(form: ActionForm) -> JobForm:
        """Pauses, goes on with, stops or resumes a job."""
        return jobs.act(form.job, form.action)

    @app.get("/api/events", response_class=StreamingResponse, responses=_STREAM)
    async def watch(run: RunName, follow: bool = True) -> StreamingResponse:
        """A run's events as they are written: `begin`, `line` for each, `over`."""
        folder = await run_sync(run_folder, settings.runs, run)
        return _stream(viewers.counted(events(folder, follow)))

    @app.get("/api/points", response_class=StreamingResponse, responses=_STREAM)
    async def points(study: RunName, follow: bool = True) -> StreamingResponse:
        """Curves of every run below a folder as they grow."""
        folder = await run_sync(folder_of, settings.runs, study)
        return _stream(viewers.counted(curves.watch(folder, follow)))

    def chosen(run: list[str], reference: str | None) -> Any:
        from scdn.studio.study import study_of  # pandas takes a second to load

        return study_of([folder_of(settings.runs, name) for name in run], reference)

    @app.get("/api/study", response_model=StudyForm, responses=_MISSING)
    def study(run: RunNames, reference: str | None = None) -> StudyForm:
        """Methods side by side over seeds."""
        from scdn.studio.study import study_form

        return study_form(chosen(run, reference))

    @app.get(
        "/api/study.csv",
        response_class=PlainTextResponse,
        responses={**_MISSING, 200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
    )
    def study_csv(run: RunNames) -> Response:
        """One row per run and round."""
        from scdn.studio.study import as_csv

        return _download(as_csv(chosen(run, None)), "text/csv", "rounds.csv")

    @app.get(
        "/api/study.png",
        response_class=Response,
        responses={**_MISSING, 200: {"content": {"image/png": {"schema": {"type": "string"}}}}},
    )
    def study_png(run: RunNames, figure: str = "metric", reference: str | None = None) -> Response:
        """One of the report's pictures."""
        from scdn.studio.study import as_png

        return _download(as_png(chosen(run, reference), figure), "image/png", f"{figure}.png")

    app.mount("/", StaticFiles(directory=PAGE, html=True))
    return app


def _download(content: str | bytes, kind: str, name: str) -> Response:
    where = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=where)


class _Viewers:
    """Counts open streams, so that they cannot be opened without end."""

    def __init__(self) -> None:
        self._open = 0

    def counted(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        if self._open >= MAX_VIEWERS:
            raise BusyError(f"{MAX_VIEWERS} views are open already")
        return self._counted(stream)

    async def _counted(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        self._open += 1
        try:
            async for piece in stream:
                yield piece
        finally:
            self._open -= 1


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


def _faults(status: int, faults: list[Fault]) -> JSONResponse:
    told = [
        {"field": printable(f.field), "found": printable(f.found), "allowed": printable(f.allowed)}
        for f in faults
    ]
    return JSONResponse({"faults": told}, status)


def _add_handlers(app: FastAPI) -> None:
    """Every way to go wrong has the same form: which field, what was found, what is allowed."""

    @app.exception_handler(InputError)
    async def wrong(_: Request, error: InputError) -> JSONResponse:
        return _faults(422, list(error.faults))

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        found = [
            Fault(dotted(entry["loc"][1:]), f"is wrong ({entry['type']})", entry["msg"].lower())
            for entry in error.errors()
        ]
        return _faults(422, found)

    @app.exception_handler(NotThereError)
    async def missing(_: Request, error: NotThereError) -> JSONResponse:
        return _faults(404, [Fault("run", f"{str(error)[:200]!r} is not there", "see /api/runs")])

    @app.exception_handler(BusyError)
    async def busy(_: Request, error: BusyError) -> JSONResponse:
        return _faults(429, [Fault("server", str(error), "try again later")])

    @app.exception_handler(BodyTooLargeError)
    async def large(_: Request, __: BodyTooLargeError) -> JSONResponse:
        return _faults(413, [Fault("body", "is too large", "must be shorter")])

    @app.exception_handler(OutputError)
    async def unwritable(_: Request, error: OutputError) -> JSONResponse:
        return _faults(507, [Fault("runs directory", str(error), "make room, or choose another")])


def _add_schema(app: FastAPI) -> None:
    """The OpenAPI document, with the contract's request in it."""
    made: dict[str, Any] = {}

    def schema() -> dict[str, Any]:
        if not made:
            made.update(
                get_openapi(
                    title=app.title,
                    version=app.version,
                    description=app.description,
                    routes=app.routes,
                )
            )
            place = "#/components/schemas/{model}"
            form = PlanRequest.model_json_schema(by_alias=True, ref_template=place)
            parts = made["components"]["schemas"]
            for name, part in form.pop("$defs", {}).items():
                parts.setdefault(name, part)
            parts["PlanRequest"] = form
        return made

    app.openapi = schema  # type: ignore[method-assign]
