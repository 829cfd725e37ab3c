"""An estimate plans and bills a run ahead: like the run, where plans do not depend on training."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_scenarios import METHODS, scenario

from scdn.cli import main
from scdn.data import fetch
from scdn.record.round_totals import TERMS, energy_terms
from scdn.scenario import read_scenario
from scdn.simulation.estimate import estimate
from scdn.simulation.estimate_text import MEASURED, MEASURED_MISSION, estimate_text
from scdn.simulation.runner import run

NOT_PLANNED = ("forecast", "metrics", "seconds", "plan", "step")


@pytest.fixture(autouse=True, scope="module")
def _digits():
    fetch("digits")


def numbers(event):
    """Return what was planned and billed of a round, without what training measures."""
    known = {key: value for key, value in event.items() if key not in NOT_PLANNED}
    measured = ("importance", "smoothness")
    devices = [{k: v for k, v in d.items() if k not in measured} for d in known["devices"]]
    return known | {"devices": devices}


@pytest.mark.parametrize("bill", ["model", "protocol"])
@pytest.mark.parametrize("name", ["max-vfl", "max-vfl-matched"])
def test_where_plans_need_no_training_an_estimate_is_the_run(tmp_path, name, bill):
    """With the step at the rate of the devices, embeddings are sent once a round."""
    learning = {"payload": bill, "step": "rate", "server_optimizer": "sgd"}
    chosen = scenario(seed=3, method=name, learning=learning, fading={"mode": "drawn"})
    expected, recorded = estimate(chosen), run(chosen, tmp_path / "run")
    assert [numbers(event) for event in expected.rounds] == [numbers(e) for e in recorded.rounds]
    for term, joules in expected.energy().items():
        assert joules == pytest.approx(recorded.end["energy"][term])


@pytest.mark.parametrize("name", [name for name in METHODS if name != "zoc-paper"])  # slow
def test_every_method_has_an_estimate_that_adds_up(name):
    chosen = scenario(seed=1, method=name, learning={"payload": "protocol", "unheard": "imputed"})
    document = json.loads(json.dumps(estimate(chosen).document(), allow_nan=False))
    rounds = document["by_round"]
    assert [row["round"] for row in rounds] == list(range(chosen.learning.rounds))
    for term in TERMS:
        assert document["energy"][term] == pytest.approx(sum(row[term] for row in rounds))
        assert document["energy"][term] >= 0
    assert document["energy"]["total_j"] == pytest.approx(
        sum(document["energy"][term] for term in TERMS)
    )
    assert document["seconds"] == pytest.approx(sum(row["seconds"] for row in rounds))
    assert all(0 <= row["active"] <= row["present"] for row in rounds)


@pytest.mark.parametrize("name", ["max-vfl-buffered", "mission"])
def test_a_round_that_goes_on_without_a_slow_device_has_an_estimate(name):
    settings = ("learning.rounds=4", "mission.goal=time", "mission.target=top3=97")
    example = read_scenario("examples/straggler.toml", (f"method={name}", *settings))
    rounds = estimate(example).rounds
    assert len(rounds) == 4
    late = [event for event in rounds if event.get("arrivals")]
    assert late
    assert len(late[0]["arrivals"]) == 5


def test_an_estimate_is_the_same_every_time():
    chosen = scenario(seed=2, method="mission", targets=["top3=80"])
    assert estimate(chosen).document() == estimate(chosen).document()


def test_rivals_take_the_iterations_that_sc_dn_is_expected_to_take():
    settings_ = {"seed": 4, "learning": {"rounds": 3}}
    leader = estimate(scenario(**settings_, method="sc-dn"))
    rival = estimate(scenario(**settings_, method="gsp-matched"))
    for led, followed in zip(leader.rounds, rival.rounds, strict=True):
        mean = np.mean([device["iterations"] for device in led["devices"]])
        for device in followed["devices"]:
            if device["active"]:
                assert device["iterations"] <= math.ceil(mean)


# --- missions -------------------------------------------------------------------------------------


@given(st.floats(35, 99), st.floats(35, 99))
@settings(max_examples=5)
def test_a_harder_target_takes_no_fewer_rounds(one, other):
    rounds = [
        len(estimate(scenario(seed=1, method="mission", learning={"rounds": 8},
                              targets=[f"top3={target}"])).rounds)
        for target in sorted((one, other))
    ]  # fmt: skip
    assert rounds[0] <= rounds[1]


def test_a_mission_ends_where_its_forecast_reaches_the_target():
    easy = scenario(seed=1, method="mission", targets=["top3=40"], learning={"rounds": 9})
    expected = estimate(easy)
    assert expected.ended == "the target top3=40 is reached"
    assert 2 <= len(expected.rounds) < 9
    assert f"Expected to end after {len(expected.rounds)} rounds" in estimate_text(expected)


def test_a_mission_is_planned_with_the_first_forecast():
    """Nothing is measured, so the forecast of every round is that of the first one."""
    expected = estimate(scenario(seed=1, method="mission", learning={"rounds": 5}))
    forecasts = [event["forecast"] for event in expected.rounds]
    assert len({forecast["base"] for forecast in forecasts}) == 1
    losses = [forecast["expected_loss"] for forecast in forecasts]
    assert losses == sorted(losses, reverse=True)
    assert losses == [forecast["validation_loss"] for forecast in forecasts]


# --- batteries ------------------------------------------------------------------------------------


@given(st.floats(1e-4, 2.0), st.sampled_from(("sc-dn", "mission", "max-vfl", "vafl")))
@settings(max_examples=12)
def test_a_battery_has_what_its_device_did_not_spend(battery_j, name):
    group = {**scenario().fleet[0].model_dump(mode="json"), "battery_j": [battery_j, 2 * battery_j]}
    expected = estimate(scenario(seed=2, method=name, fleet=[group]))
    spent = {}
    for event in expected.rounds:
        for device in event["devices"]:
            terms = ("transmission_j", "processing_j", "circuit_j", "idle_j")
            spent[device["id"]] = spent.get(device["id"], 0.0) + sum(device[t] for t in terms)
    levels = {level["id"]: level for level in expected.battery_levels()}
    assert set(levels) == set(spent)
    for name_, level in levels.items():
        assert level["left_j"] >= 0
        assert level["battery_j"] - level["left_j"] == pytest.approx(spent[name_], abs=1e-9)


def test_a_server_that_runs_out_ends_the_estimate():
    """On the ground a round takes hover_j = 1 J, and 2.5 J are two rounds."""
    short = estimate(scenario(seed=2, server={"battery_j": 2.5}))
    assert len(short.rounds) == 2
    assert "the server's battery is used up" in short.ended
    assert short.battery_levels() == [
        {"id": None, "battery_j": 2.5, "left_j": pytest.approx(0.5, abs=0.1)}
    ]
    text = estimate_text(short)
    assert "server" in text
    assert short.ended in text


# --- the command ----------------------------------------------------------------------------------


def test_the_command_prints_an_estimate_and_writes_nothing(tmp_path, monkeypatch, capsys):
    path = tmp_path / "scenario.json"
    chosen = scenario(seed=2, learning={"rounds": 13})
    path.write_text(json.dumps(chosen.model_dump(mode="json", by_alias=True)))
    monkeypatch.chdir(tmp_path)
    assert main(["run", str(path), "--estimate"]) == 0
    text = capsys.readouterr().out
    assert MEASURED in text
    assert main(["run", str(path), "--estimate", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads(json.dumps(estimate(chosen).document()))
    assert f"{document['energy']['total_j']:.4g} J" in text
    first = [line.split()[0] for line in text.splitlines()[2:11]]
    assert first == ["rounds", *(f"{n}–{n + 1}" for n in range(1, 13, 2)), "13", "all"]
    assert main(["run", str(path), "--estimate", "--method", "mission", "--seed", "9"]) == 0
    printed = capsys.readouterr().out
    assert ", mission, seed 9: " in printed
    assert MEASURED_MISSION in printed
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--estimate", "--out", "folder"], "--out"),
        (["--estimate", "--reference", "folder"], "--reference"),
        (["--estimate", "--log", "mlflow"], "--log"),
        (["--json"], "--json"),
        (["--estimate", "--method", "unknown"], "unknown"),
        (["--estimate", "--target", "mse=1"], "mse"),
    ],
)
def test_wrong_input_is_one_line(examples, options, named, capsys):
    assert main(["run", str(examples / "quick.toml"), *options]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert named in lines[0]


def test_without_the_data_set_the_scenario_s_own_sizes_count():
    group = {**scenario().fleet[0].model_dump(mode="json"), "flops_per_cycle": [0.003, 0.007]}
    learning = {"dataset": "mnist", "payload": "protocol"}
    chosen = scenario(seed=2, max_delay_s=0.1, fleet=[group], learning=learning)
    warnings = []
    expected = estimate(chosen, warnings.append)
    assert len(warnings) == 1
    assert "mnist" in warnings[0]
    event = expected.rounds[0]
    payload = chosen.fleet[0].payload_bits
    sent = [device["bits_sent"] for device in event["devices"] if device["executed_iterations"]]
    assert sent
    assert sent == [payload] * len(sent)
    assert energy_terms(event)["transmission_j"] > 0


def test_a_method_of_the_user_has_an_estimate(tmp_path, monkeypatch):
    (tmp_path / "own_methods.py").write_text(
        "from dataclasses import replace\n"
        "from scdn.methods import method\n"
        "MINE = replace(method('max-vfl'), name='mine')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    own, built_in = (
        estimate(scenario(seed=1, method=name)) for name in ("own_methods:MINE", "max-vfl")
    )
    assert own.energy() == built_in.energy()
