"""Flights as .plan files of QGroundControl: what is written is what was flown, and avoids boxes."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import jsonschema
import numpy as np
import pytest
from command_line import refused, scdn
from conftest import ROOT, many
from hypothesis import given
from hypothesis import strategies as st

from scdn.control.plan_request import make_request, problem_of
from scdn.control.solve import solve
from scdn.errors import InputError
from scdn.record.run_reader import EVENTS, Run
from scdn.report.flight import flight_of_run
from scdn.report.flight_path import crossings
from scdn.report.flight_plan import LONGEST_HOLD_S, MANY_ITEMS, make_flight_plan
from scdn.scenario import make_scenario
from scdn.scenario.local_plane import LocalPlane

ORIGIN = (45.0, 7.0)
GOLDEN = ROOT / "tests" / "flight.plan"
WAYPOINT, LAND, TAKEOFF, DELAY, SPEED = 16, 21, 22, 93, 178

# What QGroundControl checks when it loads a file: PlanMasterController, MissionController,
# MissionItem, GeoFenceController, QGCFencePolygon and RallyPointController.
_LATITUDE = {"type": "number", "minimum": -90, "maximum": 90}
_LONGITUDE = {"type": "number", "minimum": -180, "maximum": 180}
_CORNER = {"type": "array", "prefixItems": [_LATITUDE, _LONGITUDE], "minItems": 2, "maxItems": 2}


def _object(**properties):
    return {"type": "object", "properties": properties, "required": list(properties)}


_ITEM = _object(
    type={"const": "SimpleItem"},
    command={"enum": [WAYPOINT, LAND, TAKEOFF, DELAY, SPEED]},
    frame={"enum": [2, 3]},
    params={"type": "array", "minItems": 7, "maxItems": 7, "items": {"type": ["number", "null"]}},
    autoContinue={"const": True},
    doJumpId={"type": "integer", "minimum": 1},
)
_HOME = {"type": "array", "prefixItems": [_LATITUDE, _LONGITUDE, {"type": "number"}], "minItems": 3}
_POLYGON = _object(
    version={"const": 1},
    inclusion={"type": "boolean"},
    polygon={"type": "array", "minItems": 3, "items": _CORNER},
)
SCHEMA = _object(
    fileType={"const": "Plan"},
    version={"const": 1},
    groundStation={"type": "string"},
    mission=_object(
        version={"const": 2},
        firmwareType={"enum": [3, 12]},
        vehicleType={"enum": [2, 10]},
        cruiseSpeed={"type": "number", "exclusiveMinimum": 0},
        hoverSpeed={"type": "number", "exclusiveMinimum": 0},
        plannedHomePosition=_HOME,
        items={"type": "array", "minItems": 1, "items": _ITEM},
    ),
    geoFence=_object(
        version={"const": 2},
        circles={"type": "array", "maxItems": 0},
        polygons={"type": "array", "items": _POLYGON},
    ),
    rallyPoints=_object(version={"const": 2}, points={"type": "array", "maxItems": 0}),
)


def recorded_run(tmp_path, positions, latency_s=10.0, **scenario):
    """Return a run whose server was at these positions, as read from its events."""
    settings = {"region_m": [200, 200, 120], "server": {"position_m": [100, 100, 50]}, **scenario}
    latencies = np.broadcast_to(latency_s, len(positions)).tolist()
    rounds = [
        {"event": "round", "round": r, "server": {"position_m": list(p)}, "latency_s": s}
        for r, (p, s) in enumerate(zip(positions, latencies, strict=True))
    ]
    start = {"event": "start", "schema": 1, "scenario": settings, "method": "sc-dn", "seed": 0}
    return Run(tmp_path, settings, "sc-dn", 0, rounds, None, start)


def write(folder, run):
    folder.mkdir()
    lines = (json.dumps(event) + "\n" for event in (run.start, *run.rounds))
    (folder / EVENTS).write_text("".join(lines))
    return folder


def planned(run, origin=ORIGIN, stay_s=None, **options):
    """Return items, document and warnings; the document follows the schema, its ids count up."""
    plan = make_flight_plan(flight_of_run(run, stay_s), origin, **options)
    jsonschema.validate(plan.document, SCHEMA)
    assert json.loads(json.dumps(plan.document, allow_nan=False)) == plan.document
    items = plan.document["mission"]["items"]
    assert [item["doJumpId"] for item in items] == list(range(1, len(items) + 1))
    return items, plan.document, plan.warnings


def metres(item):
    x, y = LocalPlane(*ORIGIN).metres(*item["params"][4:6])
    return np.array([x, y, item["params"][6]])


def way(items, document):
    """Return all points of a mission, home first."""
    home = LocalPlane(*ORIGIN).metres(*document["mission"]["plannedHomePosition"][:2])
    return [np.array([*home, 0.0]), *(metres(item) for item in items if item["frame"] == 3)]


def commands(items):
    return [item["command"] for item in items]


# --- coordinates ----------------------------------------------------------------------------------

small = st.floats(-2000, 2000)


@given(st.floats(-89, 89), st.floats(-180, 180), small, small)
def test_degrees_and_metres_are_inverse(latitude, longitude, x, y):
    plane = LocalPlane(latitude, longitude)
    there = plane.degrees(x, y)
    assert -180 <= there[1] <= 180
    assert plane.metres(*there) == pytest.approx((x, y), abs=1e-5)
    assert plane.metres(latitude, longitude) == (0, 0)
    north = plane.degrees(0, 1000)[0] - latitude  # a meridian is 40,008 km long
    assert north * 40_008_000 / 360 == pytest.approx(1000, rel=0.006)


def test_a_run_knows_the_origin_of_a_csv(tmp_path):
    (tmp_path / "sites.csv").write_text("id,lat,lon,alt\na,45,7.001,0\nb,45.001,7,0\n")
    document = {"devices_csv": "sites.csv", "region_m": [200, 200, 100]}
    scenario = make_scenario(document, folder=tmp_path)
    assert scenario.origin_deg == (45, 7)
    for device, degrees in zip(scenario.devices, [(45, 7.001), (45.001, 7)], strict=True):
        x, y, _ = device.position_m
        assert LocalPlane(*scenario.origin_deg).degrees(x, y) == pytest.approx(degrees, abs=1e-12)
    (tmp_path / "metres.csv").write_text("id,x,y,z\na,1,2,0\n")
    in_metres = make_scenario({**document, "devices_csv": "metres.csv"}, folder=tmp_path)
    assert in_metres.origin_deg is None


# --- stops and holds ------------------------------------------------------------------------------

spots = st.tuples(st.integers(0, 200), st.integers(0, 200), st.sampled_from([0, 5, 60]))
walks = st.lists(spots.flatmap(lambda s: st.lists(st.just(s), min_size=1, max_size=3)), max_size=6)


def _flown_s(here, there):
    """A rotary-wing's straight flight: up at 3 m/s, along at 18.3 m/s, down at 2 m/s."""
    top = max(here[2], there[2])
    vertical = (top - here[2]) / 3 + (top - there[2]) / 2
    return vertical + math.dist(here[:2], there[:2]) / 18.3


