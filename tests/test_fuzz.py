"""Any document is either a scenario or refused with one clear line per fault."""

from __future__ import annotations

import json
import random
import tomllib

import pytest
from conftest import many
from hypothesis import given
from hypothesis import strategies as st

from scdn.errors import InputError
from scdn.file_io import parse_document
from scdn.scenario import make_scenario, scenario_template
from scdn.world.scenario_text import scenario_text

EXTREME_VALUES = [
    None, True, -1, 0, 1.5, -0.0, 1e308, -1e308, 5e-324, float("nan"), float("inf"), 10**400, 2**63,
    "", "x", "\x00\n\r\u2028", "9" * 300, [], [[]], [1], [1, 2, 3], [None], ["a"], [[0] * 6], {},
    {"kind": "sgd"}, {"kind": 3}, {"a": {"b": {}}}, [{}], [{"id": "a"}], [{"count": 10**12}],
    [1e308, 1e308, 1e308],
]  # fmt: skip

BASE = {
    **tomllib.loads(scenario_template()),
    "devices": [
        {"id": "a", "position_m": [1, 2, 3], "optimizer": {"kind": "proximal", "mu": 0.1}},
        {"id": "b", "position_m": [1, 2, 3], "optimizer": {"kind": "momentum", "rho": 0.1}},
    ],
    "keep_out_m": [[1, 1, 1, 2, 2, 2]],
    "candidates_m": [[5, 5, 5]],
}
BASE["churn"]["shocks"] = [{"round": 1, "centre_m": [1, 2], "radius_m": 2}]


def _paths(node, path=()):
    yield path
    keys = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        yield from _paths(node[key], (*path, key))


PATHS = [path for path in _paths(BASE) if path]


def _mutated(generator):
    document = json.loads(json.dumps(BASE))
    for _ in range(generator.choice([1, 1, 2, 5])):
        path = generator.choice(PATHS)
        node = document
        try:
            for key in path[:-1]:
                node = node[key]
            match generator.randrange(4):
                case 0:
                    del node[path[-1]]
                case 1 if isinstance(node, dict):
                    key = generator.choice(["", "extra", "ïd", "0", "devices"])
                    node[key] = generator.choice(EXTREME_VALUES)
                case _:
                    node[path[-1]] = generator.choice(EXTREME_VALUES)
        except (KeyError, IndexError, TypeError):
            continue  # an earlier mutation has removed this path
    return document


@pytest.mark.parametrize("part", range(10))
def test_mutated_scenarios_are_read_or_refused(part):
    for trial in range(many(4000)):
        document = _mutated(random.Random(4000 * part + trial))  # noqa: S311
        try:
            scenario = make_scenario(document, strict=trial % 2 == 0)
            if scenario.learning.rounds <= 1000 and sum(g.count for g in scenario.fleet) <= 1000:
                assert scenario_text(scenario)
        except InputError as error:
            _check_lines(error)


def _check_lines(error):
    lines = error.lines()
    assert len(lines) == len(error.faults) > 0
    for line in lines:
        assert line.isprintable()
        assert len(line) < 1200


@given(st.binary(max_size=300))
def test_arbitrary_text_is_read_or_refused(raw):
    text = raw.decode("utf-8", "replace")
    for name in ("x.toml", "x.json", "-"):
        try:
            make_scenario(parse_document(text, name))
        except InputError as error:
            _check_lines(error)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from([*BASE, "x", "radio"]), json_values))
def test_arbitrary_tables_are_read_or_refused(document):
    try:
        make_scenario(document)
    except InputError as error:
        _check_lines(error)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "a=" + "[" * 100_000])
def test_deep_nesting_is_refused(text):
    with pytest.raises(InputError) as caught:
        make_scenario(parse_document(text, "x.json" if text[0] != "a" else "x.toml"))
    _check_lines(caught.value)


def test_a_duplicate_key_is_refused():
    with pytest.raises(InputError, match="duplicate key"):
        parse_document('{"seed": 1, "seed": 2}', "x.json")
