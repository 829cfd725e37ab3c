"""Reports agree with the events they are made from: sums, statistics, pages and figures."""

from __future__ import annotations

import argparse
import json
import math
import re
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_runs import BEHAVIOUR, write_run, write_study
from scipy import stats

from scdn.cli.report_command import add_to
from scdn.errors import InputError
from scdn.record.round_totals import TERMS
from scdn.record.run_reader import EVENTS, Run, find_runs, read_events
from scdn.record.run_tables import export_table, rounds_frame
from scdn.report import statistics
from scdn.report.charts import study_charts
from scdn.report.matplotlib_figures import write_figures
from scdn.report.method_comparison import MethodComparison
from scdn.report.network_history import NetworkHistory
from scdn.report.page import report_page
from scdn.report.setting_differences import name_variants
from scdn.report.statistics import (
    final_values,
    mean_and_std,
    paired_difference,
    sign_flip_test,
    values_at_equal_budget,
)
from scdn.report.study import Study
from scdn.report.text_table import text_table

# Reading runs


def test_rounds_are_the_sums_of_their_devices(tmp_path):
    study = write_study(tmp_path, churn=True)
    rows = study.rows
    devices = pd.DataFrame(
        {"method": run.method, "seed": run.seed, "round": event["round"], **device}
        | {"active": device["id"] in event["active"]}
        for run in study.runs
        for event in run.rounds
        for device in event["devices"]
    )
    for _, run in rows.groupby(["method", "seed"]):
        np.testing.assert_allclose(run["joules"], run[list(TERMS)].sum(axis=1))
        np.testing.assert_allclose(run["cumulative_joules"], run["joules"].cumsum())
        np.testing.assert_allclose(run["cumulative_s"], run["latency_s"].cumsum())
        assert (run["cumulative_joules"].diff().dropna() >= 0).all()
    keys = ["method", "seed", "round"]
    by_round = devices.groupby(keys)
    by_key = rows.set_index(keys).sort_index()
    np.testing.assert_allclose(by_round["processing_j"].sum(), by_key["processing_j"])
    np.testing.assert_allclose(by_round["processing_j"].mean(), by_key["processing_j_per_device"])
    np.testing.assert_allclose(by_round["iterations"].mean(), by_key["iterations"])
    # Runs of earlier versions, like these, did not record what was executed.
    np.testing.assert_allclose(by_key["executed_iterations"], by_key["iterations"])
    np.testing.assert_array_equal(by_round.size(), by_key["present"])
    np.testing.assert_array_equal(by_round["active"].sum(), by_key["active"])


def test_the_report_shows_executed_iterations(tmp_path):
    run = write_study(tmp_path, methods=("sc-dn",), seeds=(0,)).runs[0]
    for event in run.rounds:
        for number, entry in enumerate(event["devices"]):
            entry["executed_iterations"] = number
    study = Study.from_runs([run])
    executed = [np.mean(range(len(event["devices"]))) for event in run.rounds]
    np.testing.assert_allclose(study.rows["executed_iterations"], executed)
    measure = next(m for m in study.measures() if m.key == "iterations")
    assert measure.values[0].mean == pytest.approx(np.mean(executed))
    chart = next(c for c in study_charts(study) if c.name == "iterations")
    np.testing.assert_allclose(chart.lines[0].y, executed)


def test_joules_per_device_are_over_all_rounds(tmp_path):
    """By pairs of a device and a round: present ones, and active ones."""
    study = write_study(tmp_path, methods=("sc-dn",), seeds=(0,), churn=True)
    events = study.runs[0].rounds
    devices = [device for event in events for device in event["devices"]]
    joules = sum(device["transmission_j"] + device["processing_j"] for device in devices)
    active = sum(len(event["active"]) for event in events)
    assert 0 < active < len(devices)
    shown = {measure.key: measure.values[0].mean for measure in study.measures()}
    assert shown["present_device_j"] == pytest.approx(joules / len(devices))
    assert shown["active_device_j"] == pytest.approx(joules / active)