@given(walks.filter(bool), st.sampled_from(["paper", "rotary-wing"]), st.sampled_from([0.4, 7, 30]))
def test_every_position_is_a_stop_and_holds_are_the_stays(tmp_path, walk, model, stay_s):
    start = (100, 100, 50)
    positions = [position for repeated in walk for position in repeated]
    flown = [_flown_s(*leg) * (model != "paper") for leg in pairwise([start, *positions])]
    run = recorded_run(
        tmp_path, positions, stay_s + np.array(flown), movement={"model": model}, round_s=stay_s
    )
    stops, stays = [], []
    for before, position in pairwise([None, *positions]):
        if position != before:
            stops.append(position)
            stays.append(0.0)
        stays[-1] += stay_s
    items, document, _ = planned(run)
    held = [item for item in items if item["command"] in (WAYPOINT, DELAY) and item["params"][0]]
    assert [item["params"][0] for item in held] == [math.ceil(stay - 1e-9) for stay in stays]
    here, places = None, []
    for item in items:
        here = metres(item) if item["frame"] == 3 else here
        if item in held:
            places.append(here)
    assert np.allclose(places, stops, atol=2e-3)
    for item, stop in zip(held, stops, strict=True):  # who stands on the ground does not hover
        assert item["command"] == (WAYPOINT if stop[2] else DELAY)
    _check_flight(items, document)
    given_stay = planned(run, stay_s=60.0)[0]
    assert sum(i["params"][0] for i in given_stay if i["command"] in (WAYPOINT, DELAY)) == (
        60 * len(positions)
    )


