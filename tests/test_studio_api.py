"""The studio's HTTP interface: plans as on the command line, faults by name, who may come in."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time

import httpx
import numpy as np
import pytest
from conftest import ROOT
from studio_server import serving

from scdn.control.request import make_request, problem_of, read_request
from scdn.control.solve import solve
from scdn.data.registry import fetch
from scdn.file_io import to_json
from scdn.scenario import read_scenario
from scdn.simulation.compare import compare
from scdn.studio import settings as limits
from scdn.studio.app import PAGE
from scdn.studio.places import study_of
from scdn.studio.settings import Settings
from scdn.studio.tail import Tail, last_line

REQUEST = json.loads((ROOT / "examples" / "request.json").read_text())
QUICK = (ROOT / "examples" / "quick.toml").read_text()
TOKEN = "a-long-enough-token"  # noqa: S105


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two methods, two seeds, three rounds; and a file that is no run."""
    folder = tmp_path_factory.mktemp("runs")
    fetch("digits")
    scenario = read_scenario(ROOT / "examples" / "quick.toml", ["learning.rounds=3"])
    compare(scenario, ["sc-dn", "max-vfl"], [5, 6], folder / "two")
    (folder / "broken").mkdir()
    (folder / "broken" / "events.jsonl").write_text('{"event": "start"\nnonsense\n')
    return folder


@pytest.fixture(scope="module")
def client(runs):
    with serving(Settings(runs)) as address, httpx.Client(base_url=address, timeout=60) as opened:
        yield opened


def _fields(answer):
    return [fault["field"] for fault in answer.json()["faults"]]


# --- plans --------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["exact", "greedy", "gsp", "greedy-matched", "gsp-matched"])
def test_a_plan_is_the_commands_plan(client, solver):
    told = client.post("/api/plan", params={"solver": solver}, json=REQUEST).json()
    mine = solve(problem_of(read_request(ROOT / "examples" / "request.json")), solver).document()
    told.pop("solve_seconds"), mine.pop("solve_seconds")
    assert told == json.loads(to_json(mine))


def test_algorithm_3_answers_from_another_process(client):
    few = {**REQUEST, "devices": REQUEST["devices"][:2]}
    told = client.post("/api/plan", params={"solver": "paper"}, json=few).json()
    assert told["status"] == "heuristic"
    assert told["repaired"]["violations"] == []


def test_the_surface_is_the_objective(client):
    """What the solver finds with the server nailed to a place; null in the keep-out box."""
    told = client.post("/api/surface?altitude_m=20&points=5", json=REQUEST).json()
    for row, y in zip(told["objective"], told["y_m"], strict=True):
        for value, x in zip(row, told["x_m"], strict=True):
            if (x, y) == (50, 50):
                assert value is None
                continue
            there = problem_of(make_request({**REQUEST, "candidates_m": [[x, y, 20]]}))
            assert value == pytest.approx(solve(there).objective, rel=1e-9)


def test_a_shell_is_where_full_power_is_just_enough(client):
    told = client.post("/api/reach", json=REQUEST).json()
    problem = problem_of(make_request(REQUEST))
    for index, shell in enumerate(told["shells"]):
        up = np.deg2rad(told["elevation_deg"])
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
    answer = client.post("/api/plan", json={**REQUEST, **change})
    assert answer.status_code == 422
    assert _fields(answer) == [field]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b"\xff\xfe", b'"x"', b"{" * 5000, b'{"a":1,"a":2}']
)
def test_what_is_no_request_is_refused(client, body):
    for path in ("/api/plan", "/api/surface?altitude_m=1", "/api/reach"):
        answer = client.post(path, content=body)
        assert answer.status_code == 422
        assert answer.json()["faults"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("solver=best", "solver"),
        ("gap=2", "gap"),
        ("gap=nan", "gap"),
        ("time_limit_s=1e9", "time_limit_s"),
    ],
)
def test_faults_of_the_query_name_their_field(client, query, field):
    answer = client.post(f"/api/plan?{query}", json=REQUEST)
    assert answer.status_code == 422
    assert _fields(answer) == [field]


def test_more_devices_than_can_be_planned_here_are_refused(client):
    many = [{"id": f"d{n}", "position_m": [1, 1, 0]} for n in range(limits.MAX_DEVICES + 1)]
    answer = client.post("/api/plan", json={**REQUEST, "devices": many})
    assert answer.status_code == 422
    assert _fields(answer) == ["devices"]


# --- files --------------------------------------------------------------------------------------