def test_future_metrics_are_there_only_after_an_exit(tmp_path):
    rows = write_study(tmp_path, seeds=(0,), churn=True).rows
    assert rows.loc[rows["round"] < 4, "future_top3"].isna().all()
    assert rows.loc[rows["round"] >= 4, "future_top3"].notna().all()


def test_an_unfinished_last_line_is_ignored(tmp_path):
    path = write_run(tmp_path / "run", end=None) / EVENTS
    events = read_events(path)
    path.write_text(path.read_text() + '{"event": "round", "rou')
    assert read_events(path) == events
    study = Study.from_runs(find_runs([tmp_path]))
    assert study.runs[0].end is None
    assert "is unfinished" in study.notes[0]


def _replaced(index, old, new):
    return lambda lines: [*lines[:index], lines[index].replace(old, new), *lines[index + 1 :]]


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (lambda lines: [*lines[:2], "{oops", *lines[2:]], "line 3", "not JSON"),
        (lambda lines: [*lines[:2], "[1]", *lines[2:]], "line 3", "must be an object"),
        (lambda lines: lines[1:], "line 1", "start"),
        (lambda _: [], "line 1", "start"),
        (_replaced(0, '"schema": 1', '"schema": 2'), "line 1", "schema: got 2"),
        (_replaced(0, '"seed": 0', '"seed": "x"'), "line 1", "seed"),
        (lambda lines: [*lines[:3], lines[2], *lines[3:]], "line 4", "must be above 1"),
        (_replaced(1, '"id": "d0"', '"id": 7'), "line 2", "devices.0.id: got 7"),
        (_replaced(2, '"position_m": [', '"position_m": [0, '), "line 3", "at most 3 entries"),
        (_replaced(2, '"metrics": {', '"metrics": 5, "other": {'), "line 3", "must be a table"),
    ],
)
def test_a_broken_events_file_is_refused_with_its_line_number(tmp_path, change, line, message):
    path = write_run(tmp_path / "run") / EVENTS
    path.write_text("".join(f"{row}\n" for row in change(path.read_text().splitlines())))
    with pytest.raises(InputError) as caught:
        find_runs([tmp_path])
    (text,) = caught.value.lines()
    assert str(path) in text
    assert line in text
    assert message in text


def test_runs_are_found_below_folders_but_not_inside_runs(tmp_path):
    for name in ("b/2", "b/1", "a"):
        write_run(tmp_path / name)
    write_run(tmp_path / "a" / "reference")
    runs = find_runs([tmp_path, tmp_path / "a"])
    assert [str(run.folder.relative_to(tmp_path)) for run in runs] == ["a", "b/1", "b/2"]
    (tmp_path / "empty").mkdir()
    for nothing in ("empty", "missing"):
        with pytest.raises(InputError, match="has no run"):
            find_runs([tmp_path / nothing])


def test_a_report_needs_few_of_the_fields(tmp_path):
    """Fewer than the contract promises, and with names that HTML must escape."""
    lines = [{"event": "start", "schema": 1, "scenario": {}, "method": "x<b>$", "seed": 3},
             {"event": "round", "round": 0, "metrics": {"test_loss": 1.0}},
             {"event": "note"},
             {"event": "round", "round": 4, "metrics": {"test_loss": None},
              "devices": [{"id": "a</script>"}], "server": {"position_m": [1, 2, 3]}}]  # fmt: skip
    (tmp_path / EVENTS).write_text("".join(json.dumps(line) + "\n" for line in lines))
    study = Study.from_runs(find_runs([tmp_path]))
    assert study.headline.metric == "test_loss"
    text = report_page(study)
    assert "x<b>" not in text
    assert "a</script>" not in text
    assert write_figures(study, tmp_path / "png")


# Statistics

numbers = st.lists(st.floats(-100, 100).map(lambda x: round(x, 3)), min_size=2, max_size=9)


