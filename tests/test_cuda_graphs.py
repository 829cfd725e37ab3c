"""Steps that are captured and replayed equal the steps that would have been computed."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from reference_learning import (
    CONV,
    create_model,
    image_dataset,
    n_steps,
    small_learning,
    table_dataset,
    table_view,
)
from torch import nn

from scdn.learning import cuda_graphs
from scdn.learning.cuda_graphs import graphed_call, release_graphs
from scdn.learning.feature_split import split_features
from scdn.learning.stacked_forward import has_only_common_layers

VIEWS = {
    "a": table_view([0, 3, 1, 7]),
    "b": table_view(range(10, 15)),
    "c": table_view([2, 4, 5, 6]),
}
NEWCOMERS = {"d": table_view(range(16, 20)), "e": table_view(range(20, 25))}
LOCAL_STEPS = {
    "a": n_steps(4),
    "b": n_steps(3, 0.1, "momentum", 0.4),
    "c": n_steps(4, 0.05, "proximal", 0.5),
    "d": n_steps(2),
    "e": n_steps(4),
}
SMALL_CNN = {"model": "cnn", "batch_size": 3}
CASES = {  # data set, learning settings, memory
    "own": (table_dataset(), {}, "keep"),
    "masked": (table_dataset(), {"input": "masked"}, "keep"),
    "regression": (table_dataset("regression"), {}, "zero-out"),
    "the paper's update": (table_dataset(), {"server_turn": "parallel", "damping": "none"}, "keep"),
    "dropout": (table_dataset(), {"dropout": 0.4}, "dropout"),
    "labels on the server": (table_dataset(), {"labels": "server", "server_turn": "after"}, "keep"),
    "measured": (table_dataset(), {"smoothness": "measured"}, "keep"),
    "images": (image_dataset(28, 1), SMALL_CNN, "keep"),
    "images in 16 bits": (image_dataset(28, 1), SMALL_CNN | {"precision": "bfloat16"}, "keep"),
    "a user's model": (image_dataset(), {"model": CONV}, "keep"),
}
GPU = pytest.param(
    "cuda",
    marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="NO GPU TESTS: there is none"),
)


class EmulatedGraph:
    """A graph on a CPU: tensors that are not inputs stay as they were when it was captured."""

    def __init__(self, function, inputs):
        self.function = function
        self.inputs = {name: tensor.clone() for name, tensor in inputs.items()}

    def replay(self, inputs):
        for name, tensor in self.inputs.items():
            tensor.copy_(inputs[name])
        return {name: tensor.clone() for name, tensor in self.function(self.inputs).items()}


@pytest.fixture(params=["cpu", GPU])
def device(request, monkeypatch):
    """The device; the number of replays is in `cuda_graphs.CapturedGraph.replays`."""
    base = EmulatedGraph if request.param == "cpu" else cuda_graphs.CapturedGraph

    class CountedGraph(base):
        replays = 0

        def replay(self, inputs):
            CountedGraph.replays += 1
            return super().replay(inputs)

    monkeypatch.setattr(cuda_graphs, "CapturedGraph", CountedGraph)
    release_graphs()
    yield request.param
    release_graphs()


def replays():
    return cuda_graphs.CapturedGraph.replays


def use_graphs(monkeypatch, enabled=True):
    monkeypatch.setattr(cuda_graphs, "_on_first_gpu", lambda _: enabled)


def train_seven_rounds(case, device):
    """Return all parameters and the loss after seven rounds with entries and exits."""
    dataset, settings, memory = CASES[case]
    views, newcomers = VIEWS, NEWCOMERS
    if "image" in dataset.train:
        patches = split_features(dataset, "patches", 4, 0)
        views, newcomers = dict(zip("abc", patches, strict=False)), {"d": patches[3]}
    learning = small_learning(**({"device": device} | settings))
    model = create_model(dataset, views, learning, memory=memory)
    for round_ in range(7):
        if round_ == 2:
            model.add_parties(newcomers)
        if round_ == 4:
            model.remove_parties(["b"])
        local_steps = {name: LOCAL_STEPS[name] for name in model.present}
        if round_ == 5:
            local_steps |= {"a": n_steps(0), "c": n_steps(1)}
        model.train(round_, local_steps, n_steps(3, 0.1 * 0.5**round_))
    parameters = {f"fusion {k}": p for k, p in model.server.fusion.parameters.items()}
    for stack in model.stacks:
        parameters |= {f"{stack.names} {k}": p for k, p in stack.parameters.items()}
    return parameters, model.metrics()["test_loss"]


@pytest.mark.parametrize("case", CASES)
def test_replayed_training_equals_computed_training(case, device, monkeypatch):
    use_graphs(monkeypatch, enabled=False)
    expected, expected_loss = train_seven_rounds(case, device)
    assert replays() == 0
    use_graphs(monkeypatch)
    parameters, loss = train_seven_rounds(case, device)
    if case == "a user's model":  # its layers may not be captured, so only the server's steps are,
        assert replays() == 7 * 3 - 2  # except the first with three and with four members
    else:
        assert replays() > 7 * 3
    for name, tensor in expected.items():
        torch.testing.assert_close(parameters[name], tensor, rtol=1e-5, atol=1e-6, msg=name)
        assert device != "cpu" or torch.equal(parameters[name], tensor)
    assert loss == pytest.approx(expected_loss, rel=1e-5)


def call_double(rows, device):
    inputs = {"x": torch.arange(2.0 * rows, device=device).view(rows, 2)}
    outputs = graphed_call(("double",), lambda tensors: {"y": 2 * tensors["x"]}, inputs)
    assert torch.equal(outputs["y"], 2 * inputs["x"])


def test_a_repeated_call_is_captured_once(device, monkeypatch):
    use_graphs(monkeypatch)
    for expected in (0, 1, 2, 3):
        call_double(4, device)
        assert replays() == expected


def test_the_most_recently_used_graphs_are_kept(device, monkeypatch):
    monkeypatch.setattr(cuda_graphs, "MAX_GRAPHS", 3)
    use_graphs(monkeypatch)
    for rows in (2, 2, 3, 3, 4, 4, 2, 5, 5):  # drops the graph for 3 rows
        call_double(rows, device)
    assert len(cuda_graphs._graphs) == 3
    before = replays()
    for rows in (2, 4, 5):
        call_double(rows, device)
    assert replays() == before + 3
    call_double(3, device)
    assert replays() == before + 3


def test_a_call_that_cannot_be_captured_is_computed(device, monkeypatch):
    def fail(*_):
        raise torch.OutOfMemoryError("no room")

    use_graphs(monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(cuda_graphs.CapturedGraph, "__init__", fail)
        call_double(2, device)
        with pytest.warns(UserWarning, match="without a CUDA graph: no room"):
            call_double(2, device)
    call_double(2, device)  # it is not tried again
    assert replays() == 0


def test_heads_with_other_layers_have_graphs_of_their_own(device, monkeypatch):
    use_graphs(monkeypatch)
    monkeypatch.setattr(cuda_graphs, "_is_capturable", lambda _: True)
    losses_by_order = []
    for order in ((nn.ReLU, nn.Sigmoid), (nn.Sigmoid, nn.ReLU)):
        release_graphs()
        losses = {}
        for activation in order:
            model = create_model(table_dataset(), VIEWS, small_learning(device=device))
            layers = nn.Sequential(activation(), nn.Linear(7, 5)).to("meta")
            model.server.fusion = dataclasses.replace(model.server.fusion, layers=layers)
            for round_ in range(3):
                model.train(round_, {name: n_steps(3) for name in VIEWS}, n_steps(2))
            losses[activation] = model.metrics()["test_loss"]
        losses_by_order.append(losses)
    assert losses_by_order[0] == pytest.approx(losses_by_order[1])
    assert losses_by_order[0][nn.ReLU] != pytest.approx(losses_by_order[0][nn.Sigmoid])


def test_outputs_are_not_overwritten_by_the_next_replay(device, monkeypatch):
    use_graphs(monkeypatch)
    squares = []
    for number in (1.0, 2.0, 3.0, 4.0):
        inputs = {"x": torch.tensor([number], device=device)}
        squares.append(graphed_call(("square",), lambda t: {"y": t["x"] ** 2}, inputs)["y"])
    assert torch.cat(squares).tolist() == [1, 4, 9, 16]


def test_only_common_layers_are_captured():
    assert has_only_common_layers(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)))
    assert not has_only_common_layers(nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5)))
    hooked = nn.Sequential(nn.Linear(2, 3))
    hooked[0].register_forward_hook(lambda *_: None)
    assert not has_only_common_layers(hooked)
