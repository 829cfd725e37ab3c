"""Batteries: nobody spends more than is in them, and missions ration them."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from federation_helpers import THREE, export_features, largest_difference, network_of, server
from federation_helpers import small_scenario as federated
from hypothesis import given, settings
from hypothesis import strategies as st
from run_scenarios import BASE, scenario, without_times

from scdn.data import fetch
from scdn.errors import InputError
from scdn.federation.messenger import RawReply
from scdn.federation.wire_format import decode
from scdn.mission.battery_rations import expected_rounds, next_factor
from scdn.scenario import make_scenario
from scdn.simulation import battery_rounds
from scdn.simulation.runner import resume, run
from scdn.world.churn import churn_trace

METHODS = (
    "mission",
    "sc-dn",
    "gsp-matched",
    "max-vfl",
    "max-vfl-buffered",
    "vafl",
    "vafl-matched",
    "oort",
)
PARTS = ("transmission_j", "processing_j", "circuit_j", "idle_j")
SERVER_PARTS = ("movement_j", "compute_j", "transmission_j")


@pytest.fixture(scope="module", autouse=True)
def _digits():
    fetch("digits")


def spent_by_devices(recorded):
    """Return what each device spent in the whole run, by its events."""
    spent = {}
    for event in recorded.rounds:
        for entry in event["devices"]:
            joules = sum(entry[part] for part in PARTS)
            spent[entry["id"]] = spent.get(entry["id"], 0.0) + joules
    return spent


def spent_by_server(recorded):
    return sum(event["server"][part] for event in recorded.rounds for part in SERVER_PARTS)


def batteries_of(recorded):
    """Return what was in each device's battery when it entered."""
    fleet = churn_trace(make_scenario(recorded.scenario)).fleet
    return dict(zip(fleet.id.tolist(), fleet.battery_j.tolist(), strict=True))


def run_once(setting):
    with tempfile.TemporaryDirectory() as folder:
        return run(setting, Path(folder) / "run")


def logarithmic(low, high):
    return st.floats(np.log10(low), np.log10(high)).map(lambda x: float(10**x))


@st.composite
def tables(draw):
    """Draw the table of a small scenario in which joules are spent in every way."""
    bill = draw(
        st.sampled_from(
            [
                {"payload": "model", "unheard": "known"},
                {"payload": "protocol", "unheard": "imputed", "table_rounds": 0},
                {"payload": "protocol", "unheard": "imputed"},
            ]
        )
    )
    learning = {
        **BASE["learning"],
        **bill,
        "rounds": 3,
        "step": draw(st.sampled_from(["searched", "searched", "fitted", "rate"])),
        "labels": draw(st.sampled_from(["shared", "server"])),
        "server_optimizer": draw(st.sampled_from(["adam", "sgd"])),
        "server_steps": draw(st.integers(1, 30)),
        "steps_per_iteration": draw(st.integers(1, 2)),
    }
    fliers = st.sampled_from([{}, {"model": "rotary-wing"}, {"model": "mast"}])
    low = draw(logarithmic(1e-6, 1.0))
    group = {
        **BASE["fleet"][0],
        "count": draw(st.integers(1, 4)),
        "battery_j": [low, draw(st.floats(1.0, 5.0)) * low],
    }
    return {
        "seed": draw(st.integers(0, 10_000)),
        "method": draw(st.sampled_from(METHODS)),
        "fleet": [group],
        "max_iterations": draw(st.integers(1, 4)),
        "max_delay_s": BASE["max_delay_s"] * draw(st.floats(0.8, 20.0)),
        "round_s": draw(st.sampled_from([0.05, 1.0])),
        "movement": draw(fliers),
        "fading": {"mode": draw(st.sampled_from(["none", "drawn"]))},
        "electronics": {
            "circuit_w": draw(st.sampled_from([0.0, 1e-3, 0.05])),
            "idle_w": draw(st.sampled_from([0.0, 1e-4, 0.01])),
        },
        "server": {
            "battery_j": draw(st.sampled_from([None, draw(logarithmic(1e-3, 1e3))])),
            "cpu_hz": draw(st.sampled_from([0.0, 1e6, 1e9])),
            "transmit_w": draw(st.sampled_from([0.0, 0.1, 1.0])),
        },
        "churn": {"entry_rate": draw(st.sampled_from([0.0, 0.7]))},
        "learning": learning,
    }