@given(numbers, st.integers(0, 10**6))
def test_the_paired_test_is_students(values, seed):
    other = np.random.default_rng(seed).normal(0, 30, len(values))
    paired = paired_difference(dict(enumerate(values)), dict(enumerate(other)))
    expected = stats.ttest_rel(values, other)
    low, high = expected.confidence_interval(0.95)
    assert paired.count == len(values)
    np.testing.assert_allclose(paired.p_t, expected.pvalue, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose([paired.low, paired.high], [low, high], rtol=1e-7)
    assert paired.low <= paired.difference <= paired.high
    assert paired.significant == (paired.p_flip < 0.05)


def test_paired_statistics_are_frozen():
    """Values of an implementation from the incomplete beta function's continued fraction."""
    paired = paired_difference({0: 1.0, 1: 2.5, 2: 4.0, 3: 8.0}, {0: 0.5, 1: 2.0, 2: 1.0, 3: 3.0})
    assert paired.difference == 2.25
    assert paired.low == pytest.approx(-1.2179904594940192, rel=1e-12)
    assert paired.p_t == pytest.approx(0.13089966633806424, rel=1e-12)
    assert paired.p_flip == 0.125


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=4))
def test_symmetric_differences_have_a_sign_flip_p_of_one(half):
    values = np.array([*half, *(-value for value in half)])
    assert sign_flip_test(values.astype(float)) == 1.0
    assert sign_flip_test(values / 10) == 1.0  # sums that are zero but for rounding


@given(numbers)
def test_the_sign_flip_test_counts_every_sign_pattern(values):
    means = [abs(sum(s * v for s, v in zip(signs, values, strict=True)))
             for signs in product((-1, 1), repeat=len(values))]  # fmt: skip
    tolerance = 1e-12 * sum(map(abs, values))
    expected = np.mean([mean >= abs(sum(values)) - tolerance for mean in means])
    assert sign_flip_test(np.array(values)) == pytest.approx(expected, abs=1e-12)


def test_the_least_sign_flip_p_is_one_pattern_each_way():
    for count in range(1, 21):
        assert sign_flip_test(np.ones(count)) == 2 / 2**count
    assert sign_flip_test(np.ones(21)) == pytest.approx(1e-5, rel=1e-3)  # of so many drawn patterns
    assert sign_flip_test(np.zeros(30)) == 1.0


@given(st.integers(0, 10**6))
def test_drawn_sign_patterns_agree_with_all_of_them(seed):
    differences = np.random.default_rng(seed).normal(0.3, 1, 18)
    exact = sign_flip_test(differences)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statistics, "EXACT_SEEDS", 6)
        drawn = sign_flip_test(differences)
        assert sign_flip_test(differences) == drawn  # always the same patterns
    assert drawn == pytest.approx(exact, abs=5 * math.sqrt(exact / 1e5) + 1e-5)


@given(st.integers(1, 9), st.floats(0.1, 50), st.booleans())
def test_fewer_than_six_seeds_decide_nothing_however_equal_they_are(seeds, lead, ranked):
    """Differences without any spread have a t-test of next to nothing, after two seeds."""
    draws = np.random.default_rng(seeds).normal(80, 5, seeds)
    values = {"a": by_seed(draws), "b": by_seed(draws + lead + 1e-9 * draws)}
    compare = MethodComparison(["a", "b"], set())
    result = compare.measure("k", "K", "", 1, values, failure="lost" if ranked else None).values[1]
    assert result.verdict == ("better" if seeds >= 6 else "too few seeds to tell")
    assert (result.p is None) == (seeds < 6)
    assert (result.p_t is None) == (seeds < 6 or ranked)
    if seeds >= 6:
        assert result.p == 2 / 2**seeds


def by_seed(values):
    return dict(enumerate(map(float, values)))


