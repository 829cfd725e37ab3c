"""Runs that the studio starts: where they are recorded, and control of those that outlive it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import httpx
import pytest
from conftest import ROOT
from studio_server import serving

from scdn.cli import main
from scdn.data.catalog import fetch
from scdn.scenario import read_scenario
from scdn.simulation.compare import compare
from scdn.studio.run_folders import RunsFolder
from scdn.studio.settings import StudioSettings

QUICK = (ROOT / "examples" / "quick.toml").read_text()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A folder with the study `two`, and the run `lone` that belongs to none."""
    folder = tmp_path_factory.mktemp("recorded")
    fetch("digits")
    scenario = read_scenario(ROOT / "examples" / "quick.toml", ["learning.rounds=2"])
    compare(scenario, ["sc-dn", "max-vfl"], [5], folder / "two")
    arguments = ["run", str(ROOT / "examples" / "quick.toml"), "--set", "learning.rounds=1"]
    assert main([*arguments, "--out", str(folder / "lone")]) == 0
    return folder


def _client(address):
    return httpx.Client(base_url=address, timeout=60)


def _state(client, job):
    return next(j for j in client.get("/api/runs").json()["jobs"] if j["job"] == job)["state"]


def _wait_until(condition, seconds=90):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("folder", "view", "opened", "new"),
    [
        (".", "introduction", None, "."),
        ("two", "compare", "two", "two-runs"),
        ("two/sc-dn", "compare", "two", "two-runs"),
        ("two/sc-dn/seed-5", "run", "two/sc-dn/seed-5", "two-runs"),
        ("lone", "run", "lone", "lone-runs"),
    ],
)
def test_the_studio_opens_on_what_it_is_given(recorded, folder, view, opened, new):
    runs = RunsFolder.at(recorded / folder)
    assert (runs.view, runs.opened) == (view, opened)
    assert runs.new == (recorded / new).resolve()


def test_a_single_run_named_by_its_seed_is_not_taken_for_a_part_of_a_study(recorded, tmp_path):
    alone = tmp_path / "other" / "seed-5"
    alone.mkdir(parents=True)
    (alone / "events.jsonl").write_bytes((recorded / "lone" / "events.jsonl").read_bytes())
    runs = RunsFolder.at(alone)
    assert (runs.root, runs.opened) == (alone.parent, "seed-5")
    with serving(StudioSettings(alone)) as address, _client(address) as client:
        (info,) = client.get("/api/runs").json()["runs"]
        assert client.get(
            "/api/points", params={"study": info["study"], "follow": False}
        ).is_success


def test_a_new_run_leaves_an_opened_study_as_it_is(recorded, tmp_path):
    """It is recorded beside the study, so the comparison and its report stay the same."""
    study = recorded / "two"
    before = sorted(study.rglob("*"))
    with serving(StudioSettings(study)) as address, _client(address) as client:
        assert client.get("/api/about").json()["view"] == "compare"
        compared = client.get("/api/study", params={"run": "two"}).json()
        form = {"name": "mine", "scenario": QUICK, "methods": ["sc-dn"], "rounds": 1}
        started = client.post("/api/runs", json=form)
        assert (started.status_code, started.json()["job"]) == (201, "two-runs/mine")
        _wait_until(lambda: _state(client, "two-runs/mine") == "done")
        listed = {run["run"]: run["job"] for run in client.get("/api/runs").json()["runs"]}
        assert listed["two-runs/mine"] == "two-runs/mine"
        assert client.get("/api/study", params={"run": "two"}).json() == compared
        for name in (".", "lone"):  # beside what was opened
            assert client.get("/api/study", params={"run": name}).status_code == 404
    assert sorted(study.rglob("*")) == before
    assert main(["report", str(study), "-o", str(tmp_path / "report.html")]) == 0


def test_a_study_does_not_mix_with_runs_that_were_put_into_its_folder(recorded, tmp_path):
    study = tmp_path / "study"
    for run in (recorded / "two").glob("*/seed-5"):
        copy = study / run.relative_to(recorded / "two")
        copy.mkdir(parents=True)
        (copy / "events.jsonl").write_bytes((run / "events.jsonl").read_bytes())
    inner = study / "mine"
    inner.mkdir()
    (inner / "events.jsonl").write_bytes((recorded / "lone" / "events.jsonl").read_bytes())
    with serving(StudioSettings(tmp_path)) as address, _client(address) as client:
        assert len(client.get("/api/study", params={"run": "study"}).json()["runs"]) == 2
        points = client.get("/api/points", params={"study": "study", "follow": False}).text
        names = re.findall(r'"run":"([^"]+)"', points)
        assert sorted(names) == ["study/max-vfl/seed-5", "study/sc-dn/seed-5"]


def test_a_run_that_outlives_its_studio_is_stopped_from_another_one(tmp_path):
    studio = subprocess.Popen(
        [sys.executable, "-m", "scdn.cli", "studio", str(tmp_path), "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    address = studio.stdout.readline().split()[-1]
    form = {"name": "long", "scenario": QUICK, "methods": ["sc-dn"], "rounds": 3000}
    with _client(address) as client:
        _wait_until(lambda: _answers(client))
        assert client.post("/api/runs", json=form).status_code == 201
    events = tmp_path / "long" / "events.jsonl"
    _wait_until(events.exists)
    studio.kill()
    studio.wait()
    studio.stdout.close()
    pid = json.loads((tmp_path / "long" / "studio.json").read_text())["pid"]
    os.kill(pid, 0)  # it goes on
    with serving(StudioSettings(tmp_path)) as address, _client(address) as client:
        assert _state(client, "long") == "running"
        (info,) = client.get("/api/runs").json()["runs"]
        assert (info["job"], info["status"]) == ("long", "running")
        act = {"job": "long", "action": "pause"}
        assert client.post("/api/jobs", json=act).json()["state"] == "paused"
        act = {"job": "long", "action": "stop"}
        assert client.post("/api/jobs", json=act).status_code == 200
        _wait_until(lambda: _state(client, "long") == "stopped", 30)
        assert "scdn: stopped" in (tmp_path / "long" / "studio.log").read_text()


def _answers(client):
    try:
        return client.get("/api/examples").is_success
    except httpx.TransportError:
        return False


def test_a_process_that_is_not_the_jobs_is_never_stopped(tmp_path):
    """Its number is in the record of a job that has ended, and whose lock nobody holds."""
    other = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        folder = tmp_path / "old"
        folder.mkdir()
        (folder / "studio.lock").touch()
        record = {"arguments": ["run", "x.toml", "--out", str(folder)], "pid": other.pid}
        (folder / "studio.json").write_text(json.dumps(record))
        with serving(StudioSettings(tmp_path)) as address, _client(address) as client:
            assert _state(client, "old") == "stopped"
            for action in ("stop", "pause"):
                act = client.post("/api/jobs", json={"job": "old", "action": action})
                assert act.status_code == 422
        assert other.poll() is None
    finally:
        other.send_signal(signal.SIGTERM)
        other.wait()
