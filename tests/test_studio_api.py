"""The studio's HTTP API: plans as on the command line, faults by field, access control."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import httpx
import numpy as np
import pytest
from conftest import ROOT
from studio_server import serving

from scdn.cli import main
from scdn.control.plan_request import make_request, problem_of, read_request
from scdn.control.solve import solve
from scdn.data.catalog import fetch
from scdn.file_io import apply_settings, parse_document, to_json
from scdn.record.file_tail import FileTail, last_line
from scdn.record.run_reader import find_runs
from scdn.report.charts import study_charts
from scdn.report.comparison import comparison
from scdn.report.study import Study
from scdn.scenario import Mission, make_scenario, read_scenario
from scdn.simulation.compare import compare
from scdn.studio import settings as limits
from scdn.studio.api_models import StartRequest
from scdn.studio.app import PAGE
from scdn.studio.event_streams import RoundPoints
from scdn.studio.run_folders import RunsFolder, study_folder
from scdn.studio.run_index import RunIndex
from scdn.studio.run_jobs import _arguments
from scdn.studio.settings import StudioSettings
from scdn.targets import parse_targets

REQUEST = json.loads((ROOT / "examples" / "request.json").read_text())
QUICK = (ROOT / "examples" / "quick.toml").read_text()
TOKEN = "a-long-enough-token"  # noqa: S105


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two methods, two seeds, three rounds; and a broken events file."""
    folder = tmp_path_factory.mktemp("runs")
    fetch("digits")
    scenario = read_scenario(ROOT / "examples" / "quick.toml", ["learning.rounds=3"])
    compare(scenario, ["sc-dn", "max-vfl"], [5, 6], folder / "two")
    (folder / "broken").mkdir()
    (folder / "broken" / "events.jsonl").write_text('{"event": "start"\nnonsense\n')
    return folder


@pytest.fixture(scope="module")
def client(runs):
    with (
        serving(StudioSettings(runs)) as address,
        httpx.Client(base_url=address, timeout=60) as opened,
    ):
        yield opened


def _fields(response):
    return [fault["field"] for fault in response.json()["faults"]]


# --- plans --------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["exact", "greedy", "gsp", "greedy-matched", "gsp-matched"])
def test_a_plan_is_the_one_of_the_command(client, solver):
    document = client.post("/api/plan", params={"solver": solver}, json=REQUEST).json()
    expected = solve(
        problem_of(read_request(ROOT / "examples" / "request.json")), solver
    ).document()
    del document["solve_seconds"], expected["solve_seconds"]
    assert document == json.loads(to_json(expected))


@pytest.mark.parametrize("solver", ["exact", "greedy", "gsp", "greedy-matched", "gsp-matched"])
@pytest.mark.parametrize("delay_s", [1e308, 5e-324])
def test_a_huge_or_tiny_delay_limit_is_no_fault_of_the_server(client, solver, delay_s):
    document = {**REQUEST, "max_delay_s": delay_s}
    for path, query in (
        ("plan", {"solver": solver}),
        ("surface", {"altitude_m": 20, "points": 5}),
        ("reach", {}),
        ("least-changes", {"x_m": 10, "y_m": 10, "z_m": 20}),
    ):
        response = client.post(f"/api/{path}", params=query, json=document)
        assert response.status_code == 200, (path, response.text)


def test_algorithm_3_is_solved_in_a_separate_process(client):
    few = {**REQUEST, "devices": REQUEST["devices"][:2]}
    document = client.post("/api/plan", params={"solver": "paper"}, json=few).json()
    assert document["status"] == "heuristic"
    assert document["repaired"]["violations"] == []


def test_the_surface_is_the_objective_of_a_fixed_server(client):
    """The solver's objective with one candidate position; null in the keep-out box."""
    document = client.post("/api/surface?altitude_m=20&points=5", json=REQUEST).json()
    for row, y in zip(document["objective"], document["y_m"], strict=True):
        for value, x in zip(row, document["x_m"], strict=True):
            if (x, y) == (50, 50):
                assert value is None
                continue
            there = problem_of(make_request({**REQUEST, "candidates_m": [[x, y, 20]]}))
            assert value == pytest.approx(solve(there).objective, rel=1e-9)


