"""A round with stacked parties equals a plain loop over parties (`reference_learning`)."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from conftest import many
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_learning import (
    CONV,
    ModelPair,
    assert_close,
    create_model,
    image_dataset,
    n_steps,
    round_batches,
    small_learning,
    table_dataset,
    table_view,
)

from scdn.learning.feature_split import newcomer_view, split_features
from scdn.learning.gradient_stats import measured_smoothness
from scdn.learning.local_optimizers import LocalSteps, halved_rate
from scdn.learning.party_loss import GradientLoss
from scdn.learning.stack_training import StackTraining, step_ranges, train_stack
from scdn.rng import generator
from scdn.theory import MOMENTUM, PROXIMAL, SGD, step_weights

COLUMNS = 25
SETS = {task: table_dataset(task, COLUMNS) for task in ("classification", "regression")}
PICTURES = image_dataset()
UNEQUAL = {  # two stacks: parties with up to 8 columns, and one with more
    "a": table_view([0, 3, 1, 7, 9]),
    "b": table_view(range(10, 21)),
    "c": table_view([2, 4, 5, 6]),
    "d": table_view([24, 22, 23, 21]),
    "e": table_view([8]),
}
MIXED = {
    "a": n_steps(3),
    "b": n_steps(5, 0.2, "momentum", 0.25),
    "c": n_steps(0, 0.1, "momentum", 0.2),
    "d": n_steps(2, 0.1, "proximal", 0.9),
    "e": n_steps(4, 0.05, "momentum", 0.9),
}
KINDS = {
    "sgd": n_steps(4, 0.1),
    "proximal": n_steps(4, 0.3, "proximal", 0.9),
    "momentum": n_steps(4, 0.1, "momentum", 0.6),
}
MEMORIES = ("keep", "zero-out", "dropout")


@pytest.fixture(autouse=True)
def _single_threaded():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def rounds(pair, local_steps, server, count=3):
    for _ in range(count):
        pair.train(local_steps, server)
    pair.check()


@pytest.mark.parametrize("labels", ["shared", "server"])
@pytest.mark.parametrize("memory", MEMORIES)
def test_measured_smoothness_equals_the_reference(labels, memory):
    learning = small_learning(labels=labels, smoothness="measured")
    pair = ModelPair(SETS["classification"], UNEQUAL, learning, memory)
    first = dict(pair.model.gradient_stats)
    probe = pair.model.draw(generator(pair.model.seed, "probe:a"), 8)[0]
    for name in UNEQUAL:
        assert_close(
            first[name].smoothness,
            pair.reference.trial_smoothness(name, probe, pair.reference._embeddings(probe)),
        )
    rounds(pair, MIXED, n_steps(3))
    pair.remove_parties(["b"])
    rounds(pair, {name: steps for name, steps in MIXED.items() if name != "b"}, n_steps(3))
    constants, largest = pair.model.smoothness()
    assert constants == {
        name: pair.model.gradient_stats[name].smoothness for name in pair.model.present
    }
    assert largest == max(constants.values())
    assert all(
        0 < constants[name] != first[name].smoothness for name in constants
    )  # also of "c", which did not train


def test_a_party_without_a_measurement_gets_the_largest_smoothness():
    pair = ModelPair(SETS["classification"], UNEQUAL, small_learning(smoothness="measured"))
    del pair.model.gradient_stats["b"]
    constants, largest = pair.model.smoothness()
    assert constants["b"] == largest == max(constants.values())
    pair.model.gradient_stats.clear()
    assert pair.model.smoothness() == ({}, pair.model.learning.global_smoothness)


def test_measured_smoothness_of_zero_and_infinite_changes():
    def row(*values):
        return {"p": torch.tensor(values)[:, None]}

    zero, one = row(0.0, 0.0, 0.0, 0.0, 0.0), row(0.0, 1.0, 1.0, 1.0, 1.0)
    after = row(1.0, 4.0, 5.0, torch.inf, torch.nan)
    before = row(1.0, 1.0, 0.0, 1.0, 1.0)
    assert measured_smoothness(zero, one, before, after) == [None, 3.0, None, torch.inf, torch.inf]


@pytest.mark.parametrize("labels", ["shared", "server"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_optimiser_equals_the_reference(kind, labels):
    learning = small_learning(labels=labels, damping="none")
    pair = ModelPair(SETS["classification"], UNEQUAL, learning)
    rounds(pair, dict.fromkeys(UNEQUAL, KINDS[kind]), n_steps(3))


@pytest.mark.parametrize("turn", ["parallel", "after"])
@pytest.mark.parametrize("damping", ["none", "active", "fitted", 0.3])
@pytest.mark.parametrize("labels", ["shared", "server"])
def test_mixed_optimisers_equal_the_reference_in_every_schedule(turn, damping, labels):
    learning = small_learning(server_turn=turn, damping=damping, labels=labels)
    rounds(ModelPair(SETS["regression"], UNEQUAL, learning), MIXED, n_steps(6))
    rounds(ModelPair(SETS["classification"], UNEQUAL, learning), MIXED, n_steps(2))


@pytest.mark.parametrize("inputs", ["own", "masked"])
@pytest.mark.parametrize("labels", ["shared", "server"])
@pytest.mark.parametrize("memory", MEMORIES)
def test_entries_and_exits_equal_the_reference(memory, labels, inputs):
    learning = small_learning(labels=labels, input=inputs, dropout=0.4)
    pair = ModelPair(SETS["classification"], UNEQUAL, learning, memory)
    server = n_steps(3)
    rounds(pair, MIXED, server, 2)
    pair.remove_parties(["a"])
    pair.check()
    others = {name: steps for name, steps in MIXED.items() if name != "a"}
    pair.train(others, server)
    pair.check(gradient_stats=memory != "dropout")
    pair.add_parties({"n": table_view(range(5, 14)), "m": table_view([3, 2])})  # one in each stack
    pair.check(gradient_stats=memory != "dropout")
    pair.train(others | {"n": n_steps(2), "m": n_steps(3, 0.2, "momentum", 0.3)}, server)
    pair.remove_parties(["b", "n"])  # now a stack is empty
    pair.train({"c": n_steps(4, 0.2, "proximal", 0.5), "m": n_steps(1)}, server)
    pair.check(gradient_stats=memory != "dropout")


def test_parties_with_unequal_numbers_of_columns_equal_the_reference():
    """Eight parties split 25 columns into 3 and 4 each."""
    data = SETS["classification"]
    views = {f"p{n}": view for n, view in enumerate(split_features(data, "random", 8, 1))}
    assert len({len(view.columns) for view in views.values()}) == 2
    pair = ModelPair(data, views, small_learning())
    rounds(pair, {name: n_steps(1 + n % 3) for n, name in enumerate(views)}, n_steps(2), 2)
    pair.add_parties({"late": newcomer_view(data, "random", 8, 1, "late")})
    rounds(pair, {"late": n_steps(5), "p3": n_steps(2)}, n_steps(2), 2)


@pytest.mark.parametrize("inputs", ["own", "masked"])
def test_a_users_convolutions_equal_the_reference(inputs):
    views = {f"p{n}": view for n, view in enumerate(split_features(PICTURES, "strips", 2, 0))}
    views |= {f"q{n}": view for n, view in enumerate(split_features(PICTURES, "patches", 4, 0))}
    pair = ModelPair(PICTURES, views, small_learning(model=CONV, input=inputs))
    assert len(pair.model.stacks) == (2 if inputs == "own" else 1)
    local_steps = {name: list(KINDS.values())[n % 3] for n, name in enumerate(views)}
    rounds(pair, local_steps | {"p0": n_steps(0)}, n_steps(2), 2)
    pair.remove_parties(["q1", "p1"])
    pair.add_parties({"new": newcomer_view(PICTURES, "patches", 4, 0, "new")})
    rounds(pair, {"q0": n_steps(3), "new": n_steps(2)}, n_steps(2), 2)


def test_the_papers_convolutions_on_padded_patches_equal_the_reference():
    data = image_dataset(size=16, channels=1, rows=24, tests=8)
    views = {f"p{n}": view for n, view in enumerate(split_features(data, "patches", 4, 0))}
    pair = ModelPair(data, views, small_learning(model="cnn", batch_size=4, sample_rows=12))
    local_steps = {
        "p0": n_steps(2),
        "p1": KINDS["momentum"],
        "p2": n_steps(1, 0.1, "proximal", 0.5),
    }
    rounds(pair, local_steps, n_steps(2), 2)


# --- random sequences of events -------------------------------------------------------------------


@st.composite
def local_steps_of(draw, names):
    local_steps = {}
    for name in names:
        if draw(st.booleans()) or draw(st.booleans()):
            kind = draw(st.sampled_from(["sgd", "proximal", "momentum"]))
            number = draw(st.floats(0.05, 0.95))
            steps = draw(st.integers(0, 5))
            local_steps[name] = n_steps(steps, draw(st.sampled_from([0.05, 0.2])), kind, number)
    return local_steps


@st.composite
def views_of(draw, name):
    columns = draw(st.lists(st.integers(0, COLUMNS - 1), min_size=1, max_size=12, unique=True))
    return {name: table_view(columns)}


@settings(max_examples=many(300))
@given(st.data())
def test_any_sequence_of_events_equals_the_reference(data):
    task = data.draw(st.sampled_from(["classification", "regression"]))
    learning = small_learning(
        labels=data.draw(st.sampled_from(["shared", "server"])),
        server_turn=data.draw(st.sampled_from(["parallel", "after"])),
        damping=data.draw(st.sampled_from(["none", "active", "fitted", 0.35])),
        input=data.draw(st.sampled_from(["own", "masked"])),
        dropout=data.draw(st.sampled_from([0.0, 0.3, 0.7])),
        batch_size=data.draw(st.sampled_from([1, 8, 200])),
        initialisation=data.draw(st.sampled_from(["default", "kaiming"])),
    )
    memory = data.draw(st.sampled_from(MEMORIES))
    if learning.step == "fitted" and memory == "dropout":
        memory = "keep"
    views = {}
    for index in range(data.draw(st.integers(1, 4))):
        views |= data.draw(views_of(f"p{index}"))
    pair = ModelPair(SETS[task], views, learning, memory, data.draw(st.integers(0, 2**31)))
    fresh, left = len(views), False
    for _ in range(data.draw(st.integers(1, 5))):
        present = sorted(pair.model.present)
        event = data.draw(st.sampled_from(["train", "train", "enter", "leave"]))
        if event == "enter":
            newcomers = {}
            for index in range(data.draw(st.integers(1, 2))):
                newcomers |= data.draw(views_of(f"p{fresh + index}"))
            fresh += len(newcomers)
            pair.add_parties(newcomers)
        elif event == "leave" and len(present) > 1:
            going = data.draw(
                st.lists(
                    st.sampled_from(present), min_size=1, max_size=len(present) - 1, unique=True
                )
            )
            pair.remove_parties(going)
            left = True
        else:
            pair.train(
                data.draw(local_steps_of(present)), n_steps(data.draw(st.integers(1, 4)), 0.1)
            )
        pair.check(gradient_stats=not (left and memory == "dropout"))


# --- the sum of a round's steps -------------------------------------------------------------------


class GradientHistory:
    """Keeps every gradient; used in place of a `GradientRecorder`."""

    def __init__(self):
        self.steps = []

    def add(self, gradients, parties):
        self.steps.append(({name: g.clone() for name, g in gradients.items()}, parties))

    def of(self, index, name):
        history = []
        for gradients, parties in self.steps:
            indices = list(range(len(gradients[name]))) if parties is None else parties.tolist()
            if index in indices:
                history.append(gradients[name][indices.index(index)])
        return history


@pytest.mark.parametrize("labels", ["shared", "server"])
def test_updates_are_gradients_with_the_papers_weights(labels):
    model = create_model(SETS["classification"], UNEQUAL, small_learning(labels=labels))
    counts = {"a": 5, "b": 6, "c": 1, "d": 3, "e": 6}
    for kind in KINDS:
        for number in (0.1, 0.8):
            _check_weights(model, {n: n_steps(q, 0.3, kind, number) for n, q in counts.items()})
    mixed = zip(counts.items(), [*KINDS, "proximal", "momentum"], strict=True)
    _check_weights(model, {name: n_steps(q, 0.3, kind, 0.4) for (name, q), kind in mixed})


def _check_weights(model, local_steps):
    batches = round_batches(model, 0, max(steps.count for steps in local_steps.values()))
    stale = _stale(model, batches)
    for stack in model.stacks:
        party_loss = model.server.party_loss(stack.names, batches, stale, model.learning.labels)
        history = GradientHistory()
        stack_steps = [local_steps[name] for name in stack.names]
        after = train_stack(
            StackTraining(stack, model.data, batches, party_loss, stack_steps, recorder=history)
        )
        for index, name in enumerate(stack.names):
            steps = local_steps[name]
            weights = _weights(steps)
            for key, start in stack.parameters.items():
                gradients = history.of(index, key)
                assert len(gradients) == steps.count
                update = sum(w * g for w, g in zip(weights, gradients, strict=True))
                assert_close(
                    after.parameters[key][index],
                    start[index] - steps.rate * update,
                    f"{name} {key}",
                )
            code = {"sgd": SGD, "proximal": PROXIMAL, "momentum": MOMENTUM}[steps.optimizer]
            expected = step_weights(
                np.array([code]), [steps.count], [steps.rate], [steps.optimizer_value]
            )
            assert expected.mean == pytest.approx(np.mean(weights), rel=1e-9)
            assert expected.largest == pytest.approx(max(weights), rel=1e-9)


def _weights(steps):
    """Return the paper's weights of a round's gradients."""
    q = steps.count
    if steps.optimizer == "proximal":
        return [(1 - steps.rate * steps.optimizer_value) ** (q - 1 - j) for j in range(q)]
    if steps.optimizer == "momentum":
        return [
            (1 - steps.optimizer_value ** (q - j)) / (1 - steps.optimizer_value) for j in range(q)
        ]
    return [1.0] * q


def _stale(model, batches):
    """Return all members' embeddings, (members, steps, batch, width)."""
    embeddings = {}
    for stack in model.stacks:
        for index, name in enumerate(stack.names):
            alone = stack.select([name])
            tables = [alone.embed_rows(model.data, "train", batch)[0] for batch in batches]
            embeddings[name] = torch.stack(tables)
            assert index == stack.names.index(name)
    return torch.stack([embeddings[name] for name in model.server.fusion.members])


