"""People count rounds from 1, wherever they read them; events and JSON count from 0."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
from conftest import ROOT

from scdn.cli import main
from scdn.data.catalog import fetch
from scdn.record.run_reader import read_run
from scdn.record.run_tables import export_table, rounds_frame
from scdn.report.charts import study_charts
from scdn.report.network_history import NetworkHistory
from scdn.report.network_map import make_network_map
from scdn.report.page import report_page
from scdn.report.study import Study
from scdn.scenario import read_scenario
from scdn.world.churn import churn_trace
from scdn.world.scenario_text import scenario_text

ROUNDS = 3
COUNTED = [1, 2, 3]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    fetch("digits")
    folder = tmp_path_factory.mktemp("run") / "one"
    arguments = ["run", str(ROOT / "examples" / "quick.toml"), "--method", "sc-dn"]
    assert main([*arguments, "--set", f"learning.rounds={ROUNDS}", "--out", str(folder)]) == 0
    return read_run(folder)


def test_events_and_frames_for_programs_count_from_0(run):
    assert [event["round"] for event in run.rounds] == [0, 1, 2]
    assert rounds_frame([run])["round"].tolist() == [0, 1, 2]


def test_tables_charts_and_histories_count_from_1(run, tmp_path):
    export_table([run], tmp_path / "rounds.csv")
    assert pd.read_csv(tmp_path / "rounds.csv")["round"].tolist() == COUNTED
    study = Study.from_runs([run])
    over_rounds = [chart for chart in study_charts(study) if chart.x_label == "round"]
    assert len(over_rounds) >= 3
    for chart in over_rounds:
        for line in chart.lines:
            assert set(line.x) <= set(COUNTED)
    assert over_rounds[0].lines[0].x == COUNTED
    assert NetworkHistory.from_run(run).rounds == COUNTED
    assert re.search(r'"rounds": ?\[1, ?2, ?3\]', report_page(study))


def test_a_reached_target_is_printed_with_its_round_from_1(capsys, tmp_path):
    fetch("digits")
    arguments = ["run", str(ROOT / "examples" / "quick.toml"), "--target", "top3=5"]
    arguments += ["--set", "learning.rounds=2", "--out", str(tmp_path / "run")]
    assert main(arguments) == 0
    (target,) = json.loads((tmp_path / "run" / "summary.json").read_text())["targets"]
    (shown,) = re.findall(r"reached in round (\d+)", capsys.readouterr().out)
    assert int(shown) == target["round"] + 1


def test_exits_of_a_scenario_are_described_from_1():
    scenario = read_scenario(ROOT / "examples" / "wildfire.toml")
    trace = churn_trace(scenario)
    first = int(trace.exited.min())
    (shown,) = re.findall(r"exits in rounds (\d+)", scenario_text(scenario, trace))
    assert int(shown) == first + 1


def test_a_map_says_how_many_rounds_have_passed():
    scenario = read_scenario(ROOT / "examples" / "wildfire.toml")
    assert ", after 20 rounds: " in make_network_map(scenario, 20).title
    assert ", after 1 round: " in make_network_map(scenario, 1).title