# --- nobody spends more than is in a battery ------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(tables())
def test_nobody_spends_more_than_is_in_a_battery(table):
    recorded = run_once(make_scenario(table))
    full, spent = batteries_of(recorded), spent_by_devices(recorded)
    for name, joules in spent.items():
        assert joules <= full[name] * (1 + 1e-9), (name, table["method"])
    if table["server"]["battery_j"] is not None:
        assert spent_by_server(recorded) <= table["server"]["battery_j"] * (1 + 1e-9)
    for event in recorded.rounds:
        left = {entry["id"]: entry["battery_j"] for entry in event["devices"]}
        assert all(level >= 0 for level in left.values())
    if recorded.rounds:
        assert left == {
            name: pytest.approx(full[name] - spent[name], rel=1e-6, abs=1e-9 * full[name])
            for name in left
        }


@settings(deadline=None, max_examples=15)
@given(tables())
def test_exits_by_battery_are_exits_of_devices_that_never_come_back(table):
    recorded = run_once(make_scenario(table))
    departed = set()
    for event in recorded.rounds:
        present = {entry["id"] for entry in event["devices"]}
        by_battery = set(event.get("exits_by_battery", []))
        assert not departed & present
        assert by_battery <= present & set(event["exited"])
        assert len(event["exited"]) == len(set(event["exited"]))
        departed |= set(event["exited"])


def small_batteries(**changes):
    """Return a scenario in which batteries are used up one after another."""
    group = {**BASE["fleet"][0], "battery_j": [2e-3, 0.4], "weibull_scale_rounds": 1e6}
    return scenario(**{"fleet": [group], "churn": {"entry_rate": 0.0, "exits": False}} | changes)


@pytest.mark.parametrize("method", METHODS)
def test_a_device_rests_because_of_its_battery_and_leaves_once_it_is_used_up(method):
    recorded = run_once(small_batteries(method=method, learning={"rounds": 6}))
    exits = [name for event in recorded.rounds for name in event.get("exits_by_battery", [])]
    assert exits
    exited = [name for event in recorded.rounds for name in event["exited"]]
    assert exits == exited  # nobody leaves for another reason
    resting = {
        entry["id"]
        for event in recorded.rounds
        for entry in event["devices"]
        if entry["reason"] == "battery"
    }
    tiny = {name for name, full in batteries_of(recorded).items() if full < 3e-3}
    assert tiny <= resting | set(exits)


def test_a_battery_that_pays_for_no_report_makes_a_device_rest_and_leave():
    group = {**BASE["fleet"][0], "battery_j": [1e-12, 1e-12]}
    recorded = run_once(scenario(fleet=[group], churn={"entry_rate": 0.0, "exits": False}))
    first = recorded.rounds[0]
    assert {entry["reason"] for entry in first["devices"]} == {"battery"}
    assert first["active"] == []
    assert sorted(first["exits_by_battery"]) == sorted(entry["id"] for entry in first["devices"])
    assert all(event["devices"] == [] for event in recorded.rounds[1:])


def test_a_run_ends_when_the_servers_battery_does_not_pay_for_another_round():
    full = 2.5  # a round takes at least 1 J, on the ground
    recorded = run_once(scenario(server={"battery_j": full}))
    assert 1 <= len(recorded.rounds) <= 2
    assert recorded.end["status"] == "done"
    assert "the server's battery is used up" in recorded.end["reason"]
    levels = [event["server"]["battery_j"] for event in recorded.rounds]
    assert levels == sorted(levels, reverse=True)
    assert levels[-1] == pytest.approx(full - spent_by_server(recorded))


# --- large batteries, and runs that are killed ----------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_large_batteries_change_no_event(method):
    setting = scenario(method=method, seed=5)
    group = {**BASE["fleet"][0], "battery_j": [1e6, 1e6]}
    large = scenario(method=method, seed=5, fleet=[group], server={"battery_j": 1e9})
    plain, limited = run_once(setting), run_once(large)
    events = json.loads(json.dumps(limited.rounds))
    for event in events:
        assert event.pop("exits_by_battery", []) == []
        del event["server"]["battery_j"]
        for entry in event["devices"]:
            del entry["battery_j"]
    expected = without_times(plain)[1:-1]
    assert without_times(replace(limited, rounds=events))[1:-1] == expected


@pytest.mark.parametrize("method", ["mission", "sc-dn", "vafl", "max-vfl-buffered"])
def test_killed_and_resumed_runs_have_the_same_batteries(method, tmp_path):
    setting = small_batteries(
        method=method,
        server={"battery_j": 50.0},
        electronics={"circuit_w": 1e-3, "idle_w": 1e-3},
        learning={"rounds": 5},
    )
    whole = run(setting, tmp_path / "whole")
    reference = tmp_path / "whole" / "reference"

    def stop(event, _):
        if event["round"] in (0, 2):
            raise KeyboardInterrupt

    options = {"reference": reference} if reference.exists() else {}
    with pytest.raises(KeyboardInterrupt):
        run(setting, tmp_path / "cut", on_round=stop, **options)
    with pytest.raises(KeyboardInterrupt):
        resume(tmp_path / "cut", on_round=stop)
    assert without_times(resume(tmp_path / "cut")) == without_times(whole)
    assert any(event["exits_by_battery"] for event in whole.rounds if "exits_by_battery" in event)


