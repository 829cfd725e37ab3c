"""The command line as people use it: exit codes, what is on which stream, examples in help."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys

import pytest
from command_line import SCRIPTS, refused, run_line, scdn, scdn_process
from conftest import ROOT

from scdn.cli import _parser


def test_the_console_script_does_what_main_does(tmp_path, examples):
    """The other tests call `main` in this process; this one starts the installed command."""
    request = examples / "request.json"
    planned = scdn_process("plan", request, "--json", "--solver", "greedy", cwd=tmp_path)
    assert (planned.returncode, planned.stderr) == (0, "")
    here = scdn("plan", request, "--json", "--solver", "greedy", cwd=tmp_path)
    plans = [json.loads(result.stdout) for result in (planned, here)]
    for plan in plans:
        assert plan.pop("solve_seconds") >= 0
    assert plans[0] == plans[1]
    wrong = scdn_process("scenario", "check", "-", stdin="a = [1,\n")
    assert refused(wrong, 1) == refused(scdn("scenario", "check", "-", stdin="a = [1,\n"), 1)
    full = scdn_process("schema", "plan", cwd=tmp_path / "..")
    assert full.stdout == scdn("schema", "plan").stdout


OWN_MODULE = """
import json  # the standard one, whatever else lies in the folder

from scdn.methods import Method, exact_controller

