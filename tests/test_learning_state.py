"""What is stored of a model is all that it is: going on from it changes nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from reference_learning import begin, table
from test_learning_laws import CLASSES, ORDERS, SERVER, VIEWS, orders_for, same, small, some_view

from scdn.learning.local import Order
from scdn.learning.state import pack, unpack


def stored(model, tmp_path):
    """Through files and back."""
    arrays, words = pack(model)
    np.savez(tmp_path / "arrays.npz", **arrays)
    with np.load(tmp_path / "arrays.npz", allow_pickle=False) as found:
        arrays = dict(found)
    return arrays, json.loads(json.dumps(words))


@pytest.mark.parametrize("memory", ["keep", "zero-out", "dropout"])
@pytest.mark.parametrize(
    "wishes", [{}, {"perturbation": 0.1}, {"input": "masked"}, {"smoothness": "measured"}]
)
def test_going_on_from_a_stored_state(memory, wishes, tmp_path):
    learning = small(**wishes)
    model = begin(CLASSES, VIEWS, learning, 3, memory)
    model.train(0, ORDERS, SERVER)
    model.leave(["b"])
    model.enter({"n": some_view(range(9))})
    model.train(1, orders_for(model) | {"n": Order(2, 0.1)}, SERVER)
    again = unpack(begin(CLASSES, {}, learning, 3, memory), *stored(model, tmp_path))
    for one in (model, again):
        one.train(2, orders_for(one), SERVER)
        one.leave(["c"])
        one.enter({"m": some_view([3, 4])})
        one.train(3, orders_for(one), SERVER)
        one.exchange()
    assert same(model, again)
    assert model.metrics() == again.metrics()
    assert model.importance() == again.importance()
    assert model.sizes == again.sizes
    assert model.smoothness() == again.smoothness()


@pytest.mark.parametrize("seed", range(12))
def test_going_on_is_the_same_to_the_last_bit_where_some_rest(seed, tmp_path):
    """Parties that rested were embedded long ago, in other company and on another seat."""
    draws = np.random.default_rng(seed)
    data = table("regression", columns=36, rows=400, tests=97)
    width, count = int(draws.integers(2, 6)), int(draws.integers(4, 7))
    views = {f"p{n}": some_view(range(width * n, width * n + width)) for n in range(count)}
    learning = small(precision="float32", hidden=int(draws.integers(3, 40)), sample_rows=64)
    model = begin(data, views, learning)
    for round_ in range(5):
        moving = draws.choice(list(model.present), draws.integers(1, len(model.present)), False)
        model.train(round_, dict.fromkeys(moving.tolist(), Order(2, 0.1)), SERVER)
        model.metrics()
        if round_ == 2:
            model.leave(["p1"])
    again = unpack(begin(data, {}, learning), *stored(model, tmp_path))
    assert again.metrics() == model.metrics()
    for tables in ("seen", "tests"):
        mine, theirs = (getattr(one.server, tables) for one in (model, again))
        assert all(torch.equal(mine[name], theirs[name]) for name in mine)


def test_the_stored_state_is_a_copy():
    model = begin(CLASSES, VIEWS, small())
    arrays, words = pack(model)
    before = {key: value.copy() for key, value in arrays.items()}
    model.train(0, ORDERS, SERVER)
    assert all((arrays[key] == before[key]).all() for key in before)
    assert words["round"] == [0, 0]
    assert not torch.equal(
        model.server.fusion.parameters["blocks"], torch.from_numpy(arrays["fusion/blocks"])
    )