def test_a_reach_shell_is_where_full_power_is_just_enough(client):
    document = client.post("/api/reach", json=REQUEST).json()
    problem = problem_of(make_request(REQUEST))
    for index, shell in enumerate(document["shells"]):
        up = np.deg2rad(document["elevation_deg"])
        radius = np.array(shell["radius_m"])[:, None]
        away = np.stack([np.cos(up), np.zeros_like(up), np.sin(up)], axis=-1) * radius
        needed = problem.least_power(problem.position_m[index] + away)[:, index]
        assert needed == pytest.approx(problem.max_power_w[index], rel=1e-9)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"max_delay_s": 0}, "max_delay_s"),
        ({"max_delay_s": "soon"}, "max_delay_s"),
        ({"radio": {"rate_model": "magic"}}, "radio.rate_model"),
        ({"server": {"position_m": [1, 2]}}, "server.position_m"),
        ({"devices": [{"id": "a", "position_m": [500, 0, 0]}]}, "devices.0.position_m"),
        ({"devices": None}, "devices"),
        ({"wieghts": {}}, "wieghts"),
        ({"candidates_m": []}, "candidates_m"),
    ],
)
def test_faults_name_their_field(client, change, field):
    response = client.post("/api/plan", json={**REQUEST, **change})
    assert response.status_code == 422
    assert _fields(response) == [field]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b"\xff\xfe", b'"x"', b"{" * 5000, b'{"a":1,"a":2}']
)
def test_a_body_that_is_no_request_is_refused(client, body):
    for path in ("/api/plan", "/api/surface?altitude_m=1", "/api/reach"):
        response = client.post(path, content=body)
        assert response.status_code == 422
        assert response.json()["faults"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("solver=best", "solver"),
        ("gap=2", "gap"),
        ("gap=nan", "gap"),
        ("time_limit_s=1e9", "time_limit_s"),
    ],
)
def test_faults_in_the_query_name_their_parameter(client, query, field):
    response = client.post(f"/api/plan?{query}", json=REQUEST)
    assert response.status_code == 422
    assert _fields(response) == [field]


def test_more_devices_than_the_limit_are_refused(client):
    many = [{"id": f"d{n}", "position_m": [1, 1, 0]} for n in range(limits.MAX_DEVICES + 1)]
    response = client.post("/api/plan", json={**REQUEST, "devices": many})
    assert response.status_code == 422
    assert _fields(response) == ["devices"]


# --- files --------------------------------------------------------------------------------------


def test_an_example_that_is_opened_and_saved_keeps_its_network(client):
    for example in client.get("/api/examples").json():
        opened = client.post("/api/open", json=example).json()
        assert opened["kind"] == ("request" if example["name"].endswith("json") else "scenario")
        form = {"request": opened["request"], "scenario": opened["scenario"]}
        saved = client.post("/api/scenario", json=form).json()["text"]
        again = client.post("/api/open", json={"name": "again.toml", "text": saved}).json()
        for key in ("region_m", "radio", "weights", "candidates_m", "keep_out_m", "server"):
            assert again["request"][key] == opened["request"][key]
        assert _positions(again) == _positions(opened)


def test_a_request_saved_as_a_scenario_names_everything_that_it_loses(client):
    """What opens differently is named, and nothing else is: here what a run measures."""
    opened = client.post("/api/open", json=client.get("/api/examples").json()[0]).json()
    saved = client.post("/api/scenario", json={"request": opened["request"]}).json()
    again = client.post("/api/open", json={"name": "again.toml", "text": saved["text"]}).json()
    lost = {line.split()[0] for line in saved["lost"]}
    assert lost == {"importance", "gradient_bound_sq"}
    assert all("a run measures it" in line for line in saved["lost"])
    for before, after in zip(
        opened["request"]["devices"], again["request"]["devices"], strict=True
    ):
        assert after.pop("survival") == pytest.approx(before.pop("survival"), rel=1e-12)
        assert {key for key in before if before[key] != after[key]} <= lost
    kept = opened["request"].keys() - {"devices"}
    assert all(again["request"][key] == opened["request"][key] for key in kept)


