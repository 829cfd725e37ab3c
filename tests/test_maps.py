"""Maps: networks of any shape can be drawn, and a map shows the network as it is."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from scdn import make_request, problem_of, read_request, solve
from scdn.report.map_scene import drawn_size, write_map
from scdn.report.network_map import make_network_map
from scdn.report.plan_map import make_plan_map
from scdn.scenario import make_scenario, read_scenario
from scdn.simulation.request_builder import round_request
from scdn.world.churn import churn_trace
from scdn.world.geometry import in_keep_out

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


@pytest.mark.parametrize("name", ["building", "smart-grid", "wildfire"])
def test_a_plans_map_shows_the_way_the_walls_and_the_reach(tmp_path, examples, name):
    scenario = read_scenario(examples / f"{name}.toml")
    request = round_request(scenario)
    devices = tuple(d.model_copy(update={"payload_bits": 1e5}) for d in request.devices)
    plan = solve(problem_of(request.model_copy(update={"devices": devices})))
    problem = plan.problem
    scene = make_plan_map(plan)
    assert np.isfinite(scene.keep_out_m).all()
    path = scene.path_m
    np.testing.assert_array_equal(path[[0, -1]], [problem.server_m, plan.server_m])
    steps = np.diff(path, axis=0)
    length = np.hypot(steps[:, 0], steps[:, 1]).sum()
    lateral_j = problem.movement_j(plan.server_m).lateral
    assert length * problem.movement.lateral_j_per_m == pytest.approx(float(lateral_j))
    between = np.concatenate([np.linspace(a, b, 50) for a, b in pairwise(path)])
    assert name == "smart-grid" or not in_keep_out(between[1:-1], problem.keep_out_m).any()
    column = np.abs(scene.heat_map.x - plan.server_m[0]).argmin()
    row = np.abs(scene.heat_map.y - plan.server_m[1]).argmin()
    here = [scene.heat_map.x[column], scene.heat_map.y[row], plan.server_m[2]]
    needed = problem.least_power(here) / problem.max_power_w
    shares = [outline.power_share[row, column] for outline in scene.reach]
    np.testing.assert_allclose(shares, needed)
    assert len(scene.candidate_labels) == len(scene.candidates_m)
    for kind in ("png", "html"):
        write_map(scene, tmp_path / f"plan.{kind}")


def test_flat_regions_are_stretched_and_boxes_on_the_ground_are_in_its_way():
    assert drawn_size((100, 100, 100)) == ((100, 100, 100), 1.0)
    (x, y, z), factor = drawn_size((2000, 1000, 120))
    assert (x, y) == (2000, 1000)
    assert z == pytest.approx(120 * factor)
    assert factor > 1
    scenario = make_scenario({"fleet": [{"count": 1}], "server": {"position_m": [50, 50, 0]}})
    scene = make_network_map(scenario)
    assert scene.forbids_altitude([0, 0, 0, 9, 9, 5])
    assert not scene.forbids_altitude([0, 0, 1, 9, 9, 5])
