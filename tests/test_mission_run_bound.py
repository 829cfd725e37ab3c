"""The bound of a mission's run: what is kept of its rounds, what is recorded, and what is said."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from command_line import scdn
from conftest import many
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import random_network_request
from run_scenarios import random_scenario, scenario, scripted, without_times

from scdn.control.plan_request import make_request, problem_of
from scdn.data import fetch
from scdn.errors import InputError
from scdn.file_io import merge_tables
from scdn.mission import run_bound as run_bound_module
from scdn.mission.flown_round import FlownRound
from scdn.mission.run_bound import MOST_WORK, bound_round, run_bound
from scdn.record import checkpoint
from scdn.record.event_schema import AnyEvent
from scdn.record.mission_result import mission_sentence
from scdn.rng import generator
from scdn.scenario import Prices, make_scenario
from scdn.simulation.runner import resume, run

PRICES = Prices(device=1.0, server=0.3)


@pytest.fixture(scope="module", autouse=True)
def _digits():
    fetch("digits")


# --- runs -----------------------------------------------------------------------------------------


def random_mission(number):
    """Return a random scenario with batteries, prices and electronics, by either bill."""
    draw = generator(number, "test-mission-bound")

    def one_of(*options):
        return options[int(draw.integers(len(options)))]

    settings = random_scenario(number).model_dump(mode="json", by_alias=True, exclude_unset=True)
    battery = float(10 ** draw.uniform(-2, 1))
    group = {**settings["fleet"][0], "battery_j": one_of(None, battery)}
    changes = {
        "method": "mission",
        "fleet": [{key: value for key, value in group.items() if value is not None}],
        "targets": ["top3=60"],
        "mission": {"goal": one_of("energy", "time", "best")},
        "electronics": {"circuit_w": one_of(0.0, 0.05), "idle_w": one_of(0.0, 0.001)},
        "prices": {"device": one_of(1.0, 3.0), "server": one_of(1.0, 0.01)},
        "radio": {"margin_db": one_of(0.0, 4.0)},
        "learning": {"payload": ("model", "protocol")[number % 2]},
    }
    return make_scenario(merge_tables(settings, changes))


@pytest.mark.parametrize("number", range(many(60)))
def test_no_run_falls_below_its_bound(number, tmp_path):
    """Whatever churn, fading, batteries, margins, prices and electronics make of the bill."""
    recorded = run(random_mission(number), tmp_path / "run")
    mission = recorded.end["mission"]
    assert recorded.end["status"] == "done"
    assert 0 <= mission["bound_j"] <= mission["priced_j"] * (1 + 1e-9)
    for part in mission["to_targets"]:
        assert 0 <= part["bound_j"] <= part["priced_j"] * (1 + 1e-9)
        assert part["priced_j"] <= mission["priced_j"] * (1 + 1e-9)
    reached = [target for target in recorded.end["targets"] if target["reached"]]
    assert len(mission["to_targets"]) == len(reached)
    AnyEvent.model_validate(recorded.end)


def test_kept_rounds_are_those_of_the_events(tmp_path):
    setting = scripted(tmp_path, method="mission", prices={"device": 2, "server": 0.5})
    recorded = run(setting, tmp_path / "run")
    kept = checkpoint.load_rounds(tmp_path / "run", len(recorded.rounds))
    rounds = [FlownRound.from_arrays(*entry) for entry in kept]
    for entry, event in zip(rounds, recorded.rounds, strict=True):
        devices, server = event["devices"], event["server"]
        spent = ("transmission_j", "processing_j", "circuit_j", "idle_j")
        device_j = sum(device[term] for device in devices for term in spent)
        server_j = server["movement_j"] + server["compute_j"] + server["transmission_j"]
        assert entry.billed_j == pytest.approx(2 * device_j + 0.5 * server_j)
        assert entry.server_m.tolist() == server["position_m"]
        assert entry.problem.ids == tuple(device["id"] for device in devices)
        executed = [device["executed_iterations"] for device in devices]
        assert entry.iterations.tolist() == executed
    used = sum(entry.billed_j for entry in rounds)
    assert recorded.end["mission"]["priced_j"] == pytest.approx(used)


@pytest.mark.parametrize("from_end", [2, 1])
def test_a_resumed_run_has_the_same_bound(from_end, tmp_path):
    """Also one that was killed after its last round, before its end was written."""
    setting = scenario(method="mission", fading={"mode": "drawn"}, targets=["top3=50"])
    whole = run(setting, tmp_path / "whole")

    def stop(event, _):
        if event["round"] == len(whole.rounds) - from_end:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(setting, tmp_path / "cut", on_round=stop)
    assert without_times(resume(tmp_path / "cut")) == without_times(whole)
    assert whole.end["mission"]["bound_j"] > 0


def test_a_run_that_is_no_mission_has_no_bound(tmp_path):
    recorded = run(scenario(learning={"rounds": 1}), tmp_path / "run")
    assert "mission" not in recorded.end
    assert mission_sentence(recorded.end) is None
    assert not list((tmp_path / "run" / checkpoint.FOLDER).glob("round-*"))


def test_the_command_says_what_was_used_and_what_no_plan_needs_less_than(tmp_path, examples):
    command = ("run", examples / "quick.toml", "--method", "mission", "--set", "learning.rounds=2")
    answer = scdn(*command, "--out", tmp_path / "run")
    assert answer.returncode == 0, answer.stderr
    (line,) = [line for line in answer.stdout.splitlines() if line.startswith("used ")]
    used, least = line.split("; under these gain curves no plan needs less than ")
    assert 0 < float(least.split()[0]) <= float(used.split()[1])


def test_too_many_devices_and_rounds_are_said_to_have_no_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(run_bound_module, "MOST_WORK", 1)
    recorded = run(scenario(method="mission", learning={"rounds": 1}), tmp_path / "run")
    assert recorded.end["mission"]["bound_j"] is None
    assert "no bound was computed" in mission_sentence(recorded.end)


def test_sentence_has_the_numbers_of_the_record_and_names_priced_joules():
    mission = {"priced_j": 34.14, "bound_j": 21.26}
    end = {"energy": {"total_j": 34.14}, "mission": mission}
    least = "under these gain curves no plan needs less than"
    assert mission_sentence(end) == f"used 34.1 J; {least} 21.3 J"
    end["energy"]["total_j"] = 1234.5
    assert mission_sentence(end) == f"used 34.1 priced J; {least} 21.3 priced J"
    assert mission_sentence({"mission": {"priced_j": 12345.6, "bound_j": 0.0}}) == (
        f"used 12346 J; {least} 0 J"
    )


# --- rounds that are kept -------------------------------------------------------------------------


def flown(seed):
    """Return a random round that was flown, if there is one with this seed."""
    rng = np.random.default_rng(seed)
    request = random_network_request(seed, count=int(rng.integers(0, 4)))
    try:
        problem = problem_of(make_request(request))
    except InputError:
        return None
    counts = np.minimum(rng.integers(0, 3, len(problem)), problem.iteration_limit())
    heard = problem.least_power(problem.server_m) <= problem.max_power_w
    steps = np.arange(problem.max_iterations + 1)
    return FlownRound(
        problem=problem,
        server_m=problem.server_m,
        iterations=np.where(heard, counts, 0.0),
        path_loss=problem.path_loss(problem.server_m) * rng.uniform(0.5, 2, len(problem)),
        gains=rng.uniform(0, 1, (len(problem), 1)) * steps ** rng.uniform(0.2, 1),
        base_gain=float(rng.uniform(0, 0.5)),
        fixed_j=float(rng.uniform(0, 0.1)),
        billed_j=float(10 ** rng.uniform(-2, 2)),
    )


seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_a_round_is_kept_as_it_is(seed):
    entry = flown(seed)
    if entry is None:
        return
    kept = FlownRound.from_arrays(*entry.to_arrays())
    for field in fields(entry):
        if field.name != "problem":
            np.testing.assert_array_equal(getattr(kept, field.name), getattr(entry, field.name))
    ignored = {"forgone", "iteration_caps", "network_size", "fixed_cost"}
    for field in fields(entry.problem):
        ours, theirs = getattr(kept.problem, field.name), getattr(entry.problem, field.name)
        if field.name in ignored:
            continue
        if isinstance(theirs, np.ndarray):
            np.testing.assert_array_equal(ours, theirs)
        else:
            assert ours == theirs


@settings(max_examples=many(150))
@given(seeds, st.floats(0.01, 100))
def test_a_factor_of_all_gain_curves_does_not_change_the_bound(seed, factor):
    entries = [entry for entry in (flown(seed), flown(seed // 2 + 7)) if entry is not None]
    scaled = [
        replace(entry, gains=factor * entry.gains, base_gain=factor * entry.base_gain)
        for entry in entries
    ]
    bounds = [run_bound(rounds, PRICES).joules for rounds in (entries, scaled)]
    assert bounds[0] == pytest.approx(bounds[1], rel=0.03, abs=1e-9)


@given(seeds)
def test_a_round_costs_no_more_than_it_was_billed(seed):
    """Even if it was billed less than its problem says."""
    entry = flown(seed)
    if entry is not None:
        assert run_bound([entry], PRICES).joules <= entry.billed_j * (1 + 1e-9)
        assert bound_round(entry, PRICES).fixed_j <= entry.fixed_j


def test_the_bound_is_left_out_where_it_would_take_too_long():
    entry = next(found for found in map(flown, range(100)) if found is not None and found.problem)
    count = math.isqrt(MOST_WORK // len(entry.problem)) + 1
    assert run_bound([entry] * count, PRICES) is None