def _check_flight(items, document, end="home"):
    """A flight begins and ends on the ground, takes off from there and lands vertically."""
    in_the_air, here = False, way(items, document)[0]
    for item in items:
        if item["frame"] == 2:
            continue
        there = metres(item)
        vertical = np.allclose(here[:2], there[:2], atol=2e-3)
        match item["command"]:
            case 22:
                assert not in_the_air
                assert vertical
                assert there[2] >= 1
                in_the_air = True
            case 21:
                assert in_the_air
                assert vertical
                in_the_air = False
            case 16:
                assert in_the_air
                assert there[2] > 0
        here = there
    assert not in_the_air
    if end == "home":
        assert np.allclose(here[:2], way(items, document)[0][:2], atol=2e-3)


def test_a_hold_that_is_too_long_for_one_item_is_split(tmp_path):
    run = recorded_run(tmp_path, [(10, 10, 30)], 2.5 * LONGEST_HOLD_S)
    holds = [item["params"][0] for item in planned(run)[0] if item["params"][0]]
    assert holds[:2] == [LONGEST_HOLD_S] * 2
    assert sum(holds) == math.ceil(2.5 * LONGEST_HOLD_S)


def test_a_mission_that_many_autopilots_cannot_store_is_warned_of(tmp_path):
    positions = [(x % 200, 10, 30) for x in range(MANY_ITEMS)]
    assert any(
        f"{MANY_ITEMS} to 700" in line for line in planned(recorded_run(tmp_path, positions))[2]
    )
    assert planned(recorded_run(tmp_path, positions[:100]))[2] == []


# --- kinds of movement ----------------------------------------------------------------------------


def test_a_server_that_lands_takes_off_again_at_each_position(tmp_path):
    positions = [(50, 50, 0), (50, 50, 0), (150, 50, 4), (100, 100, 0)]
    start = {"server": {"position_m": [100, 100, 0]}, "movement": {"model": "landing"}}
    run = recorded_run(tmp_path, positions, 100.0, round_s=30.0, **start)
    items, document, warnings = planned(run)
    once = [TAKEOFF, WAYPOINT, LAND, DELAY]
    assert [c for c in commands(items) if c != SPEED] == once * 3  # and the last one is at home
    assert {item["params"][6] for item in items if item["command"] == WAYPOINT} == {30}
    assert [metres(i)[2] for i in items if i["command"] == LAND] == pytest.approx([0, 4, 0])
    assert items[1]["params"][:2] == [1, 18.3]
    assert document["mission"]["hoverSpeed"] == 18.3
    assert len(warnings) == 1
    assert "COM_DISARM_LAND" in warnings[0]
    _check_flight(items, document)


def test_a_server_on_a_roof_has_altitudes_above_the_roof(tmp_path):
    settings = {"server": {"position_m": [100, 100, 12]}, "movement": {"model": "landing"}}
    items, _, _ = planned(recorded_run(tmp_path, [(50, 50, 0)], 99.0, round_s=30.0, **settings))
    altitudes = [item["params"][6] for item in items if item["frame"] == 3]
    assert altitudes == [18, 18, -12, 18, 18, 0]


def test_a_rover_drives(tmp_path):
    settings = {"server": {"position_m": [2, 2, 0]}, "movement": {"model": "rover"}, "round_s": 9}
    items, document, warnings = planned(recorded_run(tmp_path, [(50, 60, 0)] * 2, 1e4, **settings))
    assert document["mission"]["vehicleType"] == 10
    assert commands(items)[0] == SPEED
    assert items[0]["params"][1] == document["mission"]["cruiseSpeed"] == 0.3
    assert set(commands(items)[1:]) == {WAYPOINT}
    assert all(item["params"][6] == 0 for item in items[1:])
    assert np.allclose(metres(items[-1])[:2], [2, 2], atol=2e-3)
    assert warnings == []
    stays = planned(recorded_run(tmp_path, [(50, 60, 0)] * 2, 1e4, **settings), end="land")[0]
    assert np.allclose(metres(stays[-1])[:2], [50, 60], atol=2e-3)


@pytest.mark.parametrize(
    ("settings", "positions"),
    [
        ({"movement": {"model": "mast"}}, [(100, 100, 50)]),
        ({"server": {"position_m": [5, 5, 0]}}, [(5, 5, 0)]),
    ],
    ids=["a mast", "stays on the ground"],
)
def test_what_does_not_move_has_no_flight(tmp_path, settings, positions):
    with pytest.raises(InputError, match="nothing flies"):
        planned(recorded_run(tmp_path, positions, **settings))


