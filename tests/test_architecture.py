"""Laws of the source tree: imports go one way, a name means one thing, files stay short."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from functools import cache

from conftest import ROOT

SOURCE = ROOT / "src" / "scdn"
FILES = sorted(SOURCE.rglob("*.py"))

# What each package (or module of the top level) may import, from the bottom up.
BASE = {"arrays", "errors", "file_io", "job_pool", "npz", "registry", "rng", "targets", "theory"}
RUNNING = BASE | {"scenario", "world", "data", "learning", "control", "mission", "methods"}
RUNNING |= {"record"}
ALLOWED = {
    "arrays": set(),
    "errors": set(),
    "rng": set(),
    "targets": set(),
    "job_pool": {"errors"},
    "file_io": {"errors"},
    "registry": {"errors"},
    "npz": {"file_io"},
    "theory": {"arrays"},
    "scenario": BASE,
    "world": BASE | {"scenario"},
    "data": BASE | {"scenario"},
    "learning": BASE | {"scenario", "data"},
    "control": BASE | {"scenario", "world"},
    "mission": BASE | {"scenario", "world", "learning", "control"},
    "methods": BASE | {"scenario", "control", "mission"},
    "record": BASE,
    "simulation": RUNNING,
    "check": RUNNING | {"simulation"},
    "tuning": RUNNING | {"simulation"},
    "api": RUNNING | {"simulation"},
    "federation": RUNNING | {"simulation"},
    "export": RUNNING | {"simulation"},
    "report": BASE | {"scenario", "world", "control", "record"},
    "paper": RUNNING | {"simulation", "report"},
    "studio": RUNNING | {"simulation", "report"},
    "cli": RUNNING
    | {"simulation", "check", "export", "federation", "report", "paper", "studio", "tuning"},
}

# Module names that occur more than once, and why that confuses nobody.
SHARED_NAMES = {
    "__init__": "Python's name for a package",
    "page": "the HTML page of a comparison, and that of the paper's artefacts",
    "jobs": "each artefact of the paper has a folder with its jobs",
    "claims": "each artefact of the paper has a folder with its claims",
}

COMPILED_KERNEL = SOURCE / "control" / "exact" / "bounds_numba.py"  # one unit for the compiler
LONGEST_FILE = 400


@cache
def _tree(path):
    return ast.parse(path.read_text())


def _package(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def _imports(path):
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "scdn":
            parts = node.module.split(".")
            yield from [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from (a.name.split(".")[1] for a in node.names if a.name.startswith("scdn."))


def test_imports_go_one_way():
    assert {_package(path) for path in FILES} - {"__init__"} == set(ALLOWED)
    upwards = [
        f"{path.relative_to(SOURCE)} imports {target}"
        for path in FILES
        if _package(path) != "__init__"
        for target in _imports(path)
        if target not in ALLOWED[_package(path)] | {_package(path), "__version__"}
    ]
    assert upwards == []


def test_no_two_packages_import_each_other():
    """The table above allows no circle."""
    below = {package: set(targets) for package, targets in ALLOWED.items()}
    while free := [package for package, targets in below.items() if not targets]:
        below = {package: targets - set(free) for package, targets in below.items()}
        for package in free:
            del below[package]
    assert below == {}


def test_only_the_flower_folder_imports_flower():
    """A new version of Flower changes these files alone: one folder, and the app Flower starts."""
    federation = SOURCE / "federation"
    known = {*(federation / "flower").rglob("*.py"), *federation.glob("flower_app/*.py")}
    for path in set(FILES) - known:
        for node in ast.walk(_tree(path)):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.split(".")[0] == "flwr" for name in names), path


def test_control_sees_no_fleet_and_no_tensor():
    for path in (SOURCE / "control").rglob("*.py"):
        text = path.read_text()
        assert "world.fleet" not in text, path
        assert "torch" not in text, path


def test_the_command_starts_without_heavy_libraries():
    """Libraries that draw, compile or train are imported only by the commands that need them."""
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


def _repeated(names_and_paths):
    places = defaultdict(list)
    for name, path in names_and_paths:
        places[name].append(str(path.relative_to(SOURCE)))
    return {name: paths for name, paths in places.items() if len(paths) > 1}


def test_no_public_class_name_occurs_twice():
    classes = (
        (node.name, path)
        for path in FILES
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert _repeated(classes) == {}


def test_no_module_name_occurs_twice():
    repeated = _repeated((path.stem, path) for path in FILES)
    packages = _repeated(
        (path.parent.name, path.parent) for path in FILES if path.stem == "__init__"
    )
    assert {name: paths for name, paths in repeated.items() if name not in SHARED_NAMES} == {}
    assert packages == {}


def test_every_exception_for_a_module_name_is_needed():
    repeated = _repeated((path.stem, path) for path in FILES)
    assert set(SHARED_NAMES) <= set(repeated)


def test_no_file_is_too_long():
    lengths = {
        str(path.relative_to(SOURCE)): len(path.read_text().splitlines())
        for path in FILES
        if path != COMPILED_KERNEL
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_no_local_variable_is_called_found():
    """`found` says that something was found, not what: `plan`, `losses`, `rows` do."""
    named = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in FILES
        for function in ast.walk(_tree(path))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == "found"
    ]
    assert named == []
