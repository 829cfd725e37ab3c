"""Imports go one way: each room may use only the rooms below it."""

from __future__ import annotations

import ast
import subprocess
import sys

from conftest import ROOT

SOURCE = ROOT / "src" / "scdn"
BASE = {"arrays", "errors", "file_io", "job_pool", "npz", "registry", "rng", "theory"}
ALLOWED = {
    "arrays": set(),
    "errors": set(),
    "file_io": {"errors"},
    "job_pool": {"errors"},
    "npz": set(),
    "registry": {"errors"},
    "rng": set(),
    "theory": {"arrays"},
    "scenario": BASE,
    "world": BASE | {"scenario"},
    "learning": BASE | {"scenario"},
    "control": BASE | {"scenario", "world"},
    "methods": BASE | {"scenario", "control"},
    "record": BASE,
    "simulation": BASE | {"scenario", "world", "learning", "control", "methods", "record"},
    "federation": BASE
    | {"scenario", "world", "learning", "control", "methods", "record", "simulation"},
    "report": BASE | {"scenario", "world", "control", "record"},
    "paper": BASE
    | {"scenario", "world", "learning", "control"}
    | {"methods", "record", "simulation", "report"},
    "studio": BASE
    | {"scenario", "world", "learning", "control", "methods", "record", "simulation", "report"},
    "cli": BASE
    | {"scenario", "world", "learning", "control"}
    | {"methods", "record", "simulation", "federation", "report", "paper", "studio"},
}


def _imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scdn"):
            parts = node.module.split(".")
            yield from [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from (a.name.split(".")[1] for a in node.names if a.name.startswith("scdn."))


def test_every_import_goes_down():
    rooms = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in SOURCE.rglob("*.py")}
    assert rooms - {"__init__"} == set(ALLOWED)
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        for target in _imports(path):
            assert target in ALLOWED[room] | {room, "__version__"}, f"{path}: {target}"


def test_flower_stays_in_its_corner():
    """A new version of Flower changes the files of one folder alone."""
    known = set((SOURCE / "federation" / "flower").glob("*.py"))
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            named = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            named += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert path in known or not any(n.split(".")[0] == "flwr" for n in named), path


def test_control_sees_no_fleet_and_no_tensor():
    for path in (SOURCE / "control").glob("*.py"):
        text = path.read_text()
        assert "world.fleet" not in text
        assert "torch" not in text


def test_the_command_starts_light():
    """Drawing and compiling libraries are loaded only by the commands that need them."""
    heavy = (
        "matplotlib",
        "plotly",
        "numba",
        "torch",
        "cvxpy",
        "scipy",
        "pandas",
        "sklearn",
        "flwr",
    )
    code = f"import scdn.cli, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