def test_a_server_that_hovers_at_its_start_takes_off_and_lands_there(tmp_path):
    items, document, _ = planned(recorded_run(tmp_path, [(100, 100, 50)] * 4, 2.5))
    assert commands(items) == [TAKEOFF, WAYPOINT, LAND]
    assert items[1]["params"][0] == 10
    assert np.allclose(way(items, document)[0][:2], [100, 100], atol=2e-3)


def test_the_end_may_be_a_landing_at_the_last_position(tmp_path):
    items, document, _ = planned(recorded_run(tmp_path, [(10, 20, 30)]), end="land")
    assert commands(items)[-1] == LAND
    assert np.allclose(metres(items[-1]), [10, 20, 0], atol=2e-3)
    _check_flight(items, document, end="land")


# --- keep-out boxes -------------------------------------------------------------------------------


def _samples(points, count=300):
    shares = np.linspace(0, 1, count)[:, None]
    return np.concatenate([a + shares * (b - a) for a, b in pairwise(points)])


def _inside(points, low, high, margin):
    return bool(((points > low + margin) & (points < high - margin)).all(axis=1).any())


def test_crossings_are_those_of_points_on_the_way():
    rng = np.random.default_rng(3)
    for _ in range(many(1000)):
        points = rng.integers(0, 6, (4, 3)).astype(float)
        low = rng.integers(0, 5, (5, 3)).astype(float)
        boxes = np.concatenate([low, low + rng.integers(0, 4, (5, 3))], axis=1)
        found = crossings(points, boxes)
        for leg, row in zip(pairwise(points), found, strict=True):
            on_leg = _samples(leg)
            assert row.tolist() == [_inside(on_leg, b[:3], b[3:], 1e-9) for b in boxes]


def _random_run(tmp_path, seed):
    """A run among boxes, whose positions are allowed and can be reached; None if there is none."""
    rng = np.random.default_rng([seed, 7])
    boxes = []
    for _ in range(rng.integers(1, 6)):
        low, width = rng.uniform(0, 150, 2), rng.uniform(5, 80, 2)
        bottom, top = (0.0, rng.choice([20, 60, 120])) if rng.random() < 0.7 else (30.0, 70.0)
        boxes.append([*low, bottom, *(low + width), top])
    model = rng.choice(["rotary-wing", "landing", "rover", "paper"])
    start = [*rng.uniform(0, 200, 2), 0.0]
    request = {
        "region_m": [200, 200, 120], "keep_out_m": np.array(boxes).tolist(), "devices": [],
        "movement": {"model": str(model), "path": "around"}, "round_s": 5.0,
        "server": {"position_m": start},
    }  # fmt: skip
    here, positions = start, []
    for _ in range(4):
        document = {**request, "server": {"position_m": here}}
        problem = problem_of(make_request(document))
        if problem.routes is None or problem.routes.ignored.any():
            return None
        high = 119.0 if model in ("rotary-wing", "paper") else 0.0
        tried = rng.uniform(0, 1, (40, 3)) * [200, 200, high]
        good = problem.allowed(tried) & problem.reachable(tried)
        if not good.any():
            return None
        here = tried[good.argmax()].tolist()
        positions.append(here)
    settings = {name: request[name] for name in ("keep_out_m", "movement", "server", "round_s")}
    return recorded_run(tmp_path, positions, 1e4, **settings), np.array(boxes)


def test_flights_around_boxes_avoid_them_and_their_fences(tmp_path):
    fenced = flights = 0
    for seed in range(many(300)):
        drawn = _random_run(tmp_path, seed)
        if drawn is None:
            continue
        run, boxes = drawn
        items, document, warnings = planned(run)
        flights += 1
        on_the_way = _samples(way(items, document))
        for box in boxes:
            assert not _inside(on_the_way, box[:3], box[3:], 5e-3), seed
        assert not any("THROUGH" in line or "takes off or lands" in line for line in warnings)
        fences = [_rectangle(fence) for fence in document["geoFence"]["polygons"]]
        for low, high in fences:
            assert not _inside(on_the_way[:, :2], low, high, 5e-3), seed
            assert any((low >= b[:2]).all() and (high <= b[3:5]).all() for b in boxes)
        unfenced = [line for line in warnings if line.startswith("no fence for")]
        missing = sum(line.count("keep_out_m.") for line in unfenced)
        assert len(fences) + missing == len(boxes)
        fenced += len(fences)
    assert flights > 15
    assert fenced > 15


