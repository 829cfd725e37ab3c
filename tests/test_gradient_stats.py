"""Gradient statistics that parties report equal those of the reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from reference_learning import (
    ModelPair,
    RecordedDraws,
    assert_close,
    create_model,
    n_steps,
    small_learning,
)
from small_models import CLASSES, LOCAL_STEPS, SERVER, VIEWS, same, started

from scdn.learning.feature_split import FeatureView
from scdn.learning.local_parties import _sample_gradients
from scdn.learning.models import Cnn
from scdn.learning.party_loss import GradientLoss
from scdn.learning.party_stack import PartyStack
from scdn.learning.tensors import TensorOptions


def test_first_gradient_statistics_come_from_eight_batches():
    pair = ModelPair(CLASSES, VIEWS, small_learning())
    draws = _spied_batches(pair.model)
    assert len(draws) == 8
    steps = n_steps(1)
    stale = [pair.reference._embeddings(rows) for rows in draws]
    for name in VIEWS:
        reference = pair.reference._sample_gradient(name)
        squares, away = [], []
        for rows, table in zip(draws, stale, strict=True):
            _, (gradient,) = pair.reference._train_party(
                name, steps, [rows], [table], pair.reference.fusion, None
            )
            squares.append(sum(float(g.square().sum()) for g in gradient))
            pairs = zip(gradient, reference, strict=True)
            away.append(sum(float((g - r).square().sum()) for g, r in pairs))
        assert_close(pair.model.gradient_stats[name].bound_sq, np.mean(squares), name)
        assert_close(pair.model.gradient_stats[name].variance, np.mean(away), name)


def _spied_batches(model):
    """Return the batches of the first gradient statistics, drawn once more."""
    drawn = []
    draw = type(model).draw

    def spy(self, draws, steps):
        drawn.append(draw(self, draws, steps))
        return drawn[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(model), "draw", spy)
        repeated = create_model(CLASSES, VIEWS, model.learning)
    assert repeated.gradient_stats == model.gradient_stats
    (batches,) = drawn
    return batches


@pytest.mark.parametrize("labels", ["shared", "server"])
def test_gradient_bounds_are_running_maxima_and_variances_the_latest(labels):
    pair = ModelPair(CLASSES, VIEWS, small_learning(labels=labels, batch_size=2))
    before = dict(pair.model.gradient_stats)
    squares = {name: [size.bound_sq] for name, size in before.items()}
    for _ in range(6):
        fresh = {
            name: replace(size, bound_sq=0.0) for name, size in pair.model.gradient_stats.items()
        }
        carried, pair.model.gradient_stats = pair.model.gradient_stats, fresh
        pair.train(LOCAL_STEPS, n_steps(3))
        for name, size in pair.model.gradient_stats.items():
            squares[name].append(size.bound_sq)
            pair.model.gradient_stats[name] = carried[name].updated_with(size)
        pair.check()
    for name in LOCAL_STEPS:
        assert pair.model.gradient_stats[name].bound_sq == max(squares[name])
        assert pair.model.gradient_stats[name].variance != before[name].variance
    idle = pair.model.gradient_stats["d"]  # of which only L_n is measured, by a trial step
    assert idle == replace(before["d"], smoothness=idle.smoothness)


def test_gradients_are_not_measured_unless_asked():
    unmeasured = create_model(CLASSES, VIEWS, small_learning(), measure_gradients=False)
    measured = started()
    for model in (unmeasured, measured):
        model.train(0, LOCAL_STEPS, SERVER)
    assert unmeasured.gradient_stats == {}
    assert same(unmeasured, measured)


def test_sample_gradients_exchange_embeddings_first():
    pair = ModelPair(CLASSES, VIEWS, small_learning(damping="none"))
    with RecordedDraws(pair.model) as draws:
        pair.model.train(0, LOCAL_STEPS, SERVER)
    pair.reference.train(draws, LOCAL_STEPS, n_steps(3))
    for stack in pair.model.stacks:
        gradients = pair.model.sample_gradients(stack)
        for index, name in enumerate(stack.names):
            expected = pair.reference._sample_gradient(name)[-1]
            assert_close(gradients["2.bias"][index], expected, name)


def test_gradient_statistics_with_departed_members_under_dropout():
    pair = ModelPair(CLASSES, VIEWS, small_learning(dropout=0.0), "dropout")
    pair.remove_parties(["a", "d"])
    pair.train({"b": n_steps(2), "c": n_steps(2)}, n_steps(2))
    pair.check()


def test_gradients_over_the_sample_of_images_are_summed_in_pieces(monkeypatch):
    torch.manual_seed(0)
    pixels = np.arange(28 * 28)
    view = FeatureView("image", pixels, np.ones(len(pixels), bool), (1, 28, 28))
    modules = [Cnn(view.shape, 5) for _ in range(2)]
    options = TensorOptions("cpu", "float64")
    stack = PartyStack.from_modules(["a", "b"], modules, [view] * 2, options)
    images = torch.randn(2, 10, *view.shape, dtype=torch.float64)
    loss = GradientLoss(torch.randn(2, 1, 10, 5, dtype=torch.float64))
    whole = _sample_gradients(stack, loss, images)
    monkeypatch.setattr("scdn.learning.local_parties.IMAGES_PER_PIECE", 4)
    pieces = _sample_gradients(stack, loss, images)
    assert whole.keys() == pieces.keys()
    for name, expected in whole.items():
        torch.testing.assert_close(pieces[name], expected, rtol=1e-10, atol=1e-12)
