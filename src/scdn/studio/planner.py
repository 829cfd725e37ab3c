"""Plans, the objective over a map and reach shells, for plan requests that come over HTTP."""

from __future__ import annotations

import json
import math
from typing import Any, Literal

import numpy as np

from scdn.control.exact.position_objective import objective_at
from scdn.control.least_changes import resting_devices
from scdn.control.plan_request import PlanRequest, make_request, problem_of
from scdn.control.solve import Solver, solve
from scdn.errors import format_value, input_error
from scdn.file_io import Table, parse_document
from scdn.job_pool import BackgroundProcess, WorkerDiedError
from scdn.scenario.round_settings import report_limit_s
from scdn.studio.api_models import (
    LeastChangeInfo,
    LeastChanges,
    ObjectiveSurface,
    ReachShell,
    ReachShells,
    RestingDeviceInfo,
)
from scdn.studio.settings import MAX_DEVICES, MAX_PAPER_DEVICES, MAX_RESTING, MAX_SHELLS
from scdn.world.decibels import db_to_ratio

_SOURCE = "request"


def parse_request(body: bytes, max_devices: int = MAX_DEVICES) -> PlanRequest:
    """Return the plan request in a JSON body."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise input_error(_SOURCE, "body", "is not UTF-8", "must be JSON") from None
    if text.lstrip()[:1] != "{":
        problem = "is empty" if not text.strip() else "is not an object"
        raise input_error(_SOURCE, "(top level)", problem, "must be a JSON object")
    return checked_request(parse_document(text, f"{_SOURCE}.json"), max_devices)


def checked_request(document: Table, max_devices: int = MAX_DEVICES) -> PlanRequest:
    """Return the plan request in a table; refuse more devices than the studio plans."""
    devices = document.get("devices")
    if isinstance(devices, list) and len(devices) > max_devices:
        allowed = f"must be at most {max_devices} in the studio; scdn plan takes more"
        raise input_error(_SOURCE, "devices", f"a list of {len(devices)}", allowed)
    radio = document.get("radio")
    model = radio.get("model") if isinstance(radio, dict) else None
    if ":" in str(model):
        fault, allowed = f"got {format_value(model)}", "names code: use the command line"
        raise input_error(_SOURCE, "radio.model", fault, allowed)
    return make_request(document, _SOURCE)


class Planner:
    """Solves plan requests; Algorithm 3 in a separate process, since it holds the GIL."""

    def __init__(self) -> None:
        self._process = BackgroundProcess()

    def plan(self, body: bytes, solver: Solver, gap: float, time_limit_s: float) -> Table:
        """Return the plan as `scdn plan --json` prints it."""
        if solver == "paper":
            request = parse_request(body, MAX_PAPER_DEVICES)
            document = request.model_dump(mode="json", by_alias=True)
            try:
                return self._process.call(run_algorithm3, document)
            except WorkerDiedError:
                fault = "paper: its process ended unexpectedly"
                raise input_error(_SOURCE, "solver", fault, "try again") from None
        problem = problem_of(parse_request(body))
        return solve(problem, solver, gap=gap, time_limit_s=time_limit_s).document()

    def close(self) -> None:
        """End the separate process."""
        self._process.close()


def run_algorithm3(document: Table) -> Table:
    """Return Algorithm 3's plan."""
    return solve(problem_of(make_request(document, _SOURCE)), "paper").document()


def objective_grid(body: bytes, altitude_m: float, points: int) -> ObjectiveSurface:
    """Return the objective over a grid of server positions at one altitude."""
    problem = problem_of(parse_request(body))
    width, depth, height = problem.region_m.tolist()
    if not 0 <= altitude_m <= height:
        raise input_error(
            "surface", "altitude_m", f"got {altitude_m:g}", f"must be in [0, {height:g}]"
        )
    x, y = np.linspace(0, width, points), np.linspace(0, depth, points)
    gx, gy = np.meshgrid(x, y)
    positions = np.stack([gx, gy, np.full_like(gx, altitude_m)], axis=-1)
    with np.errstate(all="ignore"):
        values = objective_at(problem, positions)
    rows = [[_finite_or_none(v) for v in row] for row in values.tolist()]
    return ObjectiveSurface(altitude_m=altitude_m, x_m=x.tolist(), y_m=y.tolist(), objective=rows)


Link = Literal["a2a", "a2g"]
_ELEVATIONS = np.linspace(0.0, 90.0, 19)


def reach_shells(body: bytes) -> ReachShells:
    """Return how far each device reaches at full power, by elevation; the same up and down."""
    problem = problem_of(parse_request(body, MAX_SHELLS))
    up = np.deg2rad(_ELEVATIONS)
    directions = np.stack([np.cos(up), np.zeros_like(up), np.sin(up)], axis=-1)
    shells = []
    with np.errstate(all="ignore"):
        max_loss = problem.max_power_w / problem.least_power_per_loss()
        max_loss /= db_to_ratio(problem.wall_loss_db)
        for name, position, loss in zip(problem.ids, problem.position_m, max_loss, strict=True):
            radius = problem.link.reach_m(float(loss), position, directions)
            link: Link = "a2a" if position[2] > 0 else "a2g"
            radius_m = [_finite_or_none(r) for r in radius.tolist()]
            shells.append(ReachShell(id=name, link=link, radius_m=radius_m))
    return ReachShells(elevation_deg=_ELEVATIONS.tolist(), shells=shells)


def changes_that_help(body: bytes, server_m: tuple[float, float, float]) -> LeastChanges:
    """Return the least changes that would help devices which rest, with the server there."""
    request = parse_request(body)
    most_delay_s = report_limit_s(math.inf, request.radio, request.round_s)
    resting = resting_devices(
        problem_of(request),
        np.array(server_m),
        most_delay_s=most_delay_s,
        most_devices=MAX_RESTING,
    )
    return LeastChanges(
        devices=[
            RestingDeviceInfo(
                id=device.id,
                reason=device.reason,
                changes=[LeastChangeInfo(**change._asdict()) for change in device.changes],
            )
            for device in resting
        ]
    )


def _finite_or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def compact_json(document: Any) -> bytes:
    """Return strict JSON without spaces."""
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.encode()
