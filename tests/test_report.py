"""Reports say what the runs say: sums, statistics, and pages and pictures of any kind of run."""

from __future__ import annotations

import argparse
import json
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scdn.cli.report_command import add_to
from scdn.errors import InputError
from scdn.record.run_reader import EVENTS, find_runs, read_events
from scdn.record.run_tables import TERMS, devices_frame, export, frame
from scdn.report.charts import charts
from scdn.report.matplotlib_figures import write_figures
from scdn.report.network_history import journey
from scdn.report.page import report_page
from scdn.report.statistics import values_at_equal_budget, paired_difference, final_values, sign_flip_test, spread
from scdn.report.student import quantile, two_sided
from scdn.report.study import make_study

HABITS = {  # iterations, joules per iteration, final accuracy: plausible, nothing more
    "sc-dn": (2.4, 0.22, 93.0),
    "gsp": (2.4, 0.61, 90.5),
    "gsp-matched": (2.4, 0.25, 90.4),
    "max-vfl": (5.0, 0.63, 92.6),
    "vafl": (2.4, 0.6, 88.0),
    "zoc": (2.3, 0.22, 84.0),
}


def synthesise(folder, method="sc-dn", seed=0, rounds=12, devices=5, task="classes", churn=False,
               end="done", baselines=True):  # fmt: skip
    """Writes a run as a simulation would have, without training anything."""
    draws = np.random.default_rng(seed)  # the same network for every method
    own = np.random.default_rng([seed, len(method), ord(method[-1])])
    iterations, joules, top = HABITS[method]
    fleet = {f"d{n}": _place(draws) for n in range(devices)}
    left, server = {}, np.array([50.0, 50.0, 40.0])
    scenario = {
        "name": "synthetic",
        "about": "Five devices, drawn; nothing is trained.",
        "region_m": [100, 100, 80],
        "learning": {"dataset": "mnist", "rounds": rounds},
    }
    start = {
        "event": "start",
        "schema": 1,
        "scenario": scenario,
        "method": method,
        "seed": seed,
        "versions": {"scdn": "0.1", "torch": "2.9"},
        "dataset": {"name": "mnist", "task": task},
    }
    if baselines:
        start["baselines"] = (
            {
                "trivial": {"top1": 11.4, "top3": 31.7},
                "best_party": {"top1": 60, "top3": 82.0},
                "centralised": {"top1": 92.0, "top3": 97.9},
            }
            if task == "classes"
            else {"trivial": {"mse": 0.0427}, "best_party": None}
        )
    lines = [start]
    for number in range(rounds):
        exited = (
            [draws.choice(sorted(fleet))] if churn and number % 5 == 4 and len(fleet) > 2 else []
        )
        failed = [name for name in fleet if churn and draws.random() < 0.05 and name not in exited]
        off = [name for name in fleet if draws.random() < 0.1]
        active = [n for n in fleet if n not in (*exited, *failed, *off)]
        server = np.clip(server + own.normal(0, 7, 3), [0, 0, 2], [100, 100, 79])
        told = []
        for name, place in fleet.items():
            took = 0 if name in off else float(max(1, round(iterations + own.normal(0, 0.7))))
            told.append(
                {
                    "id": name,
                    "position_m": place,
                    "iterations": took,
                    "power_w": 0.1,
                    "cpu_hz": 1e9,
                    "delay_s": 0.05,
                    "transmission_j": 0.004 * (took > 0),
                    "processing_j": joules * took,
                    "importance": 1,
                    "smoothness": 0.5,
                    "bits_sent": 1_628_480,
                    "reason": "not_worth_it" if name in off else None,
                }
            )
        reached = 1 - np.exp(-(number + 1) / 5)
        loss = 2.3 - 1.9 * reached + own.normal(0, 0.02)
        if task == "classes":
            score = 31 + (top - 31) * reached + own.normal(0, 0.8)
            metrics = {
                "train_loss": loss,
                "test_loss": loss + 0.05,
                "top1": 0.8 * score,
                "top3": score,
            }
            future = {"top1": 0.7 * score, "top3": score - 9 - own.random()}
        else:
            metrics = {
                "train_loss": loss,
                "test_loss": loss,
                "mse": 0.06 - 0.02 * reached + 0.0005 * own.normal(),
            }
            future = {"mse": metrics["mse"] + 0.004}
        if left or exited:
            metrics["future"] = future
        lines.append(
            {
                "event": "round",
                "round": number,
                "active": active,
                "exited": exited,
                "entered": [],
                "link_failed": failed,
                "devices": told,
                "metrics": metrics,
                "server": {"position_m": server.tolist(), "movement_j": 2 + own.random()},
                "plan": {"objective": 1, "gap": 1e-4, "solve_seconds": 0.02},
                "latency_s": 3 + own.random(),
                "bits_sent": 1_628_480 * len(active),
                "seconds": 0.5,
            }
        )
        for name in exited:
            left[name] = fleet.pop(name)
        if churn and number % 4 == 3:
            lines[-1]["entered"] = [f"n{number}"]
            fleet[f"n{number}"] = _place(draws)
    if end:
        lines.append({"event": "end", "status": end})
    folder.mkdir(parents=True)
    (folder / EVENTS).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def _place(draws):
    return [*draws.uniform(0, 100, 2).round(1).tolist(), float(draws.choice([0, 0, 30]))]


