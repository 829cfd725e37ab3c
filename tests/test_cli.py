"""The command line as people use it: real processes, exit codes, what is on which stream."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT

from scdn.cli import main


def scdn(*arguments, stdin=None, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "scdn.cli", *map(str, arguments)],
        input=stdin,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def refused(result, lines=None):
    assert result.returncode == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    found = result.stderr.splitlines()
    assert found
    assert lines is None or len(found) == lines
    return found


def test_new_check_show(tmp_path):
    made = scdn("scenario", "new", "-o", "n.toml", cwd=tmp_path)
    assert (made.returncode, made.stdout) == (0, "wrote n.toml\n")
    checked = scdn("scenario", "check", "n.toml", "--strict", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    shown = scdn("scenario", "show", "n.toml", "--json", cwd=tmp_path)
    assert json.loads(shown.stdout)["name"] == "my-network"
    full = scdn("scenario", "show", "n.toml", "--full", cwd=tmp_path)
    again = scdn("scenario", "show", "-", "--json", stdin=full.stdout)
    assert again.stdout == shown.stdout


def test_overrides_and_strict(examples):
    path = examples / "paper-dynamic.toml"
    warned = scdn("scenario", "check", path, "--set", "fleet.0.rho=[0.1,0.9]")
    assert warned.returncode == 0
    assert "Theorem 1" in warned.stderr
    refused(scdn("scenario", "check", path, "--set", "fleet.0.rho=[0.1,0.9]", "--strict"), 1)


def test_wrong_files(tmp_path):
    refused(scdn("scenario", "check", tmp_path), 1)
    refused(scdn("scenario", "check", tmp_path / "nowhere.toml"), 1)
    (tmp_path / "empty.toml").write_text("")
    assert "no device" in refused(scdn("scenario", "check", tmp_path / "empty.toml"), 1)[0]
    (tmp_path / "bad.toml").write_text("a = [1,\n")
    refused(scdn("scenario", "check", tmp_path / "bad.toml"), 1)
    (tmp_path / "list.json").write_text("[1, 2]")
    refused(scdn("scenario", "check", tmp_path / "list.json"), 1)


def test_two_hundred_megabytes_of_garbage(tmp_path):
    path = tmp_path / "garbage.toml"
    with path.open("wb") as file:
        for _ in range(200):
            file.write(os.urandom(1 << 20))
    assert "too large" in refused(scdn("scenario", "check", path), 1)[0]


def test_unwritable_output(examples, tmp_path):
    path = tmp_path / "nowhere" / "map.png"
    result = scdn("scenario", "draw", examples / "wildfire.toml", "-o", path)
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    refused(scdn("scenario", "draw", examples / "wildfire.toml", "-o", tmp_path / "map.gif"), 1)
    late = ["-o", tmp_path / "map.png", "--round", 99]
    refused(scdn("scenario", "draw", examples / "wildfire.toml", *late), 1)
    assert list(tmp_path.iterdir()) == []


def test_wrong_words():
    for words in (["nonsense"], [], ["scenario"], ["scenario", "show"], ["scenario", "new", "-x"]):
        refused(scdn(*words), 1)


def _commands(parser, path=()):
    yield path, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, child in action.choices.items():
                yield from _commands(child, (*path, name))


def test_every_help_has_an_example(capsys):
    from scdn.cli import _parser

    for path, parser in _commands(_parser()):
        assert "example:" in (parser.epilog or ""), path
        with pytest.raises(SystemExit) as ended:
            main([*path, "--help"])
        assert ended.value.code == 0
    capsys.readouterr()


def test_help_examples_work_as_printed(tmp_path, examples):
    from scdn.cli import _parser

    (tmp_path / "examples").symlink_to(examples)
    for path, parser in _commands(_parser()):
        if path == ("studio",):
            continue  # it goes on until it is stopped: see test_studio_api.py
        for line in (parser.epilog or "").splitlines()[1:]:
            words = line.strip().removeprefix("scdn ").split(">")[0].split()
            result = scdn(*words, cwd=tmp_path)
            assert result.returncode == 0, (path, line, result.stderr)


def test_a_new_scenario_does_not_overwrite_an_old_one(tmp_path):
    path = tmp_path / "n.toml"
    path.write_text("mine")
    refused(scdn("scenario", "new", "-o", path), 1)
    assert path.read_text() == "mine"
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
    "run examples/quick.toml --log mlflow --out {out}": "mlflow",
}


@pytest.fixture
def without(monkeypatch):
    """Hides packages, as if they were not installed."""

    def hide(*packages):
        for name in ("geometric", "geometric_program"):
            monkeypatch.delitem(sys.modules, f"scdn.control.{name}", raising=False)
        monkeypatch.setattr("scdn.errors.find_spec", lambda name: name not in packages or None)

    return hide


@pytest.mark.parametrize("words", MISSING)
def test_a_package_that_is_not_installed_is_asked_for(
    words, without, tmp_path, monkeypatch, capsys
):
    package = MISSING[words]
    monkeypatch.chdir(ROOT)
    without(package)
    assert main(words.format(out=tmp_path / "out").split()) == 2
    said = capsys.readouterr()
    line = rf"scdn: .*: {package} is not installed, pip install 'scdn\[\w+\]'\n"
    assert re.fullmatch(line, said.err)
    assert said.out == ""
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
