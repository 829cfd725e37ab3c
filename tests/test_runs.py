"""`scdn run`, `scdn compare`, `scdn.run`: what a user types and gets."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec

import jsonschema
import pytest
from command_line import refused, scdn

import scdn as package
from scdn.data import fetch
from scdn.record import experiment_log as log
from scdn.record.event_schema import AnyEvent
from scdn.record.run_reader import read_run
from scdn.scenario import read_scenario
from scdn.simulation.baselines import baselines
from scdn.simulation.compare import compare

FAST = ("--set", "learning.rounds=3", "--set", "learning.sample_rows=64")


@pytest.fixture(scope="module", autouse=True)
def _digits():
    fetch("digits")


def test_a_run_and_its_report(tmp_path, examples):
    out = tmp_path / "run"
    done = scdn("run", examples / "quick.toml", "--out", out, *FAST)
    assert done.returncode == 0, done.stderr
    assert "top-3" in done.stdout
    assert "3/3" in done.stderr
    summary = json.loads((out / "summary.json").read_text())
    assert summary["rounds"] == 3
    assert summary["energy"]["total_j"] > 0
    schema = AnyEvent.model_json_schema(by_alias=True)
    lines = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    for line in lines:
        jsonschema.validate(line, schema)
    assert [line["event"] for line in lines] == ["start", "round", "round", "round", "end"]
    page = tmp_path / "page.html"
    assert scdn("report", out, "-o", page).returncode == 0
    assert page.stat().st_size > 100_000


def test_a_method_and_a_seed_from_the_command_line(tmp_path, examples):
    out = tmp_path / "run"
    done = scdn(
        "run", examples / "quick.toml", "--out", out, *FAST, "--method", "zoc", "--seed", "8"
    )
    assert done.returncode == 0, done.stderr
    run = read_run(out)
    assert (run.method, run.seed, run.scenario["seed"]) == ("zoc", 8, 8)


def test_a_tool_that_fails_does_not_end_the_run(tmp_path, monkeypatch):
    seen = []

    def failing(_):
        def keep(event):
            seen.append(event)
            raise ConnectionError("the store is gone\nand more")

        return keep

    monkeypatch.setattr(log, "_tensorboard", failing)
    keep = log.open_log("tensorboard", "name", "sc-dn", tmp_path)
    with pytest.warns(UserWarning, match="--log tensorboard ends here: the store is gone$"):
        keep({"round": 0})
    keep({"round": 1})
    assert seen == [{"round": 0}]


def test_what_is_wrong_is_said_in_a_line(tmp_path, examples):
    quick, out = examples / "quick.toml", tmp_path / "run"
    assert "sc-dn" in refused(scdn("run", quick, "--out", out, "--method", "best"), 1)[0]
    refused(scdn("run", quick), 1)
    refused(scdn("run", "--out", out), 1)
    if find_spec("mlflow") is None:
        refused(scdn("run", quick, "--out", out, "--log", "mlflow"), 1)
    refused(scdn("run", "--resume", tmp_path / "nowhere"), 1)
    unknown = ("--set", "learning.dataset=nothing")
    assert "scdn data" in refused(scdn("run", quick, "--out", out, *unknown), 1)[0]
    refused(scdn("compare", quick, "--methods", "sc-dn,sc-dn", "--out", out), 1)
    refused(scdn("scenario", "check", quick, "--set", "method=best"), 1)
    assert not out.exists()
    assert scdn("run", quick, "--out", out, *FAST).returncode == 0
    assert "--resume" in refused(scdn("run", quick, "--out", out, *FAST), 1)[0]


def test_a_folder_that_cannot_be_written(examples):
    done = scdn("run", examples / "quick.toml", "--out", "/proc/scdn", *FAST)
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_comparison(tmp_path, examples):
    scenario = read_scenario(
        examples / "quick.toml", ["learning.rounds=3", "learning.sample_rows=64"]
    )
    runs = compare(scenario, ["max-vfl", "gsp"], [5, 6], tmp_path, jobs=2)
    assert {(run.method, run.seed) for run in runs} == {
        ("max-vfl", 5), ("max-vfl", 6), ("gsp", 5), ("gsp", 6), ("sc-dn", 5), ("sc-dn", 6),
    }  # fmt: skip
    again = compare(scenario, ["max-vfl", "gsp"], [5, 6], tmp_path, jobs=1)
    assert sorted(str(run.folder) for run in again) == sorted(str(run.folder) for run in runs)
    lines = read_run(tmp_path / "max-vfl" / "seed-5").start["baselines"]
    assert lines["trivial"]["top3"] < lines["best_party"]["top3"] <= 100
    assert lines["trivial"]["top3"] < lines["centralised"]["top3"] <= 100


def test_another_scenario_in_the_same_folder_is_refused(tmp_path, examples):
    quick = examples / "quick.toml"
    words = ("compare", quick, "--methods", "max-vfl", "--seeds", "1", "--out", tmp_path / "c")
    assert scdn(*words, *FAST).returncode == 0
    for jobs in ("1", "2"):
        other = (*FAST, "--set", "max_delay_s=0.1", "--jobs", jobs)
        assert "max_delay_s" in refused(scdn(*words, *other), 1)[-1]


def test_a_run_goes_on_as_it_began(tmp_path, examples):
    out = tmp_path / "run"
    assert scdn("run", examples / "quick.toml", "--out", out, *FAST).returncode == 0
    refused(scdn("run", "--resume", out, "--method", "zoc"), 1)
    refused(scdn("run", "--resume", out, "--set", "max_delay_s=1"), 1)


def test_a_controller_that_fails_is_replaced(tmp_path, examples, monkeypatch):
    from scdn import methods
    from scdn.simulation.runner import run

    def broken(*_):
        raise RuntimeError("no solution")

    monkeypatch.setitem(methods.METHODS._entries, "broken", methods.Method("broken", broken))
    settings = ["learning.rounds=2", "learning.sample_rows=64", "method=broken"]
    with pytest.warns(UserWarning, match="no solution"):
        found = run(read_scenario(examples / "quick.toml", settings), tmp_path / "r")
    assert found.end["fallbacks"] == 2
    assert {event["plan"]["fallback"] for event in found.rounds} == {"greedy-matched"}


def test_baselines_use_the_same_budget(examples):
    few = read_scenario(examples / "quick.toml", ["learning.rounds=1"])
    many = read_scenario(examples / "quick.toml", ["learning.rounds=12"])
    assert baselines(few)["centralised"]["top3"] < baselines(many)["centralised"]["top3"]


def test_from_python(tmp_path, examples):
    settings = ("learning.rounds=3", "learning.sample_rows=64")
    rounds = package.run(examples / "quick.toml", "max-vfl", seed=2, settings=settings)
    assert list(rounds["round"]) == [0, 1, 2]
    assert (rounds["method"] == "max-vfl").all()
    kept = package.run(
        examples / "quick.toml", "max-vfl", 2, settings=settings, out=tmp_path / "kept"
    )
    assert kept["top3"].tolist() == rounds["top3"].tolist()


def test_ctrl_c_keeps_everything_so_far(tmp_path, examples):
    import signal
    import time

    out = tmp_path / "run"
    words = [sys.executable, "-m", "scdn.cli", "run", str(examples / "quick.toml")]
    words += ["--out", str(out), "--set", "learning.rounds=2000"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    events = out / "events.jsonl"
    for _ in range(600):
        if events.exists() and events.read_text().count("\n") > 3:
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Traceback" not in errors
    assert errors.strip().endswith("scdn: stopped")
    before = len(read_run(out).rounds)
    assert before >= 2
    assert json.loads((out / "summary.json").read_text())["status"] == "stopped"
