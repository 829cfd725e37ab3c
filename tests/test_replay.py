"""Steps that are recorded and played again are the steps that would have been computed."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from reference_learning import CONV, Job, begin, images, small, some_view, table
from torch import nn

from scdn.learning import replay
from scdn.learning.split import split
from scdn.learning.stacked import plain
from scdn.learning.vertical import train_together

VIEWS = {"a": some_view([0, 3, 1, 7]), "b": some_view(range(10, 15)), "c": some_view([2, 4, 5, 6])}
LATE = {"d": some_view(range(16, 20)), "e": some_view(range(20, 25))}
WORK = {
    "a": Job(4), "b": Job(3, 0.1, "momentum", 0.4), "c": Job(4, 0.05, "proximal", 0.5),
    "d": Job(2), "e": Job(4),
}  # fmt: skip
CASES = {
    "own": (table(), {}, "keep"),
    "masked": (table(), {"input": "masked"}, "keep"),
    "regression": (table("regression"), {}, "zero-out"),
    "the paper's update": (table(), {"server_turn": "parallel", "damping": "none"}, "keep"),
    "dropout": (table(), {"dropout": 0.4}, "dropout"),
    "labels on the server": (table(), {"labels": "server", "server_turn": "after"}, "keep"),
    "measured": (table(), {"smoothness": "measured"}, "keep"),
    "images": (images(28, 1), {"model": "cnn", "batch_size": 3}, "keep"),
    "images in 16 bits": (
        images(28, 1),
        {"model": "cnn", "batch_size": 3, "precision": "bfloat16"},
        "keep",
    ),
    "a user's model": (images(), {"model": CONV}, "keep"),
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
    kind = Tape if request.param == "cpu" else replay.Recording

    class Counted(kind):
        plays = 0

        def play(self, given):
            Counted.plays += 1
            return super().play(given)

    monkeypatch.setattr(replay, "Recording", Counted)
    replay.forget()
    yield request.param
    replay.forget()


def story(case, device, recorded, monkeypatch):
    """Everything that was learned in seven rounds with comings and goings."""
    dataset, wishes, memory = CASES[case]
    monkeypatch.setattr(replay, "_on_gpu", lambda _: recorded)
    views, late = VIEWS, LATE
    if "image" in dataset.train:
        parts = split(dataset, "patches", 4, 0)
        views, late = dict(zip("abc", parts, strict=False)), {"d": parts[3]}
    model = begin(dataset, views, small(**({"device": device} | wishes)), memory=memory)
    for round_ in range(7):
        if round_ == 2:
            model.enter(late)
        if round_ == 4:
            model.leave(["b"])
        orders = {name: WORK[name].order for name in model.present}
        if round_ == 5:
            orders |= {"a": Job(0).order, "c": Job(1).order}
        model.train(round_, orders, Job(3, 0.1 * 0.5**round_).order)
    found = {f"fusion {k}": p for k, p in model.server.fusion.parameters.items()}
    for team in model.teams:
        found |= {f"{team.names} {k}": p for k, p in team.parameters.items()}
    return found, model.metrics()["test_loss"]


@pytest.mark.parametrize("case", CASES)
def test_what_is_played_is_what_would_be_computed(case, device, monkeypatch):
    expected, loss = story(case, device, False, monkeypatch)
    assert replay.Recording.plays == 0
    found, again = story(case, device, True, monkeypatch)
    if case == "a user's model":  # its layers are not known to be safe: the server's steps alone,
        assert replay.Recording.plays == 7 * 3 - 2  # but for the first with three and four members
    else:
        assert replay.Recording.plays > 7 * 3
    for name, tensor in expected.items():
        torch.testing.assert_close(found[name], tensor, rtol=1e-5, atol=1e-6, msg=name)
        assert device != "cpu" or torch.equal(found[name], tensor)
    assert again == pytest.approx(loss, rel=1e-5)


def test_runs_side_by_side_are_played_too(device, monkeypatch):
    ends = []
    for recorded in (False, True):
        monkeypatch.setattr(replay, "_on_gpu", lambda _, recorded=recorded: recorded)
        models = [begin(table(), VIEWS, small(device=device), seed) for seed in (1, 2)]
        orders = {name: Job(3).order for name in VIEWS}
        for round_ in range(3):
            train_together(models, round_, [orders, orders], Job(2).order)
        ends.append([p for m in models for t in m.teams for p in t.parameters.values()])
    assert replay.Recording.plays > 0
    for one, other in zip(*ends, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


def doubled(rows, device):
    given = {"x": torch.arange(2.0 * rows, device=device).view(rows, 2)}
    found = replay.replayed(("double",), lambda own: {"y": 2 * own["x"]}, given)
    assert torch.equal(found["y"], 2 * given["x"])


def test_what_comes_again_is_recorded_once(device, monkeypatch):
    monkeypatch.setattr(replay, "_on_gpu", lambda _: True)
    for plays in (0, 1, 2, 3):
        doubled(4, device)
        assert replay.Recording.plays == plays


def test_those_played_last_are_kept(device, monkeypatch):
    monkeypatch.setattr(replay, "ROOM", 3)
    monkeypatch.setattr(replay, "_on_gpu", lambda _: True)
    for rows in (2, 2, 3, 3, 4, 4, 2, 5, 5):  # 3 goes
        doubled(rows, device)
    assert len(replay._known) == 3
    before = replay.Recording.plays
    for rows in (2, 4, 5):
        doubled(rows, device)
    assert replay.Recording.plays == before + 3
    doubled(3, device)
    assert replay.Recording.plays == before + 3


def test_what_cannot_be_recorded_is_computed(device, monkeypatch):
    def fail(*_):
        raise torch.OutOfMemoryError("no room")

    monkeypatch.setattr(replay, "_on_gpu", lambda _: True)
    with monkeypatch.context() as patch:
        patch.setattr(replay.Recording, "__init__", fail)
        doubled(2, device)
        with pytest.warns(UserWarning, match="computed each time: no room"):
            doubled(2, device)
    doubled(2, device)  # and is not tried again
    assert replay.Recording.plays == 0


def test_heads_of_other_layers_are_recorded_apart(device, monkeypatch):
    monkeypatch.setattr(replay, "_on_gpu", lambda _: True)
    monkeypatch.setattr(replay, "_can_be", lambda _: True)
    ends = []
    for order in ((nn.ReLU, nn.Sigmoid), (nn.Sigmoid, nn.ReLU)):
        replay.forget()
        found = {}
        for kind in order:
            model = begin(table(), VIEWS, small(device=device))
            fusion = model.server.fusion
            layers = nn.Sequential(kind(), nn.Linear(7, 5)).to("meta")
            model.server.fusion = dataclasses.replace(fusion, layers=layers)
            for round_ in range(3):
                model.train(round_, {name: Job(3).order for name in VIEWS}, Job(2).order)
            found[kind] = model.metrics()["test_loss"]
        ends.append(found)
    assert ends[0] == pytest.approx(ends[1])
    assert ends[0][nn.ReLU] != pytest.approx(ends[0][nn.Sigmoid])


def test_what_a_recording_gives_is_not_overwritten_by_the_next(device, monkeypatch):
    monkeypatch.setattr(replay, "_on_gpu", lambda _: True)
    found = []
    for number in (1.0, 2.0, 3.0, 4.0):
        given = {"x": torch.tensor([number], device=device)}
        found.append(replay.replayed(("square",), lambda own: {"y": own["x"] ** 2}, given)["y"])
    assert torch.cat(found).tolist() == [1, 4, 9, 16]


def test_only_common_layers_are_recorded():
    assert plain(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)))
    assert not plain(nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5)))
    hooked = nn.Sequential(nn.Linear(2, 3))
    hooked[0].register_forward_hook(lambda *_: None)
    assert not plain(hooked)