def study_of(tmp_path, methods=("sc-dn", "gsp"), seeds=(0, 1, 2), **options):
    for method in methods:
        for seed in seeds:
            synthesise(tmp_path / f"{method}-{seed}", method, seed, **options)
    return make_study(find_runs([tmp_path]))


# Reading


def test_rows_add_up(tmp_path):
    study = study_of(tmp_path, churn=True)
    rows, devices = study.rows, devices_frame(study.runs)
    for _, run in rows.groupby(["method", "seed"]):
        np.testing.assert_allclose(run["joules"], run[list(TERMS)].sum(axis=1))
        np.testing.assert_allclose(run["cumulative_joules"], run["joules"].cumsum())
        np.testing.assert_allclose(run["cumulative_s"], run["latency_s"].cumsum())
        assert (run["cumulative_joules"].diff().dropna() >= 0).all()
    keys = ["method", "seed", "round"]
    by_round = devices.groupby(keys)
    whole = rows.set_index(keys).sort_index()
    np.testing.assert_allclose(by_round["processing_j"].sum(), whole["processing_j"])
    np.testing.assert_allclose(by_round["processing_j"].mean(), whole["processing_j_per_device"])
    np.testing.assert_allclose(by_round["iterations"].mean(), whole["iterations"])
    np.testing.assert_array_equal(by_round.size(), whole["present"])
    np.testing.assert_array_equal(by_round["active"].sum(), whole["active"])
    assert {"x_m", "y_m", "z_m", "link_failed", "exited", "reason"} <= set(devices)


def test_future_metrics_only_after_an_exit(tmp_path):
    rows = study_of(tmp_path, seeds=(0,), churn=True).rows
    assert rows.loc[rows["round"] < 4, "future_top3"].isna().all()
    assert rows.loc[rows["round"] >= 4, "future_top3"].notna().all()


def test_an_unfinished_last_line_is_not_there(tmp_path):
    path = synthesise(tmp_path / "run", end=None) / EVENTS
    whole = read_events(path)
    path.write_text(path.read_text() + '{"event": "round", "rou')
    assert read_events(path) == whole
    study = make_study(find_runs([tmp_path]))
    assert study.runs[0].end is None
    assert "has not ended" in study.notes[0]


def _swapped(index, old, new):
    return lambda lines: [*lines[:index], lines[index].replace(old, new), *lines[index + 1 :]]


@pytest.mark.parametrize(
    ("change", "where", "what"),
    [
        (lambda lines: [*lines[:2], "{oops", *lines[2:]], "line 3", "not JSON"),
        (lambda lines: [*lines[:2], "[1]", *lines[2:]], "line 3", "must be an object"),
        (lambda lines: lines[1:], "line 1", "start"),
        (lambda _: [], "line 1", "start"),
        (_swapped(0, '"schema": 1', '"schema": 2'), "line 1", "schema is 2"),
        (_swapped(0, '"seed": 0', '"seed": "x"'), "line 1", "seed"),
        (lambda lines: [*lines[:3], lines[2], *lines[3:]], "line 4", "must be above 1"),
        (_swapped(1, '"id": "d0"', '"id": 7'), "line 2", "with an id"),
        (_swapped(2, '"position_m": [', '"position_m": [0, '), "line 3", "three numbers"),
        (_swapped(2, '"metrics": {', '"metrics": 5, "other": {'), "line 3", "must be a table"),
    ],
)
def test_broken_files_give_one_clear_line(tmp_path, change, where, what):
    path = synthesise(tmp_path / "run") / EVENTS
    path.write_text("".join(f"{line}\n" for line in change(path.read_text().splitlines())))
    with pytest.raises(InputError) as caught:
        find_runs([tmp_path])
    (line,) = caught.value.lines()
    assert str(path) in line
    assert where in line
    assert what in line


def test_folders_are_searched(tmp_path):
    for name in ("b/2", "b/1", "a"):
        synthesise(tmp_path / name)
    inside = tmp_path / "a" / "reference"  # what lies inside a run belongs to it
    synthesise(inside)
    found = find_runs([tmp_path, tmp_path / "a"])
    assert [str(run.folder.relative_to(tmp_path)) for run in found] == ["a", "b/1", "b/2"]
    (tmp_path / "empty").mkdir()
    for nothing in ("empty", "missing"):
        with pytest.raises(InputError, match="has no run"):
            find_runs([tmp_path / nothing])


