"""Maps: networks of any shape can be drawn, and a map shows the network as it is."""

from __future__ import annotations

import numpy as np
import pytest

from scdn import make_request, problem_of, read_request, solve
from scdn.report.map_scene import write_map
from scdn.report.network_map import make_network_map
from scdn.report.plan_map import make_plan_map
from scdn.scenario import make_scenario, read_scenario
from scdn.world.churn import churn_trace

SERVER = {"server": {"position_m": [1, 1, 1]}}
_FILE_START = {"png": b"\x89PNG", "svg": b"<?xml", "html": b"<!doctype html"}


@pytest.mark.parametrize("kind", ["png", "svg", "html"])
@pytest.mark.parametrize("name", ["building", "smart-grid", "wildfire"])
def test_examples_can_be_drawn(tmp_path, examples, name, kind):
    scenario = read_scenario(examples / f"{name}.toml")
    write_map(make_network_map(scenario, 20), tmp_path / f"map.{kind}")
    raw = (tmp_path / f"map.{kind}").read_bytes()
    assert raw.startswith(_FILE_START[kind])
    assert len(raw) > 10_000
    if kind == "html":
        assert b"src=" not in raw.split(b"<body>")[0]  # the page loads nothing


@pytest.mark.parametrize(
    "document",
    [
        {"fleet": [{"count": 1}], "region_m": [1000, 10, 20]},
        {"fleet": [{"count": 300, "altitude_m": [0, 100]}]},
        {"fleet": [{"kind": "<b>$x^", "count": 3}], "name": "<script>alert(1)</script>"},
        {"devices": [{"id": "a", "position_m": [50, 50, 50]}], "churn": {"entry_rate": 0}},
        {"fleet": [{"count": 3}], "server": {"start": "max"}, "max_delay_s": 1e-9},
    ],
)
def test_unusual_networks_can_be_drawn(tmp_path, document):
    scenario = make_scenario(document)
    for kind in ("png", "html"):
        write_map(make_network_map(scenario), tmp_path / f"map.{kind}")
    page = (tmp_path / "map.html").read_text()
    assert "<script>alert(1)" not in page


def test_a_map_shows_present_departed_and_reachable_devices(examples):
    scenario = read_scenario(examples / "wildfire.toml")
    trace = churn_trace(scenario)
    for round_ in (0, 10, 25):
        scene = make_network_map(scenario, round_)
        present, departed = trace.present(round_).sum(), trace.departed(round_).sum()
        assert sum(len(group.names) for group in scene.groups) == present
        assert len(scene.departed_m) == departed
        reached = sum(group.filled.sum() for group in scene.groups)
        assert len(scene.linked_m) == reached
        heat_map = scene.heat_map
        assert heat_map.value.max() <= present
        column = np.abs(heat_map.x - scene.server_m[0]).argmin()
        row = np.abs(heat_map.y - scene.server_m[1]).argmin()
        assert heat_map.value[row, column] == reached


@pytest.mark.parametrize("kind", ["png", "svg", "html"])
def test_plans_can_be_drawn(tmp_path, examples, kind):
    plan = solve(problem_of(read_request(examples / "request.json", ["max_delay_s=0.05"])))
    assert not plan.decision.active.all()
    write_map(make_plan_map(plan), tmp_path / f"plan.{kind}")
    assert (tmp_path / f"plan.{kind}").read_bytes().startswith(_FILE_START[kind])
    scene = make_plan_map(plan)
    assert np.nanmin(scene.heat_map.value) >= plan.lower_bound
    empty = solve(problem_of(make_request({"region_m": [9, 9, 9], "devices": [], **SERVER})))
    write_map(make_plan_map(empty), tmp_path / f"empty.{kind}")