def test_a_party_alone_trains_as_in_a_stack():
    model = create_model(SETS["classification"], UNEQUAL, small_learning())
    batches = round_batches(model, 4, 5)
    stale = _stale(model, batches)
    for stack in model.stacks:
        local_steps = [MIXED[name] for name in stack.names]
        party_loss = model.server.party_loss(stack.names, batches, stale, "shared")
        together = train_stack(StackTraining(stack, model.data, batches, party_loss, local_steps))
        for index, name in enumerate(stack.names):
            own_loss = model.server.party_loss([name], batches, stale, "shared")
            alone = train_stack(
                StackTraining(
                    stack.select([name]), model.data, batches, own_loss, [local_steps[index]]
                )
            )
            for key, value in alone.parameters.items():
                assert_close(value[0], together.parameters[key][index], f"{name} {key}")


def test_no_steps_change_no_parameters():
    model = create_model(SETS["classification"], UNEQUAL, small_learning())
    (stack, *_) = model.stacks
    party_loss = GradientLoss(torch.full((len(stack.names), 1, 9, 5), torch.nan))
    batches = round_batches(model, 0, 1)
    after = train_stack(
        StackTraining(
            stack, model.data, batches, party_loss, [LocalSteps(0, 0.1)] * len(stack.names)
        )
    )
    assert all(torch.equal(after.parameters[key], p) for key, p in stack.parameters.items())


@given(st.lists(st.integers(0, 9), max_size=7))
def test_step_ranges_give_every_party_its_steps_once(steps):
    taken = {party: [] for party in range(len(steps))}
    for active, first, end in step_ranges(steps):
        assert first < end
        for party in active:
            taken[party] += range(first, end)
    assert taken == {party: list(range(count)) for party, count in enumerate(steps)}


def test_rates_halve_after_a_number_of_rounds():
    rates = [halved_rate(0.8, round_, 5) for round_ in range(12)]
    assert rates == [0.8] * 5 + [0.4] * 5 + [0.2] * 2
    assert {halved_rate(0.8, round_, 0) for round_ in range(99)} == {0.8}  # never