@pytest.mark.parametrize("seeds", [1, 2, 5, 6])
def test_tables_and_pages_say_that_seeds_are_too_few(tmp_path, seeds):
    write_study(tmp_path, ("sc-dn", "zoc"), range(seeds))
    study = Study.from_runs(find_runs([tmp_path]))
    text, page = text_table(study), report_page(study)
    assert ("too few seeds to tell" in text) == (seeds < 6)
    assert ("p 0.031" in text) == (seeds == 6)
    assert ("▼ " in page.split("<tbody>")[1]) == (seeds == 6)
    assert ("too few seeds to tell" in page.split("<tbody>")[1]) == (seeds < 6)


def test_one_seed_has_no_interval_and_equal_runs_have_no_difference():
    single = paired_difference({0: 2.0}, {0: 1.0, 1: 5.0})
    assert (single.count, single.difference) == (1, 1.0)
    assert single.low is single.high is single.p_t is single.p_flip is None
    assert not single.significant
    assert mean_and_std([4.0]) == (4.0, None, 1)
    assert mean_and_std([float("nan")]) is None
    assert paired_difference({0: 1.0}, {1: 1.0}) is None
    same = paired_difference({0: 1.0, 1: 2.0}, {0: 1.0, 1: 2.0})
    assert (same.difference, same.low, same.high, same.p_t, same.p_flip) == (0, 0, 0, 1, 1)


def test_at_an_equal_budget_runs_have_the_last_value_within_it():
    rows = pd.DataFrame(
        [("cheap", 0, 1.0, 10), ("cheap", 0, 2.0, 20), ("cheap", 0, 3.0, 30),
         ("dear", 0, 2.5, 50), ("dear", 0, 9.0, 60), ("late", 0, 4.0, 70)],
        columns=["method", "seed", "spent", "value"],
    )  # fmt: skip
    values = values_at_equal_budget(rows, "value", "spent")
    assert values["cheap"][0] == 30  # it has ended: its last value
    assert values["dear"][0] == 50  # the last value by then, not an interpolated one
    assert np.isnan(values["late"][0])  # no round was finished by then
    assert final_values(rows, "value") == {"cheap": {0: 30}, "dear": {0: 60}, "late": {0: 70}}


@given(st.integers(0, 50))
def test_an_equal_budget_never_raises_a_value_that_grows(seed):
    draws = np.random.default_rng(seed)
    rows = pd.DataFrame(
        [(method, s, r, cost) for method in "abc" for s in range(3)
         for r, cost in enumerate(np.cumsum(draws.uniform(0.1, 2, 8)))],
        columns=["method", "seed", "value", "spent"],
    )  # fmt: skip
    equal, final = values_at_equal_budget(rows, "value", "spent"), final_values(rows, "value")
    for s in range(3):
        assert any(equal[method][s] == final[method][s] for method in "abc")
        assert all(not equal[method][s] > final[method][s] for method in "abc")


# Studies


def test_the_reference_comes_first(tmp_path):
    write_study(tmp_path, ("gsp", "vafl", "zoc"), (0,))
    runs = find_runs([tmp_path])
    assert Study.from_runs(runs, "zoc").methods == ["zoc", "gsp", "vafl"]
    assert Study.from_runs(runs).reference == "gsp"
    assert "no mission or sc-dn run" in Study.from_runs(runs).notes[0]
    with pytest.raises(InputError, match="must be one of gsp, vafl, zoc"):
        Study.from_runs(runs, "nope")


def test_duplicates_are_left_out(tmp_path):
    write_run(tmp_path / "a")
    write_run(tmp_path / "b")
    study = Study.from_runs(find_runs([tmp_path]))
    assert "duplicate" in study.notes[0]
    assert study.differences is None