def test_examples_open_and_survive_being_saved(client):
    for example in client.get("/api/examples").json():
        opened = client.post("/api/open", json=example).json()
        assert opened["kind"] == ("request" if example["name"].endswith("json") else "scenario")
        form = {"request": opened["request"], "scenario": opened["scenario"]}
        saved = client.post("/api/scenario", json=form).json()["text"]
        again = client.post("/api/open", json={"name": "again.toml", "text": saved}).json()
        for key in ("region_m", "radio", "weights", "candidates_m", "keep_out_m", "server"):
            assert again["request"][key] == opened["request"][key]
        place = lambda found: [(d["id"], d["position_m"]) for d in found["request"]["devices"]]  # noqa: E731
        assert place(again) == place(opened)


def test_a_broken_file_says_what_is_wrong(client):
    text = QUICK.replace("count = 4", 'count = "four"').replace("seed = 5", "sede = 5")
    answer = client.post("/api/open", json={"name": "mine.toml", "text": text})
    assert answer.status_code == 422
    assert _fields(answer) == ["sede", "fleet.0.count"] or set(_fields(answer)) == {
        "sede",
        "fleet.0.count",
    }


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ('devices_csv = "/etc/passwd"', "devices_csv"),
        ('method = "os:system"', "method"),
        ('learning = {model = "os:system"}', "learning.model"),
        ('learning = {fusion_head = "os:system"}', "learning.fusion_head"),
        ('churn = {trace = "../../secret"}', "churn.trace"),
    ],
)
def test_files_from_the_network_name_no_files_and_no_code(client, line, field):
    answer = client.post(
        "/api/open", json={"name": "a.toml", "text": f"fleet = [{{count = 2}}]\n{line}\n"}
    )
    assert answer.status_code == 422
    assert _fields(answer) == [field]


# --- runs ---------------------------------------------------------------------------------------


def test_runs_are_listed_with_what_became_of_them(client):
    found = {run["run"]: run for run in client.get("/api/runs").json()["runs"]}
    assert set(found) == {
        "broken",
        *(f"two/{m}/seed-{s}" for m in ("sc-dn", "max-vfl") for s in (5, 6)),
    }
    assert found["broken"]["fault"]
    one = found["two/sc-dn/seed-5"]
    assert (one["status"], one["done"], one["rounds"], one["study"]) == ("done", 3, 3, "two")


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
def test_runs_are_gathered_by_comparison(run, study):
    assert study_of(run) == study


def _messages(text):
    for block in text.strip().split("\n\n"):
        head, _, data = block.partition("\ndata: ")
        yield head.removeprefix("event: "), data


def test_events_are_the_lines_of_the_file(client, runs):
    text = client.get("/api/events", params={"run": "two/sc-dn/seed-5"}).text
    kinds, data = zip(*_messages(text), strict=True)
    assert kinds == ("begin", *("line",) * 5, "over")
    told = "".join(line + "\n" for line in data[1:-1])
    assert told == (runs / "two" / "sc-dn" / "seed-5" / "events.jsonl").read_text()


def test_points_are_the_rounds_in_numbers(client):
    text = client.get("/api/points", params={"study": "two", "follow": False}).text
    found = [json.loads(data) for kind, data in _messages(text) if kind == "points"]
    assert sorted((p["method"], p["seed"]) for p in found) == [
        ("max-vfl", 5),
        ("max-vfl", 6),
        ("sc-dn", 5),
        ("sc-dn", 6),
    ]
    for run in found:
        assert [p["round"] for p in run["points"]] == [0, 1, 2]
        joules = [p["joules"] for p in run["points"]]
        assert joules == sorted(joules)
        assert joules[0] > 0


def test_a_comparison_is_the_reports(client, runs):
    from scdn.record.read import find_runs
    from scdn.report.statistics import compare as paired
    from scdn.report.study import make_study

    told = client.get("/api/study", params={"run": "two"}).json()
    study = make_study(find_runs([runs / "two"]))
    assert told["methods"] == list(study.methods) == ["sc-dn", "max-vfl"]
    for measure, form in zip(study.measures(), told["measures"], strict=True):
        mine = {value["method"]: value for value in form["values"]}
        expected = paired(measure.values["max-vfl"], measure.values["sc-dn"])
        assert mine["max-vfl"]["p_t"] == expected.p_t
        assert mine["max-vfl"]["difference"] == expected.difference
    assert [chart["name"] for chart in told["charts"]]
    for term in ("transmission", "processing", "movement"):
        assert len(told["ledger"]["terms"][term]) == 2


def test_a_comparison_goes_out_as_csv_and_png(client):
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
        answer = client.get(path, params={key: name})
        assert answer.status_code in (404, 422), path
        assert "secret\n" not in answer.text
    acted = client.post("/api/jobs", json={"job": name, "action": "resume"})
    assert acted.status_code in (404, 422)
    link.unlink()


