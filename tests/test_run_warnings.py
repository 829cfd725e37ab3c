"""A run says what went wrong and which setting changes it; a run as it should be says nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_scenarios import scenario

from scdn.cli import main
from scdn.data import fetch
from scdn.methods import PLAN_GAP
from scdn.record.event_schema import AnyEvent
from scdn.record.run_reader import find_runs
from scdn.record.run_warnings import LONG, recorded_warnings, run_warnings
from scdn.report.page import report_page
from scdn.report.study import Study
from scdn.scenario import read_scenario
from scdn.simulation.runner import run


@pytest.fixture(autouse=True, scope="module")
def _digits():
    fetch("digits")


START = {
    "event": "start",
    "method": "sc-dn",
    "scenario": {
        "max_delay_s": 0.06,
        "max_iterations": 5,
        "fleet": [{"kind": "d"}],
        "learning": {
            "steps_per_iteration": 2,
            "batch_size": 50,
            "rounds": 6,
            "epsilon": 1e-3,
            "compute_deadline_s": 4.0,
        },
    },
    "dataset": {"train_rows": 400},
    "baselines": {"trivial": {"top3": 30.0}},
}


def event(number, reasons=(None, None), score=None, joules=1.0, iterations=1, **more):
    """Return a round of devices d0, d1, … with these reasons to rest; None: it is active."""
    devices = [
        {
            "id": f"d{n}",
            "reason": reason,
            "iterations": 0 if reason else iterations,
            "executed_iterations": 0 if reason else iterations,
            "processing_j": 0.0 if reason else joules,
        }
        for n, reason in enumerate(reasons)
    ]
    return {
        "event": "round",
        "round": number,
        "active": [d["id"] for d in devices if d["reason"] is None],
        "devices": devices,
        "server": {"position_m": [number, 0, 10], "movement_j": 0.0},
        "metrics": {"top3": 50.0 + 5 * number if score is None else score},
        "plan": {"status": "optimal", "gap": 1e-4},
        **more,
    }


def only(warnings):
    """Return the one warning that there is."""
    assert len(warnings) == 1, warnings
    return warnings[0]


def test_a_run_in_which_all_train_and_gain_has_no_warning():
    assert run_warnings(START, [event(n) for n in range(6)]) == []
    assert run_warnings(START, []) == []


# --- devices that rest ----------------------------------------------------------------------------

SETTINGS = {
    "out_of_reach": ("max_delay_s (now 0.06)", "fleet.max_power_dbm"),
    "clock_too_slow": ("learning.compute_deadline_s (now 4)", "learning.batch_size (now 50)"),
    "battery": ("fleet.battery_j", "max_iterations (now 5)"),
    "not_worth_it": ("learning.epsilon (now 0.001)", "method = mission"),
}


@pytest.mark.parametrize("reason", SETTINGS)
def test_a_device_that_rests_for_long_is_named_with_its_reason_and_settings(reason):
    rounds = [event(n, (None, reason if 1 <= n < 1 + LONG else None)) for n in range(6)]
    text = only(run_warnings(START, rounds))
    assert text.startswith(f"d1 rested in rounds 2 to {1 + LONG} because ")
    assert all(setting in text for setting in SETTINGS[reason])


@given(st.lists(st.booleans(), min_size=1, max_size=14))
def test_only_rests_of_three_rounds_running_count(rests):
    rounds = [event(n, (None, "out_of_reach" if rest else None)) for n, rest in enumerate(rests)]
    longest = max(map(len, "".join("x" if rest else " " for rest in rests).split()), default=0)
    said = [text for text in run_warnings(START, rounds) if "rested" in text]
    assert bool(said) == (longest >= LONG)
    if said:
        first, last = (
            int(word) for word in said[0].split("rounds ")[1].split(" because")[0].split(" to ")
        )
        assert last - first + 1 == longest
        assert all(rests[first - 1 : last])  # counted from 1


def test_a_gap_in_the_rounds_of_a_device_ends_its_rest():
    """A device that leaves and comes back has not rested meanwhile."""
    rounds = [event(n, (None, "out_of_reach") if n != 2 else (None,)) for n in range(5)]
    assert run_warnings(START, rounds) == []


def test_many_devices_are_one_sentence():
    rounds = [event(n, (None, *["out_of_reach"] * 7)) for n in range(4)]
    text = only(run_warnings(START, rounds))
    assert text.startswith("d1, d2, d3 and 4 more rested for 3 rounds running or more")


def test_a_server_that_never_moves_is_said_and_a_duty_cycle_names_the_round():
    rounds = [event(n, (None, "out_of_reach"), server={"position_m": [5, 5, 5]}) for n in range(4)]
    assert "server, which stayed in place" in only(run_warnings(START, rounds))
    scenario = {**START["scenario"], "round_s": 1.0, "radio": {"duty_cycle": 0.01}}
    text = only(run_warnings({**START, "scenario": scenario}, rounds))
    assert "raise round_s (now 1)" in text
    assert "max_delay_s" not in text


def test_devices_that_rest_on_purpose_are_no_fault():
    start = {**START, "method": "mission"}
    by_choice = [event(n, (None, "not_worth_it"), iterations=5) for n in range(6)]
    assert run_warnings(start, by_choice, rests_on_purpose=True) == []
    assert "epsilon" in only(run_warnings(START, by_choice))
    low = [event(n, (None, "battery"), iterations=5) for n in range(6)]
    assert "battery_j" in only(run_warnings(start, low, rests_on_purpose=True))


def test_a_mission_says_who_is_out_of_reach_unless_it_reached_its_target():
    start = {**START, "method": "mission"}
    rounds = [event(n, (None, "out_of_reach"), iterations=5) for n in range(6)]
    assert "mission.worth_j" in only(run_warnings(start, rounds, rests_on_purpose=True))
    missed = [{"reached": False}]
    assert run_warnings(start, rounds, missed, rests_on_purpose=True) != []
    assert run_warnings(start, rounds, [{"reached": True}], rests_on_purpose=True) == []


def test_a_mission_in_which_nobody_trains_says_so():
    start = {**START, "method": "mission"}
    for number in (LONG - 1, LONG):
        rests = [("not_worth_it",) * 2] * number
        rounds = [event(n, reasons, iterations=9) for n, reasons in enumerate([(None,), *rests])]
        said = [w for w in run_warnings(start, rounds, rests_on_purpose=True) if "nobody" in w]
        if number < LONG:
            assert said == []
        else:
            span = f"rounds 2 to {1 + LONG}"
            assert only(said).startswith(f"nobody was active in {span}: raise mission")


# --- data, energy and proofs ----------------------------------------------------------------------


@given(st.integers(1, 8), st.integers(0, 5))
def test_less_than_one_epoch_is_said_by_the_device_that_saw_most(rounds, iterations):
    """One iteration trains on 2 · 50 of 400 rows."""
    events = [event(n, iterations=iterations) for n in range(rounds)]
    said = [text for text in run_warnings(START, events) if "epochs" in text]
    assert bool(said) == (100 * rounds * iterations < 400)
    if said:
        assert "learning.steps_per_iteration (now 2)" in said[0]
        assert f"more than {100 * rounds * iterations:,} rows" in said[0]
    assert run_warnings(START, events[:2], [{"reached": True}]) == []


@given(st.integers(0, 9), st.floats(0.1, 10))
def test_energy_after_the_last_gain(last, price):
    """The score rises until `last`; rounds after it cost `price`, those before 1 J and 1 J."""
    events = [
        event(n, score=min(60 + 3 * n, 60 + 3 * last), joules=1.0 if n <= last else price)
        for n in range(10)
    ]
    after, before = 2 * price * (9 - last), 2.0 * (last + 1)
    said = [text for text in run_warnings(START, events) if "after the last gain" in text]
    assert bool(said) == (9 - last >= LONG and after > before * (1 + 1e-9))
    if said:
        assert f"learning.rounds = {last + 1}," in said[0]
        assert f"in round {last + 1} " in said[0]


def test_less_than_a_hundredth_of_all_progress_is_no_gain():
    events = [event(n, score=90 + 0.05 * n, joules=1 + n) for n in range(8)]
    assert "in round 1 (90.0 % top-3)" in only(run_warnings(START, events))
    worse = [event(n, score=29.0) for n in range(8)]
    assert only(run_warnings(START, worse)).startswith("all 16 J bought nothing")
    assert run_warnings(START, worse, diverged=True) == []


def test_smaller_is_better_where_the_metric_says_so():
    start = {**START, "baselines": {"trivial": {"mse": 1.0}}}
    falling = [event(n, metrics={"mse": 0.9 - 0.1 * n}) for n in range(6)]
    assert run_warnings(start, falling) == []
    rising = [event(n, metrics={"mse": 0.1 + 0.1 * n}) for n in range(6)]
    assert "in round 1 (MSE 0.1000)" in only(run_warnings(start, rising))


def test_a_mission_is_told_where_it_could_have_ended():
    events = [event(n, score=80.0) for n in range(6)]
    for settings, advice in (
        ({}, "mission.target"),
        ({"targets": ["top3=95"]}, "learning.validation"),
        ({"mission": {"target": "top3=95"}}, "learning.validation"),
    ):
        start = {**START, "method": "mission", "scenario": {**START["scenario"], **settings}}
        assert advice in only(run_warnings(start, events))


def test_plans_without_a_proof_are_counted_once():
    stopped = {"plan": {"status": "time_limit", "gap": 0.125}}
    events = [event(n, **(stopped if n in (1, 4) else {})) for n in range(6)]
    text = only(run_warnings(START, events))
    assert text.startswith("2 of 6 plans are the best that was found within the planner's limit")
    assert "12 %" in text
    assert "learning.epsilon (now 0.001)" in text


# --- recorded runs --------------------------------------------------------------------------------


def test_a_tiny_epsilon_ends_at_the_limit_of_boxes(tmp_path, examples):
    """With epsilon = 1e-12 a device that rests costs 1e12, and a proof would take very long."""
    settings = ["method=sc-dn", "learning.epsilon=1e-12", "learning.rounds=2"]
    recorded = run(read_scenario(examples / "quick.toml", settings), tmp_path / "run")
    for recorded_round in recorded.rounds:
        plan = AnyEvent.model_validate(recorded_round).root.plan
        assert plan.status == ("optimal" if plan.gap <= PLAN_GAP else "time_limit")
    stopped = sum(e["plan"]["status"] == "time_limit" for e in recorded.rounds)
    assert stopped > 0
    said = [text for text in recorded_warnings(recorded) if "planner's limit" in text]
    assert only(said).startswith(f"{stopped} of {len(recorded.rounds)} plans")
    assert "learning.epsilon (now 1e-12)" in said[0]


def test_a_run_records_and_prints_its_warnings(tmp_path, capsys):
    """A device at the end of a long region is out of reach, and there are few steps."""
    positions = {"near": [20.0, 20.0, 0.0], "far": [9_000.0, 20.0, 0.0]}
    far = [{"id": n, "position_m": p, "flops_per_cycle": 3e-5} for n, p in positions.items()]
    settings = {"region_m": [10_000, 100, 100], "devices": far, "fleet": [], "method": "max-vfl"}
    settings |= {"server": {"position_m": [30.0, 30.0, 10.0]}, "seed": 1}
    chosen = scenario(**settings, churn={"entry_rate": 0, "exits": False})
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps(chosen.model_dump(mode="json", by_alias=True)))
    assert main(["run", str(path), "--out", str(tmp_path / "run")]) == 0
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert any(text.startswith("far rested in rounds 1 to 4") for text in summary["warnings"])
    assert any("epochs" in text for text in summary["warnings"])
    errors = capsys.readouterr().err
    for text in summary["warnings"]:
        assert f"warning: {tmp_path / 'run'}: {text}" in errors
    runs = find_runs([tmp_path])
    assert recorded_warnings(runs[0]) == summary["warnings"]
    page = report_page(Study.from_runs(runs))
    assert "Warnings of 1 of 1 runs" in page
    assert all(text.split(":")[0] in page for text in summary["warnings"])


def test_a_comparison_prints_the_first_warnings_of_each_method(tmp_path, capsys):
    chosen = scenario(seed=1, learning={"rounds": 1})
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps(chosen.model_dump(mode="json", by_alias=True)))
    command = ["compare", str(path), "--methods", "max-vfl", "--seeds", "2", "--json"]
    assert main([*command, "--out", str(tmp_path / "runs")]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["runs"]
    lines = [line for line in printed.err.splitlines() if line.startswith("warning: max-vfl")]
    assert "max-vfl, seed 1: no device trained on more than" in lines[0]
    assert lines[1:] == ["warning: max-vfl: one other run has warnings, see the report"]