@pytest.mark.parametrize("prices", ["", "prices = {device = 2.0, server = 0.5}\n"])
def test_weights_changed_on_the_page_are_saved_with_a_scenario(client, prices):
    text = prices + QUICK
    opened = client.post("/api/open", json={"name": "a.toml", "text": text}).json()
    weights = {"convergence": 3.0, "transmission": 7.0, "processing": 7.0, "movement": 0.25}
    for changed in (weights, {**weights, "processing": 0.5}):
        form = {"request": {**opened["request"], "weights": changed}, "scenario": text}
        saved = client.post("/api/scenario", json=form).json()
        again = client.post("/api/open", json={"name": "b.toml", "text": saved["text"]}).json()
        assert again["request"]["weights"] == changed
        dropped = bool(prices) and changed["processing"] == 0.5
        assert ["prices" in line for line in saved["lost"]] == [True] * dropped


def test_least_changes_are_those_of_the_position(client):
    near = {"id": "a", "position_m": [50, 50, 0], "max_power_w": 1e-9}
    request = {**REQUEST, "region_m": [100, 100, 100], "devices": [near]}
    there = "/api/least-changes?x_m=50&y_m=50&z_m=20"
    (resting,) = client.post(there, json=request).json()["devices"]
    assert (resting["id"], resting["reason"]) == ("a", "out_of_reach")
    power = next(c for c in resting["changes"] if c["setting"] == "max_power_w")["value"]
    heard = {**request, "devices": [{**near, "max_power_w": power, "importance": 1e6}]}
    assert client.post(there, json=heard).json() == {"devices": []}
    assert client.post("/api/least-changes", json=request).status_code == 422


def test_the_wheel_packages_the_examples_that_the_studio_offers(client):
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    packaged = build["targets"]["wheel"]["force-include"]
    offered = [example["name"] for example in client.get("/api/examples").json()]
    assert packaged == {
        f"examples/{name}": f"scdn/studio/packaged_examples/{name}" for name in offered
    }


def _positions(opened):
    return [(d["id"], d["position_m"]) for d in opened["request"]["devices"]]


def test_every_fault_of_a_broken_file_is_reported(client):
    text = QUICK.replace("count = 4", 'count = "four"').replace("seed = 5", "sede = 5")
    response = client.post("/api/open", json={"name": "mine.toml", "text": text})
    assert response.status_code == 422
    assert set(_fields(response)) == {"sede", "fleet.0.count"}


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ('devices_csv = "/etc/passwd"', "devices_csv"),
        ('method = "os:system"', "method"),
        ('learning = {model = "os:system"}', "learning.model"),
        ('learning = {fusion_head = "os:system"}', "learning.fusion_head"),
        ('learning = {metrics = ["os:system"]}', "learning.metrics.0"),
        (
            'devices = [{optimizer = {kind = "custom", name = "os:system"}}]',
            "devices.0.optimizer.name",
        ),
        ('churn = {trace = "../../secret"}', "churn.trace"),
    ],
)
def test_an_uploaded_scenario_may_name_no_files_and_no_code(client, line, field):
    response = client.post(
        "/api/open", json={"name": "a.toml", "text": f"fleet = [{{count = 2}}]\n{line}\n"}
    )
    assert response.status_code == 422
    assert _fields(response) == [field]


def test_a_request_may_name_no_code(client):
    """A link model of a user's own would be imported into the studio's process."""
    change = {"radio": {"model": "os:system"}}
    for path in ("/api/plan", "/api/reach"):
        response = client.post(path, json={**REQUEST, **change})
        assert response.status_code == 422
        assert _fields(response) == ["radio.model"]


# --- runs ---------------------------------------------------------------------------------------


