"""HTTP routes of planning: plans, the objective over a map, reach, and files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel

from scdn.control.plan import PlanAnswer
from scdn.control.solve import Solver
from scdn.studio.api_models import (
    Example,
    LeastChanges,
    ObjectiveSurface,
    OpenDevicesRequest,
    OpenedDevices,
    OpenedFile,
    OpenFileRequest,
    ReachShells,
    SavedScenario,
    SaveScenarioRequest,
)
from scdn.studio.examples import examples
from scdn.studio.planner import changes_that_help, compact_json, objective_grid, reach_shells
from scdn.studio.scenario_saving import save_scenario
from scdn.studio.services import INVALID, Services
from scdn.studio.settings import MAX_SECONDS
from scdn.studio.uploads import open_file, replace_devices

_REQUEST = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PlanRequest"}}},
    }
}
_QUICK_S = 0.5  # a time limit up to which a plan is not kept waiting by slow ones

Gap = Annotated[float, Query(ge=1e-9, lt=1, description="proven relative gap")]
Seconds = Annotated[float, Query(gt=0, le=MAX_SECONDS, description="of the exact solver")]

Coordinate = Annotated[float, Query(allow_inf_nan=False, description="of the server")]


def plan_routes(services: Services) -> APIRouter:
    """Return the routes that take a plan request, or files with one."""
    routes, planner = APIRouter(), services.planner

    def answers(model: type[BaseModel]) -> dict[str, Any]:
        responses = {**INVALID, 200: {"model": model}}
        return {"response_class": Response, "responses": responses, "openapi_extra": _REQUEST}

    async def answer(compute: Callable[[], Any], quick: bool = True) -> Response:
        document = await run_sync(compute, limiter=services.quick if quick else services.slow)
        return Response(compact_json(document), media_type="application/json")

    @routes.post("/api/plan", **answers(PlanAnswer))
    async def plan(
        request: Request, solver: Solver = "exact", gap: Gap = 1e-4, time_limit_s: Seconds = 10.0
    ) -> Response:
        """Plan one round: take a plan request and return a plan, both as `scdn plan` does."""
        body = await request.body()
        quick = solver != "paper" and time_limit_s <= _QUICK_S
        return await answer(lambda: planner.plan(body, solver, gap, time_limit_s), quick)

    @routes.post("/api/surface", **answers(ObjectiveSurface))
    async def surface(
        request: Request,
        altitude_m: Annotated[float, Query(allow_inf_nan=False)],
        points: Annotated[int, Query(ge=2, le=201)] = 61,
    ) -> Response:
        """Return the least objective for each server position at an altitude."""
        body = await request.body()
        return await answer(lambda: objective_grid(body, altitude_m, points).model_dump())

    @routes.post("/api/reach", **answers(ReachShells))
    async def reach(request: Request) -> Response:
        """Return how far each device reaches at full power, by elevation."""
        body = await request.body()
        return await answer(lambda: reach_shells(body).model_dump())

    @routes.post("/api/least-changes", **answers(LeastChanges))
    async def changes(
        request: Request, x_m: Coordinate, y_m: Coordinate, z_m: Coordinate
    ) -> Response:
        """Return the least changes that would help devices which rest, with the server there."""
        body = await request.body()
        return await answer(lambda: changes_that_help(body, (x_m, y_m, z_m)).model_dump())

    _add_file_routes(routes)
    return routes


def _add_file_routes(routes: APIRouter) -> None:
    @routes.get("/api/examples", response_model=list[Example])
    def list_examples() -> list[Example]:
        """Return the example requests and scenarios."""
        return examples()

    @routes.post("/api/open", response_model=OpenedFile, responses=INVALID)
    def open_document(file: OpenFileRequest) -> OpenedFile:
        """Read a plan request or a scenario, in TOML or JSON."""
        return open_file(file)

    @routes.post("/api/devices", response_model=OpenedDevices, responses=INVALID)
    def open_devices(file: OpenDevicesRequest) -> OpenedDevices:
        """Return a plan request with the devices of a CSV."""
        return replace_devices(file)

    @routes.post("/api/scenario", response_model=SavedScenario, responses=INVALID)
    def write_scenario(form: SaveScenarioRequest) -> SavedScenario:
        """Return a network as a scenario, and what a scenario cannot take over."""
        return save_scenario(form)
