"""Targets: when a run reached a value and at what cost, and runs that never got there."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise

import numpy as np
import pytest
from command_line import refused, scdn
from hypothesis import assume, given
from hypothesis import strategies as st
from recorded_runs import BASELINES, write_run
from scipy import stats

from scdn.data import fetch
from scdn.errors import InputError
from scdn.file_io import to_json
from scdn.learning.metrics import METRICS, recorded_names
from scdn.record.headline_metric import BUILT_IN
from scdn.record.round_totals import cumulative_totals
from scdn.record.run_reader import EVENTS, find_runs, read_run
from scdn.record.target_results import recorded_targets, target_results
from scdn.report.charts import study_charts
from scdn.report.comparison import comparison
from scdn.report.matplotlib_figures import write_figures
from scdn.report.page import report_page
from scdn.report.statistics import median_value, ranked_difference, signed_rank_test
from scdn.report.study import Study
from scdn.report.text_table import text_table
from scdn.scenario import make_scenario, read_scenario, to_toml
from scdn.targets import METRIC_RANGES, RECORDED_METRICS, Target, parse_target

TOP3 = Target("top3", 82.0)


def refuse_constant(name):
    raise AssertionError(f"{name} is not strict JSON")


# --- The form -------------------------------------------------------------------------------------

names = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=9)


@given(names, st.floats(allow_nan=False, allow_infinity=False))
def test_a_target_is_read_back_from_its_text(metric, value):
    assume(metric not in METRIC_RANGES)
    assert parse_target(str(Target(metric, value))) == Target(metric, value)


@pytest.mark.parametrize(
    "text", ["top3", "top3=", "=95", "top3=high", "top3=nan", "mse=inf", "top3=101", "mse=-1", ""]
)
def test_what_is_no_target_is_refused(text):
    with pytest.raises(ValueError, match="must be"):
        parse_target(text)
    with pytest.raises(InputError) as error:
        make_scenario({"targets": [text], "fleet": [{"kind": "d", "count": 1}]})
    (line,) = error.value.lines()
    assert "targets.0" in line


def test_targets_are_part_of_a_scenario(examples):
    settings = ['targets=["top3 = 95.0", "train_loss=0.5"]']
    scenario = read_scenario(examples / "quick.toml", settings)
    assert scenario.targets == ("top3=95", "train_loss=0.5")
    text = to_toml(scenario, comments=True)
    assert 'targets = ["top3=95", "train_loss=0.5"]' in text


@pytest.mark.parametrize(
    ("targets", "learning", "part"),
    [
        (["top4=95"], {}, "did you mean top"),
        (["top3=95", "top3=95.0"], {}, "again"),
        (
            ["auc=0.9"],
            {"metrics": ["f1"]},
            "top3, top1, macro_f1, mse, mae, r2, test_loss, train_loss, f1",
        ),
    ],
)
def test_wrong_targets_of_a_scenario_are_one_fault_each(targets, learning, part):
    document = {"targets": targets, "learning": learning, "fleet": [{"kind": "d", "count": 1}]}
    with pytest.raises(InputError) as error:
        make_scenario(document)
    (line,) = error.value.lines()
    assert part in line


def test_the_metrics_that_targets_know_are_those_that_are_recorded():
    assert list(METRIC_RANGES) == [known.metric for known in BUILT_IN]
    assert {*METRICS.names(), "test_loss", "train_loss"} >= set(METRIC_RANGES)
    recorded = {*recorded_names("classification"), *recorded_names("regression")}
    assert recorded == set(RECORDED_METRICS)


# --- Reached or not -------------------------------------------------------------------------------

device = st.fixed_dictionaries(
    {
        "iterations": st.integers(0, 3),
        "executed_iterations": st.integers(0, 1),
        "transmission_j": st.floats(0, 9),
        "processing_j": st.floats(0, 9),
    }
)
round_event = st.fixed_dictionaries(
    {
        "metrics": st.fixed_dictionaries(
            {"top3": st.sampled_from([70.0, 80.0, 90.0, None]), "mse": st.floats(0, 2)}
        ),
        "devices": st.lists(device, max_size=3),
        "server": st.fixed_dictionaries(
            {"movement_j": st.floats(0, 9), "compute_j": st.floats(0, 9)}
        ),
        "latency_s": st.floats(0, 9),
        "bits_sent": st.integers(0, 10**6),
        "skipped": st.sampled_from([0, 0, 0, 1]),  # rounds between this one and the one before
    }
)


def as_rounds(drawn):
    number, events = -1, []
    for event in drawn:
        number += 1 + event["skipped"]
        devices = [{"id": f"d{n}", **entry} for n, entry in enumerate(event["devices"])]
        events.append({**event, "event": "round", "round": number, "devices": devices})
    return events


rounds_of_a_run = st.lists(round_event, max_size=12).map(as_rounds)
any_target = st.one_of(
    st.sampled_from([60.0, 70.0, 75.0, 80.0, 90.0, 95.0]).map(lambda v: Target("top3", v)),
    st.floats(0, 2).map(lambda v: Target("mse", v)),
)


def meets(event, target):
    value = event["metrics"][target.metric]
    good = value is not None and (
        value >= target.value if target.metric == "top3" else value <= target.value
    )
    return good and any(entry["executed_iterations"] for entry in event["devices"])


@given(rounds_of_a_run, any_target)
def test_a_target_is_reached_in_the_first_of_two_consecutive_rounds(rounds, target):
    (result,) = target_results({}, rounds, [target])
    by_number = {event["round"]: event for event in rounds}
    reached = [
        n for n, event in by_number.items()
        if n + 1 in by_number and meets(event, target) and meets(by_number[n + 1], target)
    ]  # fmt: skip
    assert list(result) == ["metric", "value", "reached", "round", "joules", "seconds", "bits"]
    assert (result["metric"], result["value"]) == (target.metric, target.value)
    assert result["reached"] == bool(reached)
    if not reached:
        assert [result[key] for key in ("round", "joules", "seconds", "bits")] == [None] * 4
        return
    assert result["round"] == min(reached)
    spent = [event for event in rounds if event["round"] <= min(reached)]
    joules = sum(
        sum(d["transmission_j"] + d["processing_j"] for d in event["devices"])
        + event["server"]["movement_j"]
        + event["server"]["compute_j"]
        for event in spent
    )
    assert result["joules"] == pytest.approx(joules)
    assert result["seconds"] == pytest.approx(sum(event["latency_s"] for event in spent))
    assert result["bits"] == sum(event["bits_sent"] for event in spent)


@given(rounds_of_a_run, st.floats(0, 2), st.floats(0, 2))
def test_an_easier_target_is_never_reached_later_or_at_a_higher_cost(rounds, a, b):
    easy, hard = target_results({}, rounds, [Target("mse", max(a, b)), Target("mse", min(a, b))])
    if hard["reached"]:
        assert easy["reached"]
        assert all(easy[key] <= hard[key] for key in ("round", "joules", "seconds", "bits"))


@given(rounds_of_a_run)
def test_costs_never_shrink(rounds):
    costs = cumulative_totals(rounds)
    for before, after in pairwise(costs):
        assert after.joules >= before.joules
        assert after.seconds >= before.seconds
        assert after.bits >= before.bits


@given(rounds_of_a_run, rounds_of_a_run, any_target)
def test_later_rounds_do_not_change_what_was_reached(rounds, later, target):
    first = target_results({}, rounds, [target])
    shift = rounds[-1]["round"] + 2 if rounds else 0
    longer = [*rounds, *({**event, "round": event["round"] + shift} for event in later)]
    if first[0]["reached"]:
        assert target_results({}, longer, [target]) == first


def test_planned_iterations_count_where_a_run_has_not_recorded_executed_ones():
    devices = [{"id": "a", "iterations": 2}]
    event = {"metrics": {"top3": 99.0}, "devices": devices, "active": ["a"]}
    trained = [{**event, "round": n} for n in range(2)]
    target = [Target("top3", 90)]
    assert target_results({}, trained, target)[0]["reached"]
    for lost in ({"exited": ["a"]}, {"link_failed": ["a"]}, {"active": []}):
        assert not target_results({}, [trained[0], trained[1] | lost], target)[0]["reached"]


def test_a_metric_of_the_user_s_own_has_its_recorded_direction():
    devices = [{"id": "a", "iterations": 1}]
    rounds = [
        {"round": n, "metrics": {"cost": 3.0}, "devices": devices, "active": ["a"]} for n in (0, 1)
    ]
    for higher_is_better in (True, False):
        entry = {"metric": "cost", "higher_is_better": higher_is_better, "unit": ""}
        (result,) = target_results({"metrics": [entry]}, rounds, [Target("cost", 5.0)])
        assert result["reached"] == (not higher_is_better)


# --- Statistics in which never is worst -----------------------------------------------------------

cost = st.one_of(st.integers(1, 20).map(float), st.just(math.inf))
paired_costs = st.lists(st.tuples(cost, cost), min_size=2, max_size=9)


def by_seed(values):
    return dict(enumerate(values))


@given(paired_costs)
def test_swapping_two_methods_turns_the_difference_around(pairs):
    ours, theirs = (by_seed(column) for column in zip(*pairs, strict=True))
    there, back = ranked_difference(ours, theirs), ranked_difference(theirs, ours)
    assert there.direction == -back.direction
    assert there.p == back.p
    if there.median is not None:
        assert there.median == -back.median


finite_pairs = st.lists(st.tuples(*[st.integers(1, 20).map(float)] * 2), min_size=2, max_size=9)


@given(finite_pairs, st.data())
def test_a_run_that_never_got_there_is_worse_than_any_that_did(pairs, data):
    ours, theirs = map(list, zip(*pairs, strict=True))
    seed = data.draw(st.integers(0, len(pairs) - 1))
    before = ranked_difference(by_seed(ours), by_seed(theirs))
    never, late = [*ours], [*ours]
    never[seed], late[seed] = math.inf, 1e9
    after = ranked_difference(by_seed(never), by_seed(theirs))
    assert after.direction >= before.direction
    assert median_value(never) >= median_value(ours)
    latest = ranked_difference(by_seed(late), by_seed(theirs))
    assert (after.direction, after.p) == (latest.direction, latest.p)


@given(paired_costs)
def test_two_runs_that_never_got_there_are_equal(pairs):
    def with_pair(*pair):
        return ranked_difference(*(by_seed(column) for column in zip(*pairs, pair, strict=True)))

    never, tie = with_pair(math.inf, math.inf), with_pair(7.0, 7.0)
    assert (never.direction, never.p, never.count) == (tie.direction, tie.p, len(pairs) + 1)


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=9, unique_by=abs))
def test_the_signed_rank_test_is_wilcoxons(differences):
    differences = np.array([d for d in differences if d], float)
    assume(len(differences) > 1)
    expected = stats.wilcoxon(differences, method="exact").pvalue
    assert signed_rank_test(differences) == pytest.approx(expected)


def test_many_seeds_have_a_signed_rank_test_over_drawn_patterns():
    differences = np.arange(1.0, 31.0)
    differences[3] = math.inf
    assert signed_rank_test(differences) == pytest.approx(1e-5, rel=1e-3)  # the least there is
    assert signed_rank_test(np.zeros(30)) == 1.0


@given(st.lists(cost, min_size=1, max_size=9))
def test_the_median_is_never_reached_where_half_never_got_there(values):
    failed = sum(map(math.isinf, values))
    assert math.isinf(median_value(values)) == (2 * failed >= len(values))


# --- Studies --------------------------------------------------------------------------------------


def write_runs(folder, methods=("sc-dn", "gsp", "zoc"), seeds=range(4), **options):
    for method in methods:
        for seed in seeds:
            write_run(folder / f"{method}-{seed}", method, seed, **options)
    return find_runs([folder])


def measure(study, key):
    return next(measure for measure in study.measures() if measure.key == key)


def test_joules_and_seconds_to_the_target_lead_every_table(tmp_path):
    study = Study.from_runs(write_runs(tmp_path), targets=[TOP3])
    keys = [measure.key for measure in study.measures() if measure.main]
    assert keys[:3] == ["joules_to_top3=82", "seconds_to_top3=82", "top3"]
    header, *rows = text_table(study).splitlines()
    assert re.split(" {2,}", header)[1] == "Energy to 82 % top-3 (J, median)"
    results = {r.method: r for r in measure(study, keys[0]).values}
    assert results["zoc"].failed == 4  # its accuracy ends at 84 %
    assert results["zoc"].median is None
    assert results["sc-dn"].failed == 0
    expected = [study.target_results(run)[0]["joules"] for run in study.runs[:4]]
    assert results["sc-dn"].median == np.median(expected)
    assert rows[2].startswith("zoc")
    assert "not reached (4 of 4)" in rows[2]
    without = [m.key for m in Study.from_runs(find_runs([tmp_path])).measures() if m.main]
    assert without[0] == "top3"
    assert "joules" in without


def test_some_that_never_got_there_are_counted(tmp_path):
    study = Study.from_runs(write_runs(tmp_path, seeds=range(10)), targets=[Target("top3", 84.0)])
    results = measure(study, "seconds_to_top3=84").values
    reached = {"sc-dn": 0, "gsp": 0, "zoc": 0}
    for run in study.runs:
        reached[run.method] += study.target_results(run)[0]["reached"]
    assert {r.method: r.seeds - r.failed for r in results} == reached
    assert 0 < reached["gsp"] < 10
    assert [r.verdict for r in results] == [None, "worse", "worse"]
    text = text_table(study)
    assert f"not reached ({10 - reached['gsp']} of 10)" in text
    assert f"not reached ({10 - reached['gsp']} of 10)" in report_page(study)


def test_the_order_of_runs_changes_nothing(tmp_path):
    runs = write_runs(tmp_path, churn=True)
    runs += find_runs([write_run(tmp_path / "x", "vafl", 0, end="diverged")])
    expected = to_json(comparison(Study.from_runs(runs, targets=[TOP3])))
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(runs))
        study = Study.from_runs([runs[n] for n in order], targets=[TOP3])
        assert to_json(comparison(study)) == expected


def test_other_targets_do_not_make_another_run(tmp_path):
    write_run(tmp_path / "a", targets=["top3=90"])
    write_run(tmp_path / "b", "gsp", targets=["top3=80", "mse=1"])
    write_run(tmp_path / "c", targets=["top3=70"])
    study = Study.from_runs(find_runs([tmp_path]), targets=[TOP3])
    assert study.targets == [TOP3]
    assert [note for note in study.notes if "differ" in note] == []
    own = Study.from_runs(find_runs([tmp_path / "a", tmp_path / "c"]))
    assert own.targets == [Target("top3", 90.0)]  # c is a duplicate of a
    with pytest.raises(InputError, match="mse is not recorded"):
        Study.from_runs(find_runs([tmp_path]))


def test_a_target_is_a_line_in_the_curves_over_joules_and_seconds(tmp_path):
    targets = [TOP3, Target("top3", 90.0), Target("top1", 70.0)]
    study = Study.from_runs(write_runs(tmp_path / "runs"), targets=targets)
    charts = {chart.name: chart for chart in study_charts(study)}
    for name in ("joules", "seconds"):
        lines = {level.label: level.value for level in charts[name].levels}
        assert (lines["target 1"], lines["target 2"]) == (82.0, 90.0)
        (level,) = charts[f"{name}_top1"].levels
        assert (level.label, level.value) == ("target", 70.0)
        assert charts[f"{name}_top1"].y_label == "Top-1 accuracy (%)"
    page = report_page(study)
    assert page.index("To the target") < page.index("<h2>Learning")
    assert {"joules", "seconds_top1"} <= {p.stem for p in write_figures(study, tmp_path / "png")}


def test_far_baselines_do_not_squeeze_the_curves_to_a_target_together(tmp_path, monkeypatch):
    monkeypatch.setitem(BASELINES["classes"], "trivial", {"top1": 0.0, "top3": 0.0})
    study = Study.from_runs(write_runs(tmp_path / "runs"), targets=[Target("top3", 1.0)])
    charts = {chart.name: {level.label for level in chart.levels} for chart in study_charts(study)}
    assert charts["metric"] == {"trivial", "best party", "centralised"}
    assert charts["joules"] == charts["seconds"] == {"best party", "centralised", "target"}


def test_a_comparison_is_strict_json(tmp_path):
    runs = write_runs(tmp_path)
    runs += find_runs([write_run(tmp_path / "x", "vafl", 0, rounds=0, end="diverged")])
    study = Study.from_runs(runs, targets=[TOP3, Target("train_loss", 0.0)])
    document = json.loads(to_json(comparison(study)), parse_constant=refuse_constant)
    assert list(document) == ["schema", "runs", "compared"]
    for entry, run in zip(document["runs"], study.runs, strict=True):
        assert {"method", "seed", "metrics", "joules", "seconds", "bits", "targets"} <= set(entry)
        assert (entry["method"], entry["seed"]) == (run.method, run.seed)
        assert len(entry["targets"]) == 2
        assert entry["targets"][1]["reached"] is False
    assert document["compared"]["reference"] == "sc-dn"
    measures = {entry["key"]: entry for entry in document["compared"]["measures"]}
    assert {"joules_to_top3=82", "bits_to_train_loss=0", "top3", "j"} <= set(measures)


# --- A diverged run is worst ----------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [0, 2, 12])
def test_a_diverged_run_is_worst_in_every_comparison(tmp_path, rounds):
    """Whatever it had reached before, and however little it had spent."""
    runs = write_runs(tmp_path, ("sc-dn", "max-vfl"))
    runs = [run for run in runs if (run.method, run.seed) != ("max-vfl", 2)]
    runs += find_runs([write_run(tmp_path / "x", "max-vfl", 2, rounds, end="diverged", planned=12)])
    study = Study.from_runs(runs, targets=[TOP3])
    assert any(f"after {rounds} rounds: it counts as worst" in note for note in study.notes)
    directed = [measure for measure in study.measures() if measure.better]
    assert {"joules_to_top3=82", "top3", "joules", "j", "s", "bits"} <= {m.key for m in directed}
    for compared in directed:
        reference, other = compared.values
        assert compared.ranked, compared.key
        assert (reference.failed, other.failed, other.seeds) == (0, 1, 4)
        assert other.mean is None
    lost = next(run for run in study.runs if (run.method, run.seed) == ("max-vfl", 2))
    assert [result["reached"] for result in study.target_results(lost)] == [False]
    finals = measure(study, "top3").values
    alive = [run.rounds[-1]["metrics"]["top3"] for run in study.runs
             if run.method == "max-vfl" and run.seed != 2]  # fmt: skip
    assert finals[1].median == np.mean(sorted(alive)[:2])  # the failed one is below them
    assert "diverged (1 of 4)" in text_table(study)
    text = report_page(study)
    assert "trivial predictor" not in text
    assert write_figures(study, tmp_path / "png")
    for chart in study_charts(study):  # no curve is a mean over the runs that were left
        ends = {line.method: line.x[-1] for line in chart.lines}
        if chart.x_label == "round":
            assert ends["sc-dn"] == 12
            assert ends.get("max-vfl", 0) == rounds


def test_runs_that_all_diverge_are_equal(tmp_path):
    runs = write_runs(tmp_path, ("sc-dn", "gsp"), end="diverged")
    for compared in Study.from_runs(runs, targets=[TOP3]).measures():
        if compared.better:
            assert [r.failed for r in compared.values] == [4, 4]
            assert compared.values[1].verdict == "too few seeds to tell"
            assert compared.values[1].p_rank == 1.0


def test_without_a_failed_run_scores_are_compared_by_their_means(tmp_path):
    study = Study.from_runs(write_runs(tmp_path), targets=[TOP3])
    assert not measure(study, "top3").ranked
    assert measure(study, "top3").values[1].p_flip is not None


# --- Commands -------------------------------------------------------------------------------------

FAST = ("--set", "learning.rounds=4", "--set", "learning.sample_rows=64")
EASY = ("--target", "top3=20", "--target", "train_loss=0")


@pytest.fixture(scope="module", autouse=True)
def _digits():
    fetch("digits")


@pytest.fixture(scope="module")
def compared(tmp_path_factory, examples):
    """The command, the folder and the answer of a comparison with targets."""
    folder = tmp_path_factory.mktemp("targets") / "runs"
    command = ("compare", examples / "quick.toml", "--methods", "max-vfl,vafl", "--seeds", "2",
               "--out", folder, *FAST, "--set", "server.cpu_hz=1e9")  # fmt: skip
    return command, folder, scdn(*command, *EASY, "--json")


def test_a_comparison_answers_in_json_and_nothing_else(compared):
    _, folder, done = compared
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout, parse_constant=refuse_constant)
    assert document["schema"] == 1
    listed = [(run["method"], run["seed"]) for run in document["runs"]]
    assert listed == [("max-vfl", 5), ("max-vfl", 6), ("vafl", 5), ("vafl", 6)]
    for entry in document["runs"]:
        recorded = read_run(folder / entry["method"] / f"seed-{entry['seed']}")
        summary = json.loads((recorded.folder / "summary.json").read_text())
        assert summary["targets"] == entry["targets"]
        assert entry["metrics"] == summary["metrics"] == recorded.rounds[-1]["metrics"]
        energy = summary["energy"]
        assert energy["server_compute_j"] > 0
        assert entry["joules"] == pytest.approx(energy["total_j"], rel=1e-12)
        assert entry["seconds"] == pytest.approx(energy["latency_s"], rel=1e-12)
        bits = energy["bits_sent"] + energy["bits_received"]
        assert entry["bits"] == pytest.approx(bits, rel=1e-12)
        easy, never = entry["targets"]
        assert easy["reached"]
        assert easy["round"] == 0
        assert (never["metric"], never["reached"], never["joules"]) == ("train_loss", False, None)
    assert "report.html" in done.stderr


def test_other_targets_of_finished_runs_are_answered_without_training(compared):
    command, folder, _ = compared
    paths = sorted(folder.rglob(EVENTS))
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in paths]
    done = scdn(*command, "--target", "top1=10")
    assert done.returncode == 0, done.stderr
    assert re.match(r"method +Energy to 10 % top-1 \(J, median\)", done.stdout)
    assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in paths] == before
    assert "Energy to 10 % top-1" in (folder / "report.html").read_text()
    page = folder.parent / "page.html"
    assert scdn("report", folder, "-o", page, "--target", "test_loss=9").returncode == 0
    assert "Energy to test_loss 9" in page.read_text()
    assert scdn("report", folder, "-o", page).returncode == 0
    assert "Energy to 20 % top-3" in page.read_text()


def test_a_run_says_what_its_targets_cost(tmp_path, examples):
    out = tmp_path / "run"
    sc_dn = ("run", examples / "quick.toml", "--method", "sc-dn", *FAST)
    done = scdn(*sc_dn, "--out", out, *EASY)
    assert done.returncode == 0, done.stderr
    reached, never = done.stdout.splitlines()[1:]
    assert reached.startswith("target top3=20: reached in round 1 with ")
    assert never == "target train_loss=0: not reached"
    recorded = read_run(out)
    assert recorded.scenario["targets"] == ["top3=20", "train_loss=0"]
    assert recorded.end["targets"] == target_results(
        recorded.start, recorded.rounds, recorded_targets(recorded)
    )
    rival = ("run", examples / "quick.toml", "--method", "gsp", *FAST, "--target", "top1=50")
    done = scdn(*rival, "--out", tmp_path / "gsp", "--reference", out)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("bad", ["top3", "top3=many", "top3=120", "top9=5", "top3=nan"])
def test_a_bad_target_is_refused_in_one_line(tmp_path, examples, bad):
    quick, out = examples / "quick.toml", tmp_path / "out"
    write_run(tmp_path / "run")
    commands = [
        ("run", quick, "--out", out, "--target", bad),
        ("compare", quick, "--methods", "sc-dn", "--out", out, "--target", bad, "--json"),
        ("report", tmp_path / "run", "-o", tmp_path / "page.html", "--target", bad),
    ]
    for command in commands:
        (line,) = refused(scdn(*command), 1)
        assert "target" in line
    assert not out.exists()
    assert not (tmp_path / "page.html").exists()
    refused(scdn("run", "--resume", tmp_path / "run", "--target", "top3=5"), 1)


def test_a_metric_that_the_task_does_not_have_is_refused(tmp_path, examples):
    draws = np.random.default_rng(0)
    rows = [",".join(map(str, row)) for row in draws.normal(size=(200, 5)).round(3)]
    (tmp_path / "table.csv").write_text("\n".join(["a,b,c,d,y", *rows]) + "\n")
    add = ("data", "add", "plain", tmp_path / "table.csv", "--label", "y", "--task", "regression")
    assert scdn(*add).returncode == 0
    regression = ("--set", "learning.dataset=plain", *FAST)
    command = ("run", examples / "quick.toml", *regression, "--out", tmp_path / "out")
    (line,) = refused(scdn(*command, "--target", "top3=50"), 1)
    assert "must be one of mae, mse, r2, test_loss, train_loss" in line
    assert not (tmp_path / "out").exists()
    done = scdn(*command, "--target", "mse=100")
    assert done.returncode == 0, done.stderr
    assert "target mse=100: reached in round 1" in done.stdout