@pytest.mark.parametrize("method", ["sc-dn-greedy", "mission"])
def test_a_federation_has_the_batteries_of_a_simulation(method, tmp_path):
    chosen = ("learning.rounds=4", f"method={method}", "fleet.0.battery_j=[0.02, 0.5]")
    setting = federated(*chosen)
    simulated = run(setting, tmp_path / "simulated")
    files = export_features(tmp_path, *chosen)
    network = network_of(files, *THREE)

    def stop_after_goodbye(node):
        def tamper(message_id, raw, reply):
            if decode(raw).kind == "goodbye":
                network.unplug(node)
            return [RawReply(message_id, node, reply)]

        return tamper

    network.tamper = {node: stop_after_goodbye(node) for node in (1, 2, 3)}
    recorded = server(files, tmp_path / "federated", network).run(setting)
    assert largest_difference(simulated.rounds, recorded.rounds) < 1e-9
    assert any(event["exits_by_battery"] for event in recorded.rounds)


# --- missions ration batteries --------------------------------------------------------------------


@given(
    st.lists(logarithmic(1e-2, 10.0), min_size=1, max_size=5),
    st.lists(logarithmic(1e-2, 10.0), min_size=5, max_size=5),
    logarithmic(0.1, 3.0),
)
def test_price_factors_make_a_battery_last(costs, gains, share):
    """A server that buys what is worth its price spends less now and then, and lasts to the end."""
    rounds = 200
    costs = np.array([0.0, *sorted(costs)])
    gains = np.array([0.0, *sorted(gains)])[: len(costs)]
    wanted = costs[np.argmax(gains - costs)]  # in every round, if its battery is full
    full = left = share * rounds * wanted
    factor, lasted = 1.0, 0
    for ahead in range(rounds, 0, -1):
        bought = costs[np.argmax(gains - factor * costs)]
        if bought > left:
            break
        factor = next_factor(factor, bought, left / ahead)
        left, lasted = left - bought, lasted + 1
        assert factor >= 1.0
        if share >= 1.01:
            assert factor == 1.0  # it is not short of energy
    assert lasted >= 0.8 * rounds
    if share <= 0.99:
        assert left <= max(0.3 * full, 15 * wanted)  # nor does it keep much for nothing


@given(st.floats(0.0, 1.0), st.integers(1, 60))
def test_expected_rounds_add_up_the_chances_to_be_there(survival, rounds):
    expected = sum(survival**ahead for ahead in range(rounds))
    assert expected_rounds(np.array([survival]), rounds)[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("bill", [{}, {"payload": "protocol", "unheard": "imputed"}])
def test_rations_make_devices_report_more_often_with_fewer_joules(bill, monkeypatch):
    """Without them, devices train many iterations at once at a fast clock, and leave early."""
    group = {**BASE["fleet"][0], "count": 3, "weibull_scale_rounds": 1e6, "battery_j": [0.3, 0.6]}
    setting = scenario(
        method="mission",
        seed=5,
        max_iterations=4,
        learning={**bill, "rounds": 8},
        mission={"goal": "best"},
        churn={"entry_rate": 0.0},
        fleet=[group],
    )
    rationed = run_once(setting)
    monkeypatch.setattr(battery_rounds, "device_rations", lambda left_j, *_: left_j)
    unlimited = run_once(setting)
    assert reports_of(rationed) > reports_of(unlimited)
    assert sum(spent_by_devices(rationed).values()) < sum(spent_by_devices(unlimited).values())


def reports_of(recorded):
    return sum(len(event["active"]) for event in recorded.rounds)


@pytest.mark.parametrize(
    ("table", "field"),
    [
        ({"server": {"battery_j": -1.0}}, "server.battery_j"),
        ({"fleet": [{"count": 1, "battery_j": [2.0, 1.0]}]}, "battery_j"),
        ({"fleet": [{"count": 1, "battery_j": [-1.0, 1.0]}]}, "battery_j"),
    ],
)
def test_a_battery_that_cannot_be_is_refused_in_one_line(table, field):
    with pytest.raises(InputError) as error:
        make_scenario({"fleet": [{"count": 1}], **table})
    assert field in str(error.value)
    assert len(str(error.value).splitlines()) == 1
