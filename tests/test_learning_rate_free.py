"""The searched step and the server's training by Adam equal a plain reference, round by round."""

from __future__ import annotations

import math

import pytest
import torch
from conftest import many
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_learning import (
    ModelPair,
    n_steps,
    round_batches,
    small_learning,
    table_dataset,
    table_view,
)
from test_learning_round import (
    MEMORIES,
    MIXED,
    SETS,
    UNEQUAL,
    _single_threaded,  # noqa: F401 - a fixture of every test
    local_steps_of,
    views_of,
)

SERVER = n_steps(23)  # no multiple of the steps between two looks at the rows held out
NEWCOMERS = {"n": table_view(range(5, 14)), "m": table_view([3, 2])}  # one in each stack


def faster(factor, local_steps=MIXED):
    """Return the same steps at other rates."""
    return {
        name: n_steps(steps.count, factor * steps.rate, steps.optimizer, steps.optimizer_value)
        for name, steps in local_steps.items()
    }


@pytest.mark.parametrize("task", SETS)
@pytest.mark.parametrize("labels", ["shared", "server"])
@pytest.mark.parametrize("memory", MEMORIES)
def test_rounds_with_churn_equal_the_reference(memory, labels, task):
    learning = small_learning(labels=labels, dropout=0.4, server_rounds=2)
    assert (learning.step, learning.server_optimizer) == ("searched", "adam")
    pair = ModelPair(SETS[task], UNEQUAL, learning, memory)
    pair.train(MIXED, SERVER)
    pair.check()
    pair.remove_parties(["a"])
    others = {name: steps for name, steps in MIXED.items() if name != "a"}
    pair.train(others, SERVER)
    pair.add_parties(NEWCOMERS)
    pair.train(others | {"n": n_steps(2), "m": n_steps(3, 0.2, "momentum", 0.3)}, SERVER)
    pair.check(gradient_stats=memory != "dropout")
    pair.remove_parties(["b", "n"])
    pair.train({"c": n_steps(4, 0.2, "proximal", 0.5), "m": n_steps(1)}, SERVER)
    pair.check(gradient_stats=memory != "dropout")
    assert any(step.length > 1 for step in pair.steps)


@pytest.mark.parametrize("step", ["searched", "fitted", "rate"])
@pytest.mark.parametrize("server", [{"server_optimizer": "adam"}, {"server_turn": "parallel"}])
def test_every_step_rule_with_every_server_equals_the_reference(step, server):
    learning = small_learning(step=step, **server)
    pair = ModelPair(SETS["classification"], UNEQUAL, learning)
    for _ in range(3):
        pair.train(MIXED, n_steps(5))
    pair.check()
    assert (pair.model.step_rule.rate_scale == 1) == (step != "searched")


@pytest.mark.parametrize("factor", [1e-6, 1e-3, 100, 1000])
def test_rates_that_are_much_too_small_or_large_equal_the_reference(factor):
    pair = ModelPair(SETS["classification"], UNEQUAL, small_learning())
    for _ in range(3):
        pair.train(faster(factor), SERVER)
        pair.check()
    scale = pair.model.step_rule.rate_scale
    assert scale > 1 if factor < 1 else scale < 1


def test_steps_that_raise_the_true_loss_are_shortened_and_then_not_taken_as_in_the_reference():
    shortenings = set()
    for seed in range(12):
        pair = ModelPair(SETS["regression"], UNEQUAL, small_learning(batch_size=4), seed=seed)
        for factor in (3, 10, 30):
            pair.train(faster(factor), n_steps(3))
            pair.check()
        shortenings |= {step.shortenings for step in pair.steps}
        for step in pair.steps:
            assert (step.length == 0) == (step.shortenings == 3)
    assert shortenings == {0, 1, 2, 3}


@pytest.mark.parametrize("memory", MEMORIES)
def test_a_party_that_diverges_is_left_out_as_in_the_reference(memory):
    pair = ModelPair(SETS["classification"], UNEQUAL, small_learning(), memory)
    pair.train(MIXED | {"b": n_steps(5, 1e200)}, SERVER)
    assert pair.steps[-1].diverged == ("b",)
    assert pair.model.step_rule.rate_scale == 1 / 4
    pair.check()
    everybody = {name: n_steps(5, 1e200) for name in UNEQUAL}
    pair.train(everybody, SERVER)
    assert set(pair.steps[-1].diverged) == set(UNEQUAL)
    pair.check()
    pair.train(MIXED, SERVER)
    assert pair.steps[-1].diverged == ()
    pair.check()


@pytest.mark.parametrize("memory", MEMORIES)
def test_arrivals_of_asynchronous_rounds_equal_the_reference(memory):
    learning = small_learning(server_rounds=3)
    pair = ModelPair(SETS["classification"], UNEQUAL, learning, memory)
    for arrivals in (["a", "b", "a", "d"], ["e", "a"], ["b"]):
        pair.train(MIXED, n_steps(11), arrivals)
        pair.check()
    assert [heard.round for heard in pair.model.server.recent.rounds] == [0, 1, 2]
    for draws in pair.draws:  # all arrivals of a round share its rows
        expected = round_batches(pair.model, draws.round, len(draws.batches))
        assert torch.equal(torch.stack(draws.batches), expected)


@pytest.mark.parametrize("rows", [1, 7, 20])
def test_a_data_set_that_is_smaller_than_a_round_equals_the_reference(rows):
    """One row is trained on and held out; with 7, one is held out."""
    pair = ModelPair(table_dataset(rows=rows), UNEQUAL, small_learning(sample_rows=rows))
    for _ in range(2):
        pair.train(MIXED, SERVER)
    pair.check()
    assert all(math.isfinite(value) for value in pair.model.metrics().values())


@settings(max_examples=many(200))
@given(st.data())
def test_any_sequence_of_rate_free_rounds_equals_the_reference(data):
    learning = small_learning(
        step=data.draw(st.sampled_from(["searched", "searched", "fitted", "rate"])),
        server_optimizer=data.draw(st.sampled_from(["adam", "adam", "sgd"])),
        server_rounds=data.draw(st.integers(1, 4)),
        labels=data.draw(st.sampled_from(["shared", "server"])),
        dropout=data.draw(st.sampled_from([0.0, 0.3, 0.7])),
        batch_size=data.draw(st.sampled_from([2, 8, 200])),
    )
    memory = data.draw(st.sampled_from(MEMORIES))
    if learning.step == "fitted" and memory == "dropout":
        memory = "keep"
    views = {}
    for index in range(data.draw(st.integers(1, 4))):
        views |= data.draw(views_of(f"p{index}"))
    task = data.draw(st.sampled_from(sorted(SETS)))
    pair = ModelPair(SETS[task], views, learning, memory, data.draw(st.integers(0, 2**31)))
    departed = False
    for number in range(data.draw(st.integers(1, 4))):
        present = sorted(pair.model.present)
        if len(present) > 1 and data.draw(st.integers(0, 3)) == 0:
            pair.remove_parties([data.draw(st.sampled_from(present))])
            departed = True
        if data.draw(st.integers(0, 3)) == 0:
            pair.add_parties(data.draw(views_of(f"q{number}")))
        local_steps = data.draw(local_steps_of(sorted(pair.model.present)))
        factor = data.draw(st.sampled_from([0.01, 1.0, 10.0])) if learning.step != "rate" else 1.0
        server = n_steps(data.draw(st.integers(1, 25)), 0.1)
        pair.train(faster(factor, local_steps), server)
        pair.check(gradient_stats=not (departed and memory == "dropout"))
