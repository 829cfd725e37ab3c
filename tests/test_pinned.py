"""Plans and rounds of reference problems are pinned, so that no change alters them unnoticed.

A change that is meant to alter them writes the file anew: `python tests/test_pinned.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from command_line import scdn

PINNED = Path(__file__).with_name("pinned.json")
SCENARIO = Path(__file__).with_name("pinned.toml")
DEFAULTS = Path(__file__).with_name("pinned-defaults.toml")  # of learning
PLAN_FIELDS = ("status", "objective", "server", "terms", "violations", "devices")
METRICS = ("train_loss", "test_loss", "top1", "top3")
WORK = ("steps", "gradient_rows", "forward_rows")
METHODS = (
    *("sc-dn", "sc-dn-paper", "sc-dn-greedy", "sc-dn-dropout", "max-vfl", "max-vfl-matched"),
    *("gsp", "gsp-matched", "vafl", "vafl-matched", "zoc", "zoc-paper", "zoc-greedy"),
    *("mission", "oort", "max-vfl-buffered"),
)
METHODS_WITH_DEFAULTS = ("mission", "sc-dn", "vafl", "zoc", "sc-dn-dropout", "max-vfl-buffered")


def _command(*arguments):
    done = scdn(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def make_plan(request, solver, folder):
    path = Path(folder) / "request.json"
    path.write_text(json.dumps(request))
    plan = json.loads(_command("plan", path, "--json", "--solver", solver))
    return {name: plan[name] for name in PLAN_FIELDS}


def run_rounds(method, folder, scenario=SCENARIO):
    out = Path(folder) / scenario.stem / method
    _command("data", "fetch", "digits")
    _command("run", scenario, "--method", method, "--out", out)
    events = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    rounds = [event for event in events if event["event"] == "round"]
    if scenario == DEFAULTS:
        return [_round(event) | _learning(event) for event in rounds]
    return [_round(event) for event in rounds]


def _round(event):
    devices = event["devices"]
    return {
        "lists": [event[name] for name in ("active", "entered", "exited", "link_failed")],
        "server_m": event["server"]["position_m"],
        "metrics": {name: event["metrics"][name] for name in METRICS},
        "iterations": [device["iterations"] for device in devices],
        "power_w": [device["power_w"] for device in devices],
        "cpu_hz": [device["cpu_hz"] for device in devices],
        "joules": event["server"]["movement_j"]
        + sum(device["transmission_j"] + device["processing_j"] for device in devices),
    }


def _learning(event):
    server = event["server"]
    return {
        "step": event["step"],
        "server": {name: server[name] for name in ("compute_j", "compute_s", *WORK)},
    }


def assert_close(value, pinned, where="", relative=1e-6):
    if isinstance(pinned, dict):
        assert value.keys() == pinned.keys(), where
        for name in pinned:
            assert_close(value[name], pinned[name], f"{where}.{name}", relative)
    elif isinstance(pinned, list):
        assert len(value) == len(pinned), where
        for index, entry in enumerate(pinned):
            assert_close(value[index], entry, f"{where}.{index}", relative)
    elif isinstance(pinned, float):
        assert value == pytest.approx(pinned, rel=relative, abs=1e-9), where
    else:
        assert value == pinned, where


def _pinned():
    return json.loads(PINNED.read_text())


@pytest.mark.parametrize("index", range(len(_pinned()["plans"]) if PINNED.exists() else 0))
def test_a_plan_is_as_pinned(index, tmp_path):
    request, solver, plan = _pinned()["plans"][index]
    approximate = 1e-3 if solver == "paper" else 1e-6  # Algorithm 3 iterates a numerical solver
    assert_close(make_plan(request, solver, tmp_path), plan, f"plan {index}", approximate)


@pytest.mark.parametrize("method", METHODS)
def test_the_rounds_of_a_method_are_as_pinned(method, tmp_path):
    approximate = 1e-3 if "paper" in method else 1e-6
    rounds = run_rounds(method, tmp_path)
    assert_close(rounds, _pinned()["rounds"][method], method, approximate)


@pytest.mark.parametrize("method", METHODS_WITH_DEFAULTS)
def test_the_rounds_of_a_method_with_the_default_learning_are_as_pinned(method, tmp_path):
    rounds = run_rounds(method, tmp_path, DEFAULTS)
    assert_close(rounds, _pinned()["rounds_with_defaults"][method], method)


def test_the_pinned_defaults_have_churn_long_steps_and_a_server_that_trains():
    for method, rounds in _pinned()["rounds_with_defaults"].items():
        active, entered, exited, _ = zip(*(round_["lists"] for round_ in rounds), strict=True)
        assert all(map(any, (active, entered, exited))), method
        assert any(max(round_["step"]["lengths"]) > 1 for round_ in rounds), method
        assert all(round_["server"]["steps"] == 150 for round_ in rounds), method


def test_every_built_in_method_is_pinned():
    code = "from scdn.methods import METHODS; print(*METHODS.names())"  # without other tests' own
    names = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(METHODS) == set(names.stdout.split())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        pinned = {
            "plans": [
                [request, solver, make_plan(request, solver, temporary)]
                for request, solver, _ in _pinned()["plans"]
            ],
            "rounds": {method: run_rounds(method, temporary) for method in METHODS},
            "rounds_with_defaults": {
                method: run_rounds(method, temporary, DEFAULTS) for method in METHODS_WITH_DEFAULTS
            },
        }
    PINNED.write_text(json.dumps(pinned, indent=1) + "\n")
