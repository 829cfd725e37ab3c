"""What reports show of missions: the bound, the forecast, worth, batteries, and who is first."""

import json
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_runs import write_run

from scdn.record.run_reader import EVENTS, find_runs
from scdn.report.charts import study_charts
from scdn.report.mission_results import MissionResult, forecast_error, mission_sentences
from scdn.report.network_history import NetworkHistory
from scdn.report.page import report_page
from scdn.report.study import Study
from scdn.report.text_table import text_table

MISSION = {"goal": "energy", "target": "top3=80", "ended": "the target top3=80 is reached",
           "priced_j": 34.0, "bound_j": 21.0, "attained_j": 22.0, "worth_j": 0.3}  # fmt: skip


def write_mission(folder, seed=0, rounds=12, mission=MISSION, battery=False):
    """Record a mission's run: expected losses are a tenth above the measured ones."""
    path = write_run(folder, "mission", seed, rounds, planned=12) / EVENTS
    events = [json.loads(line) for line in path.read_text().splitlines()]
    for event in events:
        if event["event"] == "round":
            loss = event["metrics"]["train_loss"]
            event["forecast"] = {"expected_loss": 1.1 * loss, "validation_loss": loss, "worth_j": 2}
            if battery:
                event["server"]["battery_j"] = 100.0 - event["round"]
                event["devices"][0]["battery_j"] = 5.0 - 0.1 * event["round"]
        if event["event"] == "end" and mission is not None:
            event["mission"] = mission
    path.write_text("".join(json.dumps(event) + "\n" for event in events))


def result(seed, used, bound, method="mission", unit="J"):
    return MissionResult(method, seed, "energy", None, None, used, bound, None, unit)


def test_a_sentence_has_the_joules_and_the_bound_of_a_run(tmp_path):
    write_mission(tmp_path / "run")
    text = report_page(Study.from_runs(find_runs([tmp_path])))
    assert re.sub("<.*?>", "", text).count(
        "mission used 34 J; under these gain curves no plan needs less than 21 J."
    )
    assert "9.1 %" in text  # 0.1 / 1.1


positive = st.floats(1e-3, 1e5)


@given(st.lists(st.tuples(positive, positive), min_size=1, max_size=9))
def test_over_seeds_a_sentence_has_the_medians(pairs):
    results = [result(seed, used, bound) for seed, (used, bound) in enumerate(pairs)]
    sentence = mission_sentences(results)["mission"]
    numbers = [float(shown) for shown in re.findall(r"(?:used|than) (\S+)", sentence)]
    for shown, values in zip(numbers, zip(*pairs, strict=True), strict=True):
        assert shown == pytest.approx(float(np.median(values)), rel=6e-3)
    assert ("median of" in sentence) == (len(pairs) > 1)


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([result(0, None, None)], {}),
        ([result(0, 3.0, None)], {"mission": "used 3 J"}),
        ([result(0, 3.0, 2.0, unit="priced J")],
         {"mission": "used 3 priced J; under these gain curves no plan needs less than 2 "
                     "priced J"}),
        ([result(0, 3.0, 2.0), result(1, 5.0, None)],
         {"mission": "used 4 J (median of 2 seeds)"}),
    ],
)  # fmt: skip
def test_what_is_not_known_is_not_said(results, expected):
    assert mission_sentences(results) == expected


@pytest.mark.parametrize("mission", [None, {}, {"goal": "best", "target": None, "ended": None,
                                                "priced_j": None, "bound_j": None}])  # fmt: skip
def test_a_mission_that_records_less_is_still_shown(tmp_path, mission):
    write_mission(tmp_path / "run", mission=mission)
    text = report_page(Study.from_runs(find_runs([tmp_path])))
    assert "gain curves no plan" not in text
    assert "Forecast error" in text


