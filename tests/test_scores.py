"""Scores: each agrees with scikit-learn or with a slow count, and the right one comes first."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from run_scenarios import scenario
from sklearn import metrics as sklearn_metrics

from scdn.data import fetch
from scdn.data.dataset import Dataset
from scdn.errors import InputError
from scdn.learning.final_scores import final_scores
from scdn.learning.metrics import likeliest_classes, log_odds, metric, scores, trivial_scores
from scdn.record.event_schema import AnyEvent
from scdn.record.run_reader import find_runs
from scdn.report.final_models import _pooled_bins, final_models
from scdn.report.page import report_page
from scdn.report.study import Study
from scdn.simulation.events import headline_score
from scdn.simulation.runner import run
from scdn.targets import parse_target


@st.composite
def classified(draw):
    """Outputs of two to six classes, with ties, confident errors and uneven classes."""
    classes, rows = draw(st.integers(2, 6)), draw(st.integers(2, 60))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    targets = rng.choice(classes, rows, p=rng.dirichlet(np.ones(classes)))
    outputs = rng.normal(0, draw(st.sampled_from([0.1, 1, 5, 40])), (rows, classes))
    outputs[np.arange(rows), targets] += draw(st.sampled_from([-1.0, 0.0, 2.0]))
    if draw(st.booleans()):
        outputs = outputs.round()
    return torch.tensor(outputs), torch.tensor(targets)


regressed = st.integers(0, 10**6).map(
    lambda seed: tuple(torch.tensor(np.random.default_rng(seed).normal(size=(2, 20))))
)


# --- each score against an independent one --------------------------------------------------------


@given(classified())
def test_the_auc_is_scikit_learns(rows):
    outputs, targets = rows
    width, odds = outputs.shape[1], log_odds(outputs).numpy()
    assume(len(targets.unique()) == width)
    one_against_all = [
        sklearn_metrics.roc_auc_score(targets == n, odds[:, n]) for n in range(width)
    ]
    area = metric("auc").compute(outputs, targets)
    assert area == pytest.approx(np.mean(one_against_all), abs=1e-9)
    if width > 2 and outputs.abs().max() < 9 and not (outputs == outputs.round()).all():
        likely = outputs.softmax(-1)
        expected = sklearn_metrics.roc_auc_score(targets, likely, multi_class="ovr")
        assert area == pytest.approx(expected, abs=1e-9)


@given(classified())
def test_log_odds_are_those_of_the_probabilities(rows):
    outputs = rows[0] / 10
    likely = outputs.softmax(-1)
    np.testing.assert_allclose(log_odds(outputs), (likely / (1 - likely)).log(), atol=1e-6)
    assert math.isfinite(float(log_odds(1e4 * outputs).abs().max()))


@given(classified())
def test_the_auc_is_the_share_of_pairs_in_the_right_order(rows):
    """Also where classes are missing from the rows: those do not count."""
    outputs, targets = rows
    odds, areas = log_odds(outputs), []
    for label in targets.unique():
        own, others = odds[targets == label, label], odds[targets != label, label]
        if len(others):
            won = (own[:, None] > others).double() + 0.5 * (own[:, None] == others).double()
            areas.append(float(won.mean()))
    value = metric("auc").compute(outputs, targets)
    assert math.isnan(value) if not areas else value == pytest.approx(np.mean(areas), abs=1e-9)


@given(classified())
def test_the_macro_f1_is_scikit_learns(rows):
    outputs, targets = rows
    expected = sklearn_metrics.f1_score(targets, outputs.argmax(1), average="macro")
    assert metric("macro_f1").compute(outputs, targets) == pytest.approx(expected, abs=1e-12)


@given(classified())
def test_the_calibration_error_is_counted_bin_by_bin(rows):
    outputs, targets = rows
    likely = outputs.softmax(-1).numpy()
    confidence, hits = likely.max(1), likely.argmax(1) == targets.numpy()
    expected = 0.0
    for low in range(15):
        own = (confidence * 15 > low) & (confidence * 15 <= low + 1)
        if own.any():
            expected += abs(confidence[own].sum() - hits[own].sum()) / len(hits)
    assert metric("ece").compute(outputs, targets) == pytest.approx(expected, abs=1e-9)


@given(regressed)
def test_errors_and_r2_are_scikit_learns(pair):
    outputs, targets = pair
    values = scores(outputs[:, None], targets, "regression")
    assert values["mse"] == pytest.approx(sklearn_metrics.mean_squared_error(targets, outputs))
    assert values["mae"] == pytest.approx(sklearn_metrics.mean_absolute_error(targets, outputs))
    assert values["r2"] == pytest.approx(sklearn_metrics.r2_score(targets, outputs))


@pytest.mark.parametrize(("error", "expected"), [(0.0, 1.0), (0.5, 0.0)])
def test_r2_of_equal_targets_is_defined(error, expected):
    targets = torch.full((4,), 3.0)
    assert metric("r2").compute(targets[:, None] + error, targets) == expected


@given(classified())
def test_final_scores_agree_with_each_other_and_with_scikit_learn(rows):
    outputs, targets = rows
    width = outputs.shape[1]
    final = final_scores(outputs, targets, "classification", "abcdef"[:width])
    confusion = np.array(final["confusion"])
    likeliest = likeliest_classes(outputs)[:, 0]
    expected = sklearn_metrics.confusion_matrix(targets, likeliest, labels=range(width))
    assert np.array_equal(confusion, expected)
    assert confusion.sum() == final["rows"] == sum(b["rows"] for b in final["reliability"])
    assert 100 * np.trace(confusion) / final["rows"] == pytest.approx(final["scores"]["top1"])
    if torch.equal(likeliest, outputs.softmax(-1).argmax(1)):  # not where classes are equal
        hits = sum(b["rows"] * b["accuracy"] for b in final["reliability"])
        assert hits == pytest.approx(np.trace(confusion))
    assert final["classes"] == list("abcdef"[:width])
    json.dumps(final, allow_nan=False)


def test_final_scores_of_a_model_that_is_not_finite_do_not_exist():
    assert final_scores(torch.tensor([[math.nan, 1]]), torch.tensor([0]), "classification") is None


def test_the_auc_of_a_single_class_is_unknown():
    outputs, targets = torch.eye(3), torch.zeros(3, dtype=torch.long)
    assert final_scores(outputs, targets, "classification")["scores"]["auc"] is None


@pytest.mark.parametrize("name", ["macro_f1", "auc", "ece"])
def test_a_score_of_classes_refuses_a_regression(name):
    with pytest.raises(InputError, match="needs classes"):
        metric(name).compute(torch.zeros(3, 1), torch.zeros(3))


@pytest.mark.parametrize(
    ("text", "limits"), [("auc=2", "0 … 1"), ("r2=1.5", "≤ 1"), ("mae=-1", "≥ 0")]
)
def test_targets_know_the_ranges_of_scores(text, limits):
    with pytest.raises(ValueError, match=limits):
        parse_target(text)
    assert parse_target("r2=-3").value == -3


# --- which score comes first ----------------------------------------------------------------------


def dataset(counts):
    labels = np.repeat(np.arange(len(counts)), counts)
    return Dataset(
        name="made",
        task="classification",
        classes=tuple(f"c{n}" for n in range(len(counts))),
        train={"table": np.zeros((len(labels), 2), np.float32)},
        train_y=labels,
        test={"table": np.zeros((len(labels), 2), np.float32)},
        test_y=labels,
        features=("a", "b"),
    )


@pytest.mark.parametrize(
    ("counts", "settings", "expected"),
    [
        ([5] * 10, {}, "top1"),
        ([5] * 11, {}, "top3"),
        ([15, 5], {}, "top1"),
        ([16, 5], {}, "macro_f1"),
        ([5] * 3, {"targets": ["train_loss=1", "top3=90"]}, "top3"),
        ([5] * 3, {"targets": ["top1=90", "top3=90"]}, "top1"),
        ([5] * 3, {"mission": {"target": "top3=90"}, "targets": ["top1=9"]}, "top3"),
        ([5] * 3, {"profile": "paper"}, "top3"),
        ([16, 5], {"targets": ["top1=90"]}, "top1"),
        ([5] * 3, {"learning": {"metrics": ["auc"]}, "targets": ["top3=90"]}, "auc"),
    ],
)
def test_the_headline_follows_from_classes_and_targets(counts, settings, expected):
    score = headline_score(scenario(**settings), dataset(counts))["score"]
    assert score["metric"] == expected


def test_the_trivial_predictor_has_every_score():
    values = trivial_scores(dataset([16, 5]), [metric("auc"), metric("ece")])
    assert set(values) == {"top1", "top3", "macro_f1", "auc", "ece"}
    assert values["auc"] == 0.5
    assert values["top1"] == pytest.approx(100 * 16 / 21)


# --- in the record of a run -----------------------------------------------------------------------


def test_a_run_ends_with_an_evaluation_of_its_final_model(tmp_path):
    fetch("digits")
    recorded = run(scenario(learning={"rounds": 2, "metrics": ["auc"]}), tmp_path / "run")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    final, last = summary["evaluation"], recorded.rounds[-1]["metrics"]
    assert recorded.end["evaluation"] == final
    for name in ("top1", "top3", "macro_f1", "auc", "test_loss"):
        assert final["scores"][name] == last[name], name
    assert len(final["confusion"]) == len(final["classes"]) == 10
    assert np.trace(final["confusion"]) == round(last["top1"] / 100 * final["rows"])
    AnyEvent.model_validate(recorded.end)


@given(classified(), classified())
def test_pooled_reliability_keeps_every_row_and_hit(one, other):
    entries = [
        entry
        for outputs, targets in (one, other)
        for entry in final_scores(outputs, targets, "classification")["reliability"]
    ]
    bins = _pooled_bins(entries)
    assert bins[:, 2].sum() == len(one[1]) + len(other[1])
    hits = sum(entry["rows"] * entry["accuracy"] for entry in entries)
    assert (bins[:, 1] * bins[:, 2]).sum() == pytest.approx(hits)
    assert (np.diff(bins[:, 0]) > 0).all()


def test_the_report_shows_scores_confusions_and_calibration_of_final_models(tmp_path):
    fetch("digits")
    for seed in range(2):
        chosen = scenario(learning={"rounds": 1}, seed=seed, method="max-vfl")
        run(chosen, tmp_path / str(seed))
    study = Study.from_runs(find_runs([tmp_path]))
    (models,) = final_models(study)
    ends = [recorded.end["evaluation"] for recorded in study.runs]
    assert np.array_equal(models.confusion, np.sum([end["confusion"] for end in ends], axis=0))
    mean = np.mean([end["scores"]["auc"] for end in ends])
    assert float(models.scores["AUC"].split(" ± ")[0]) == pytest.approx(mean, rel=0.05)
    page = report_page(study)
    for text in ("Confusion matrix of max-vfl", "Calibration", "AUC", "Top-1 accuracy (%)"):
        assert text in page
    assert '"confusion0"' in page
    assert '"reliability"' in page