@pytest.mark.parametrize("name", ["../out", "/x", ".hidden", "a/b", "", "a" * 99, "two"])
def test_a_job_takes_a_plain_new_name(client, name):
    form = {"name": name, "scenario": QUICK, "methods": ["sc-dn"]}
    answer = client.post("/api/runs", json=form)
    assert answer.status_code == 422
    assert _fields(answer) == ["name"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"methods": ["sc-nd"]}, "method"),
        ({"methods": ["os:system"]}, "methods.0"),
        ({"methods": []}, "methods"),
        ({"methods": ["sc-dn", "sc-dn"]}, "methods"),
        ({"scenario": QUICK.replace('"digits"', '"unheard-of"')}, "learning.dataset"),
        ({"seeds": 0}, "seeds"),
    ],
)
def test_a_job_that_cannot_run_is_refused_at_once(client, runs, change, field):
    answer = client.post(
        "/api/runs", json={"name": "new", "scenario": QUICK, "methods": ["sc-dn"], **change}
    )
    assert answer.status_code == 422
    assert _fields(answer) == [field]
    assert not (runs / "new").exists()


def _wait(client, job, *states, seconds=90):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = next(j for j in client.get("/api/runs").json()["jobs"] if j["job"] == job)
        if found["state"] in states:
            return found
        time.sleep(0.1)
    raise AssertionError(found)


def test_a_job_pauses_stops_and_resumes_to_the_same_end(client, runs):
    """And a studio that was closed meanwhile knows it again."""
    form = {"name": "long", "scenario": QUICK, "methods": ["sc-dn"], "rounds": 30}
    assert client.post("/api/runs", json=form).status_code == 201
    path = runs / "long" / "events.jsonl"
    end = time.monotonic() + 90
    while not (path.exists() and path.read_bytes().count(b"\n") > 2):
        assert time.monotonic() < end, (runs / "long" / "studio.log").read_text()
        time.sleep(0.05)
    assert (
        client.post("/api/jobs", json={"job": "long", "action": "pause"}).json()["state"]
        == "paused"
    )
    time.sleep(0.3)  # a write that was under way when the signal came
    still = path.read_bytes()
    time.sleep(0.7)
    assert path.read_bytes() == still
    wrong = client.post("/api/jobs", json={"job": "long", "action": "resume"})
    assert (wrong.status_code, _fields(wrong)) == (422, ["action"])
    client.post("/api/jobs", json={"job": "long", "action": "go-on"})
    client.post("/api/jobs", json={"job": "long", "action": "stop"})
    _wait(client, "long", "stopped")
    assert b'"event": "end"' not in path.read_bytes()
    with serving(Settings(runs)) as address, httpx.Client(base_url=address) as later:
        listed = {run["run"]: run for run in later.get("/api/runs").json()["runs"]}
        assert listed["long"]["status"] == "stopped"
        assert later.post("/api/jobs", json={"job": "long", "action": "resume"}).status_code == 200
        _wait(later, "long", "done")
    rounds = [json.loads(line) for line in path.read_text().splitlines()]
    assert [e["round"] for e in rounds if e["event"] == "round"] == list(range(30))
    assert rounds[-1]["status"] == "done"


def test_a_stream_begins_again_when_a_run_is_cut_back(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"one\ntwo\nthr")
    tail = Tail(path)
    assert (tail.replaced(), tail.lines()) == (False, [b"one", b"two"])
    path.write_bytes(path.read_bytes() + b"ee\n")
    assert (tail.replaced(), tail.lines()) == (False, [b"three"])
    other = tmp_path / "other"
    other.write_bytes(b"one\nTWO\n")
    other.replace(path)
    assert (tail.replaced(), tail.lines()) == (True, [b"one", b"TWO"])
    assert last_line(path) == b"TWO"


@pytest.mark.parametrize("size", [1, 70_000, 200_000])
def test_the_last_line_is_found_however_long(tmp_path, size):
    path = tmp_path / "file"
    for text in (b"a\n" + b"x" * size + b"\nhalf", b"x" * size + b"\n"):
        path.write_bytes(text)
        assert last_line(path) == b"x" * size
    path.write_bytes(b"x" * size)
    assert last_line(path) == b""


# --- who may come in ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:8645", "", "localhost.evil.example"]
)
def test_a_foreign_host_is_turned_away(client, host):
    assert client.get("/api/runs", headers={"host": host}).status_code == 421
    assert client.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8645", "LOCALHOST:9"])
def test_its_own_names_are_let_in(client, host):
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
def test_other_pages_cannot_write(client, headers):
    for path in ("/api/plan", "/api/runs", "/api/jobs", "/api/open", "/api/scenario"):
        answer = client.post(path, json=REQUEST, headers=headers)
        assert (answer.status_code, _fields(answer)) == (403, ["origin"])