def test_sparse_events_are_enough(tmp_path):
    """Only what is in the contract, and not even all of that."""
    lines = [{"event": "start", "schema": 1, "scenario": {}, "method": "x<b>$", "seed": 3},
             {"event": "round", "round": 0, "metrics": {"test_loss": 1.0}},
             {"event": "note"},
             {"event": "round", "round": 4, "metrics": {"test_loss": None},
              "devices": [{"id": "a</script>"}], "server": {"position_m": [1, 2, 3]}}]  # fmt: skip
    (tmp_path / EVENTS).write_text("".join(json.dumps(line) + "\n" for line in lines))
    study = make_study(find_runs([tmp_path]))
    assert study.metric.key == "test_loss"
    text = report_page(study)
    assert "x<b>" not in text
    assert "a</script>" not in text
    assert write_figures(study, tmp_path / "png")


# Statistics

numbers = st.lists(st.floats(-100, 100).map(lambda x: round(x, 3)), min_size=2, max_size=9)


@given(numbers, st.integers(0, 10**6))
def test_paired_statistics_are_scipys(mine, seed):
    other = np.random.default_rng(seed).normal(0, 30, len(mine))
    found = paired_difference(dict(enumerate(mine)), dict(enumerate(other)))
    expected = stats.ttest_rel(mine, other)
    low, high = expected.confidence_interval(0.95)
    assert found.count == len(mine)
    np.testing.assert_allclose(found.p_t, expected.pvalue, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose([found.low, found.high], [low, high], rtol=1e-7)
    assert found.low <= found.difference <= found.high
    assert found.clear == (found.low > 0 or found.high < 0)


@given(st.integers(1, 200), st.floats(-60, 60))
def test_students_t_is_scipys(freedom, t):
    np.testing.assert_allclose(two_sided(t, freedom), 2 * stats.t.sf(abs(t), freedom), rtol=1e-9)
    for share in (0.5, 0.95, 0.999):
        expected = stats.t.ppf((1 + share) / 2, freedom)
        np.testing.assert_allclose(quantile(share, freedom), expected, rtol=1e-9)


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=4))
def test_sign_flips_of_symmetric_data_say_nothing(half):
    assert sign_flip_test(np.array([*half, *(-value for value in half)], dtype=float)) == 1.0


def test_sign_flips_are_exact():
    gaps = np.random.default_rng(5).normal(0.6, 1, 9)
    expected = stats.permutation_test(
        (gaps, np.zeros(9)), lambda x, y, axis: (x - y).mean(axis=axis), vectorized=True,
        permutation_type="samples", n_resamples=np.inf,
    )  # fmt: skip
    assert sign_flip_test(gaps) == pytest.approx(expected.pvalue)
    assert sign_flip_test(np.ones(6)) == 2 / 2**6  # the least that six seeds can show
    assert sign_flip_test(np.ones(13)) is None


def test_one_seed_has_no_interval_and_equal_runs_do_not_differ():
    alone = paired_difference({0: 2.0}, {0: 1.0, 1: 5.0})
    assert (alone.count, alone.difference) == (1, 1.0)
    assert alone.low is alone.high is alone.p_t is alone.p_flip is None
    assert not alone.clear
    assert spread([4.0]).std is None
    assert spread([float("nan")]) is None
    assert paired_difference({0: 1.0}, {1: 1.0}) is None
    same = paired_difference({0: 1.0, 1: 2.0}, {0: 1.0, 1: 2.0})
    assert (same.difference, same.low, same.high, same.p_t, same.p_flip) == (0, 0, 0, 1, 1)


def test_at_equal_joules_and_seconds():
    rows = pd.DataFrame(
        [("cheap", 0, 1.0, 10), ("cheap", 0, 2.0, 20), ("cheap", 0, 3.0, 30),
         ("dear", 0, 2.5, 50), ("dear", 0, 9.0, 60), ("late", 0, 4.0, 70)],
        columns=["method", "seed", "spent", "value"],
    )  # fmt: skip
    found = values_at_equal_budget(rows, "value", "spent")
    assert found["cheap"][0] == 30  # it has ended: its own last value
    assert found["dear"][0] == 50  # the last value reached by then, not one between
    assert np.isnan(found["late"][0])  # it had reached nothing
    assert final_values(rows, "value") == {"cheap": {0: 30}, "dear": {0: 60}, "late": {0: 70}}


@given(st.integers(0, 50))
def test_at_equal_budgets_nobody_gains(seed):
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


# Putting runs together


