"""Importance by exclusion losses, and scores counted from predictions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reference_learning import (
    ModelPair,
    assert_close,
    n_steps,
    numpy_scores,
    small_learning,
    table_dataset,
    table_view,
)
from small_models import CLASSES, LOCAL_STEPS, NUMBERS, VIEWS, predicted, started, trained

from scdn.learning.importance import importance

# --- importance --------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", ["keep", "zero-out"])
@pytest.mark.parametrize("dataset", [CLASSES, NUMBERS], ids=["classes", "numbers"])
def test_exclusion_losses_equal_those_of_the_reference(memory, dataset):
    pair = ModelPair(dataset, VIEWS, small_learning(importance_max=7), memory)
    pair.train(LOCAL_STEPS, n_steps(3))
    _excludes(pair)
    pair.remove_parties(["a"])
    pair.add_parties({"n": table_view(range(9))})
    pair.train({"n": n_steps(3), "b": n_steps(2)}, n_steps(3))
    losses = _excludes(pair)
    importance_ = pair.model.importance()
    least, greatest = min(losses.values()), max(losses.values())
    for name, loss in losses.items():
        assert_close(importance_[name], 1 + 6 * (loss - least) / (greatest - least), name)


def _excludes(pair):
    expected = pair.reference.exclusion_losses()
    losses = pair.model.server.exclusion_losses(list(expected))
    assert_close(losses, list(expected.values()))
    return expected


def test_exclusion_losses_with_departed_members_under_dropout():
    pair = ModelPair(CLASSES, VIEWS, small_learning(), "dropout")
    pair.train(LOCAL_STEPS, n_steps(3))
    pair.remove_parties(["a", "b"])
    _excludes(pair)


def test_exclusion_losses_of_more_parties_than_one_pass_takes():
    views = {f"p{n}": table_view([n % 25, (n + 3) % 25]) for n in range(70)}
    pair = ModelPair(CLASSES, views, small_learning())
    _excludes(pair)


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=9), st.floats(1, 20))
def test_importance_grows_with_the_loss_from_one_to_the_largest(losses, largest):
    values = importance(losses, largest)
    if min(losses) == max(losses):
        assert values == [1.0] * len(losses)
        return
    assert values[losses.index(min(losses))] == 1
    assert values[losses.index(max(losses))] == pytest.approx(largest)
    order = np.argsort(losses, kind="stable")
    assert all(np.diff(np.array(values)[order]) >= 0)


def test_equal_losses_are_equally_important():
    assert importance([], 5) == []
    assert importance([0.3], 5) == [1.0]
    assert importance([0.3, 0.3], 5) == [1.0, 1.0]


# --- scores ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dataset", [CLASSES, NUMBERS], ids=["classes", "numbers"])
@pytest.mark.parametrize("memory", ["keep", "zero-out", "dropout"])
def test_scores_equal_those_counted_from_predictions(memory, dataset):
    model = trained(dataset, memory)
    for _ in range(2):
        expected = numpy_scores(model.server.predict().numpy(), dataset.test_y, dataset.task)
        metrics = model.metrics()
        for key, number in expected.items():
            assert_close(metrics[key], number, key)
        model.remove_parties(["c"] if "c" in model.present else ["d"])


def test_top3_of_two_classes_is_always_100():
    metrics = trained(table_dataset(classes=2)).metrics()
    assert metrics["top3"] == 100
    assert metrics["top1"] < 100


def test_with_kept_embeddings_an_exit_changes_no_metric_at_once():
    model = trained()
    before = model.metrics()
    assert "future" not in before
    assert "future_by" not in before
    model.remove_parties(["b"])
    after = model.metrics()
    assert {key: after[key] for key in before} == before
    assert set(after) - set(before) == {"future", "future_by"}


@pytest.mark.parametrize("memory", ["zero-out", "dropout"])
def test_without_kept_embeddings_future_scores_equal_current_ones(memory):
    model = trained(memory=memory)
    assert "future" not in model.metrics()
    model.remove_parties(["b"])
    metrics = model.metrics()
    for scores in (metrics["future"], *metrics["future_by"].values()):
        assert scores == {key: metrics[key] for key in scores}


def test_an_entry_adds_no_future_scores():
    model = trained()
    model.add_parties({"n": table_view(range(4))})
    assert "future" not in model.metrics()


def test_zeroing_out_equals_a_fusion_model_without_the_blocks():
    model = trained(memory="zero-out")
    kept = started(memory="keep")
    kept.server.fusion, kept.parties.stacks = model.server.fusion, list(model.stacks)
    kept.unsent = set(kept.present)
    kept.exchange()
    without = predicted(kept.server, [name for name in VIEWS if name != "b"])
    model.remove_parties(["b"])
    assert model.server.fusion.members == ("a", "c", "d")
    assert model.server.fusion.parameters["blocks"].shape == (3, 5, 7)
    assert_close(model.server.predict(), without)
    assert "b" not in model.server.sample_embeddings | model.server.test_embeddings
    assert model.server.memory.embeddings == {}


def test_dropout_scales_the_remaining_embeddings():
    model = trained(memory="dropout")
    tests = dict(model.server.test_embeddings)
    model.remove_parties(["b", "d"])
    p = model.server.fusion.parameters
    assert p["blocks"].shape[0] == 4
    sums = sum(tests[name] @ p["blocks"][n] for n, name in ((0, "a"), (2, "c")))
    hidden = torch.relu(sums * 4 / 2 + p["bias"])
    assert_close(model.server.predict(), hidden @ p["head.1.weight"].T + p["head.1.bias"])