MINE = Method("mine", exact_controller)
json.dumps(1)
"""


def test_own_modules_are_importable_from_the_current_folder(tmp_path):
    (tmp_path / "mine_here.py").write_text(OWN_MODULE)
    (tmp_path / "json.py").write_text("raise RuntimeError('a user's file replaced a library')")
    done = scdn_process("check", "mine_here:MINE", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (line,) = refused(scdn_process("check", "mine_here:MINE", cwd=elsewhere), 1)
    assert "run scdn in its folder" in line


def test_a_reader_that_stops_early_is_no_failure():
    done = run_line("scdn schema plan | head -c 1; exit ${PIPESTATUS[0]}", ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "{", "")


def test_output_that_cannot_be_written_is_a_failure_in_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [SCRIPTS / "scdn", "schema", "plan"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1


def test_a_new_scenario_is_valid_and_shown_in_full(tmp_path):
    written = scdn("scenario", "new", "-o", "n.toml", cwd=tmp_path)
    assert (written.returncode, written.stdout) == (0, "wrote n.toml\n")
    checked = scdn("scenario", "check", "n.toml", "--strict", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    shown = scdn("scenario", "show", "n.toml", "--json", cwd=tmp_path)
    assert json.loads(shown.stdout)["name"] == "my-network"
    full = scdn("scenario", "show", "n.toml", "--full", cwd=tmp_path)
    again = scdn("scenario", "show", "-", "--json", stdin=full.stdout)
    assert again.stdout == shown.stdout


def test_strict_refuses_what_is_otherwise_a_warning(examples):
    path = examples / "paper-dynamic.toml"
    warned = scdn("scenario", "check", path, "--set", "fleet.0.rho=[0.1,0.9]")
    assert warned.returncode == 0
    assert "Theorem 1" in warned.stderr
    refused(scdn("scenario", "check", path, "--set", "fleet.0.rho=[0.1,0.9]", "--strict"), 1)


def test_files_that_are_no_scenario_are_refused(tmp_path):
    refused(scdn("scenario", "check", tmp_path), 1)
    refused(scdn("scenario", "check", tmp_path / "nowhere.toml"), 1)
    (tmp_path / "empty.toml").write_text("")
    assert "no device" in refused(scdn("scenario", "check", tmp_path / "empty.toml"), 1)[0]
    (tmp_path / "bad.toml").write_text("a = [1,\n")
    refused(scdn("scenario", "check", tmp_path / "bad.toml"), 1)
    (tmp_path / "list.json").write_text("[1, 2]")
    refused(scdn("scenario", "check", tmp_path / "list.json"), 1)


def test_a_huge_file_is_refused_unread(tmp_path):
    path = tmp_path / "garbage.toml"
    with path.open("wb") as file:
        file.write(os.urandom(1 << 20))
        file.truncate(200 << 20)
    assert "too large" in refused(scdn("scenario", "check", path), 1)[0]


def test_output_that_cannot_be_written_leaves_nothing_behind(examples, tmp_path):
    draw = ["scenario", "draw", examples / "wildfire.toml"]
    draw += ["--set", 'learning.payload="model"']  # which needs no data set
    result = scdn(*draw, "-o", tmp_path / "nowhere" / "map.png")
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    refused(scdn(*draw, "-o", tmp_path / "map.gif"), 1)
    refused(scdn(*draw, "-o", tmp_path / "map.png", "--round", 99), 1)
    assert list(tmp_path.iterdir()) == []


def test_wrong_commands_are_refused():
    wrong = (["nonsense"], [], ["scenario"], ["scenario", "show"], ["scenario", "new", "-x"])
    for arguments in wrong:
        refused(scdn(*arguments), 1)


def _commands(parser, path=()):
    yield path, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, child in action.choices.items():
                yield from _commands(child, (*path, name))


# `scdn studio` runs until it is stopped: its example is in test_studio_api.py
COMMANDS = sorted({path[:1] for path, _ in _commands(_parser())} - {("studio",)})


def test_every_help_has_an_example():
    for path, parser in _commands(_parser()):
        helped = scdn(*path, "--help")
        assert (helped.returncode, helped.stderr) == (0, "")
        assert "\nexample:\n  scdn " in helped.stdout, path
        assert parser.description in helped.stdout


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(("scdn", *command)))
def test_help_examples_work_as_printed(command, tmp_path, examples, monkeypatch):
    monkeypatch.setenv("SCDN_DATA", str(tmp_path / "data"))
    (tmp_path / "examples").symlink_to(examples)
    (tmp_path / "docs").symlink_to(ROOT / "docs")  # committed results, which an example reads
    for path, parser in _commands(_parser()):
        if path[:1] != command:
            continue
        for line in (parser.epilog or "").splitlines()[1:]:
            done = run_line(line.strip(), tmp_path)
            assert done.returncode == 0, (path, line, done.stderr)


def test_a_new_scenario_does_not_overwrite_an_old_one(tmp_path):
    path = tmp_path / "n.toml"
    path.write_text("old")
    refused(scdn("scenario", "new", "-o", path), 1)
    assert path.read_text() == "old"
    assert scdn("scenario", "new", "-o", path, "--force").returncode == 0
    with path.open("a") as file:  # the template can be added to as it stands
        file.write('\n[[devices]]\nid = "a"\nposition_m = [1, 2, 3]\n')
        file.write("\n[[churn.shocks]]\nround = 3\ncentre_m = [1, 2]\nradius_m = 4\n")
    assert scdn("scenario", "check", path).returncode == 0


def test_a_scenario_is_no_request(examples):
    lines = refused(scdn("plan", examples / "wildfire.toml"), 1)
    assert "scdn scenario request" in lines[0]


MISSING = {
    "plan examples/request.json --solver paper": "cvxpy",
    "run examples/quick.toml --method sc-dn-paper --out {out}": "cvxpy",
    "paper run convergence --runs 1 --out {out}": "cvxpy",
    "federate local examples/quick.toml --out {out}": "flwr",
    "federate server --keys {out} --labels {out} --out {out}": "flwr",
    "studio {out} --no-browser": "fastapi",
    "paper run exact --runs 1 --ray auto --out {out}": "ray",
    "export {out} --out {out}": "onnx",
    "run examples/quick.toml --log mlflow --out {out}": "mlflow",
}


NEEDS_CVXPY = "scdn.control.algorithm3."  # looks for it when it is imported


@pytest.fixture
def without(monkeypatch):
    """Return a function that hides packages, as if they were not installed."""

    def hide(package):
        for module in [name for name in sys.modules if name.startswith(NEEDS_CVXPY)]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.setattr("scdn.errors.find_spec", lambda name: name != package or None)

    return hide


@pytest.mark.parametrize("line", MISSING)
def test_a_missing_package_is_named(line, without, tmp_path):
    package = MISSING[line]
    without(package)
    fault = refused(scdn(*line.format(out=tmp_path / "out").split(), cwd=ROOT), 1)[0]
    assert re.fullmatch(rf"scdn: .*: {package} is not installed, pip install 'scdn\[\w+\]'", fault)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
