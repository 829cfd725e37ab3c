"""Scenarios: profiles, overrides, CSV files of devices, TOML, and all faults reported at once."""

from __future__ import annotations

import json
import math
import re
import tomllib
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scdn.errors import InputError
from scdn.file_io import apply_settings
from scdn.scenario import (
    make_scenario,
    read_scenario,
    scenario_template,
    scenario_warnings,
    to_toml,
)
from scdn.world.scenario_text import scenario_text

FLEET = {"fleet": [{"count": 2}]}


def faults_in(document, **options):
    with pytest.raises(InputError) as caught:
        make_scenario({**FLEET, **document}, **options)
    return caught.value.faults


def faulty_fields(document, **options):
    return [fault.field for fault in faults_in(document, **options)]


def test_examples_are_valid(examples):
    paths = sorted(examples.glob("*.toml"))
    names = {path.name for path in paths}
    assert names >= {"paper-static.toml", "paper-dynamic.toml"}
    assert names >= {"building.toml", "smart-grid.toml", "wildfire.toml"}
    for path in paths:
        scenario = read_scenario(path, strict=True)
        assert scenario.name == path.stem
        assert scenario.about


def test_defaults_are_those_of_the_contract():
    scenario = make_scenario(FLEET)
    assert (scenario.max_delay_s, scenario.max_iterations) == (0.06, 5)
    assert scenario.radio.rate_model == "shannon"
    weights = scenario.weights
    assert (weights.convergence, weights.transmission) == (1, 10)
    assert (weights.processing, weights.movement) == (0.02, 1e-3)
    assert scenario.radio.a2a.exponent == 2.2
    assert scenario.radio.a2g.nlos_loss_db == 23


def test_the_paper_profile_has_the_papers_constants():
    scenario = make_scenario({**FLEET, "profile": "paper"})
    assert scenario.radio.rate_model == "pade"
    assert scenario.weights.model_dump() == {
        "convergence": 1e-3,
        "transmission": 1e3,
        "processing": 1e-9,
        "movement": 1e-4,
    }
    assert (scenario.learning.server_turn, scenario.learning.damping) == ("parallel", "none")
    changed = make_scenario({**FLEET, "profile": "paper", "weights": {"movement": 5}})
    assert (changed.weights.movement, changed.weights.transmission) == (5, 1e3)


@pytest.mark.parametrize("profile", ["product", "paper"])
def test_the_template_reads_back_as_its_profile(profile):
    document = tomllib.loads(scenario_template(profile))
    scenario = make_scenario(document)
    expected = make_scenario({"profile": profile, "name": "my-network", "fleet": [{"count": 6}]})
    assert scenario == expected


def test_the_template_marks_values_that_are_not_in_the_paper():
    text = scenario_template()
    assert "not in the paper" in text
    for line in text.splitlines():
        assert len(line) <= 100


def test_tables_that_the_template_leaves_out_can_be_uncommented():
    text = scenario_template()
    absent = {"prices", "radio.two_ray", "radio.log_distance", "movement.rotary_wing"}
    for header in sorted(absent | {"movement.rover"}):
        table = re.search(rf"^# \[{re.escape(header)}\]\n(?:#.*\n?)+", text, re.M)[0]
        used = re.sub(r"^# (?=\[|\w+ = )", "", table, flags=re.M)
        scenario = make_scenario(tomllib.loads(text.replace(table, used)))
        *parents, name = header.split(".")
        owner = getattr(scenario, parents[0]) if parents else scenario
        assert getattr(owner, name) == type(getattr(owner, name))()


text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(text, st.floats(1e-300, 1e300), st.integers(0, 2**53), st.floats(0, 100))
def test_toml_reads_back_as_the_same_scenario(name, number, seed, place):
    device = {
        "id": name,
        "kind": name,
        "position_m": [place, 0, 100],
        "payload_bits": number,
        "optimizer": {"kind": "momentum", "rho": 0.2},
    }
    document = {
        "name": name,
        "about": name,
        "seed": seed,
        "max_delay_s": number,
        "devices": [device],
        "fleet": [{"count": 1, "area_m": [0, 0, 1, 1]}],
        "churn": {"shocks": [{"round": 1, "centre_m": [place, 1], "radius_m": 2}]},
        "candidates_m": [[1, 2, 3]],
    }
    scenario = make_scenario(document)
    for comments in (True, False):
        again = make_scenario(tomllib.loads(to_toml(scenario, comments=comments)))
        assert again == scenario
    as_json = json.loads(json.dumps(scenario.model_dump(mode="json", by_alias=True)))
    assert make_scenario(as_json) == scenario


