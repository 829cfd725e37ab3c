"""A map of a scenario: who is where, who is in reach at full power, who came and went."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scdn.arrays import Array, Mask
from scdn.documents import write_atomic
from scdn.faults import refuse
from scdn.scenario.model import Scenario
from scdn.world.churn import churn_trace
from scdn.world.fleet import Fleet
from scdn.world.geometry import server_start
from scdn.world.reach import in_reach, least_power

_FINE, _COARSE = 301, 61  # points along the longer side of the coverage map
_CROWD = 100  # more devices than this are counted on a coarse one


@dataclass(frozen=True, eq=False)
class Map:
    """Everything a picture shows, before any drawing."""

    scenario: Scenario
    round: int
    server_m: Array
    fleet: Fleet  # everybody seen up to this round
    present: Mask
    gone: Mask
    newcomer: Mask  # present, but not from the start
    reached: Mask  # present and in reach of the server at full power
    needed_w: Array
    x: Array
    y: Array
    coverage: Array  # devices in reach if the server hovered at (x, y) at its height

    @property
    def kinds(self) -> list[str]:
        """Kinds of devices in the order they first appear."""
        return list(dict.fromkeys(self.fleet.kind.tolist()))

    @property
    def title(self) -> str:
        """One line that says what is seen."""
        when = "at the start" if self.round == 0 else f"round {self.round}"
        here, reached = int(self.present.sum()), int(self.reached.sum())
        return f"{self.scenario.name}, {when}: {reached} of {here} devices in reach"


def make_map(scenario: Scenario, round_: int = 0) -> Map:
    """What the network looks like when the round begins, the server at its start."""
    trace = churn_trace(scenario)
    seen = trace.entered < round_
    fleet = trace.fleet.take(seen)
    present, gone = trace.present(round_)[seen], trace.gone(round_)[seen]
    server = server_start(scenario)
    x, y, coverage = _coverage(scenario, fleet.take(present), float(server[2]))
    return Map(
        scenario=scenario,
        round=round_,
        server_m=server,
        fleet=fleet,
        present=present,
        gone=gone,
        newcomer=present & (trace.entered[seen] >= 0),
        reached=present & in_reach(scenario, fleet, server),
        needed_w=least_power(scenario, fleet, server),
        x=x,
        y=y,
        coverage=coverage,
    )


def _coverage(scenario: Scenario, fleet: Fleet, altitude_m: float) -> tuple[Array, Array, Array]:
    width, depth, _ = scenario.region_m
    points = _FINE if len(fleet) <= _CROWD else _COARSE
    step = max(width, depth) / (points - 1)
    x = np.linspace(0, width, max(2, int(width / step) + 1))
    y = np.linspace(0, depth, max(2, int(depth / step) + 1))
    counts = [
        in_reach(scenario, fleet, np.stack([x, np.full_like(x, v), np.full_like(x, altitude_m)], 1))
        .sum(axis=1)
        .astype(np.float64)
        for v in y
    ]
    return x, y, np.array(counts)


def draw_map(scenario: Scenario, out: str | Path, round_: int = 0) -> None:
    """Writes the map as .png, .svg or (interactive, offline) .html."""
    suffix = Path(out).suffix.lower()
    if suffix not in (".png", ".svg", ".html"):
        raise refuse(
            "--out", str(out), f"ends with {suffix or 'nothing'}", "must be .png, .svg, .html"
        )
    data = make_map(scenario, round_)
    if suffix == ".html":
        from scdn.pictures.map_html import html

        write_atomic(out, html(data))
    else:
        from scdn.pictures.map_png import image

        write_atomic(out, image(data, suffix[1:]))