def test_runs_are_listed_with_their_status(client):
    listed = {run["run"]: run for run in client.get("/api/runs").json()["runs"]}
    assert set(listed) == {
        "broken",
        *(f"two/{m}/seed-{s}" for m in ("sc-dn", "max-vfl") for s in (5, 6)),
    }
    assert listed["broken"]["fault"]
    run = listed["two/sc-dn/seed-5"]
    assert (run["status"], run["done"], run["rounds"], run["study"]) == ("done", 3, 3, "two")
    assert re.fullmatch(r"\d+\.\d % top-1", run["score"])


@pytest.mark.parametrize(
    ("run", "study"),
    [
        ("a/sc-dn/seed-3", "a"),
        ("sc-dn/seed-3", "."),
        (".", "."),
        ("quick", "quick"),
        ("a/b/c", "a/b/c"),
    ],
)
def test_runs_are_grouped_by_comparison(run, study):
    assert study_folder(run) == study


def _messages(text):
    for block in text.strip().split("\n\n"):
        head, _, data = block.partition("\ndata: ")
        yield head.removeprefix("event: "), data


def test_streamed_events_are_the_lines_of_the_file(client, runs):
    text = client.get("/api/events", params={"run": "two/sc-dn/seed-5"}).text
    kinds, data = zip(*_messages(text), strict=True)
    assert kinds == ("begin", *("line",) * 5, "over")
    streamed = "".join(line + "\n" for line in data[1:-1])
    assert streamed == (runs / "two" / "sc-dn" / "seed-5" / "events.jsonl").read_text()


def test_points_have_a_round_each_and_growing_joules(client):
    text = client.get("/api/points", params={"study": "two", "follow": False}).text
    curves = [json.loads(data) for kind, data in _messages(text) if kind == "points"]
    assert sorted((run["method"], run["seed"]) for run in curves) == [
        ("max-vfl", 5),
        ("max-vfl", 6),
        ("sc-dn", 5),
        ("sc-dn", 6),
    ]
    for run in curves:
        assert [p["round"] for p in run["points"]] == [0, 1, 2]
        joules = [p["joules"] for p in run["points"]]
        assert joules == sorted(joules)
        assert joules[0] > 0


def test_a_recorded_score_is_shown_in_the_list_and_in_the_live_curves(tmp_path):
    score = {"metric": "recall", "higher_is_better": True, "unit": "%"}
    learning = {"rounds": 1, "dataset": "digits"}
    start = {"event": "start", "schema": 1, "method": "sc-dn", "seed": 0, "score": score,
             "scenario": {"learning": learning}}  # fmt: skip
    event = {"event": "round", "round": 0, "metrics": {"top3": 90.0, "recall": 71.25}}
    (tmp_path / "events.jsonl").write_text(f"{json.dumps(start)}\n{json.dumps(event)}\n")
    (info,) = RunIndex(RunsFolder.at(tmp_path)).runs()
    assert info.score == "71.2 % recall"
    curve = RoundPoints(tmp_path)
    curve.refresh()
    assert curve.head["score"] == score
    assert curve.points[0]["recall"] == 71.25