def test_all_faults_are_reported_at_once():
    device = {"id": "a", "position_m": [1, 2, 3]}
    document = {
        "radio": {"bandwidth_hz": -2, "bandwith": 3},
        "seed": 1.5,
        "region_m": [100, 100, 100],
        "learning": {"damping": 7, "rounds": "many"},
        "devices": [
            {**device, "max_power_w": -1, "position_m": [1, 2, 900]},
            {"id": "b", "position_m": [1, 2]},
            {**device, "cpu_min_hz": 5e9, "optimizer": {"kind": "adam"}},
            {**device, "optimizer": {"kind": "momentum", "rho": 2}},
        ],
    }
    faults = faults_in(document)
    assert [str(fault) for fault in faults[1:3]] == [
        "radio.bandwidth_hz: got -2, must be > 0",
        "radio.bandwith: unknown key, did you mean bandwidth_hz?",
    ]
    assert sorted(fault.field for fault in faults) == sorted(
        [
            "seed",
            "radio.bandwidth_hz",
            "radio.bandwith",
            "learning.damping",
            "learning.rounds",
            "devices.0.max_power_w",
            "devices.0.position_m",
            "devices.1.position_m",
            "devices.2.optimizer",
            "devices.2.cpu_min_hz",
            "devices.2.id",
            "devices.3.optimizer.rho",
            "devices.3.id",
        ]
    )


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"radio": {"bandwidth_hz": -1}}, "radio.bandwidth_hz"),
        ({"max_delay_s": math.nan}, "max_delay_s"),
        ({"max_delay_s": math.inf}, "max_delay_s"),
        ({"max_delay_s": True}, "max_delay_s"),
        ({"max_delay_s": "0.1"}, "max_delay_s"),
        ({"region_m": [0, 1, 1]}, "region_m.0"),
        ({"fleet": []}, "fleet"),
        ({"fleet": [{"count": 0}]}, "fleet"),
        ({"fleet": [{"count": 2, "altitude_m": [0, 101]}]}, "fleet.0.altitude_m"),
        ({"fleet": [{"count": 2, "flops_per_cycle": 0}]}, "fleet.0.flops_per_cycle"),
        ({"fleet": [{"count": 2, "cpu_max_hz": [2, 1]}]}, "fleet.0.cpu_max_hz"),
        ({"fleet": [{"count": 2, "weibull_shapes": [0]}]}, "fleet.0.weibull_shapes.0"),
        ({"fleet": [{"count": 2, "area_m": [0, 0, 500, 1]}]}, "fleet.0.area_m"),
        ({"fleet": [{"count": 2, "entry_share": 0}]}, "fleet"),
        ({"fleet": [{"count": 1}, {"count": 1}]}, "fleet.1.kind"),
        ({"keep_out_m": [[5, 5, 5, 1, 9, 9]]}, "keep_out_m.0"),
        ({"candidates_m": []}, "candidates_m"),
        ({"candidates_m": [[1, 1, 1]], "keep_out_m": [[0, 0, 0, 2, 2, 2]]}, "candidates_m"),
        ({"candidates_m": [[1, 1, 101]]}, "candidates_m"),
        ({"keep_out_m": [[1, 2, 3]]}, "keep_out_m.0"),
        ({"region_m": [100, 100, -5], "server": {"position_m": [1, 1, 1]}}, "region_m.2"),
        ({"schema": True}, "schema"),
        ({"server": {"position_m": [-1, 0, 0]}}, "server.position_m"),
        ({"server": {"start": "middle"}}, "server.start"),
        ({"profile": "mine"}, "profile"),
        ({"profile": 3}, "profile"),
        ({"schema": 2}, "schema"),
        ({"devices": {"id": "a"}}, "devices"),
        ({"devices": [{"id": "", "position_m": [1, 1, 1]}]}, "devices.0.id"),
    ],
)
def test_each_fault_is_reported_once(document, field):
    assert faulty_fields(document) == [field]


