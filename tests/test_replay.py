"""Steps that are recorded and played again are the steps that would have been computed."""

from __future__ import annotations

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
    "regression": (table("regression"), {}, "zoc"),
    "dropout": (table(), {"dropout": 0.4}, "dropout"),
    "labels on the server": (table(), {"labels": "server", "server_turn": "after"}, "keep"),
    "fitted": (table(), {"server_turn": "after", "damping": "fitted"}, "keep"),
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
    "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
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
    monkeypatch.setattr(replay, "_recordings", type(replay._recordings)())
    return request.param


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
    user = case == "a user's model"  # a layer that is not known to be safe: only the server's steps
    assert replay.Recording.plays > (9 if user else 18)
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


def test_only_so_many_recordings_are_kept(device, monkeypatch):
    monkeypatch.setattr(replay, "ROOM", 3)
    monkeypatch.setattr(replay, "_on_gpu", lambda _: True)
    for rows in (2, 3, 4, 5, 2, 2, 2):
        given = {"x": torch.ones(rows, 2, device=device)}
        for _ in range(2):
            found = replay.replayed(("double",), lambda given: {"y": 2 * given["x"]}, given)
            assert torch.equal(found["y"], 2 * given["x"])
    assert len(replay._recordings) == 3


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