def test_the_reference_comes_first(tmp_path):
    study_of(tmp_path, ("gsp", "vafl", "zoc"), (0,))
    runs = find_runs([tmp_path])
    assert make_study(runs, "zoc").methods == ["zoc", "gsp", "vafl"]
    assert make_study(runs).reference == "gsp"
    assert "no sc-dn run" in make_study(runs).notes[0]
    with pytest.raises(InputError, match="must be of gsp, vafl, zoc"):
        make_study(runs, "nope")


def test_runs_of_two_scenarios_are_not_mixed(tmp_path):
    synthesise(tmp_path / "a")
    synthesise(tmp_path / "b")
    assert "twice" in make_study(find_runs([tmp_path])).notes[0]
    synthesise(tmp_path / "c", rounds=3)
    with pytest.raises(InputError, match="another scenario's"):
        make_study(find_runs([tmp_path]))
    notes = make_study(
        [find_runs([tmp_path / "c"])[0], *find_runs([synthesise(tmp_path / "d", "gsp")])]
    ).notes
    assert notes == ["The runs' scenarios differ in learning."]


def test_journeys_tell_who_came_and_went(tmp_path):
    run = find_runs([synthesise(tmp_path / "run", churn=True)])[0]
    told = journey(run)
    for index, event in enumerate(run.rounds):
        states = {member.id: member.states[index] for member in told.members}
        assert {n for n, s in states.items() if s in "apf"} == (
            {device["id"] for device in event["devices"]} - set(event["exited"])
        )
        assert {n for n, s in states.items() if s == "l"} == set(event["exited"])
        assert {n for n, s in states.items() if s == "f"} == set(event["link_failed"])
    for member in told.members:
        assert re.fullmatch(r"\.*[apf]*(lg*)?", member.states)
        assert len(member.places) == 1


def test_curves_have_bands_only_with_several_seeds(tmp_path):
    several = charts(study_of(tmp_path / "several", churn=True))
    names = [chart.name for chart in several]
    assert names == ["metric", "future", "iterations", "processing", "joules", "seconds"]
    assert all(line.std is not None for chart in several for line in chart.lines)
    alone = charts(study_of(tmp_path / "alone", seeds=(0,)))
    assert "future" not in [chart.name for chart in alone]
    assert all(line.std is None for chart in alone for line in chart.lines)
    for chart in several:
        low, high = chart.y_range
        assert all(low <= v <= high for line in chart.lines for v in line.mean)
        names_at = [level.name_at for level in chart.levels]
        assert all(b - a >= 0.08 * (high - low) for a, b in pairwise(names_at))


# The page, the pictures, the command


def _without_plotly(text):
    from plotly.offline import get_plotlyjs

    assert text.count(get_plotlyjs()) == 1
    return text.replace(get_plotlyjs(), "")


@pytest.mark.parametrize(
    "options",
    [
        {"methods": tuple(HABITS), "churn": True},
        {"methods": ("sc-dn",), "seeds": (4,)},
        {"seeds": (0,), "rounds": 1},
        {"task": "regression", "churn": True},
        {"baselines": False, "end": "diverged"},
    ],
    ids=["dynamic", "one-run", "one-round", "regression", "diverged"],
)
def test_pages_and_pictures(tmp_path, options):
    study = study_of(tmp_path / "runs", **options)
    text = _without_plotly(report_page(study))
    assert not re.search(r"https?:", text)
    assert not re.search(r"<(link|img|iframe)|\b(src|href)\s*=|url\(|@import", text)
    assert "default-src 'none'" in text  # the browser fetches nothing either
    assert not re.search(r"\bnan\b|NaN|Infinity|\$\w", text.split('<script type="application')[0])
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])
    assert len(data["journeys"]) == len(study.runs)
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


def test_tables_are_exported(tmp_path):
    study = study_of(tmp_path / "runs", churn=True)
    expected = frame(study.runs)
    for name, read in (("rounds.csv", pd.read_csv), ("rounds.parquet", pd.read_parquet)):
        export(study.runs, tmp_path / name)
        pd.testing.assert_frame_equal(read(tmp_path / name), expected, check_dtype=False)
    with pytest.raises(InputError, match="must end with"):
        export(study.runs, tmp_path / "rounds.xlsx")


def test_the_command(tmp_path, capsys):
    study_of(tmp_path / "runs")
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers())
    out = tmp_path / "out"
    out.mkdir()
    words = ["report", str(tmp_path / "runs"), "-o", str(out / "r.html"), "--reference", "gsp",
             "--png", str(out / "png"), "--export", str(out / "rounds.csv")]  # fmt: skip
    options = parser.parse_args(words)
    assert options.run(options) == 0
    assert (out / "r.html").read_text().startswith("<!doctype html")
    assert len(pd.read_csv(out / "rounds.csv")) == 2 * 3 * 12
    told = capsys.readouterr().out.splitlines()
    assert all(line.startswith("wrote ") for line in told)
    assert len(told) == 2 + len(list((out / "png").iterdir()))
