"""Tuning: it goes on after a kill, keeps its limits, and never looks at test rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_scenarios import scenario

from scdn.cli import main
from scdn.data import fetch, load
from scdn.errors import InputError
from scdn.scenario import read_scenario
from scdn.simulation import run_data
from scdn.tuning import tuner
from scdn.tuning.search_space import (
    TunedChoice,
    TunedSetting,
    changed_values,
    changes,
    generous_values,
    own_values,
    search_space,
    with_values,
)
from scdn.tuning.tuner import JOURNAL, tune
from scdn.tuning.tuning_picture import draw_tuning

optuna = pytest.importorskip("optuna")

SMALL = {"learning": {"rounds": 2, "server_steps": 4}, "method": "sc-dn-greedy"}


@pytest.fixture(scope="module", autouse=True)
def _digits():
    fetch("digits")


@given(st.integers(1, 500), st.integers(1, 500), st.integers(1, 500))
def test_a_scenarios_own_values_are_within_the_ranges(rounds, batch, hidden):
    learning = {"rounds": rounds, "batch_size": batch, "hidden": hidden, "fusion_hidden": hidden}
    for entry in search_space(scenario(learning=learning)):
        if isinstance(entry, TunedChoice):
            assert entry.own in entry.choices
            continue
        assert entry.low <= entry.own <= entry.high
        assert 1 <= entry.low < entry.high


NUMBERS = [path for path, own in own_values(scenario()).items() if not isinstance(own, str)]


@given(st.dictionaries(st.sampled_from(NUMBERS), st.integers(8, 64)))
def test_changed_values_are_in_the_scenario_and_in_its_changes(values):
    given_ = scenario()
    changed = with_values(given_, values)
    own, lines = own_values(given_), changes(given_, values)
    assert own_values(changed) == own | values
    assert with_values(changed, own) == given_
    differing = {path: value for path, value in values.items() if value != own[path]}
    assert sorted(line[2:] for line in lines if line.startswith("+")) == sorted(
        f"{path.rpartition('.')[2]} = {value}" for path, value in differing.items()
    )


@pytest.mark.parametrize(
    ("settings", "goal"),
    [
        ({"method": "mission"}, "best"),
        ({"method": "mission", "targets": ["top1=90"]}, "energy"),
        ({"method": "mission", "mission": {"budget_j": 10.0}}, "energy"),
        ({"method": "sc-dn"}, "energy"),
    ],
)
def test_a_mission_without_target_or_budget_is_tuned_for_its_score(settings, goal):
    chosen = scenario(**settings)
    own, generous = own_values(chosen), generous_values(chosen)
    assert with_values(chosen, changed_values(chosen, own)) == chosen
    tuned = with_values(chosen, changed_values(chosen, generous))
    assert tuned.mission.goal == goal
    assert own_values(tuned) == generous
    for entry in search_space(chosen):
        if isinstance(entry, TunedSetting):
            assert entry.low <= generous[entry.path] <= entry.high
        else:
            assert generous[entry.path] in entry.choices
    shown = '+ goal = "best"' in changes(chosen, changed_values(chosen, generous))
    assert shown == (goal == "best")


@pytest.mark.parametrize("settings", [{"round_s": 9.0}, {"mission": {"deadline_s": 60.0}}])
def test_a_round_takes_no_longer_where_the_scenario_says_how_long(settings):
    path = "learning.compute_deadline_s"
    assert path in own_values(scenario())
    assert path not in own_values(scenario(**settings))


def test_a_trials_score_does_not_depend_on_test_rows(monkeypatch):
    chosen = scenario(**SMALL)
    trial = optuna.trial.FixedTrial(own_values(chosen))
    first = tuner._trial_score(trial, chosen, "top1", np.inf)
    dataset = load("digits")
    other = replace(
        dataset,
        test={name: rows[::-1] * 0 for name, rows in dataset.test.items()},
        test_y=(dataset.test_y + 1) % 10,
    )
    monkeypatch.setattr(run_data, "load", lambda _: other)
    run_data._prepared.cache_clear()
    try:
        assert tuner._trial_score(trial, chosen, "top1", np.inf) == first > 0
    finally:
        run_data._prepared.cache_clear()


def test_a_tuning_goes_on_where_it_was_killed(tmp_path):
    chosen, folder, seen = scenario(**SMALL), tmp_path / "tuning", []
    first = tune(chosen, folder, 600.0, trials=1, on_progress=seen.append)
    assert first.trials[0].params == own_values(chosen)
    assert first.metric.metric == "top1"
    assert seen[-1].trials == len(first.trials)
    assert first.score >= first.own_score > 0
    assert min(*first.cost, *first.own_cost) > 0
    study = optuna.load_study(
        study_name="tuning",
        storage=optuna.storages.JournalStorage(
            optuna.storages.journal.JournalFileBackend(str(folder / JOURNAL))
        ),
    )
    study.ask()  # of a worker that was killed
    second = tune(chosen, folder, 600.0, trials=7, jobs=2)
    states = [trial.state.name for trial in second.trials]
    assert states.count("FAIL") >= 1
    assert len(states) in (9, 10)  # the other worker may end one as well
    assert states.count("COMPLETE") > 1
    assert second.own_score == first.own_score
    assert own_values(second.best_scenario) == second.values
    assert second.best_scenario.learning.holdout == 0
    draw_tuning(second, tmp_path / "tuning.png")
    assert (tmp_path / "tuning.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="another scenario"):
        tune(scenario(**SMALL, seed=9), folder, 0.1)


@pytest.mark.parametrize("budget", ["", "20", "0s", "-1m", "1d", "nan"])
def test_a_budget_must_be_a_time(budget, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["tune", "examples/quick.toml", f"--budget={budget}"])
    assert stopped.value.code == 2
    assert "90s, 20m or 2h" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["top1", "top3", "macro_f1", "test_loss", "train_loss"])
def test_any_recorded_metric_may_be_improved(name):
    shown = tuner._metric_of(scenario(), name)
    assert shown.metric == name
    assert shown.higher_is_better == ("loss" not in name)


def test_by_default_the_score_of_reports_is_improved():
    assert tuner._metric_of(scenario(), None).metric == "top1"
    assert tuner._metric_of(scenario(targets=["top3=80"]), None).metric == "top3"


def test_a_scenario_that_cannot_be_run_says_why(tmp_path):
    chosen = scenario(**SMALL).model_copy(update={"method": "no-such-method"})
    with pytest.raises(InputError, match="no-such-method"):
        tune(chosen, tmp_path / "tuning", 600.0, trials=1)


def test_an_unknown_metric_is_refused_in_one_line(tmp_path):
    with pytest.raises(InputError) as error:
        tune(scenario(**SMALL), tmp_path / "tuning", 1.0, metric_name="mse")
    assert "must be one of top1, top3" in str(error.value)
    assert not (tmp_path / "tuning").exists()


@pytest.mark.parametrize("content", ["no journal\n", "[]\n", '{"op_code": 4}\n', "{}\n", "1\n"])
def test_a_damaged_journal_is_refused(content, tmp_path):
    (tmp_path / JOURNAL).write_text(content)
    with pytest.raises(InputError, match="damaged"):
        tune(scenario(**SMALL), tmp_path, 1.0, trials=1)


def test_an_out_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        tune(scenario(**SMALL), tmp_path / "file", 1.0, trials=1)


def test_the_command_writes_a_scenario_that_can_be_run(tmp_path, capsys):
    out = tmp_path / "tuning"
    settings = ["learning.rounds=1", "learning.server_steps=2", "method=sc-dn-greedy"]
    options = [f"--set={setting}" for setting in settings]
    assert main(["tune", "examples/quick.toml", "--trials=1", f"--out={out}", *options]) == 0
    assert "on rows held out" in capsys.readouterr().out
    assert read_scenario(out / "best.toml").learning.holdout == 0