def test_runs_with_different_settings_are_compared_and_say_what_differs(tmp_path):
    for seed in range(2):
        write_run(tmp_path / f"long-{seed}", seed=seed)
        write_run(tmp_path / f"short-{seed}", seed=seed, rounds=3)
        write_run(tmp_path / f"gsp-{seed}", "gsp", seed)
    study = Study.from_runs(find_runs([tmp_path]))
    short, long = "sc-dn, learning.rounds=3", "sc-dn, learning.rounds=12"
    assert set(study.methods) == {short, long, "gsp"}
    assert study.reference in (short, long)
    assert {len(run.rounds) for run in study.runs if run.method == short} == {3}
    differences = study.differences
    assert dict(differences.values) == {
        "learning.rounds": ["3" if group == short else "12" for group in differences.groups]
    }
    assert "The runs' settings differ in learning.rounds." in study.notes
    assert short in text_table(study)
    page = report_page(study)
    assert "Settings that differ" in page
    assert '<th scope="row">learning.rounds</th>' in page
    assert Study.from_runs(find_runs([tmp_path]), "gsp").reference == "gsp"
    assert Study.from_runs(find_runs([tmp_path]), long).reference == long
    assert Study.from_runs(find_runs([tmp_path]), "sc-dn").reference in (short, long)
    assert write_figures(study, tmp_path / "png")


def test_methods_keep_their_names_where_only_methods_differ_in_settings(tmp_path):
    runs = find_runs([write_run(tmp_path / "a", rounds=3), write_run(tmp_path / "b", "gsp")])
    study = Study.from_runs(runs)
    assert list(study.methods) == ["sc-dn", "gsp"]
    assert study.notes == ["The runs' settings differ in learning.rounds."]


settings_trees = st.dictionaries(
    st.sampled_from(["a", "b", "devices"]),
    st.integers(0, 1) | st.lists(st.fixed_dictionaries({"id": st.sampled_from("xy")}), max_size=2),
)


@given(st.lists(settings_trees, min_size=1, max_size=5))
def test_runs_have_one_name_exactly_where_their_settings_are_equal(scenarios):
    runs = [
        Run(Path(), {**table, "seed": n, "name": str(n)}, "m", n, [], None)
        for n, table in enumerate(scenarios)
    ]
    named, differences = name_variants(runs)
    for one, other in product(range(len(runs)), repeat=2):
        assert (named[one].method == named[other].method) == (scenarios[one] == scenarios[other])
    assert (differences is None) == all(table == scenarios[0] for table in scenarios)
    if differences is not None:
        assert all(len(set(values)) > 1 for values in differences.values.values())


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_a_recorded_score_is_the_headline_and_its_direction_decides(tmp_path, higher_is_better):
    score = {"metric": "error_rate", "higher_is_better": higher_is_better, "unit": "%"}
    for seed in range(6):
        for method in ("sc-dn", "zoc"):  # error rates of 7 and 16 %
            write_run(tmp_path / f"{method}-{seed}", method, seed, score=score)
            spread_error_rates(tmp_path / f"{method}-{seed}", seed)
    study = Study.from_runs(find_runs([tmp_path]))
    first = study.measures()[0]
    assert (first.key, first.label, first.unit) == ("error_rate", "Error rate", "%")
    assert first.values[1].verdict == ("better" if higher_is_better else "worse")
    assert study_charts(study)[0].y_label == "Error rate (%)"
    assert "Error rate" in text_table(study).splitlines()[0]
    assert "top3" in {measure.key for measure in study.measures()}


def spread_error_rates(folder, seed):
    path = folder / EVENTS
    text = re.sub(r'"error_rate": ([\d.]+)', lambda m: f'"error_rate": {float(m[1]) + seed}',
                  path.read_text())  # fmt: skip
    path.write_text(text)


def test_a_network_history_has_the_state_of_every_device(tmp_path):
    run = find_runs([write_run(tmp_path / "run", churn=True)])[0]
    history = NetworkHistory.from_run(run)
    for index, event in enumerate(run.rounds):
        states = {device.id: device.states[index] for device in history.devices}
        assert {n for n, s in states.items() if s in "apf"} == (
            {device["id"] for device in event["devices"]} - set(event["exited"])
        )
        assert {n for n, s in states.items() if s == "l"} == set(event["exited"])
        assert {n for n, s in states.items() if s == "f"} == set(event["link_failed"])
    for device in history.devices:
        assert re.fullmatch(r"\.*[apf]*(lg*)?", device.states)
        assert len(device.positions) == 1