def test_a_study_without_metrics_is_not_a_fault_of_the_server(client, runs):
    recorded = (runs / "two/sc-dn/seed-5/events.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in recorded]
    (runs / "bare").mkdir()
    lines = [json.dumps({**event, "metrics": None}) + "\n" for event in events]
    (runs / "bare" / "events.jsonl").write_text("".join(lines))
    reply = client.get("/api/study", params={"run": "bare"})
    shutil.rmtree(runs / "bare")  # other tests count the runs
    assert reply.status_code == 200
    assert reply.json()["runs"][0]["metrics"] == {}


def test_a_study_has_the_statistics_of_the_report(client, runs):
    summary = client.get("/api/study", params={"run": "two"}).json()
    study = Study.from_runs(find_runs([runs / "two"]))
    assert summary["methods"] == list(study.methods) == ["sc-dn", "max-vfl"]
    assert summary["measures"] == [asdict(measure) for measure in study.measures()]
    assert summary["charts"] == [asdict(chart) for chart in study_charts(study)]
    for term in ("transmission", "processing", "movement"):
        assert len(summary["ledger"]["terms"][term]) == 2


def test_a_study_says_what_it_cost_to_reach_targets(client, runs):
    params = {"run": "two", "target": ["top3=1", "train_loss=0"]}
    summary = client.get("/api/study", params=params).json()
    study = Study.from_runs(find_runs([runs / "two"]), targets=parse_targets(params["target"]))
    assert summary["targets"] == ["top3=1", "train_loss=0"]
    assert summary["runs"] == comparison(study)["runs"]
    assert [target["reached"] for target in summary["runs"][0]["targets"]] == [True, False]
    assert summary["measures"][0]["key"] == "joules_to_top3=1"
    for wrong, name in (("top3", '"top3"'), ("top3=101", '"top3=101"'), ("top9=1", "top9")):
        reply = client.get("/api/study", params={"run": "two", "target": ["top3=1", wrong]})
        assert reply.status_code == 422
        (fault,) = reply.json()["faults"]
        assert fault["field"].startswith("target")  # the page shows it beside its field
        assert name in fault["found"]
        assert "must be" in fault["allowed"]


def test_the_list_of_runs_has_the_targets_of_a_finished_run(tmp_path):
    """As its last event says, with the name that tables use."""
    target = {"metric": "top3", "value": 90.0, "reached": False}
    target |= dict.fromkeys(("round", "joules", "seconds", "bits"))
    start = {"event": "start", "schema": 1, "method": "sc-dn", "seed": 1,
             "scenario": {"learning": {"rounds": 1}}}  # fmt: skip
    end = {"event": "end", "status": "done", "rounds": 1, "metrics": None, "targets": [target]}
    (tmp_path / "events.jsonl").write_text(f"{json.dumps(start)}\n{json.dumps(end)}\n")
    (info,) = RunIndex(RunsFolder.at(tmp_path)).runs()
    assert [entry.model_dump() for entry in info.targets] == [target | {"label": "90 % top-3"}]


def test_a_study_is_downloaded_as_csv_and_png(client):
    lines = client.get("/api/study.csv", params={"run": "two"}).text.splitlines()
    assert len(lines) == 1 + 4 * 3
    picture = client.get("/api/study.png", params={"run": "two", "figure": "energy"})
    assert picture.content.startswith(b"\x89PNG")
    wrong = client.get("/api/study.png", params={"run": "two", "figure": "x"})
    assert (wrong.status_code, _fields(wrong)) == (422, ["figure"])


@pytest.mark.parametrize(
    "name",
    [
        "../secret",
        "/etc",
        "two/../../secret",
        "%2e%2e/secret",
        "two\\..\\..",
        ".hidden",
        "a\x00b",
        "link",
        "x" * 2000,
    ],
)
def test_paths_stay_in_the_runs_directory(client, runs, name):
    secret = runs.parent / "secret"
    secret.mkdir(exist_ok=True)
    (secret / "events.jsonl").write_text("secret\n")
    link = runs / "link"
    if not link.exists():
        link.symlink_to(secret)
    for path, key in (
        ("/api/events", "run"),
        ("/api/points", "study"),
        ("/api/study", "run"),
        ("/api/study.csv", "run"),
    ):
        response = client.get(path, params={key: name})
        assert response.status_code in (404, 422), path
        assert "secret\n" not in response.text
    acted = client.post("/api/jobs", json={"job": name, "action": "resume"})
    assert acted.status_code in (404, 422)
    link.unlink()


@pytest.mark.parametrize("name", ["../out", "/x", ".hidden", "a/b", "", "a" * 99, "two"])
def test_a_job_needs_a_plain_name_that_is_not_taken(client, name):
    form = {"name": name, "scenario": QUICK, "methods": ["sc-dn"]}
    response = client.post("/api/runs", json=form)
    assert response.status_code == 422
    assert _fields(response) == ["name"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"methods": ["sc-nd"]}, "method"),
        ({"methods": ["os:system"]}, "methods.0"),
        ({"methods": []}, "methods"),
        ({"methods": ["sc-dn", "sc-dn"]}, "methods"),
        ({"scenario": QUICK.replace('"digits"', '"unheard-of"')}, "learning.dataset"),
        ({"seeds": 0}, "seeds"),
        ({"mission": {"goal": "joy"}}, "mission.goal"),
        ({"mission": {"target": "top3"}}, "mission.target"),
        ({"mission": {"budget_j": -1}}, "mission.budget_j"),
        ({"mission": {"deadline": 1}}, "mission.deadline"),
    ],
)
def test_a_job_that_cannot_run_is_refused_at_once(client, runs, change, field):
    response = client.post(
        "/api/runs", json={"name": "new", "scenario": QUICK, "methods": ["sc-dn"], **change}
    )
    assert response.status_code == 422
    assert _fields(response) == [field]
    assert not (runs / "new").exists()


