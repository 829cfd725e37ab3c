"""Huge and tiny numbers in a plan request give a plan in finite numbers, or one clear refusal."""

from __future__ import annotations

import copy
import json
from contextlib import suppress

import pytest
from conftest import ROOT, many
from hypothesis import given, settings
from hypothesis import strategies as st

from scdn.cli import main
from scdn.control.plan_request import make_request, problem_of
from scdn.control.solve import SOLVERS, solve
from scdn.errors import InputError
from scdn.file_io import to_json

REQUEST = json.loads((ROOT / "examples" / "request.json").read_text())
COMPLETE = make_request({**REQUEST, "devices": REQUEST["devices"][:2]}).model_dump(
    mode="json", by_alias=True
)
NUMBERS = (1e308, 1e150, 5e-324)
QUICK_SOLVERS = ("exact", "greedy", "gsp", "gsp-matched")


def _paths(node, path=()):
    """Yield the paths of all numbers; of a list of tables, those in the first one."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _paths(value, (*path, key))
    elif isinstance(node, list):
        for index, value in enumerate(node if not isinstance(node[0], dict) else node[:1]):
            yield from _paths(value, (*path, index))
    elif isinstance(node, int | float) and not isinstance(node, bool):
        yield path


PATHS = list(_paths(COMPLETE))


def _with(values):
    document = copy.deepcopy(COMPLETE)
    for path, number in values.items():
        *parents, last = path
        node = document
        for key in parents:
            node = node[key]
        node[last] = number
    return document


def _is_planned_or_refused(values, solver):
    with suppress(InputError):
        plan = solve(problem_of(make_request(_with(values))), solver, gap=1e-2, time_limit_s=0.1)
        to_json(plan.document())  # refuses numbers that are not finite


@pytest.mark.parametrize("path", PATHS, ids=lambda path: ".".join(map(str, path)))
def test_one_huge_or_tiny_number_is_planned_or_refused(path):
    for number in NUMBERS:
        for solver in ("exact", "gsp-matched"):
            _is_planned_or_refused({path: number}, solver)


@settings(max_examples=many(60), deadline=None)
@given(
    st.dictionaries(st.sampled_from(PATHS), st.sampled_from(NUMBERS), min_size=2, max_size=4),
    st.sampled_from(QUICK_SOLVERS),
)
def test_several_huge_or_tiny_numbers_are_planned_or_refused(values, solver):
    _is_planned_or_refused(values, solver)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_huge_delay_limit_is_no_limit(solver):
    objectives = [
        solve(problem_of(make_request(_with({("max_delay_s",): seconds}))), solver).objective
        for seconds in (1e12, 1e308)
    ]
    assert objectives[1] == pytest.approx(objectives[0], rel=1e-3)


def test_the_command_plans_with_a_huge_delay_limit(tmp_path, capsys):
    path = tmp_path / "request.json"
    path.write_text(json.dumps({**REQUEST, "max_delay_s": 1e308}))
    assert main(["plan", str(path), "--json"]) == 0
    delays = [device["delay_s"] for device in json.loads(capsys.readouterr().out)["devices"]]
    assert all(delay is None or delay <= 1e308 for delay in delays)