@pytest.mark.parametrize("step", ["searched", "fitted", "rate"])
def test_theorem_1_warns_and_strict_refuses(step):
    """Where the step is searched, runs check it when it has been taken, whatever the rates are."""
    device = {"id": "a", "position_m": [1, 1, 1]}
    group = {"rho": [0.1, 0.3], "mu": [0.1, 0.5], "learning_rate": 0.9}
    document = {
        "learning": {"step": step},
        "fleet": [{**group, "count": 2, "optimizers": ["momentum", "proximal"]}],
        "devices": [
            {**device, "optimizer": {"kind": "momentum", "rho": 0.9}},
            {
                **device,
                "id": "b",
                "learning_rate": 0.9,
                "optimizer": {"kind": "proximal", "mu": 0.5},
            },
            {**device, "id": "c", "optimizer": {"kind": "momentum", "rho": 0.28}},
        ],
    }
    scenario = make_scenario(document)
    warned = [line.split(":")[0] for line in scenario_warnings(scenario)]
    momentum, rates = ["devices.0.optimizer.rho", "fleet.0.rho"], []
    if step != "searched":
        rates = ["devices.1.learning_rate", "fleet.0.learning_rate"]
    assert sorted(warned) == sorted([*momentum, *rates])
    assert faulty_fields(document, strict=True) == warned
    assert scenario_warnings(make_scenario(FLEET)) == []


def test_the_summary_names_what_differs_from_the_papers_model(examples):
    plain = scenario_text(make_scenario(FLEET))
    words = ("radio ", "round ", "movement ", "prices ")
    assert not [line for line in plain.splitlines() if line.startswith(words)]
    lines = {
        line.split()[0]: line
        for line in scenario_text(read_scenario(examples / "wildfire.toml")).splitlines()
        if line.startswith(words)
    }
    assert "869.525 MHz with a band of 125 kHz, noise figure 6 dB" in lines["radio"]
    assert "30 s at a position; a device may send for 3 s" in lines["round"]
    assert "hovers with 168.5 W, flies 18.3 m/s with 8.83 J/m" in lines["movement"]
    assert lines["prices"].endswith("1 for a device's joule, 0.01 for the server's")
    for model in ("landing", "rover", "mast"):
        document = {**FLEET, "movement": {"model": model}, "round_s": 9}
        assert f"movement  {model}" in scenario_text(make_scenario(document))


def test_settings_override_values(examples):
    path = examples / "wildfire.toml"
    settings = ["radio.margin_db=3", "fleet.0.count=4", "name=other", "server.start=origin"]
    scenario = read_scenario(path, settings)
    assert (scenario.radio.margin_db, scenario.fleet[0].count) == (3, 4)
    assert (scenario.name, scenario.server.start) == ("other", "origin")
    for wrong, field in [
        ("radio.nonsense=3", "radio.nonsense"),
        ("radio", "radio"),
        ("=3", "=3"),
        ("fleet.9.count=1", "fleet.9.count=1"),
        ("seed.x=1", "seed.x=1"),
        ("radio.margin_db=lots", "radio.margin_db"),
    ]:
        with pytest.raises(InputError) as caught:
            read_scenario(path, [wrong])
        assert [fault.field for fault in caught.value.faults] == [field]


@given(st.sampled_from(["max_delay_s", "learning.rounds", "radio", "fleet.1", "targets"]))
def test_null_clears_a_value_so_that_its_default_applies(key):
    """What is cleared is as if it had never been written; clearing it again changes nothing."""
    document = {
        "max_delay_s": 0.5,
        "learning": {"rounds": 3, "hidden": 7},
        "radio": {"margin_db": 2.0},
        "fleet": [{"count": 2}, {"kind": "other", "count": 1}],
        "targets": ["top1=50"],
    }
    first, _, second = key.partition(".")
    without = deepcopy(document)
    if second:
        del without[first][int(second) if second.isdecimal() else second]
    else:
        del without[first]
    assert make_scenario(apply_settings(document, [f"{key}=null"])) == make_scenario(without)
    assert document["max_delay_s"] == 0.5  # the document itself stays


@pytest.mark.parametrize("setting", ["mission.target= null ", "round_s=null", "candidates_m=null"])
def test_null_may_clear_what_was_never_set(examples, setting):
    assert read_scenario(examples / "quick.toml", [setting]) == read_scenario(
        examples / "quick.toml"
    )


@pytest.mark.parametrize("setting", ["learning.nonsense=null", "fleet.9=null"])
def test_null_for_something_unknown_is_a_fault(examples, setting):
    with pytest.raises(InputError) as caught:
        read_scenario(examples / "quick.toml", [setting])
    assert len(caught.value.lines()) == 1


