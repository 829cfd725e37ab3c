"""Plans, the objective's surface and reach shells for requests that come over HTTP."""

from __future__ import annotations

import json
import math
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from threading import Lock
from typing import Any

import numpy as np

from scdn.control.exact.objective_surface import objective_at
from scdn.control.request import PlanRequest, make_request, problem_of
from scdn.control.solve import Solver, solve
from scdn.errors import input_error
from scdn.file_io import Table, parse_document
from scdn.scenario.model import Radio
from scdn.studio.forms import Shell, Shells, Surface
from scdn.studio.settings import MAX_DEVICES, MAX_PAPER_DEVICES, MAX_SHELLS
from scdn.world.channel import path_loss

_SOURCE = "request"


def read(body: bytes, most: int = MAX_DEVICES) -> PlanRequest:
    """The request in a body of JSON."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise input_error(_SOURCE, "body", "is not UTF-8", "must be JSON") from None
    if text.lstrip()[:1] != "{":
        found = "is empty" if not text.strip() else "is no object"
        raise input_error(_SOURCE, "(top level)", found, "must be a JSON object")
    return checked(parse_document(text, f"{_SOURCE}.json"), most)


def checked(document: Table, most: int = MAX_DEVICES) -> PlanRequest:
    """The request in a table, with no more devices than can be planned here."""
    devices = document.get("devices")
    if isinstance(devices, list) and len(devices) > most:
        found = f"a list of {len(devices)}"
        raise input_error(
            _SOURCE, "devices", found, f"takes at most {most} here; scdn plan takes more"
        )
    return make_request(document, _SOURCE)


class Planner:
    """Solves requests; Algorithm 3 in a process of its own, since it holds Python's lock."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._lock = Lock()

    def plan(self, body: bytes, solver: Solver, gap: float, time_limit_s: float) -> Table:
        """The contract's answer."""
        if solver == "paper":
            request = read(body, MAX_PAPER_DEVICES)
            return self._elsewhere(request.model_dump(mode="json", by_alias=True))
        problem = problem_of(read(body))
        return solve(problem, solver, gap=gap, time_limit_s=time_limit_s).document()

    def _elsewhere(self, document: Table) -> Table:
        with self._lock:
            if self._pool is None:
                self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
            pool = self._pool
        try:
            return pool.submit(by_the_paper, document).result()
        except BrokenProcessPool:
            with self._lock:
                self._pool = None
            raise input_error(_SOURCE, "solver", "paper: its process ended", "try again") from None

    def close(self) -> None:
        """Ends the other process."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


def by_the_paper(document: Table) -> Table:
    """Algorithm 3's answer, in whichever process this is."""
    return solve(problem_of(make_request(document, _SOURCE)), "paper").document()


def surface(body: bytes, altitude_m: float, points: int) -> Surface:
    """The objective over a grid at one altitude; altitudes at which it cannot fly are all null."""
    problem = problem_of(read(body))
    width, depth, height = problem.region_m.tolist()
    if not 0 <= altitude_m <= height:
        raise input_error(
            "surface", "altitude_m", f"got {altitude_m:g}", f"must be in [0, {height:g}]"
        )
    x, y = np.linspace(0, width, points), np.linspace(0, depth, points)
    gx, gy = np.meshgrid(x, y)
    places = np.stack([gx, gy, np.full_like(gx, altitude_m)], axis=-1)
    with np.errstate(all="ignore"):
        values = objective_at(problem, places)
    rows = [[_number(v) for v in row] for row in values.tolist()]
    return Surface(altitude_m=altitude_m, x_m=x.tolist(), y_m=y.tolist(), objective=rows)


_ELEVATIONS = np.linspace(0.0, 90.0, 19)


def shells(body: bytes) -> Shells:
    """How far each device is heard at full power, by elevation; the same up and down.

    Path loss is a power of the distance times a function of the elevation: what it is at one
    distance says at which it is the most that the device's transmit limit can overcome.
    """
    problem = problem_of(read(body, MAX_SHELLS))
    with np.errstate(all="ignore"):
        reach = problem.max_power_w / problem.least_power_per_loss()
        found = [
            _shell(name, bool(place[2] > 0), float(most), problem.radio)
            for name, place, most in zip(problem.ids, problem.position_m, reach, strict=True)
        ]
    return Shells(elevation_deg=_ELEVATIONS.tolist(), shells=found)


def _shell(name: str, flying: bool, reach: float, radio: Radio) -> Shell:
    link = radio.a2a if flying else radio.a2g
    probe, up = max(radio.min_distance_m, 1.0), np.deg2rad(_ELEVATIONS)
    device = np.array([[0.0, 0.0, probe if flying else 0.0]])
    directions = np.stack([np.cos(up), np.zeros_like(up), np.sin(up)], axis=-1)
    loss = path_loss(device + probe * directions, device, radio)[:, 0]
    radius = probe * np.power(reach / loss, 1.0 / link.exponent)
    heard = [_number(r) for r in radius.tolist()]
    return Shell(id=name, link="a2a" if flying else "a2g", radius_m=heard)


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def as_json(document: Any) -> bytes:
    """Strict JSON without spaces."""
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.encode()
