"""What the studio keeps, compares and deletes of recorded runs: notes, settings, whole runs."""

from __future__ import annotations

import json
import shutil
import time

import httpx
import pytest
from conftest import ROOT
from studio_server import serving

from scdn.data.catalog import fetch
from scdn.record.run_lock import lock_run_folder
from scdn.scenario import read_scenario
from scdn.simulation.compare import compare
from scdn.studio.settings import MAX_NOTE, StudioSettings

QUICK = ROOT / "examples" / "quick.toml"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The study `two` of two methods, and two single runs with other settings."""
    folder = tmp_path_factory.mktemp("recorded")
    fetch("digits")
    compare(read_scenario(QUICK, ["learning.rounds=2"]), ["sc-dn", "max-vfl"], [5], folder / "two")
    for name, settings in (("one", ["learning.rounds=1"]), ("other", ["max_delay_s=0.5"])):
        scenario = read_scenario(QUICK, ["learning.rounds=1", *settings])
        compare(scenario, ["sc-dn"], [5], folder / "made" / name)
        shutil.copytree(folder / "made" / name / "sc-dn" / "seed-5", folder / name)
    shutil.rmtree(folder / "made")
    return folder


@pytest.fixture
def runs(recorded, tmp_path):
    """A copy that a test may change."""
    return shutil.copytree(recorded, tmp_path / "runs")


@pytest.fixture
def client(runs):
    with serving(StudioSettings(runs)) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


def _listed(client):
    return {run["run"]: run for run in client.get("/api/runs").json()["runs"]}


def _delete(client, name):
    return client.delete("/api/runs", params={"run": name})


def _fault(answer):
    assert answer.status_code == 422
    (fault,) = answer.json()["faults"]
    return f"{fault['found']}, {fault['allowed']}"


def test_a_note_is_kept_beside_the_events_and_listed(client, runs):
    assert _listed(client)["one"]["note"] == ""
    text = "fading was off\nrepeat with ü"
    answer = client.post("/api/notes", json={"run": "one", "note": f"  {text}\n"})
    assert answer.json() == {"run": "one", "note": text}
    assert _listed(client)["one"]["note"] == text
    assert (runs / "one" / "notes.txt").read_text() == text + "\n"
    client.post("/api/notes", json={"run": "one", "note": " "})
    assert _listed(client)["one"]["note"] == ""
    assert sorted(path.name for path in (runs / "one").iterdir()) == sorted(
        path.name for path in (runs / "other").iterdir()
    )


def test_a_note_that_is_too_long_or_about_no_run_is_refused(client):
    long = client.post("/api/notes", json={"run": "one", "note": "x" * (MAX_NOTE + 1)})
    assert (long.status_code, long.json()["faults"][0]["field"]) == (422, "note")
    for name, status in (("none", 404), ("two", 404), ("../runs/one", 422), ("/etc", 422)):
        answer = client.post("/api/notes", json={"run": name, "note": "x"})
        assert answer.status_code == status
    assert all(run["note"] == "" for run in _listed(client).values())


def test_a_note_is_not_read_through_a_link(client, runs, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (runs / "one" / "notes.txt").symlink_to(tmp_path / "secret")
    assert _listed(client)["one"]["note"] == ""
    client.post("/api/notes", json={"run": "one", "note": "mine"})
    assert _listed(client)["one"]["note"] == "mine"
    assert (tmp_path / "secret").read_text() == "secret"


def test_the_settings_in_which_two_runs_differ(client):
    def diff(run, other):
        answer = client.get("/api/settings-diff", params={"run": run, "other": other}).json()
        return {d["setting"]: (d["first"], d["second"]) for d in answer["differences"]}

    assert diff("one", "one") == {}
    assert diff("one", "other") == {
        "max_delay_s": (json.dumps(read_scenario(QUICK).max_delay_s), "0.5")
    }
    assert diff("two/sc-dn/seed-5", "two/max-vfl/seed-5") == {"method": ('"sc-dn"', '"max-vfl"')}
    assert diff("one", "two/sc-dn/seed-5") == {"learning.rounds": ("1", "2")}


def test_settings_of_a_list_of_tables_have_an_index_and_may_be_missing(client, runs):
    path = runs / "other" / "events.jsonl"
    start, *rest = path.read_text().splitlines()
    event = json.loads(start)
    event["scenario"]["fleet"][0]["count"] = 77
    del event["scenario"]["max_delay_s"]
    path.write_text("\n".join([json.dumps(event), *rest]) + "\n")
    query = {"run": "other", "other": "one"}
    found = client.get("/api/settings-diff", params=query).json()["differences"]
    assert {d["setting"]: d["first"] for d in found} == {
        "fleet.0.count": "77",
        "max_delay_s": None,
    }
    path.write_text("no event\n")
    assert "cannot be read" in _fault(client.get("/api/settings-diff", params=query))
    query["other"] = "none"
    assert client.get("/api/settings-diff", params=query).status_code == 404


def test_a_run_is_deleted_with_its_folder(client, runs):
    assert _delete(client, "one").json() == {"deleted": ["one"]}
    assert "one" not in _listed(client)
    assert {path.name for path in runs.iterdir()} == {"two", "other"}  # nothing hidden, either
    assert _delete(client, "one").status_code == 404


def test_a_run_of_a_study_is_deleted_only_with_the_whole_study(client, runs):
    refused = _fault(_delete(client, "two/sc-dn/seed-5"))
    assert refused == "belongs to the study two, delete the whole study"
    assert "no study" in _fault(_delete(client, "two/sc-dn"))
    (runs / "two" / "inner").mkdir()
    shutil.copy(runs / "one" / "events.jsonl", runs / "two" / "inner")
    assert "no study" in _fault(_delete(client, "two"))
    shutil.rmtree(runs / "two" / "inner")
    deleted = _delete(client, "two").json()["deleted"]
    assert sorted(deleted) == ["two/max-vfl/seed-5", "two/sc-dn/seed-5"]
    assert {path.name for path in runs.iterdir()} == {"one", "other"}


def test_a_run_that_is_being_written_is_not_deleted(client, runs):
    with lock_run_folder(runs / "one"):
        assert "another process" in _fault(_delete(client, "one"))
    path = runs / "other" / "events.jsonl"
    path.write_text(path.read_text().splitlines()[0] + "\n")  # written now, and not ended
    time.sleep(0.6)  # the list is read twice a second
    assert _fault(_delete(client, "other")) == "other is running, stop it first"
    assert {"one", "other"} <= _listed(client).keys()


def test_a_job_is_deleted_only_after_it_was_stopped(client):
    form = {"name": "long", "scenario": QUICK.read_text(), "methods": ["sc-dn"], "rounds": 3000}
    assert client.post("/api/runs", json=form).status_code == 201
    end = time.monotonic() + 90
    while "long" not in _listed(client):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert "the job long, which is running" in _fault(_delete(client, "long"))
    client.post("/api/jobs", json={"job": "long", "action": "stop"})
    while _listed(client)["long"]["status"] != "stopped":
        assert time.monotonic() < end
        time.sleep(0.05)
    assert _delete(client, "long").json() == {"deleted": ["long"]}
    answer = client.get("/api/runs").json()
    assert "long" not in {run["run"] for run in answer["runs"]}
    assert answer["jobs"] == []


def test_nothing_is_deleted_through_a_link_or_outside_the_runs_folder(client, runs, tmp_path):
    outside = shutil.copytree(runs / "one", tmp_path / "outside")
    (runs / "link").symlink_to(outside)
    (runs / "near").symlink_to(runs / "other")
    (runs / "one" / "inside").symlink_to(outside)
    assert _delete(client, "link").status_code == 404
    assert "is a link" in _fault(_delete(client, "near"))
    for name in ("", ".", "../outside", "/", "two/../one", ".hidden"):
        assert _delete(client, name).status_code == 422
    assert _delete(client, "one").status_code == 200  # the link in it goes, not what it leads to
    assert (outside / "events.jsonl").exists()
    assert {path.name for path in runs.iterdir()} == {"two", "other", "link", "near"}


def test_what_the_studio_was_opened_on_is_not_deleted(runs):
    for opened in ("two", "one"):
        with serving(StudioSettings(runs / opened)) as url, httpx.Client(base_url=url) as client:
            assert "opened on" in _fault(_delete(client, opened))
    assert (runs / "two").is_dir()


def test_another_page_can_neither_annotate_nor_delete(client):
    foreign = {"origin": "http://elsewhere.example"}
    assert client.delete("/api/runs", params={"run": "one"}, headers=foreign).status_code == 403
    body = {"run": "one", "note": "x"}
    assert client.post("/api/notes", json=body, headers=foreign).status_code == 403
    assert _listed(client)["one"]["note"] == ""
