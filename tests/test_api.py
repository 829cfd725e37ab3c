"""`import scdn` is enough to plan a round, run a scenario and compare methods."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

import scdn
from scdn.data import fetch
from scdn.errors import InputError

REQUEST = ROOT / "examples" / "request.json"
QUICK = ROOT / "examples" / "quick.toml"
SMALL = ("learning.rounds=2", "learning.sample_rows=32")


def test_every_public_name_can_be_imported():
    for name in scdn.__all__:
        assert getattr(scdn, name) is not None
    assert set(dir(scdn)) == {*scdn.__all__, "__version__"}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        scdn.nothing  # noqa: B018


def test_importing_the_package_loads_no_library():
    code = "import sys, scdn; print([m for m in ('numpy', 'pydantic') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_planning_loads_no_pytorch():
    code = f"import sys, scdn; scdn.plan({str(REQUEST)!r}, 'greedy'); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_plan_of_a_file_equals_that_of_its_table():
    plan = scdn.plan(REQUEST, gap=1e-3)
    assert isinstance(plan, scdn.Plan)
    assert plan.gap <= 1e-3
    table = json.loads(REQUEST.read_text())
    for request in (table, scdn.make_request(table), str(REQUEST)):
        other = scdn.plan(request, gap=1e-3)
        assert all(map(np.array_equal, other.decision, plan.decision))


def test_settings_override_a_request():
    plan = scdn.plan(REQUEST, "greedy", settings=["max_iterations=1"])
    assert plan.decision.iterations.max() <= 1


def test_a_run_returns_a_row_per_round(tmp_path):
    fetch("digits")
    rounds = scdn.run(QUICK, "max-vfl", seed=4, settings=SMALL)
    assert rounds["round"].tolist() == [0, 1]
    assert set(rounds["method"]) == {"max-vfl"}
    assert set(rounds["seed"]) == {4}
    recorded = scdn.run(
        scdn.read_scenario(QUICK, SMALL), "max-vfl", seed=4, out=tmp_path / "recorded"
    )
    assert (tmp_path / "recorded" / "events.jsonl").exists()
    assert recorded["top3"].equals(rounds["top3"])
    with pytest.raises(InputError, match="seed"):
        scdn.run(QUICK, seed=-1)


def test_a_comparison_returns_the_rounds_of_the_methods_asked_for(tmp_path):
    """GSP needs a reference run of SC-DN, which is not part of the result."""
    fetch("digits")
    rounds = scdn.compare(QUICK, ["gsp", "max-vfl"], [5], settings=SMALL, out=tmp_path / "runs")
    assert set(rounds["method"]) == {"gsp", "max-vfl"}
    assert len(rounds) == 4
    again = scdn.compare(QUICK, ["gsp", "max-vfl"], [5], settings=SMALL, out=tmp_path / "runs")
    columns = ["method", "seed", "round", "top3", "joules"]
    order = ["method", "round"]
    assert again[columns].sort_values(order).equals(rounds[columns].sort_values(order))