def _wait(client, job, *states, seconds=90):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        info = next(j for j in client.get("/api/runs").json()["jobs"] if j["job"] == job)
        if info["state"] in states:
            return
        time.sleep(0.1)
    raise AssertionError(info)


def test_a_job_is_paused_stopped_and_resumed_to_its_end(client, runs):
    """Resumed by another studio, which finds the record of the job."""
    form = {"name": "long", "scenario": QUICK, "methods": ["sc-dn"], "rounds": 30}
    assert client.post("/api/runs", json=form).status_code == 201
    path = runs / "long" / "events.jsonl"
    end = time.monotonic() + 90
    while not (path.exists() and path.read_bytes().count(b"\n") > 2):
        assert time.monotonic() < end, (runs / "long" / "studio.log").read_text()
        time.sleep(0.05)
    info = client.post("/api/jobs", json={"job": "long", "action": "pause"}).json()
    assert info["state"] == "paused"
    time.sleep(0.3)  # a write that was under way when the signal came
    paused = path.read_bytes()
    time.sleep(0.7)
    assert path.read_bytes() == paused
    wrong = client.post("/api/jobs", json={"job": "long", "action": "resume"})
    assert (wrong.status_code, _fields(wrong)) == (422, ["action"])
    client.post("/api/jobs", json={"job": "long", "action": "go-on"})
    client.post("/api/jobs", json={"job": "long", "action": "stop"})
    _wait(client, "long", "stopped")
    assert b'"event": "end"' not in path.read_bytes()
    with serving(StudioSettings(runs)) as address, httpx.Client(base_url=address) as later:
        listed = {run["run"]: run for run in later.get("/api/runs").json()["runs"]}
        assert listed["long"]["status"] == "stopped"
        assert later.post("/api/jobs", json={"job": "long", "action": "resume"}).status_code == 200
        _wait(later, "long", "done")
    rounds = [json.loads(line) for line in path.read_text().splitlines()]
    assert [e["round"] for e in rounds if e["event"] == "round"] == list(range(30))
    assert rounds[-1]["status"] == "done"


def test_a_replaced_file_is_read_from_its_start(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"one\ntwo\nthr")
    tail = FileTail(path)
    assert (tail.replaced(), tail.lines()) == (False, [b"one", b"two"])
    path.write_bytes(path.read_bytes() + b"ee\n")
    assert (tail.replaced(), tail.lines()) == (False, [b"three"])
    other = tmp_path / "other"
    other.write_bytes(b"one\nTWO\n")
    other.replace(path)
    assert (tail.replaced(), tail.lines()) == (True, [b"one", b"TWO"])
    assert last_line(path) == b"TWO"


@pytest.mark.parametrize("size", [1, 70_000, 200_000])
def test_the_last_complete_line_is_found_whatever_its_length(tmp_path, size):
    path = tmp_path / "file"
    for text in (b"a\n" + b"x" * size + b"\nhalf", b"x" * size + b"\n"):
        path.write_bytes(text)
        assert last_line(path) == b"x" * size
    path.write_bytes(b"x" * size)
    assert last_line(path) == b""


