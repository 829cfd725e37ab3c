"""Routes of planning: plans, the objective's surface, reach, and files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from scdn.control.plan import Answer
from scdn.control.solve import Solver
from scdn.studio import planning
from scdn.studio.files import examples, opened, saved
from scdn.studio.forms import Example, FileForm, Opened, Saved, SaveForm, Shells, Surface
from scdn.studio.parts import WRONG, Parts
from scdn.studio.planning import as_json
from scdn.studio.settings import MAX_SECONDS

_REQUEST = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PlanRequest"}}},
    }
}

_QUICK_S = 0.5

Gap = Annotated[float, Query(ge=1e-9, lt=1, description="proven relative gap")]
Seconds = Annotated[float, Query(gt=0, le=MAX_SECONDS, description="when exact stops")]


def plan_routes(parts: Parts) -> APIRouter:
    """Everything that takes a plan request, and files with one."""
    routes, planner = APIRouter(), parts.planner

    async def solved(work: Callable[[], Any], quick: bool = True) -> Response:
        found = await run_sync(work, limiter=parts.quick if quick else parts.slow)
        return Response(as_json(found), media_type="application/json")

    @routes.post(
        "/api/plan",
        response_class=Response,
        responses={**WRONG, 200: {"model": Answer}},
        openapi_extra=_REQUEST,
    )
    async def plan(
        request: Request, solver: Solver = "exact", gap: Gap = 1e-4, time_limit_s: Seconds = 10.0
    ) -> Response:
        """Plans one round: takes a plan request, gives a plan, both as on the command line."""
        body = await request.body()
        quick = solver != "paper" and time_limit_s <= _QUICK_S
        return await solved(lambda: planner.plan(body, solver, gap, time_limit_s), quick)

    @routes.post(
        "/api/surface",
        response_class=Response,
        responses={**WRONG, 200: {"model": Surface}},
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

    @routes.post(
        "/api/reach",
        response_class=Response,
        responses={**WRONG, 200: {"model": Shells}},
        openapi_extra=_REQUEST,
    )
    async def reach(request: Request) -> Response:
        """How far each device is heard at full power, by elevation."""
        body = await request.body()
        return await solved(lambda: planning.shells(body).model_dump())

    _add_files(routes)
    return routes


def _add_files(routes: APIRouter) -> None:
    @routes.get("/api/examples", response_model=list[Example])
    def begin_with() -> list[Example]:
        """Requests and scenarios to begin with."""
        return examples()

    @routes.post("/api/open", response_model=Opened, responses=WRONG)
    def open_file(file: FileForm) -> Opened:
        """Reads a request or a scenario, TOML or JSON."""
        return opened(file)

    @routes.post("/api/scenario", response_model=Saved, responses=WRONG)
    def save_scenario(form: SaveForm) -> Saved:
        """Writes a network as a scenario."""
        return Saved(text=saved(form))