def _rectangle(fence):
    assert fence["inclusion"] is False
    corners = np.array([LocalPlane(*ORIGIN).metres(*corner) for corner in fence["polygon"]])
    low, high = corners.min(axis=0), corners.max(axis=0)
    x, y = corners.T
    assert abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2 == pytest.approx(
        np.prod(high - low), rel=1e-3
    )
    return low, high


ROCK = [40, 40, 0, 60, 60, 80]


def test_a_straight_flight_through_a_box_is_warned_of_and_keeps_the_fence(tmp_path):
    run = recorded_run(tmp_path, [(10, 50, 50), (90, 50, 50)], keep_out_m=[[0] * 6, ROCK])
    _, document, warnings = planned(run)
    assert [line.partition(":")[0] for line in warnings] == [
        "the flight passes THROUGH keep_out_m.1"
    ]
    (fence,) = document["geoFence"]["polygons"]
    low, high = _rectangle(fence)
    assert np.allclose([*low, *high], [41, 41, 59, 59], atol=2e-3)
    wide, _ = _rectangle(planned(run, inset_m=0.0)[1]["geoFence"]["polygons"][0])
    assert np.allclose(wide, [40, 40], atol=2e-3)
    narrow, _ = _rectangle(planned(run, inset_m=99.0)[1]["geoFence"]["polygons"][0])
    assert np.allclose(narrow, [45, 45], atol=2e-3)  # a quarter of the width at most


def test_a_box_below_the_flight_has_no_fence(tmp_path):
    run = recorded_run(tmp_path, [(10, 50, 90), (90, 50, 90)], keep_out_m=[ROCK])
    _, document, warnings = planned(run)
    assert document["geoFence"]["polygons"] == []
    assert [line.partition(":")[0] for line in warnings] == ["no fence for keep_out_m.0"]


def test_a_box_at_home_is_named(tmp_path):
    trees = [0, 0, 0, 200, 200, 25]
    _, document, warnings = planned(recorded_run(tmp_path, [(10, 50, 90)], keep_out_m=[trees]))
    assert document["geoFence"]["polygons"] == []
    assert warnings[0].startswith("keep_out_m.0 is where the server takes off or lands")


def test_a_start_that_cannot_be_returned_to_needs_another_end(tmp_path):
    settings = {"keep_out_m": [ROCK], "server": {"position_m": [50, 50, 50]}}
    settings["movement"] = {"path": "around"}
    run = recorded_run(tmp_path, [(10, 10, 50)], **settings)
    with pytest.raises(InputError, match="--end land"):
        planned(run)
    assert commands(planned(run, end="land")[0])[-1] == LAND


# --- the file, and the command line ---------------------------------------------------------------


def golden_run(tmp_path):
    """0.001° at 45° N, 7° E are 78.85 m east and 111.13 m north (WGS-84)."""
    return recorded_run(
        tmp_path,
        [(78.85, 111.13, 40), (78.85, 111.13, 40), (20, 30, 0)],
        [9.2, 10.3, 60.0],
        keep_out_m=[[120, 120, 0, 140, 160, 60]],
        origin_deg=[45.0, 7.0],
    )


def test_the_file_is_the_committed_one(tmp_path):
    folder = write(tmp_path / "run", golden_run(tmp_path))
    written = scdn("flight", folder, "-o", tmp_path / "flight.plan")
    assert (written.returncode, written.stdout) == (0, f"wrote {tmp_path / 'flight.plan'}\n")
    assert (tmp_path / "flight.plan").read_text() == GOLDEN.read_text()
    assert scdn("flight", folder, "-o", "-").stdout == GOLDEN.read_text()
    north_east = json.loads(GOLDEN.read_text())["mission"]["items"][1]["params"]
    assert north_east[0] == 20  # 19.5 s
    assert north_east[4:] == pytest.approx([45.001, 7.001, 40], abs=1e-6)


REQUEST = {
    "region_m": [100, 100, 60],
    "server": {"position_m": [10, 10, 0]},
    "keep_out_m": [[40, 0, 0, 50, 80, 60]],
    "devices": [{"id": "a", "position_m": [90, 10, 0], "max_power_w": 1e-3}],
    "movement": {"model": "rover", "path": "around"},
    "round_s": 10,
    "max_delay_s": 0.1,
    "weights": {"movement": 1e-6},
}