def test_faults_of_devices_name_their_id():
    devices = [
        {"id": "north", "position_m": [1, 2, 3], "max_power_w": -1},
        {"id": "south", "position_m": [1, 2, 900]},
        {"id": "north", "position_m": [1, 2, 3]},
        {"position_m": [1, 2]},
        {"id": "x" * 200, "position_m": [1, 2, 3], "payload": 3},
    ]
    lines = [str(fault) for fault in faults_in({"devices": devices})]
    assert 'devices.0.max_power_w ("north"): got -1, must be ≥ 0' in lines
    assert any(line.startswith('devices.1.position_m ("south"): ') for line in lines)
    assert any(line.startswith("devices.2.id: ") for line in lines)  # which says it itself
    assert any(line.startswith("devices.3.position_m: ") for line in lines)
    assert all(len(line) < 250 for line in lines)


def _with_csv(tmp_path, text, **settings):
    (tmp_path / "sites.csv").write_text(text)
    document = {"fleet": [], "devices_csv": "sites.csv", **settings}
    return {"document": document, "folder": tmp_path}


def test_devices_from_a_csv_in_metres(tmp_path):
    text = "id,x,y,z,kind,max_power_w\na,1,2,0,meter,0.5\nb, 3 ,4,5,mast,\n\n"
    scenario = make_scenario(**_with_csv(tmp_path, text))
    assert [d.position_m for d in scenario.devices] == [(1, 2, 0), (3, 4, 5)]
    assert [d.kind for d in scenario.devices] == ["meter", "mast"]
    assert [d.max_power_w for d in scenario.devices] == [0.5, 0.25]


def test_devices_from_a_csv_in_degrees(tmp_path):
    """On the 45th parallel 0.001° is 111.13 m north and 78.85 m east (WGS-84)."""
    text = "id,lat,lon,alt\nsw,45,7,0\nne,45.001,7.001,12\n"
    region = {"region_m": [200, 200, 100]}
    scenario = make_scenario(**_with_csv(tmp_path, text, **region))
    south_west, north_east = (d.position_m for d in scenario.devices)
    assert south_west == (0, 0, 0)
    assert north_east == pytest.approx((78.85, 111.13, 12), abs=0.01)
    moved = make_scenario(**_with_csv(tmp_path, text, origin_deg=[44.9995, 6.9995], **region))
    assert moved.devices[0].position_m[1] == pytest.approx(111.13 / 2, abs=0.01)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("id,x,y\na,1,2\n", "column z"),
        ("x,y,z\n1,2,3\n", "column id"),
        ("id,lat,lon\na,1,2\n", "column alt"),
        ("id,x,y,z,lat\na,1,2,3,4\n", "columns"),
        ("id,x,y,z,colour\na,1,2,3,red\n", 'column "colour"'),
        ("id,x,y,z\na,1,2,north\n", "line 2, z"),
        ("id,x,y,z\na,1,2,nan\n", "line 2, z"),
        ("id,x,y,z\na,1,2\n", "line 2"),
        ("id,lat,lon,alt\na,91,0,0\n", "line 2, lat"),
        ("id,x,y,z\n", "rows"),
        ("", "column id"),
        ("id,x,y,z\na,1,2,900\n", "devices.0.position_m"),
        ("id,x,y,z\na,1,2,3\na,1,2,3\n", "devices.1.id"),
        ('id,x,y,z\n"a,1,2,3\n', "file"),
    ],
)
def test_a_wrong_csv_is_refused(tmp_path, text, field):
    with pytest.raises(InputError) as caught:
        make_scenario(**_with_csv(tmp_path, text))
    assert caught.value.faults[0].field == field


def test_a_missing_csv_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        make_scenario({"devices_csv": "nowhere.csv"}, folder=tmp_path)


# --- settings of learning that belong together ----------------------------------------------------


@pytest.mark.parametrize("profile", ["product", "paper"])
@pytest.mark.parametrize(
    ("damping", "expected"),
    [("fitted", ("fitted", "none")), ("active", ("rate", "active")), (0.5, ("rate", 0.5))],
)
def test_a_damping_from_before_the_step_keeps_its_meaning(profile, damping, expected):
    learning = make_scenario(
        {**FLEET, "profile": profile, "learning": {"damping": damping}}
    ).learning
    assert (learning.step, learning.damping) == expected


@pytest.mark.parametrize("step", ["searched", "fitted"])
def test_a_damping_without_a_rate_is_a_fault(step):
    (fault,) = faults_in({"learning": {"step": step, "damping": "active"}})
    assert fault.field == "learning"
    assert f"""needs step = "rate", not "{step}\"""" in str(fault)
    settings = {"learning": {"step": step, "damping": "none"}}
    assert make_scenario({**FLEET, **settings}).learning.step == step
