"""The studio as an application: its routes, its page, and how it says what is wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from anyio.to_thread import run_sync
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles

from scdn import __version__
from scdn.control.request import PlanRequest
from scdn.control.solve import warm_up
from scdn.errors import Fault, InputError, dotted, printable
from scdn.file_io import OutputError
from scdn.methods import methods
from scdn.studio.files import examples
from scdn.studio.forms import About, MethodForm
from scdn.studio.guard import BodyTooLargeError, Guard
from scdn.studio.jobs import BusyError
from scdn.studio.parts import Parts
from scdn.studio.places import NotThereError
from scdn.studio.routes_plan import plan_routes
from scdn.studio.routes_runs import run_routes
from scdn.studio.routes_study import study_routes
from scdn.studio.settings import Settings

PAGE = Path(__file__).parent / "page"


def make_app(settings: Settings) -> FastAPI:
    """The studio of a runs directory."""
    parts = Parts.of(settings)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        await run_sync(warm_up)
        yield
        await run_sync(parts.jobs.close)
        parts.planner.close()

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

    @app.get("/api/about", response_model=About)
    def about() -> About:
        """What this studio is and knows."""
        from scdn.data import store  # loading the data sets' readers takes a while

        return About(
            version=__version__,
            runs_dir=str(settings.runs),
            methods=[MethodForm(name=m.name, about=m.about) for m in methods()],
            datasets=sorted(store.stored()),
            examples=[example.name for example in examples()],
        )

    for routes in (plan_routes(parts), run_routes(parts), study_routes(parts)):
        app.include_router(routes)
    app.mount("/", StaticFiles(directory=PAGE, html=True))
    return app


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