def test_reports_without_missions_do_not_mention_them(tmp_path):
    write_run(tmp_path / "run")
    study = Study.from_runs(find_runs([tmp_path]))
    assert {"forecast", "worth"}.isdisjoint(chart.name for chart in study_charts(study))
    text = report_page(study).split("<script")[0]
    assert "Missions" not in text
    assert "Batteries" not in text


@given(st.lists(st.tuples(positive, positive), max_size=20))
def test_the_error_of_a_forecast_is_zero_only_if_it_was_right(losses):
    events = [{"forecast": {"expected_loss": a, "validation_loss": b}} for a, b in losses]
    error = forecast_error([{}, *events])
    if not losses:
        assert error is None
    else:
        assert (error == 0) == all(a == b for a, b in losses)


def test_the_forecast_is_drawn_against_what_was_measured(tmp_path):
    for seed in range(3):
        write_mission(tmp_path / f"mission-{seed}", seed)
    charts = {c.name: c for c in study_charts(Study.from_runs(find_runs([tmp_path])))}
    measured, expected = charts["forecast"].lines
    assert (measured.dashed, expected.dashed) == (False, True)
    assert (charts["forecast"].solid, charts["forecast"].dashed) == ("measured", "expected")
    np.testing.assert_allclose(expected.y, np.multiply(1.1, measured.y))
    (worth,) = charts["worth"].lines
    assert set(worth.y) == {2.0}


def test_missions_come_first_and_then_sc_dn(tmp_path):
    write_mission(tmp_path / "mission")
    for method in ("sc-dn", "gsp", "zoc"):
        write_run(tmp_path / method, method)
    runs = find_runs([tmp_path])
    study = Study.from_runs(runs)
    assert list(study.methods) == ["mission", "sc-dn", "gsp", "zoc"]
    lines = text_table(study).splitlines()[1:]
    assert [line.split()[0] for line in lines[: len(study.methods)]] == list(study.methods)
    assert study.notes == [note for note in study.notes if "reference" not in note]
    assert list(Study.from_runs(runs, "zoc").methods) == ["zoc", "mission", "sc-dn", "gsp"]


def test_a_score_is_first_drawn_against_the_logarithm_of_joules(tmp_path):
    for seed, rounds in enumerate((3, 12, 7)):  # missions end when they have reached their target
        write_mission(tmp_path / f"mission-{seed}", seed, rounds)
    study = Study.from_runs(find_runs([tmp_path]))
    chart = study_charts(study)[0]
    assert (chart.name, chart.log_x) == ("joules", True)
    (line,) = chart.lines
    steps = [b / a for a, b in pairwise(line.x)]
    np.testing.assert_allclose(steps, steps[0])
    by_seed = study.rows.groupby("seed")
    assert line.x[-1] == pytest.approx(by_seed["cumulative_joules"].max().max())
    finals = by_seed["top3"].last()  # ended runs keep their last values
    assert line.y[-1] == pytest.approx(finals.median())
    assert line.low[-1] <= line.y[-1] <= line.high[-1]


def test_the_curve_of_a_run_that_goes_on_is_not_drawn_further(tmp_path):
    write_mission(tmp_path / "long", 0, 12)
    write_mission(tmp_path / "going-on", 1, 4)
    path = tmp_path / "going-on" / EVENTS
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))  # no end yet
    study = Study.from_runs(find_runs([tmp_path]))
    (line,) = study_charts(study)[0].lines
    spent = study.rows.groupby("seed")["cumulative_joules"].max()
    assert line.x[-1] == pytest.approx(spent.min())


def test_batteries_are_shown_where_there_are_any(tmp_path):
    write_mission(tmp_path / "run", battery=True)
    (run,) = find_runs([tmp_path])
    history = NetworkHistory.from_run(run)
    assert history.server_battery_j == [100.0 - n for n in range(12)]
    levels = {device.id: device.battery_j for device in history.devices if device.battery_j}
    assert set(levels) == {event["devices"][0]["id"] for event in run.rounds}
    text = report_page(Study.from_runs([run]))
    assert 'id="batteries"' in text
