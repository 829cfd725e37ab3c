"""Steps that are recorded and played again are the steps that would have been computed."""

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

from scdn.learning import cuda_graphs as cuda_graphs
from scdn.learning.feature_split import split_features
from scdn.learning.stacked_forward import has_only_common_layers
from scdn.learning.vertical_model import train_models_together

VIEWS = {
    "a": table_view([0, 3, 1, 7]),
    "b": table_view(range(10, 15)),
    "c": table_view([2, 4, 5, 6]),
}
LATE = {"d": table_view(range(16, 20)), "e": table_view(range(20, 25))}
WORK = {
    "a": n_steps(4), "b": n_steps(3, 0.1, "momentum", 0.4), "c": n_steps(4, 0.05, "proximal", 0.5),
    "d": n_steps(2), "e": n_steps(4),
}  # fmt: skip
CASES = {
    "own": (table_dataset(), {}, "keep"),
    "masked": (table_dataset(), {"input": "masked"}, "keep"),
    "regression": (table_dataset("regression"), {}, "zero-out"),
    "the paper's update": (table_dataset(), {"server_turn": "parallel", "damping": "none"}, "keep"),
    "dropout": (table_dataset(), {"dropout": 0.4}, "dropout"),
    "labels on the server": (table_dataset(), {"labels": "server", "server_turn": "after"}, "keep"),
    "measured": (table_dataset(), {"smoothness": "measured"}, "keep"),
    "images": (image_dataset(28, 1), {"model": "cnn", "batch_size": 3}, "keep"),
    "images in 16 bits": (
        image_dataset(28, 1),
        {"model": "cnn", "batch_size": 3, "precision": "bfloat16"},
        "keep",
    ),
    "a user's model": (image_dataset(), {"model": CONV}, "keep"),
}
GPU = pytest.param(
    "cuda",
    marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="NO GPU TESTS: there is none"),
)


class Tape:
    """What a recording does, on a CPU: what was not given is as it was the first time."""

    def __init__(self, compute, given):
        self.compute, self.given = compute, {name: t.clone() for name, t in given.items()}

    def play(self, given):
        for name, tensor in self.given.items():
            tensor.copy_(given[name])
        return {name: t.clone() for name, t in self.compute(self.given).items()}


@pytest.fixture(params=["cpu", GPU])
def device(request, monkeypatch):
    """Where it runs; how often something was played is in `replay.Recording.plays`."""
    kind = Tape if request.param == "cpu" else cuda_graphs.CapturedGraph

    class Counted(kind):
        plays = 0

        def play(self, given):
            Counted.plays += 1
            return super().play(given)

    monkeypatch.setattr(cuda_graphs, "CapturedGraph", Counted)
    cuda_graphs.release_graphs()
    yield request.param
    cuda_graphs.release_graphs()


def story(case, device, recorded, monkeypatch):
    """Everything that was learned in seven rounds with comings and goings."""
    dataset, overrides, memory = CASES[case]
    monkeypatch.setattr(cuda_graphs, "_on_gpu", lambda _: recorded)
    views, late = VIEWS, LATE
    if "image" in dataset.train:
        parts = split_features(dataset, "patches", 4, 0)
        views, late = dict(zip("abc", parts, strict=False)), {"d": parts[3]}
    model = create_model(
        dataset, views, small_learning(**({"device": device} | overrides)), memory=memory
    )
    for round_ in range(7):
        if round_ == 2:
            model.add_parties(late)
        if round_ == 4:
            model.remove_parties(["b"])
        local_steps = {name: WORK[name] for name in model.present}
        if round_ == 5:
            local_steps |= {"a": n_steps(0), "c": n_steps(1)}
        model.train(round_, local_steps, n_steps(3, 0.1 * 0.5**round_))
    found = {f"fusion {k}": p for k, p in model.server.fusion.parameters.items()}
    for stack in model.stacks:
        found |= {f"{stack.names} {k}": p for k, p in stack.parameters.items()}
    return found, model.metrics()["test_loss"]


@pytest.mark.parametrize("case", CASES)
def test_what_is_played_is_what_would_be_computed(case, device, monkeypatch):
    expected, loss = story(case, device, False, monkeypatch)
    assert cuda_graphs.CapturedGraph.plays == 0
    found, again = story(case, device, True, monkeypatch)
    if case == "a user's model":  # its layers are not known to be safe: the server's steps alone,
        assert (
            cuda_graphs.CapturedGraph.plays == 7 * 3 - 2
        )  # but for the first with three and four members
    else:
        assert cuda_graphs.CapturedGraph.plays > 7 * 3
    for name, tensor in expected.items():
        torch.testing.assert_close(found[name], tensor, rtol=1e-5, atol=1e-6, msg=name)
        assert device != "cpu" or torch.equal(found[name], tensor)
    assert again == pytest.approx(loss, rel=1e-5)


