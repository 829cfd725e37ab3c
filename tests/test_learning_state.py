"""What is stored of a model is all that it is: going on from it changes nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from reference_learning import begin
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