def test_curves_have_bands_only_with_several_seeds(tmp_path):
    several = study_charts(write_study(tmp_path / "several", churn=True))
    names = [chart.name for chart in several]
    assert names == ["joules", "seconds", "metric", "future", "iterations", "processing"]
    assert all(line.low and line.high for chart in several for line in chart.lines)
    alone = study_charts(write_study(tmp_path / "alone", seeds=(0,)))
    assert "future" not in [chart.name for chart in alone]
    assert all(line.low is line.high is None for chart in alone for line in chart.lines)
    for chart in several:
        assert all(chart.low <= v <= chart.high for line in chart.lines for v in line.y)
        labels_at = [level.name_at for level in chart.levels]
        assert all(b - a >= 0.08 * (chart.high - chart.low) for a, b in pairwise(labels_at))


# The page, the figures, the command


def _without_plotly(text):
    from plotly.offline import get_plotlyjs

    assert text.count(get_plotlyjs()) == 1
    return text.replace(get_plotlyjs(), "")


@pytest.mark.parametrize(
    "options",
    [
        {"methods": tuple(BEHAVIOUR), "churn": True},
        {"methods": ("sc-dn",), "seeds": (4,)},
        {"seeds": (0,), "rounds": 1},
        {"task": "regression", "churn": True},
        {"baselines": False, "end": "diverged"},
    ],
    ids=["dynamic", "one-run", "one-round", "regression", "diverged"],
)
def test_the_page_is_self_contained_and_has_every_figure(tmp_path, options):
    study = write_study(tmp_path / "runs", **options)
    text = _without_plotly(report_page(study))
    assert not re.search(r"https?:", text)
    assert not re.search(r"<(link|img|iframe)|\b(src|href)\s*=|url\(|@import", text)
    assert "default-src 'none'" in text  # the browser fetches nothing either
    assert not re.search(
        r"\bnan\b|NaN|Infinity|\$\w|\{[{%]", text.split('<script type="application')[0]
    )
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])
    assert len(data["histories"]) == len(study.runs)
    assert set(data["plots"]) == set(re.findall(r'data-plot="(\w+)"', text))
    for method in study.methods:
        assert f'data-method="{method}"' in text
    if options.get("end"):
        assert "diverged" in text
    if len(study.seeds) == 1:
        assert not re.search(r"\bp (&lt;|0)", text.split("<script")[0])
    written = write_figures(study, tmp_path / "png")
    assert {path.stem for path in written} == {*data["plots"], "presence", "flight"}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)


def test_exported_tables_are_the_rounds(tmp_path):
    study = write_study(tmp_path / "runs", churn=True)
    expected = rounds_frame(study.runs)
    expected["round"] += 1  # as people count
    for name, read in (("rounds.csv", pd.read_csv), ("rounds.parquet", pd.read_parquet)):
        export_table(study.runs, tmp_path / name)
        pd.testing.assert_frame_equal(read(tmp_path / name), expected, check_dtype=False)
    with pytest.raises(InputError, match="must end with"):
        export_table(study.runs, tmp_path / "rounds.xlsx")


def test_the_command_writes_page_figures_and_table(tmp_path, capsys):
    write_study(tmp_path / "runs")
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers())
    out = tmp_path / "out"
    out.mkdir()
    arguments = ["report", str(tmp_path / "runs"), "-o", str(out / "r.html"), "--reference", "gsp",
                 "--png", str(out / "png"), "--export", str(out / "rounds.csv")]  # fmt: skip
    options = parser.parse_args(arguments)
    assert options.run(options) == 0
    assert (out / "r.html").read_text().startswith("<!doctype html")
    assert len(pd.read_csv(out / "rounds.csv")) == 2 * 3 * 12
    messages = capsys.readouterr().out.splitlines()
    assert all(line.startswith("wrote ") for line in messages)
    assert len(messages) == 2 + len(list((out / "png").iterdir()))
