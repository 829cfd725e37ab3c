"""Who has not moved does not send again, and the server knows what everyone would send."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from reference_learning import begin, close, small, some_view, table

from scdn.learning.crew import Crew
from scdn.learning.local import Order
from scdn.learning.server import Server
from scdn.learning.team import Team

DATA = table()
VIEWS = {name: some_view(range(5 * n, 5 * n + 5)) for n, name in enumerate("abc")}
VIEWS["d"] = some_view(range(15, 22))  # of another structure
STEPS = Order(2, 0.1)
SERVER = Order(3, 0.1)


class Sendings:
    """How often each party embedded drawn rows, and the sample or the test rows."""

    def __init__(self, patch):
        self.rows, self.fixed = Counter(), Counter()
        embed_rows, embed_each = Team.embed_rows, Team.embed_each

        def spy_rows(team, *arguments):
            self.rows.update(team.names)
            return embed_rows(team, *arguments)

        def spy_each(team, inputs):
            self.fixed.update(team.names)
            return embed_each(team, inputs)

        patch.setattr(Team, "embed_rows", spy_rows)
        patch.setattr(Team, "embed_each", spy_each)


def overheard(patch):
    """Batches and embeddings that the server trains on."""
    taught, train = [], Server.train

    def spy(server, batches, embeddings, *rest):
        taught.append((batches, embeddings))
        return train(server, batches, embeddings, *rest)

    patch.setattr(Server, "train", spy)
    return taught


def started(**wishes):
    model = begin(DATA, VIEWS, small(**wishes))
    model.exchange()
    return model


@pytest.mark.parametrize(
    ("turn", "damping", "times"),
    [("parallel", "none", 0), ("after", "none", 1), ("after", 0.5, 1), ("after", "fitted", 2)],
)
def test_parties_at_rest_do_not_send_again(monkeypatch, turn, damping, times):
    model = started(server_turn=turn, damping=damping)
    monkeypatch.setattr(Server, "best_share", lambda *_: 0.5)
    heard = Sendings(monkeypatch)
    model.train(0, {"a": STEPS, "c": Order(0, 0.1)}, SERVER)
    assert heard.rows == {"a": 1 + times, "b": 1, "c": 1, "d": 1}
    assert heard.fixed == {}
    model.metrics()
    model.metrics()
    assert heard.fixed == {"a": 2}  # the sample and the test rows, once


def test_who_goes_all_the_way_has_sent_already(monkeypatch):
    model = started(server_turn="after", damping="fitted")
    monkeypatch.setattr(Server, "best_share", lambda *_: 1.0)
    heard = Sendings(monkeypatch)
    model.train(0, dict.fromkeys("abd", STEPS), SERVER)
    assert heard.rows == {"a": 2, "b": 2, "c": 1, "d": 2}


def test_newcomers_send(monkeypatch):
    model = started()
    heard = Sendings(monkeypatch)
    model.enter({"n": some_view(range(9))})
    model.metrics()
    assert heard.fixed == {"n": 2}


@pytest.mark.parametrize(("damping", "times"), [("none", 2), ("fitted", 3)])
def test_with_noise_everyone_sends_again(monkeypatch, damping, times):
    model = started(perturbation=0.1, server_turn="after", damping=damping)
    monkeypatch.setattr(Server, "best_share", lambda *_: 1.0)
    heard = Sendings(monkeypatch)
    model.train(0, {"a": STEPS}, SERVER)
    model.metrics()
    assert heard.rows == dict.fromkeys(VIEWS, times)
    assert heard.fixed == dict.fromkeys(VIEWS, 2)


@pytest.mark.parametrize("share", [0.25, 1.0])
@pytest.mark.parametrize("damping", ["none", "fitted"])
@pytest.mark.parametrize("moving", ["a", "bd", "abcd", ""])
def test_the_server_knows_what_everyone_would_send(monkeypatch, share, damping, moving):
    model = started(server_turn="after", damping=damping)
    monkeypatch.setattr(Server, "best_share", lambda *_: share)
    taught = overheard(monkeypatch)
    for round_ in range(2):
        model.train(round_, dict.fromkeys(moving, STEPS), SERVER)
        model.metrics()
        batches, embeddings = taught[-1]
        assert embeddings.shape[:2] == (4, 3)
        close(embeddings, _all_embeddings(model, batches))
    known = [dict(tables) for tables in (model.server.seen, model.server.tests)]
    model.moved = set(model.present)
    model.exchange()
    for before, now in zip(known, (model.server.seen, model.server.tests), strict=True):
        for name in VIEWS:
            close(before[name], now[name], name)


def test_who_did_not_hear_how_far_to_go_stands_where_it_stood(monkeypatch):
    """The server must not train on embeddings that nobody has."""
    model = started(server_turn="after", damping="fitted")
    before = model.teams
    monkeypatch.setattr(Server, "best_share", lambda *_: 1.0)
    monkeypatch.setattr(Crew, "apply", lambda *_: set())
    taught = overheard(monkeypatch)
    model.train(0, dict.fromkeys(VIEWS, STEPS), SERVER)
    assert model.teams == before
    close(taught[0][1], _all_embeddings(model, taught[0][0]))


def _all_embeddings(model, batches):
    found = {}
    for team in model.teams:
        each = team.embed_rows(model.rows, "train", batches.flatten())
        found |= {
            name: e.unflatten(0, batches.shape) for name, e in zip(team.names, each, strict=True)
        }
    return torch.stack([found[name] for name in model.server.fusion.members])
