"""The studio as a FastAPI application: routes, static page, error responses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from anyio.to_thread import run_sync
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles

from scdn import __version__
from scdn.control.plan_request import PlanRequest
from scdn.control.solve import warm_up
from scdn.errors import Fault, InputError, dotted, printable
from scdn.file_io import OutputError
from scdn.methods import methods
from scdn.studio.access_control import AccessControl, BodyTooLargeError
from scdn.studio.api_models import About, MethodInfo
from scdn.studio.examples import examples
from scdn.studio.routes_plan import plan_routes
from scdn.studio.routes_runs import run_routes
from scdn.studio.routes_study import study_routes
from scdn.studio.run_folders import NotFoundError
from scdn.studio.run_jobs import TooManyError
from scdn.studio.services import Services
from scdn.studio.settings import StudioSettings

PAGE = Path(__file__).parent / "page"


def create_app(settings: StudioSettings) -> FastAPI:
    """Create the application of a studio with these settings."""
    services = Services.from_settings(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await run_sync(warm_up)
        yield
        await run_sync(services.jobs.close)
        services.planner.close()

    app = FastAPI(
        title="scdn studio",
        version=__version__,
        description="Plan rounds, start and watch runs, compare methods.",
        docs_url=None,  # its pages load scripts from another host
        redoc_url=None,
        lifespan=lifespan,
    )
    app.add_middleware(AccessControl, settings=settings)
    _add_error_handlers(app)
    _add_openapi(app)

    @app.get("/api/about", response_model=About)
    def about() -> About:
        """Return the studio's version, its runs directory, and what runs can be made of."""
        from scdn.data import catalog  # loading the data sets' readers takes a while

        return About(
            version=__version__,
            runs_dir=str(services.runs.root),
            new_runs_dir=str(services.runs.new),
            view=services.runs.view,
            opened=services.runs.opened,
            methods=[MethodInfo(name=m.name, about=m.about) for m in methods()],
            datasets=sorted(catalog.loadable_names()),
            examples=[example.name for example in examples()],
        )

    for routes in (plan_routes(services), run_routes(services), study_routes(services)):
        app.include_router(routes)
    app.mount("/", StaticFiles(directory=PAGE, html=True))
    return app


def _faults(status: int, faults: list[Fault]) -> JSONResponse:
    entries = [
        {"field": printable(f.field), "found": printable(f.found), "allowed": printable(f.allowed)}
        for f in faults
    ]
    return JSONResponse({"faults": entries}, status)


def _add_error_handlers(app: FastAPI) -> None:
    """Give every error the same form: the field, what was found, what is allowed."""

    @app.exception_handler(InputError)
    async def invalid(_: Request, error: InputError) -> JSONResponse:
        return _faults(422, list(error.faults))

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        faults = [
            Fault(dotted(entry["loc"][1:]), f"is invalid ({entry['type']})", entry["msg"].lower())
            for entry in error.errors()
        ]
        return _faults(422, faults)

    @app.exception_handler(NotFoundError)
    async def not_found(_: Request, error: NotFoundError) -> JSONResponse:
        return _faults(404, [Fault("run", f"{str(error)[:200]!r} does not exist", "see /api/runs")])

    @app.exception_handler(TooManyError)
    async def too_many(_: Request, error: TooManyError) -> JSONResponse:
        return _faults(429, [Fault("server", str(error), "try again later")])

    @app.exception_handler(BodyTooLargeError)
    async def large(_: Request, __: BodyTooLargeError) -> JSONResponse:
        return _faults(413, [Fault("body", "is too large", "must be shorter")])

    @app.exception_handler(OutputError)
    async def unwritable(_: Request, error: OutputError) -> JSONResponse:
        return _faults(507, [Fault("runs directory", str(error), "make room, or choose another")])


def _add_openapi(app: FastAPI) -> None:
    """Add the plan request to the OpenAPI document; its route reads the body itself."""
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            schemas = generate()["components"]["schemas"]
            references = "#/components/schemas/{model}"
            schema = PlanRequest.model_json_schema(by_alias=True, ref_template=references)
            for name, definition in schema.pop("$defs", {}).items():
                schemas.setdefault(name, definition)
            schemas["PlanRequest"] = schema
        return generate()

    app.openapi = openapi  # type: ignore[method-assign]
