"""`scdn run` and `scdn compare`: results, refusals and interruptions."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import jsonschema
import pytest
from command_line import refused, scdn

from scdn import methods
from scdn.data import fetch
from scdn.record import experiment_log
from scdn.record.event_schema import AnyEvent
from scdn.record.run_reader import read_run
from scdn.scenario import read_scenario
from scdn.simulation.compare import compare
from scdn.simulation.runner import run

SMALL = ("learning.rounds=3", "learning.sample_rows=64")
FAST = ("--set", SMALL[0], "--set", SMALL[1])


@pytest.fixture(scope="module", autouse=True)
def _digits():
    fetch("digits")


def test_a_run_and_its_report(tmp_path, examples):
    out = tmp_path / "run"
    done = scdn("run", examples / "quick.toml", "--out", out, *FAST)
    assert done.returncode == 0, done.stderr
    assert "top-1" in done.stdout
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


def test_rounds_outside_theorem_1_end_in_one_warning(tmp_path, examples):
    proximal = ("--set", 'fleet.0.optimizers=["proximal"]', "--strict")
    warnings = {}
    for step in ("searched", "rate"):
        out = tmp_path / step
        small = ("--set", f"learning.step={step}", "--set", "fleet.0.mu=[0.1,0.9]")
        if step == "rate":
            small = (*small, "--set", "fleet.0.learning_rate=0.001")
        done = scdn("run", examples / "quick.toml", "--out", out, *FAST, *proximal, *small)
        assert done.returncode == 0, done.stderr
        summary = json.loads((out / "summary.json").read_text())
        lines = [line for line in done.stderr.splitlines() if "Theorem 1" in line]
        warnings[step] = summary["rounds_outside_theorem_1"], lines
    count, (line,) = warnings["searched"]
    assert 0 < count <= 3
    assert f"in {count} of 3 rounds devices went further than Theorem 1 allows" in line
    assert warnings["rate"] == (0, [])


def test_a_method_and_a_seed_from_the_command_line(tmp_path, examples):
    out = tmp_path / "run"
    done = scdn(
        "run", examples / "quick.toml", "--out", out, *FAST, "--method", "zoc", "--seed", "8"
    )
    assert done.returncode == 0, done.stderr
    run = read_run(out)
    assert (run.method, run.seed, run.scenario["seed"]) == ("zoc", 8, 8)


def test_a_log_that_fails_does_not_end_the_run(tmp_path, monkeypatch):
    logged = []

    def failing_log(_):
        def log(event):
            logged.append(event)
            raise ConnectionError("the store is gone\nand more")

        return log

    monkeypatch.setattr(experiment_log, "_tensorboard", failing_log)
    log = experiment_log.open_log("tensorboard", "name", "sc-dn", tmp_path)
    message = "--log tensorboard stopped: ConnectionError: the store is gone$"
    with pytest.warns(UserWarning, match=message):
        log({"round": 0})
    log({"round": 1})
    assert logged == [{"round": 0}]


def test_wrong_input_is_refused_in_one_line(tmp_path, examples):
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


@pytest.fixture(scope="module")
def comparison(tmp_path_factory, examples):
    """The scenario, folder and runs of a comparison on two processes."""
    scenario = read_scenario(examples / "quick.toml", SMALL)
    folder = tmp_path_factory.mktemp("comparison")
    return scenario, folder, compare(scenario, ["max-vfl", "gsp"], [5], folder, jobs=2)


def test_a_comparison_runs_every_method_and_the_reference_of_rivals(comparison):
    _, folder, runs = comparison
    assert {(run.method, run.seed) for run in runs} == {("max-vfl", 5), ("gsp", 5), ("sc-dn", 5)}
    scores = read_run(folder / "max-vfl" / "seed-5").start["baselines"]
    assert scores["trivial"]["top3"] < scores["best_party"]["top3"] <= 100
    assert scores["trivial"]["top3"] < scores["centralised"]["top3"] <= 100


def test_a_comparison_that_is_repeated_keeps_its_runs(comparison):
    scenario, folder, runs = comparison
    before = {run.folder: (run.folder / "events.jsonl").read_bytes() for run in runs}
    again = compare(scenario, ["max-vfl", "gsp"], [5], folder)
    assert {run.folder: (run.folder / "events.jsonl").read_bytes() for run in again} == before


def test_a_comparison_of_another_scenario_in_the_same_folder_is_refused(comparison, examples):
    _, folder, _ = comparison
    command = ("compare", examples / "quick.toml", "--methods", "max-vfl", "--seeds", "1")
    other = (*FAST, "--set", "seed=5", "--set", "max_delay_s=0.1", "--out", folder)
    assert "max_delay_s" in refused(scdn(*command, *other), 1)[-1]


@pytest.mark.parametrize("further", [(), ("--json",)])
def test_a_comparison_of_runs_that_all_diverge_at_once_fails(tmp_path, examples, further):
    """That is no wrong input; the runs are recorded, and there is no report of them."""
    rates = ('learning.step="rate"', 'learning.server_optimizer="sgd"')
    rates += ("learning.server_rate=1e9", "fleet.0.learning_rate=1e9", "seed=5")
    settings = [part for rate in rates for part in ("--set", rate)]
    out = tmp_path / "two"
    command = ("compare", examples / "quick.toml", "--methods", "max-vfl,gsp", "--seeds", "1")
    done = scdn(*command, "--out", out, *FAST, *settings, *further)
    assert done.returncode == 1
    assert done.stdout == ""
    for name in ("max-vfl", "gsp"):
        assert f"{out / name / 'seed-5'}: training diverged: " in done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith("scdn: there is nothing to compare")
    assert not (out / "report.html").exists()
    assert read_run(out / "gsp" / "seed-5").end["status"] == "diverged"


def test_a_resumed_run_keeps_its_settings(tmp_path, examples):
    out = tmp_path / "run"
    assert scdn("run", examples / "quick.toml", "--out", out, *FAST).returncode == 0
    refused(scdn("run", "--resume", out, "--method", "zoc"), 1)
    refused(scdn("run", "--resume", out, "--set", "max_delay_s=1"), 1)


def test_a_controller_that_fails_is_replaced(tmp_path, examples, monkeypatch):
    def broken(*_):
        raise RuntimeError("no solution")

    monkeypatch.setitem(methods.METHODS._entries, "broken", methods.Method("broken", broken))
    settings = ["learning.rounds=2", "learning.sample_rows=64", "method=broken"]
    with pytest.warns(UserWarning, match="no solution"):
        recorded = run(read_scenario(examples / "quick.toml", settings), tmp_path / "run")
    assert recorded.end["fallbacks"] == 2
    assert {event["plan"]["fallback"] for event in recorded.rounds} == {"greedy-matched"}


def test_ctrl_c_within_an_entry_of_a_checkpoint_is_an_interrupt_and_nothing_else(tmp_path):
    script = """
import signal, sys, zipfile
from pathlib import Path
from scdn.npz import write_npz

begin = zipfile._ZipWriteFile.__init__

def interrupted(self, *arguments, **settings):
    signal.raise_signal(signal.SIGINT)
    begin(self, *arguments, **settings)

zipfile._ZipWriteFile.__init__ = interrupted
try:
    write_npz(Path(sys.argv[1]), numbers=[1, 2])
except KeyboardInterrupt:
    print("interrupted")
"""
    path = tmp_path / "arrays.npz"
    command = [sys.executable, "-c", script, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")
    assert not path.exists()


def test_ctrl_c_keeps_every_recorded_round(tmp_path, examples):
    out = tmp_path / "run"
    command = [sys.executable, "-m", "scdn.cli", "run", str(examples / "quick.toml")]
    command += ["--out", str(out), "--set", "learning.rounds=2000"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
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
    assert len(read_run(out).rounds) >= 2
    assert json.loads((out / "summary.json").read_text())["status"] == "stopped"
