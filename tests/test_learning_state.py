"""A saved state is complete: a model that continues from it computes the same numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from reference_learning import create_model, small_learning, table_dataset, table_view
from small_models import CLASSES, LOCAL_STEPS, SERVER, VIEWS, local_steps_for, same

from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.tensors import StateDict


def stored(model, tmp_path):
    """Return the model's state after a round trip through files."""
    arrays, values = model.state_dict()
    np.savez(tmp_path / "arrays.npz", **arrays)
    with np.load(tmp_path / "arrays.npz", allow_pickle=False) as file:
        arrays = dict(file)
    return StateDict(arrays, json.loads(json.dumps(values)))


@pytest.mark.parametrize("memory", ["keep", "zero-out", "dropout"])
@pytest.mark.parametrize(
    "overrides", [{}, {"perturbation": 0.1}, {"input": "masked"}, {"smoothness": "measured"}]
)
def test_a_resumed_model_continues_like_the_original(memory, overrides, tmp_path):
    learning = small_learning(**overrides)
    model = create_model(CLASSES, VIEWS, learning, 3, memory)
    model.train(0, LOCAL_STEPS, SERVER)
    model.remove_parties(["b"])
    model.add_parties({"n": table_view(range(9))})
    model.train(1, local_steps_for(model) | {"n": LocalSteps(2, 0.1)}, SERVER)
    resumed = create_model(CLASSES, {}, learning, 3, memory)
    resumed.load_state_dict(stored(model, tmp_path))
    for one in (model, resumed):
        one.train(2, local_steps_for(one), SERVER)
        one.remove_parties(["c"])
        one.add_parties({"m": table_view([3, 4])})
        one.train(3, local_steps_for(one), SERVER)
        one.exchange()
    assert same(model, resumed)
    assert model.metrics() == resumed.metrics()
    assert model.importance() == resumed.importance()
    assert model.gradient_stats == resumed.gradient_stats
    assert model.smoothness() == resumed.smoothness()


@pytest.mark.parametrize("seed", range(12))
def test_a_resumed_model_is_the_same_to_the_last_bit_where_parties_paused(seed, tmp_path):
    """Paused parties sent their embeddings earlier, in a stack with other parties."""
    draws = np.random.default_rng(seed)
    data = table_dataset("regression", columns=36, rows=400, tests=97)
    width, count = int(draws.integers(2, 6)), int(draws.integers(4, 7))
    views = {f"p{n}": table_view(range(width * n, width * n + width)) for n in range(count)}
    learning = small_learning(
        precision="float32", hidden=int(draws.integers(3, 40)), sample_rows=64
    )
    model = create_model(data, views, learning)
    for round_ in range(5):
        moving = draws.choice(list(model.present), draws.integers(1, len(model.present)), False)
        model.train(round_, dict.fromkeys(moving.tolist(), LocalSteps(2, 0.1)), SERVER)
        model.metrics()
        if round_ == 2:
            model.remove_parties(["p1"])
    resumed = create_model(data, {}, learning)
    resumed.load_state_dict(stored(model, tmp_path))
    assert resumed.metrics() == model.metrics()
    for tables in ("sample_embeddings", "test_embeddings"):
        expected, restored = (getattr(m.server, tables) for m in (model, resumed))
        assert all(torch.equal(restored[name], table) for name, table in expected.items())


def test_a_state_dict_is_a_copy():
    model = create_model(CLASSES, VIEWS, small_learning())
    arrays, values = model.state_dict()
    before = {key: value.copy() for key, value in arrays.items()}
    model.train(0, LOCAL_STEPS, LocalSteps(300, 0.1))
    assert all((arrays[key] == before[key]).all() for key in before)
    assert values["round"] == [0, 0]
    assert not torch.equal(
        model.server.fusion.parameters["blocks"], torch.from_numpy(arrays["fusion/blocks"])
    )