# --- access control ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:8645", "", "localhost.evil.example"]
)
def test_a_foreign_host_is_refused(client, host):
    assert client.get("/api/runs", headers={"host": host}).status_code == 421
    assert client.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8645", "LOCALHOST:9"])
def test_names_of_the_loopback_are_allowed(client, host):
    assert client.get("/api/about", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_other_web_pages_cannot_write(client, headers):
    for path in ("/api/plan", "/api/runs", "/api/jobs", "/api/open", "/api/scenario"):
        response = client.post(path, json=REQUEST, headers=headers)
        assert (response.status_code, _fields(response)) == (403, ["origin"])


def test_the_studios_own_page_can_write(client):
    headers = {"origin": str(client.base_url).rstrip("/"), "sec-fetch-site": "same-origin"}
    assert client.post("/api/plan", json=REQUEST, headers=headers).status_code == 200


def test_no_response_lets_other_web_pages_read(client):
    response = client.get("/api/runs", headers={"origin": "http://evil.example"})
    assert "access-control-allow-origin" not in response.headers
    assert response.headers["cross-origin-resource-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in response.headers["content-security-policy"]


def test_a_body_over_the_limit_is_refused(client):
    large = client.post("/api/plan", content=b"{" + b" " * limits.MAX_BODY + b"}")
    assert large.status_code == 413

    def pieces():
        for _ in range(limits.MAX_BODY // 65536 + 2):
            yield b" " * 65536

    assert client.post("/api/plan", content=pieces()).status_code == 413


@pytest.fixture(scope="module")
def guarded_at(runs):
    with serving(StudioSettings(runs, token=TOKEN, hosts=frozenset())) as address:
        yield address


@pytest.fixture
def guarded(guarded_at):
    with httpx.Client(base_url=guarded_at, headers={"host": "10.0.0.9"}) as opened:
        yield opened


def test_every_path_needs_the_token(guarded):
    assert guarded.get("/").status_code == 401
    assert guarded.get("/studio.js").status_code == 401
    assert guarded.get("/api/runs").status_code == 401
    assert guarded.get("/openapi.json").status_code == 401
    wrong = {"authorization": "Bearer wrong"}
    assert guarded.post("/api/plan", json=REQUEST, headers=wrong).status_code == 401
    assert guarded.get("/?token=wrong").status_code == 401
    bearer = {"authorization": f"Bearer {TOKEN}"}
    assert guarded.get("/api/runs", headers=bearer).status_code == 200


def test_the_token_in_the_address_becomes_a_cookie(guarded):
    response = guarded.get(f"/?token={TOKEN}")
    assert response.status_code == 303
    assert "httponly" in response.headers["set-cookie"].lower()
    assert "samesite=strict" in response.headers["set-cookie"].lower()
    assert guarded.get("/").status_code == 200
    foreign = guarded.post("/api/plan", json=REQUEST, headers={"origin": "http://evil.example"})
    assert foreign.status_code == 403  # the cookie alone does not open it to other pages


def test_live_views_are_limited(client, monkeypatch):
    monkeypatch.setattr("scdn.studio.services.MAX_VIEWERS", 0)
    assert client.get("/api/events", params={"run": "two/sc-dn/seed-5"}).status_code == 429


# --- the page -----------------------------------------------------------------------------------


def test_the_page_loads_nothing_from_elsewhere(client):
    page = client.get("/").text
    assert "studio.js" in page
    for name in ("/studio.js", "/studio.css"):
        assert client.get(name).status_code == 200
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page


def _sums(folder, names):
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def test_the_bundle_was_built_from_these_sources():
    """`make web` writes the manifest with the hashes of the sources and of the bundle."""
    manifest = json.loads((PAGE / "manifest.json").read_text())
    web = ROOT / "web"
    sources = {p.relative_to(web).as_posix() for p in (web / "src").rglob("*") if p.is_file()}
    assert sources == {name for name in manifest["sources"] if name.startswith("src/")}
    assert _sums(web, manifest["sources"]) == manifest["sources"], "the sources changed: make web"
    assert _sums(PAGE, manifest["bundle"]) == manifest["bundle"], "the bundle was edited: make web"
    here = {p.relative_to(PAGE).as_posix() for p in PAGE.rglob("*") if p.is_file()}
    assert here == {*manifest["bundle"], "manifest.json"}


def test_no_registry_is_named_in_the_lock():
    assert "resolved" not in (ROOT / "web" / "package-lock.json").read_text()


def test_a_closed_stream_no_longer_counts(client, runs):
    """More viewers than the limit, one after the other."""
    (runs / "open").mkdir()
    (runs / "open" / "events.jsonl").write_text('{"event": "start"}\n')
    for _ in range(limits.MAX_VIEWERS + 6):
        with client.stream("GET", "/api/events", params={"run": "open"}) as stream:
            assert stream.status_code == 200
            next(stream.iter_bytes())


@pytest.mark.skipif(
    not (ROOT / "web" / "node_modules").is_dir(), reason="the page's tools are not installed"
)
def test_building_again_gives_the_same_bundle(tmp_path):
    command = ["npx", "vite", "build", "--outDir", str(tmp_path), "--emptyOutDir"]
    subprocess.run(command, cwd=ROOT / "web", check=True, capture_output=True)
    for name in json.loads((PAGE / "manifest.json").read_text())["bundle"]:
        assert (tmp_path / name).read_bytes() == (PAGE / name).read_bytes()


# --- the command --------------------------------------------------------------------------------


def _started(folder, *arguments):
    command = [sys.executable, "-m", "scdn.cli", "studio", *arguments]
    process = subprocess.Popen(
        command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "BROWSER": "true"},
    )  # fmt: skip
    return process, process.stdout.readline().split()[-1:]


def test_the_command_serves_until_ctrl_c(tmp_path):
    """On the loopback, in a folder that it creates."""
    process, (address,) = _started(tmp_path, "runs")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
    try:
        response = httpx.get(f"{address}api/runs", timeout=60)
        assert response.json()["runs"] == []
        assert (tmp_path / "runs").is_dir()
    finally:
        process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "")


def test_a_host_other_than_loopback_needs_a_token(tmp_path):
    process, (address,) = _started(tmp_path, "runs", "--host", "0.0.0.0", "--no-browser")  # noqa: S104
    try:
        base, _, token = address.partition("/?token=")
        assert len(token) >= 32
        base = base.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
        assert httpx.get(f"{base}/api/runs", timeout=60).status_code == 401
        bearer = {"authorization": f"Bearer {token}"}
        assert httpx.get(f"{base}/api/runs", headers=bearer).status_code == 200
    finally:
        process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)