@pytest.fixture(scope="module")
def answer():
    return json.dumps(solve(problem_of(make_request(REQUEST))).document())


def test_a_plan_is_flown_along_its_path(tmp_path, answer):
    (tmp_path / "request.json").write_text(json.dumps(REQUEST))
    command = ["flight", "-", "--origin=-33.9,151.2", "-o", "-"]
    done = scdn(*command, "--request", "request.json", cwd=tmp_path, stdin=answer)
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    jsonschema.validate(document, SCHEMA)
    _, *items = document["mission"]["items"]
    plane = LocalPlane(-33.9, 151.2)
    path = json.loads(answer)["server"]["path_m"]
    there = [plane.metres(*item["params"][4:6]) for item in items[: len(path) - 1]]
    assert np.allclose(there, np.array(path)[1:, :2], atol=2e-3)
    assert items[len(path) - 2]["params"][0] == 10
    assert document["mission"]["vehicleType"] == 10
    assert len(document["geoFence"]["polygons"]) == 1
    assert "--request" in refused(scdn(*command, stdin=answer), 1)[0]  # a rover, or a UAV?


def test_a_plan_without_its_request_is_flown_by_a_uav():
    path = [[10, 10, 20], [10, 30, 20], [40, 30, 20], [40, 30, 50]]
    plan = json.dumps({"objective": 1, "server": {"position_m": path[-1], "path_m": path}})
    command = ["flight", "-", "--origin", "45,7", "--firmware", "ardupilot", "-o", "-"]
    done = scdn(*command, "--stay", "4.2", stdin=plan)
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    jsonschema.validate(document, SCHEMA)
    assert document["mission"]["firmwareType"] == 3
    flown = [[10, 10, 0], *path, *path[-2::-1], [10, 10, 0]]
    assert np.allclose(way(document["mission"]["items"], document), flown, atol=2e-3)
    assert document["mission"]["items"][3]["params"][0] == 5
    assert "--stay" in scdn(*command, stdin=plan).stderr


def test_wrong_input_is_refused_in_one_line(tmp_path, answer):
    at = ["--origin", "45,7"]
    run = recorded_run(tmp_path, [(10, 10, 30)])
    folder = write(tmp_path / "run", run)
    assert "--origin LAT,LON" in refused(scdn("flight", folder), 1)[0]
    for origin in ("45", "45,north", "45,nan", "1,2,3", "95,7", "45,181"):
        assert "origin" in refused(scdn("flight", folder, "--origin", origin), 1)[0]
    far = write(tmp_path / "far", recorded_run(tmp_path, [(1e7, 1e7, 30)]))
    assert "latitude" in refused(scdn("flight", far, *at), 1)[0]
    refused(scdn("flight", tmp_path / "nowhere", *at), 1)
    refused(scdn("flight", tmp_path, *at), 1)
    empty = write(tmp_path / "empty", recorded_run(tmp_path, []))
    assert "has none" in refused(scdn("flight", empty, *at), 1)[0]
    wrong = write(tmp_path / "wrong", recorded_run(tmp_path, [(1, 2, 3)], movement={"model": "x"}))
    assert "movement.model" in refused(scdn("flight", wrong, *at), 1)[0]
    request = tmp_path / "request.json"
    request.write_text(json.dumps(REQUEST))
    planned = ("flight", "-", "--request", request)
    assert "--origin LAT,LON" in refused(scdn(*planned, stdin=answer), 1)[0]
    assert "is not a plan" in refused(scdn("flight", tmp_path / "request.json", *at), 1)[0]
    for text in ("{}", "[]", "{", json.dumps({"objective": 1, "server": {"position_m": [1, 2]}})):
        refused(scdn("flight", "-", *at, stdin=text), 1)
    other = json.dumps({**REQUEST, "devices": []})
    (tmp_path / "other.json").write_text(other)
    refused(scdn("flight", "-", *at, "--request", tmp_path / "other.json", stdin=answer), 1)
    assert "--request" in refused(scdn("flight", folder, *at, "--request", "x.json"), 1)[0]
    refused(scdn("flight", folder, *at, "--stay", "-1"), 1)
    assert not list(tmp_path.rglob("*.plan"))