def test_its_own_page_writes(client):
    headers = {"origin": str(client.base_url).rstrip("/"), "sec-fetch-site": "same-origin"}
    assert client.post("/api/plan", json=REQUEST, headers=headers).status_code == 200


def test_no_answer_lets_other_pages_read(client):
    answer = client.get("/api/runs", headers={"origin": "http://evil.example"})
    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_a_body_without_end_is_cut(client):
    large = client.post("/api/plan", content=b"{" + b" " * limits.MAX_BODY + b"}")
    assert large.status_code == 413

    def pieces():
        for _ in range(limits.MAX_BODY // 65536 + 2):
            yield b" " * 65536

    assert client.post("/api/plan", content=pieces()).status_code == 413


@pytest.fixture(scope="module")
def guarded_at(runs):
    with serving(Settings(runs, token=TOKEN, hosts=frozenset())) as address:
        yield address


@pytest.fixture
def guarded(guarded_at):
    with httpx.Client(base_url=guarded_at, headers={"host": "10.0.0.9"}) as opened:
        yield opened


def test_others_need_the_token(guarded):
    assert guarded.get("/").status_code == 401
    assert guarded.get("/studio.js").status_code == 401
    assert guarded.get("/api/runs").status_code == 401
    assert guarded.get("/openapi.json").status_code == 401
    assert (
        guarded.post(
            "/api/plan", json=REQUEST, headers={"authorization": "Bearer wrong"}
        ).status_code
        == 401
    )
    assert guarded.get("/?token=wrong").status_code == 401
    told = {"authorization": f"Bearer {TOKEN}"}
    assert guarded.get("/api/runs", headers=told).status_code == 200


def test_the_token_in_the_address_becomes_a_cookie(guarded):
    answer = guarded.get(f"/?token={TOKEN}")
    assert answer.status_code == 303
    assert "httponly" in answer.headers["set-cookie"].lower()
    assert "samesite=strict" in answer.headers["set-cookie"].lower()
    assert guarded.get("/").status_code == 200
    foreign = guarded.post("/api/plan", json=REQUEST, headers={"origin": "http://evil.example"})
    assert foreign.status_code == 403  # the cookie alone does not open it to other pages


def test_views_are_not_opened_without_end(client, monkeypatch):
    monkeypatch.setattr("scdn.studio.parts.MAX_VIEWERS", 0)
    assert client.get("/api/events", params={"run": "two/sc-dn/seed-5"}).status_code == 429


# --- the page -----------------------------------------------------------------------------------


def test_the_page_is_whole_and_asks_nobody_else(client):
    page = client.get("/").text
    assert "studio.js" in page
    for name in ("/studio.js", "/studio.css"):
        assert client.get(name).status_code == 200
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page


def _sums(folder, names):
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def test_the_bundle_is_made_of_these_sources():
    """`make web` builds it; the manifest says of what."""
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


def test_a_reader_that_goes_away_is_forgotten(client, runs):
    """More readers than may watch at once, one after the other."""
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


def _started(folder, *words):
    command = [sys.executable, "-m", "scdn.cli", "studio", *words]
    process = subprocess.Popen(
        command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "BROWSER": "true"},
    )  # fmt: skip
    return process, process.stdout.readline().split()[-1:]


def test_the_command_serves_until_it_is_stopped(tmp_path):
    """As its help prints it: on loopback, in a folder that it makes."""
    process, (address,) = _started(tmp_path, "runs")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
    try:
        answer = httpx.get(f"{address}api/runs", timeout=60)
        assert answer.json()["runs"] == []
        assert (tmp_path / "runs").is_dir()
    finally:
        process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert (process.returncode, told) == (0, "")


def test_elsewhere_than_loopback_there_is_a_token(tmp_path):
    process, (address,) = _started(tmp_path, "runs", "--host", "0.0.0.0", "--no-browser")  # noqa: S104
    try:
        place, _, token = address.partition("/?token=")
        assert len(token) >= 32
        here = place.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
        assert httpx.get(f"{here}/api/runs", timeout=60).status_code == 401
        told = {"authorization": f"Bearer {token}"}
        assert httpx.get(f"{here}/api/runs", headers=told).status_code == 200
    finally:
        process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)


@pytest.mark.parametrize(
    "words", [("--port", "99999"), ("--token", "short"), ("/dev/null/x",), ("--port", "x")]
)
def test_wrong_options_are_one_line(tmp_path, words):
    process, _ = _started(tmp_path, *words, "--no-browser")
    out, told = process.communicate(timeout=60)
    assert process.returncode == 2
    assert (out, told.count("\n")) == ("", 1)
