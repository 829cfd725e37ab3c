"""Parties send embeddings only after they have changed, and the server always has current ones."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from reference_learning import assert_close, create_model, small_learning, table_dataset, table_view

from scdn.learning.fusion_server import FusionServer
from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.local_parties import LocalParties
from scdn.learning.party_stack import PartyStack

DATA = table_dataset()
VIEWS = {name: table_view(range(5 * n, 5 * n + 5)) for n, name in enumerate("abc")}
VIEWS["d"] = table_view(range(15, 22))  # of another structure
STEPS = LocalSteps(2, 0.1)
SERVER = LocalSteps(3, 0.1)


class EmbeddingCounter:
    """Counts how often each party embeds drawn rows, and the sample or the test rows."""

    def __init__(self, patch):
        self.rows, self.fixed = Counter(), Counter()
        embed_rows, embed_separately = PartyStack.embed_rows, PartyStack.embed_separately

        def spy_rows(stack, *arguments):
            self.rows.update(stack.names)
            return embed_rows(stack, *arguments)

        def spy_separately(stack, inputs):
            self.fixed.update(stack.names)
            return embed_separately(stack, inputs)

        patch.setattr(PartyStack, "embed_rows", spy_rows)
        patch.setattr(PartyStack, "embed_separately", spy_separately)


def record_server_training(patch):
    """Return a list that collects the batches and embeddings that the server trains on."""
    recorded, train = [], FusionServer.train

    def spy(server, batches, embeddings, *rest):
        recorded.append((batches, embeddings))
        return train(server, batches, embeddings, *rest)

    patch.setattr(FusionServer, "train", spy)
    return recorded


def started(**overrides):
    model = create_model(DATA, VIEWS, small_learning(**overrides))
    model.exchange()
    return model


@pytest.mark.parametrize(
    ("turn", "damping", "times"),
    [("parallel", "none", 0), ("after", "none", 1), ("after", 0.5, 1), ("after", "fitted", 2)],
)
def test_parties_that_did_not_train_do_not_send_again(monkeypatch, turn, damping, times):
    model = started(server_turn=turn, damping=damping)
    monkeypatch.setattr(FusionServer, "best_step_length", lambda *_: 0.5)
    counter = EmbeddingCounter(monkeypatch)
    model.train(0, {"a": STEPS, "c": LocalSteps(0, 0.1)}, SERVER)
    assert counter.rows == {"a": 1 + times, "b": 1, "c": 1, "d": 1}
    assert counter.fixed == {}
    model.metrics()
    model.metrics()
    assert counter.fixed == {"a": 2}  # the sample and the test rows, once


def test_full_updates_need_no_second_transmission(monkeypatch):
    model = started(server_turn="after", damping="fitted")
    monkeypatch.setattr(FusionServer, "best_step_length", lambda *_: 1.0)
    counter = EmbeddingCounter(monkeypatch)
    model.train(0, dict.fromkeys("abd", STEPS), SERVER)
    assert counter.rows == {"a": 2, "b": 2, "c": 1, "d": 2}


def test_new_parties_send_their_embeddings(monkeypatch):
    model = started()
    counter = EmbeddingCounter(monkeypatch)
    model.add_parties({"n": table_view(range(9))})
    model.metrics()
    assert counter.fixed == {"n": 2}


@pytest.mark.parametrize(("damping", "times"), [("none", 2), ("fitted", 3)])
def test_with_noise_every_party_sends_again(monkeypatch, damping, times):
    model = started(perturbation=0.1, server_turn="after", damping=damping)
    monkeypatch.setattr(FusionServer, "best_step_length", lambda *_: 1.0)
    counter = EmbeddingCounter(monkeypatch)
    model.train(0, {"a": STEPS}, SERVER)
    model.metrics()
    assert counter.rows == dict.fromkeys(VIEWS, times)
    assert counter.fixed == dict.fromkeys(VIEWS, 2)


@pytest.mark.parametrize("fraction", [0.25, 1.0])
@pytest.mark.parametrize("damping", ["none", "fitted"])
@pytest.mark.parametrize("moving", ["a", "bd", "abcd", ""])
def test_the_server_has_every_partys_current_embeddings(monkeypatch, fraction, damping, moving):
    model = started(server_turn="after", damping=damping)
    monkeypatch.setattr(FusionServer, "best_step_length", lambda *_: fraction)
    recorded = record_server_training(monkeypatch)
    for round_ in range(2):
        model.train(round_, dict.fromkeys(moving, STEPS), SERVER)
        model.metrics()
        batches, embeddings = recorded[-1]
        assert embeddings.shape[:2] == (4, 3)
        assert_close(embeddings, _all_embeddings(model, batches))
    known = [
        dict(tables) for tables in (model.server.sample_embeddings, model.server.test_embeddings)
    ]
    model.unsent = set(model.present)
    model.exchange()
    for before, now in zip(
        known, (model.server.sample_embeddings, model.server.test_embeddings), strict=True
    ):
        for name in VIEWS:
            assert_close(before[name], now[name], name)


def test_the_server_trains_on_old_embeddings_of_parties_that_missed_the_update(monkeypatch):
    model = started(server_turn="after", damping="fitted")
    before = model.stacks
    monkeypatch.setattr(FusionServer, "best_step_length", lambda *_: 1.0)
    monkeypatch.setattr(LocalParties, "apply_updates", lambda *_: set())
    recorded = record_server_training(monkeypatch)
    model.train(0, dict.fromkeys(VIEWS, STEPS), SERVER)
    assert model.stacks == before
    assert_close(recorded[0][1], _all_embeddings(model, recorded[0][0]))


def _all_embeddings(model, batches):
    embeddings = {}
    for stack in model.stacks:
        tables = stack.embed_rows(model.data, "train", batches.flatten())
        embeddings |= {
            name: e.unflatten(0, batches.shape) for name, e in zip(stack.names, tables, strict=True)
        }
    return torch.stack([embeddings[name] for name in model.server.fusion.members])
