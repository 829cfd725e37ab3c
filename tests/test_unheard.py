"""Laws of parties that are not heard: what the server has of them, and that they learn nothing."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference_learning import n_steps
from run_scenarios import scenario
from small_models import CLASSES, NUMBERS, VIEWS, started, tensors

from scdn.data import fetch
from scdn.learning.batches import table_rows
from scdn.learning.fusion_server import FusionServer
from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.round_protocol import RoundProtocol
from scdn.learning.row_cache import RowCache
from scdn.learning.table_sender import BEFORE, TableSender
from scdn.learning.tensors import TensorOptions
from scdn.rng import generator
from scdn.scenario import LearningSettings
from scdn.simulation.runner import resume, run

SERVER = LocalSteps(20, 0.0)
STEPS = {name: n_steps(3, 0.3) for name in VIEWS}
SUBSETS = st.sets(st.sampled_from(sorted(VIEWS)))


def imputing(**settings):
    return started(unheard="imputed", **settings)


def train(model, round_, heard, **options):
    steps = {name: STEPS[name] for name in heard}
    return model.train(round_, steps, SERVER, batches=4, heard=heard, **options)


# --- what the server has --------------------------------------------------------------------------


@given(st.data(), st.integers(1, 40), st.integers(1, 4))
def test_the_cache_has_what_was_heard_last(data, count, width):
    """Against a dictionary of rows; a party that was never heard is not there."""
    cache, known = RowCache(count, width, TensorOptions(precision="float64")), {}
    for number in range(data.draw(st.integers(0, 6))):
        name = data.draw(st.sampled_from("abc"))
        rows = data.draw(st.lists(st.integers(0, 3 * count - 1), min_size=1, unique=True))
        rows = list({row % count: row for row in rows}.values())  # variants of a row are that row
        table = generator(number, "test-cache").normal(size=(len(rows), width))
        cache.hear(name, torch.tensor(rows), torch.from_numpy(table))
        for row, values in zip(rows, table, strict=True):
            known.setdefault(name, {})[row % count] = values
    everything = torch.arange(count)
    filled = cache.fill("abcd", everything, {}, "zero")
    assert filled.keys() == known.keys()
    for name, rows in known.items():
        expected = np.array([rows.get(row, np.zeros(width)) for row in range(count)])
        assert np.array_equal(filled[name], expected)
    restored = RowCache(count, width, TensorOptions(precision="float64"))
    restored.load_state_dict(cache.state_dict())
    for how in ("zero", "mean", "learned"):
        again = restored.fill("abcd", everything, {}, how)
        for name, table in cache.fill("abcd", everything, {}, how).items():
            assert torch.equal(again[name], table)


def test_rows_that_were_not_heard_are_predicted_from_the_others():
    """Party b is twice party a; it reports 30 rows, and the server needs 10 others."""
    cache = RowCache(40, 2, TensorOptions(precision="float64"))
    truth = torch.from_numpy(generator(3, "test-linear").normal(size=(40, 2)))
    for name, factor in (("a", 1.0), ("b", 2.0)):
        cache.hear(name, torch.arange(30), factor * truth[:30])
    later = torch.arange(30, 40)
    sent = {"a": truth[later]}
    assert torch.allclose(
        cache.fill("ab", later, sent, "learned")["b"], 2 * truth[later], atol=1e-6
    )
    mean = cache.fill("ab", later, sent, "mean")["b"]
    assert torch.allclose(mean, 2 * truth[:30].mean(0).expand(10, -1))
    assert not cache.fill("ab", later, sent, "zero")["b"].any()


@pytest.mark.parametrize("labels", ["shared", "server"])
@pytest.mark.parametrize("dataset", [CLASSES, NUMBERS], ids=["classes", "numbers"])
def test_when_everybody_reports_nothing_is_imputed(dataset, labels):
    """Then a server that knows only what it hears learns what one that knows everything does."""
    models = [started(dataset, unheard=how, labels=labels) for how in ("imputed", "known")]
    for round_ in range(3):
        for model in models:
            model.train(round_, STEPS, SERVER, batches=4)
            model.exchange()
    one, other = map(tensors, models)
    assert one.keys() == other.keys()
    for key, tensor in one.items():
        assert torch.equal(tensor, other[key]), key


@settings(max_examples=20)
@given(st.lists(SUBSETS, min_size=1, max_size=4))
def test_who_is_not_heard_sends_nothing_and_stays_as_it_is(rounds):
    """Nothing but the messages of those that are heard reaches the server."""
    model, twin = imputing(), imputing()
    for stack in twin.stacks:  # the twin's unheard parties have other parameters
        for name, parameter in stack.parameters.items():
            for index, party in enumerate(stack.names):
                if not any(party in heard for heard in rounds):
                    stack.parameters[name][index] = parameter[index] + 1
    for round_, heard in enumerate(rounds):
        before = [dict(stack.parameters) for stack in model.stacks]
        for one in (model, twin):
            train(one, round_, heard)
        for stack, earlier in zip(model.stacks, before, strict=True):
            for index, name in enumerate(stack.names):
                if name not in heard:
                    for key, parameter in stack.parameters.items():
                        assert torch.equal(parameter[index], earlier[key][index])
    ever = set().union(*rounds)
    assert set(model.server.heard.parties) == ever
    for key, parameter in model.server.fusion.parameters.items():
        assert torch.equal(parameter, twin.server.fusion.parameters[key])
    model.exchange()
    assert set(model.server.sample_embeddings) == ever


def test_a_party_counts_as_zero_before_its_first_report(monkeypatch):
    model, tables = imputing(), []
    member_embeddings = FusionServer.member_embeddings

    def record(server, sent, rows):
        tables.append(member_embeddings(server, sent, rows))
        return tables[-1]

    monkeypatch.setattr(FusionServer, "member_embeddings", record)
    for round_, heard in enumerate([{"a"}, {"a", "b"}, {"b"}]):
        train(model, round_, heard)
    index = model.server.fusion.members.index
    assert tables[0][index("a")].any()
    assert not tables[0][index("b")].any()
    assert tables[1][index("b")].any()
    assert tables[2][index("a")].any()  # imputed, or heard before
    assert not tables[2][index("c")].any()


def test_a_departed_party_leaves_the_rows_that_were_heard():
    model = imputing()
    for round_ in range(2):
        train(model, round_, set(VIEWS))
    heard = model.server.heard.parties["a"].heard.clone()
    assert 0 < heard.sum() < len(heard)
    model.remove_parties(["a"])
    assert torch.equal(model.server.heard.parties["a"].heard, heard)
    assert model.server.memory.embeddings["a"].training is None
    train(model, 2, {"b", "c"})
    for other in ("zero-out", "dropout"):
        forgetful = imputing(memory=other)
        train(forgetful, 0, set(VIEWS))
        forgetful.remove_parties(["a"])
        assert "a" not in forgetful.server.heard.parties


# --- whole tables ---------------------------------------------------------------------------------


@given(st.integers(1, 60), st.integers(1, 500))
def test_the_parts_of_a_table_are_of_the_size_that_is_billed_and_have_all_rows(parts, count):
    learning = LearningSettings(table_rounds=parts)
    protocol = RoundProtocol.create(learning, 10, count, 5, uses_importance=True)
    tables = [table_rows(part, parts, count).tolist() for part in range(2 * parts)]
    assert {len(set(rows)) for rows in tables} == {protocol.table_part}
    sent = [row for rows in tables for row in rows]
    assert sent == [index % count for index in range(len(sent))]
    assert len(sent) >= 2 * count


def test_after_enough_reports_the_server_has_the_whole_table():
    model = imputing(table_rounds=3, step="rate", server_optimizer="sgd")
    senders = {"a", "b"}
    steps = {name: n_steps(1, 0.0) for name in VIEWS}
    for round_ in range(3):
        model.train(round_, steps, SERVER, batches=2, heard=set(VIEWS), table_senders=senders)
    cache, rows = model.server.heard, torch.arange(90)
    for name in VIEWS:
        assert bool(cache.parties[name].heard.all()) == (name in senders)
    for name, table in model.parties.embed({"table": rows}, "part 0", senders).items():
        assert torch.equal(cache.parties[name].values, table)


# --- numbers in few bits --------------------------------------------------------------------------


@given(st.sampled_from([2, 4, 8, 16]), st.integers(0, 9), st.integers(1, 20))
def test_both_sides_of_a_network_have_what_a_simulation_has(bits, round_, rows):
    """A device's sender, the server's receiver and a simulated sender, over one round."""
    device, server, simulated = (TableSender(bits, 7) for _ in range(3))
    draw = generator(bits, "test-sides", round_)
    indices, at = torch.arange(rows), (round_, 0)
    for phase in (BEFORE, "trained", "after 0", "after 1"):
        values = torch.from_numpy(draw.normal(size=(rows, 3)))
        coded = device.code("a", "drawn", values, phase, at)
        received = server.receive("a", "drawn", coded, values, phase)
        expected = simulated.send({"a": values}, {"drawn": indices}, phase, at)["a"]
        assert torch.equal(received, expected)


@pytest.mark.parametrize("leaves", [False, True])
@pytest.mark.parametrize("bits", [2, 4])
def test_shared_embeddings_go_down_in_few_bits_whoever_they_are_of(monkeypatch, bits, leaves):
    """Those that the server imputed, or had from earlier rounds, are rounded as they are billed."""
    model, sent = imputing(number_bits=bits, labels="shared"), []
    party_loss = FusionServer.party_loss

    def observe(server, names, batches, stale, *more):
        sent.append(stale)
        return party_loss(server, names, batches, stale, *more)

    monkeypatch.setattr(FusionServer, "party_loss", observe)
    train(model, 0, set(VIEWS))
    if leaves:
        model.remove_parties(["c"])
    model.exchange()
    began = model.server.heard.parties["c"].values.clone()
    train(model, 1, {"a", "b"})
    assert torch.equal(model.server.heard.parties["c"].values, began)
    for member in sent[-1]:
        columns = member.flatten(0, 1).T
        assert all(len(column.unique()) <= 2**bits for column in columns)
    assert sent[-1][2].abs().max() > 0


def test_later_tables_of_a_round_are_rounded_as_differences():
    """They are closer to the truth than a table that is sent for the first time."""
    sender, values = (
        TableSender(4, 1),
        torch.from_numpy(generator(1, "test-near").normal(size=(64, 5))),
    )
    rows = {"drawn": torch.arange(64)}
    first = sender.send({"a": values}, rows, BEFORE, (0, 0))["a"]
    moved = values + 0.01
    second = sender.send({"a": moved}, rows, "after 0", (0, 0))["a"]
    assert (second - moved).abs().max() < (first - values).abs().max() / 3


HEARD = {"unheard": "imputed", "table_rounds": 3}


@settings(max_examples=10)
@given(
    st.lists(SUBSETS, min_size=2, max_size=5),
    st.integers(0, 4),
    st.sampled_from([HEARD, HEARD | {"number_bits": 4}, {"unheard": "known"}]),
    st.sampled_from([0.0, 0.1]),
)
@example([{"a", "b", "c"}, {"a"}, {"a"}], 2, HEARD, 0.1)
@example([{"a"}, {"a"}], 1, {"unheard": "known"}, 0.1)
def test_a_model_continues_from_its_state(rounds, cut, further, perturbation):
    """With rows in the cache, tables half sent, numbers rounded, and noise."""
    settings_ = {"labels": "server", "perturbation": perturbation, **further}
    model = started(**settings_)
    twin, cut = model, min(cut, len(rounds) - 1)
    for round_, heard in enumerate(rounds):
        if round_ == cut:
            model.exchange()  # as after every round of a run
            twin = started(views={}, **settings_)
            twin.load_state_dict(model.state_dict())
        for one in {id(model): model, id(twin): twin}.values():
            train(one, round_, heard, table_senders=set(VIEWS))
        assert model.metrics() == twin.metrics()
    one, other = map(tensors, (model, twin))
    assert all(torch.equal(one[key], other[key]) for key in one)


@pytest.mark.parametrize("perturbation", [0.0, 0.1])
@pytest.mark.parametrize("method", ["sc-dn", "vafl"])
def test_a_killed_run_goes_on_as_if_it_had_not_been(tmp_path, method, perturbation):
    fetch("digits")
    learning = {
        "payload": "protocol",
        "unheard": "imputed",
        "number_bits": 4,
        "table_rounds": 3,
        "labels": "server",
        "rounds": 5,
        "perturbation": perturbation,
    }
    drawn = {"mode": "drawn"}  # two devices are not heard in rounds 2 and 3
    setting = scenario(seed=2, method=method, max_delay_s=0.02, fading=drawn, learning=learning)

    class Killed(BaseException):
        pass

    def kill(event, simulation):
        if (event["round"], simulation.method.name) == (2, method):  # not of its reference
            raise Killed

    whole = run(setting, tmp_path / "whole")
    assert any(device["bits_sent"] for device in whole.rounds[1]["devices"])
    with pytest.raises(Killed):
        run(setting, tmp_path / "killed", on_round=kill)
    resumed = resume(tmp_path / "killed")
    for one, other in zip(whole.rounds, resumed.rounds, strict=True):
        for key in one.keys() - {"seconds", "plan"}:
            assert one[key] == other[key], key