def test_runs_side_by_side_are_played_too(device, monkeypatch):
    ends = []
    for recorded in (False, True):
        monkeypatch.setattr(cuda_graphs, "_on_gpu", lambda _, recorded=recorded: recorded)
        models = [
            create_model(table_dataset(), VIEWS, small_learning(device=device), seed)
            for seed in (1, 2)
        ]
        local_steps = {name: n_steps(3) for name in VIEWS}
        for round_ in range(3):
            train_models_together(models, round_, [local_steps, local_steps], n_steps(2))
        ends.append([p for m in models for t in m.stacks for p in t.parameters.values()])
    assert cuda_graphs.CapturedGraph.plays > 0
    for one, other in zip(*ends, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


def doubled(rows, device):
    given = {"x": torch.arange(2.0 * rows, device=device).view(rows, 2)}
    found = cuda_graphs.graphed_call(("double",), lambda own: {"y": 2 * own["x"]}, given)
    assert torch.equal(found["y"], 2 * given["x"])


def test_what_comes_again_is_recorded_once(device, monkeypatch):
    monkeypatch.setattr(cuda_graphs, "_on_gpu", lambda _: True)
    for plays in (0, 1, 2, 3):
        doubled(4, device)
        assert cuda_graphs.CapturedGraph.plays == plays


def test_those_played_last_are_kept(device, monkeypatch):
    monkeypatch.setattr(cuda_graphs, "MAX_GRAPHS", 3)
    monkeypatch.setattr(cuda_graphs, "_on_gpu", lambda _: True)
    for rows in (2, 2, 3, 3, 4, 4, 2, 5, 5):  # 3 goes
        doubled(rows, device)
    assert len(cuda_graphs._known) == 3
    before = cuda_graphs.CapturedGraph.plays
    for rows in (2, 4, 5):
        doubled(rows, device)
    assert cuda_graphs.CapturedGraph.plays == before + 3
    doubled(3, device)
    assert cuda_graphs.CapturedGraph.plays == before + 3


def test_what_cannot_be_recorded_is_computed(device, monkeypatch):
    def fail(*_):
        raise torch.OutOfMemoryError("no room")

    monkeypatch.setattr(cuda_graphs, "_on_gpu", lambda _: True)
    with monkeypatch.context() as patch:
        patch.setattr(cuda_graphs.CapturedGraph, "__init__", fail)
        doubled(2, device)
        with pytest.warns(UserWarning, match="computed each time: no room"):
            doubled(2, device)
    doubled(2, device)  # and is not tried again
    assert cuda_graphs.CapturedGraph.plays == 0


def test_heads_of_other_layers_are_recorded_apart(device, monkeypatch):
    monkeypatch.setattr(cuda_graphs, "_on_gpu", lambda _: True)
    monkeypatch.setattr(cuda_graphs, "_can_be", lambda _: True)
    ends = []
    for order in ((nn.ReLU, nn.Sigmoid), (nn.Sigmoid, nn.ReLU)):
        cuda_graphs.release_graphs()
        found = {}
        for kind in order:
            model = create_model(table_dataset(), VIEWS, small_learning(device=device))
            fusion = model.server.fusion
            layers = nn.Sequential(kind(), nn.Linear(7, 5)).to("meta")
            model.server.fusion = dataclasses.replace(fusion, layers=layers)
            for round_ in range(3):
                model.train(round_, {name: n_steps(3) for name in VIEWS}, n_steps(2))
            found[kind] = model.metrics()["test_loss"]
        ends.append(found)
    assert ends[0] == pytest.approx(ends[1])
    assert ends[0][nn.ReLU] != pytest.approx(ends[0][nn.Sigmoid])


def test_what_a_recording_gives_is_not_overwritten_by_the_next(device, monkeypatch):
    monkeypatch.setattr(cuda_graphs, "_on_gpu", lambda _: True)
    found = []
    for number in (1.0, 2.0, 3.0, 4.0):
        given = {"x": torch.tensor([number], device=device)}
        found.append(
            cuda_graphs.graphed_call(("square",), lambda own: {"y": own["x"] ** 2}, given)["y"]
        )
    assert torch.cat(found).tolist() == [1, 4, 9, 16]


def test_only_common_layers_are_recorded():
    assert has_only_common_layers(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)))
    assert not has_only_common_layers(nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5)))
    hooked = nn.Sequential(nn.Linear(2, 3))
    hooked[0].register_forward_hook(lambda *_: None)
    assert not has_only_common_layers(hooked)