@pytest.mark.parametrize(
    "arguments", [("--port", "99999"), ("--token", "short"), ("/dev/null/x",), ("--port", "x")]
)
def test_wrong_options_are_refused_in_one_line(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    try:
        code = main(["studio", *arguments, "--no-browser"])
    except SystemExit as error:  # raised by argparse
        code = error.code
    assert code == 2
    output = capsys.readouterr()
    assert (output.out, output.err.count("\n")) == ("", 1)


@pytest.mark.parametrize(
    ("mission", "settings", "targets"),
    [
        (None, {}, ()),
        ({}, {}, ()),
        ({"goal": "best", "budget_j": 40}, {"goal": "best", "budget_j": 40.0}, ()),
        (
            {"target": "top3=90", "deadline_s": 12.5},
            {"target": "top3=90", "deadline_s": 12.5},
            ("top3=90",),
        ),
    ],
)
def test_the_settings_of_a_mission_become_those_of_its_scenario(mission, settings, targets):
    form = StartRequest(name="a", scenario=QUICK, methods=["mission"], mission=mission)
    arguments = _arguments(form, Path("folder"))
    chosen = [b for a, b in pairwise(arguments) if a == "--set"]
    scenario = make_scenario(apply_settings(parse_document(QUICK, "quick.toml"), chosen))
    expected = Mission(**settings)
    assert scenario.mission == expected
    assert tuple(b for a, b in pairwise(arguments) if a == "--target") == targets
