"""Laws of vertical learning that hold for any numbers: isolation, determinism, noise, limits."""

from __future__ import annotations

from dataclasses import fields
from functools import cache

import numpy as np
import pytest
import torch
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
from small_models import (
    CLASSES,
    LOCAL_STEPS,
    NUMBERS,
    SERVER,
    VIEWS,
    local_steps_for,
    same,
    started,
    trained,
)
from torch import nn

from scdn.errors import InputError
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.embedding_gradients import embedding_gradients
from scdn.learning.feature_split import split_features
from scdn.learning.fusion_server import FusionServer
from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.local_parties import LocalParties
from scdn.learning.models import Cnn
from scdn.learning.party_factory import PartyFactory, stack_parties
from scdn.learning.party_loss import GradientLoss, SharedLabelLoss
from scdn.learning.party_stack import PartyStack
from scdn.learning.stack_training import StackTraining, train_stack

MODULE = __name__  # where users' models below are imported from


@pytest.fixture(autouse=True)
def _single_threaded():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# --- isolation ---------------------------------------------------------------------------------


CASES = {
    "own": (CLASSES, VIEWS, {}),
    "masked": (CLASSES, VIEWS, {"input": "masked"}),
    "regression": (NUMBERS, VIEWS, {}),
    "patches": (image_dataset(), "patches", {"model": CONV}),
    "masked patches": (image_dataset(), "patches", {"model": CONV, "input": "masked"}),
    "padded patches": (image_dataset(rows=20), "patches", {"model": "cnn", "batch_size": 3}),
    "flat patches": (image_dataset(), "patches", {"model": "mlp"}),
    "masked flat patches": (image_dataset(), "patches", {"model": "mlp", "input": "masked"}),
    "pixels": (image_dataset(), "random", {"input": "masked"}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("labels", ["shared", "server"])
def test_a_party_never_reads_columns_of_others(case, labels):
    dataset, views, overrides = CASES[case]
    if isinstance(views, str):
        views = {f"p{n}": view for n, view in enumerate(split_features(dataset, views, 4, 0))}
    learning = small_learning(labels=labels, **overrides)
    model = create_model(dataset, views, learning)
    batches = round_batches(model, 0, 3)
    rows = model.data
    stale = torch.stack(
        [
            stack.select([name])
            .embed_rows(rows, "train", batches.flatten())[0]
            .unflatten(0, (3, -1))
            for name in model.server.fusion.members
            for stack in model.stacks
            if name in stack.names
        ]
    )
    all_rows = torch.arange(rows.count("train"))
    for name, view in views.items():
        (stack,) = stack_parties(
            [model.factory.create(name, view, model.seed)], model.factory.options
        )
        party_loss = model.server.party_loss([name], batches, stale, labels)
        assert isinstance(party_loss, SharedLabelLoss if labels == "shared" else GradientLoss)
        steps = n_steps(3, 0.1, "momentum", 0.3)
        results = []
        for data in (rows, poisoned(rows, view, labels)):
            after = train_stack(StackTraining(stack, data, batches, party_loss, [steps]))
            results.append([*after.parameters.values(), *after.embed_rows(data, "train", all_rows)])
        for clean_result, poisoned_result in zip(*results, strict=True):
            assert torch.isfinite(poisoned_result).all()
            assert torch.equal(clean_result, poisoned_result)


def poisoned(rows, view, labels):
    """Set everything that the party must not read to NaN; with labels on the server, those too."""
    others = np.setdiff1d(np.arange(rows.inputs["train"][view.modality].shape[1]), view.columns)
    assert len(others)
    inputs = {}
    for part, modalities in rows.inputs.items():
        spoilt = modalities[view.modality].clone()
        spoilt[:, others] = torch.nan
        inputs[part] = {view.modality: spoilt}
    hidden = {part: torch.full((len(y),), torch.nan) for part, y in rows.targets.items()}
    return DatasetTensors(inputs, hidden if labels == "server" else rows.targets)


def test_only_embeddings_leave_a_party():
    model = trained()
    for stack in model.stacks:
        inputs = stack.views.gather(model.data, "test", torch.arange(7))
        embeddings = stack.embed(inputs)
        assert [table.shape for table in embeddings] == [(7, 5)] * len(stack.names)
        assert not any(table.requires_grad for table in embeddings)
    for name in VIEWS:
        assert model.server.sample_embeddings[name].shape == (50, 5)
        assert model.server.test_embeddings[name].shape == (40, 5)
    model.remove_parties(["a"])
    kept = model.server.memory.embeddings
    assert {name: table.training.shape for name, table in kept.items()} == {"a": (90, 5)}


@pytest.mark.parametrize("memory", ["keep", "zero-out", "dropout"])
def test_many_rows_are_embedded_and_fused_in_pieces(monkeypatch, memory):
    """Embedding party by party and in pieces equals one batched product."""
    model = create_model(CLASSES, VIEWS, small_learning(), memory=memory)
    model.train(0, LOCAL_STEPS, SERVER)
    model.remove_parties(["b"])
    results = []
    for least_rows, rows_per_piece, values_per_piece in ((10**9, 10**9, 10**9), (1, 7, 100)):
        monkeypatch.setattr("scdn.learning.party_stack.MIN_ROWS_APART", least_rows)
        monkeypatch.setattr("scdn.learning.party_stack.MAX_ROWS_APART", rows_per_piece)
        monkeypatch.setattr("scdn.learning.fusion_server.MAX_VALUES_FUSED", values_per_piece)
        model.unsent = set(model.present)
        model.exchange()
        embeddings = [model.server.sample_embeddings[name] for name in model.present]
        results.append(
            [*embeddings, model.server.predict(), torch.tensor(model.metrics()["train_loss"])]
        )
    for expected, pieces in zip(*results, strict=True):
        torch.testing.assert_close(pieces, expected, rtol=1e-12, atol=1e-12)


def test_labels_on_the_server_stay_there():
    """A party gets gradients at its own embeddings, of the same shape, and nothing else."""
    model = trained(labels="server")
    batches = round_batches(model, 9, 4)
    stale = torch.randn(4, 4, 9, 5, dtype=torch.float64, requires_grad=True)
    party_loss = model.server.party_loss(["c"], batches, stale, "server")
    assert [field.name for field in fields(party_loss)] == ["gradients"]
    assert set(vars(party_loss)) == {"gradients"}
    assert party_loss.gradients.shape == (1, 4, 9, 5)
    assert party_loss.gradients.grad_fn is None
    assert not party_loss.gradients.requires_grad


def test_embedding_gradients_equal_finite_differences():
    model = trained(labels="server")
    batches = round_batches(model, 9, 2)
    embeddings = torch.randn(4, 2, 9, 5, dtype=torch.float64)
    gradients = embedding_gradients(
        model.server.fusion, embeddings, model.server.targets[batches], model.server.task
    )

    def loss(at):
        outputs = model.server.fusion.outputs(at[:, 1])
        return nn.functional.cross_entropy(outputs, model.server.targets[batches[1]])

    step = 1e-6
    for where in [(0, 1, 0, 0), (2, 1, 8, 4), (3, 1, 4, 2)]:
        more, less = embeddings.clone(), embeddings.clone()
        more[where] += step
        less[where] -= step
        change = (loss(more) - loss(less)) / (2 * step)
        assert float(gradients[where]) == pytest.approx(float(change), rel=1e-5, abs=1e-9)


# --- determinism -------------------------------------------------------------------------------


def course(memory="keep", threads=1, **overrides):
    torch.set_num_threads(threads)
    model = started(memory=memory, **overrides)
    model.train(0, local_steps_for(model), SERVER)
    model.remove_parties(["b"])
    model.add_parties({"n": table_view(range(9))})
    model.train(1, local_steps_for(model) | {"n": LocalSteps(2, 0.1)}, SERVER)
    model.metrics()
    model.importance()
    assert torch.get_num_threads() == threads
    return model


@pytest.mark.parametrize("memory", ["keep", "zero-out", "dropout"])
def test_equal_seeds_give_equal_bits(memory):
    torch.manual_seed(1)
    first = course(memory, perturbation=0.1)
    torch.manual_seed(2)
    second = course(memory, 2, perturbation=0.1)
    assert same(first, second)
    assert first.gradient_stats == second.gradient_stats
    assert first.metrics() == second.metrics()
    assert not same(first, course(memory, seed=4))


def test_the_number_of_threads_does_not_change_long_sums():
    data = table_dataset(columns=60, rows=3000, tests=800)
    views = {name: table_view(range(20 * n, 20 * n + 20)) for n, name in enumerate("abc")}
    overrides = {"hidden": 64, "fusion_hidden": 64, "batch_size": 1500, "sample_rows": 2048}
    results = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        model = started(data, views=views, precision="float32", **overrides)
        model.train(0, LOCAL_STEPS, SERVER)
        results.append((model, model.metrics(), model.importance(), model.gradient_stats))
    assert same(results[0][0], results[1][0])
    assert results[0][1:] == results[1][1:]


def test_global_random_generators_are_not_used():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    numpy_before = np.random.get_state()[1].copy()  # noqa: NPY002
    course("dropout", perturbation=0.2)
    assert torch.equal(torch.get_rng_state(), before)
    assert (np.random.get_state()[1] == numpy_before).all()  # noqa: NPY002


def test_accelerators_are_not_reseeded(monkeypatch):
    calls = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", calls.append)
    started()
    assert calls == []


def test_a_partys_initial_weights_depend_on_its_name_and_the_seed_alone():
    few = started(views={"c": VIEWS["c"]})
    many = started()
    late = started(views={"a": VIEWS["a"]})
    late.add_parties({"c": VIEWS["c"]})
    first, second, third = (
        {key: p[stack.names.index("c")] for key, p in stack.parameters.items()}
        for model in (few, many, late)
        for stack in model.stacks
        if "c" in stack.names
    )
    for key, value in first.items():
        assert torch.equal(value, second[key])
        assert torch.equal(value, third[key])


@cache
def _quiet_model():
    return create_model(CLASSES, VIEWS, small_learning(), measure_gradients=False)


def test_every_round_and_arrival_draws_its_own_batches():
    model = _quiet_model()
    drawn = [round_batches(model, r, 2, a) for r in (0, 1) for a in (None, 0, 1)]
    assert len({tuple(batches.flatten().tolist()) for batches in drawn}) == 6


def test_a_partys_training_does_not_depend_on_the_steps_of_others():
    one, other = (started(server_turn="parallel", damping="none") for _ in range(2))
    one.train(0, LOCAL_STEPS, SERVER)
    other.train(0, LOCAL_STEPS | {"d": LocalSteps(11, 0.1)}, LocalSteps(3, 0.1))
    for stack, other_stack in zip(one.stacks, other.stacks, strict=True):
        for key, value in stack.parameters.items():
            for index, name in enumerate(stack.names):
                if name != "d":
                    assert_close(value[index], other_stack.parameters[key][index], name)


# --- perturbation ------------------------------------------------------------------------------


class ServerSpy:
    """Records the losses that the server gives to parties, and what it trains on."""

    def __init__(self, patch):
        self.losses, self.trained = [], []
        make_loss, train, hear = FusionServer.party_loss, FusionServer.train, FusionServer.hear

        def spy_loss(server, names, batches, stale, *rest):
            loss = make_loss(server, names, batches, stale, *rest)
            self.losses.append((names, batches, stale, loss))
            return loss

        def spy_train(server, batches, embeddings, *rest):
            self.trained.append((batches, embeddings))
            return train(server, batches, embeddings, *rest)

        def spy_hear(server, round_, rows, held_out, embeddings):
            self.trained.append((rows[None], embeddings[:, None]))
            return hear(server, round_, rows, held_out, embeddings)

        patch.setattr(FusionServer, "party_loss", spy_loss)
        patch.setattr(FusionServer, "train", spy_train)
        patch.setattr(FusionServer, "hear", spy_hear)


def clean(model, batches):
    embeddings = {}
    for stack in model.stacks:
        sent = stack.embed_rows(model.data, "train", batches.flatten())
        tables = (table.unflatten(0, batches.shape) for table in sent)
        embeddings |= dict(zip(stack.names, tables, strict=True))
    return torch.stack([embeddings[name] for name in model.server.fusion.members])


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_parties_and_server_train_on_perturbed_embeddings_of_others(monkeypatch, optimizer):
    learning = small_learning(perturbation=0.3, batch_size=60, server_optimizer=optimizer)
    model = create_model(CLASSES, VIEWS, learning, measure_gradients=False)
    batches = round_batches(model, 0, 4)
    before, fusion = clean(model, batches), model.server.fusion
    spy = ServerSpy(monkeypatch)
    model.train(0, LOCAL_STEPS, SERVER)
    for names, _, stale, party_loss in spy.losses:
        noise = stale - before
        assert float(noise.std()) == pytest.approx(0.3, rel=0.05)
        assert abs(float(noise.mean())) < 0.02
        for index, name in enumerate(names):
            member = fusion.members.index(name)
            table = stale[:, 2].clone()
            table[member] = before[member, 2]  # its own embeddings are clean
            outputs = fusion.outputs(table)
            expected = nn.functional.cross_entropy(outputs, model.server.targets[batches[2]])
            clean_embeddings = before[[fusion.members.index(n) for n in names], 2]
            assert_close(
                party_loss.losses(party_loss.step_tensors(2), clean_embeddings)[index],
                expected,
                name,
            )
    ((rows, embeddings),) = spy.trained
    noise = embeddings - clean(model, rows)
    assert float(noise.std()) == pytest.approx(0.3, rel=0.05)


def test_embeddings_are_not_perturbed_by_default():
    one, other = trained(), trained(perturbation=0.0)
    assert same(one, other)
    assert not same(one, trained(perturbation=0.01))


@pytest.mark.parametrize(
    "learning", [{}, {"server_optimizer": "sgd"}, {"step": "fitted"}, {"damping": "none"}]
)
def test_every_transmission_has_its_own_noise(monkeypatch, learning):
    model = create_model(
        CLASSES, VIEWS, small_learning(perturbation=0.3, **learning), measure_gradients=False
    )
    draws = []
    add_noise = LocalParties._perturbed

    def spy(parties, stack, embeddings, phase):
        sent = add_noise(parties, stack, embeddings, phase)
        noise = [after - before for before, after in zip(embeddings, sent, strict=True)]
        draws.extend(zip(stack.names, noise, strict=True))
        return sent

    monkeypatch.setattr(LocalParties, "_perturbed", spy)
    fast = {name: n_steps(5, 30.0) for name in VIEWS}  # searched steps are too long
    for round_ in range(2):
        model.train(round_, fast, LocalSteps(4, 0.1), batches=5)
    model.exchange()
    for name in VIEWS:
        first_rows = [tuple(noise[0].tolist()) for who, noise in draws if who == name]
        assert len(first_rows) >= 6
        rounded = {tuple(round(value, 6) for value in row) for row in first_rows}
        assert len(rounded) == len(first_rows)


def test_sample_and_test_embeddings_are_perturbed_too():
    noisy = create_model(CLASSES, VIEWS, small_learning(perturbation=0.3), measure_gradients=False)
    calm = create_model(CLASSES, VIEWS, small_learning(), measure_gradients=False)
    assert not torch.equal(noisy.server.sample_embeddings["a"], calm.server.sample_embeddings["a"])


# --- limiting cases ----------------------------------------------------------------------------


def test_a_round_without_server_steps_equals_the_reference():
    pair = ModelPair(CLASSES, VIEWS, small_learning())
    pair.train(LOCAL_STEPS, n_steps(0))
    pair.check()


def test_a_round_without_steps_changes_nothing_where_smoothness_is_measured():
    model, untouched = started(smoothness="measured"), started(smoothness="measured")
    model.train(0, {}, LocalSteps(0, 0.1))
    assert same(model, untouched)
    assert model.gradient_stats == untouched.gradient_stats


def test_a_round_without_steps_changes_nothing():
    model, untouched = started(), started()
    model.train(0, {}, LocalSteps(0, 0.1))
    assert same(model, untouched)


@pytest.mark.parametrize(
    "memory",
    [
        "keep",
        "zero-out",
        "dropout",
    ],
)
def test_the_server_trains_on_after_all_parties_have_left(memory):
    model = trained(memory=memory)
    model.remove_parties(list(VIEWS))
    model.train(2, {}, SERVER)
    assert np.isfinite(model.metrics()["test_loss"])


def test_importance_is_empty_after_all_parties_have_left():
    model = trained()
    model.remove_parties(list(VIEWS))
    assert model.importance() == {}


@pytest.mark.parametrize("names", [["nobody"], ["a", "nobody"]])
def test_an_absent_party_cannot_leave(names):
    model = trained()
    with pytest.raises(InputError):
        model.remove_parties(names)


def test_a_departed_partys_name_cannot_be_used_again():
    model = trained()
    model.remove_parties(["a"])
    with pytest.raises(InputError):
        model.add_parties({"a": VIEWS["a"]})


# --- users' models -----------------------------------------------------------------------------


def dropping(shape, width):
    return nn.Sequential(nn.Linear(shape[0], 4), nn.Dropout(0.5), nn.Linear(4, width))


class Idle(nn.Module):
    """A model with a layer that it does not use."""

    def __init__(self, inputs, width):
        super().__init__()
        self.used, self.idle = nn.Linear(inputs, width), nn.Linear(inputs, width)

    def forward(self, x):
        return self.used(x)


class Gained(nn.Module):
    """A model with a constant buffer."""

    def __init__(self, inputs, width):
        super().__init__()
        self.used = nn.Linear(inputs, width)
        self.register_buffer("gain", torch.full((width,), 0.5))

    def forward(self, x):
        return self.used(x) * self.gain


def idle(shape, width):
    return Idle(shape[0], width)


def gained(shape, width):
    return Gained(shape[0], width)


def normed(shape, width):
    return nn.Sequential(nn.Linear(shape[0], width), nn.Softmax(1))


@pytest.mark.parametrize("setting", ["model", "fusion_head"])
def test_a_model_that_draws_at_random_is_refused(setting):
    with pytest.raises(InputError, match="random"):
        started(**{setting: f"{MODULE}:dropping"})


@pytest.mark.parametrize("setting", ["model", "fusion_head"])
def test_a_model_with_an_unused_layer_is_refused(setting):
    with pytest.raises(InputError, match=r"does not use its parameter .*idle\.weight"):
        started(**{setting: f"{MODULE}:idle"})


@pytest.mark.parametrize("setting", ["model", "fusion_head"])
def test_a_model_may_have_a_constant_buffer(setting):
    model = started(**{setting: f"{MODULE}:gained"})
    model.train(0, LOCAL_STEPS, SERVER)
    assert np.isfinite(model.metrics()["test_loss"])


def test_a_users_head_gets_rows_from_parties_as_from_the_server():
    """Softmax(1) must normalise a row's outputs, not those of a batch."""
    model = create_model(
        CLASSES, VIEWS, small_learning(fusion_head=f"{MODULE}:normed"), measure_gradients=False
    )
    batches = round_batches(model, 0, 1)
    stale = clean(model, batches)
    party_loss = model.server.party_loss(list(VIEWS), batches, stale, "shared")
    outputs = model.server.fusion.outputs(stale[:, 0])
    expected = nn.functional.cross_entropy(outputs, model.server.targets[batches[0]])
    assert_close(party_loss.losses(party_loss.step_tensors(0), stale[:, 0]), expected.expand(4))


def test_convolutions_compute_in_float64():
    assert isinstance(Cnn((1, 28, 28), 3)[0], nn.Conv2d)
    data = image_dataset(size=28, channels=1, rows=12, tests=4)
    views = {"a": split_features(data, "strips", 1, 0)[0]}
    learning = small_learning(model="cnn", batch_size=2, sample_rows=4)
    factory = PartyFactory.from_dataset(data, learning)
    (stack,) = stack_parties([factory.create("a", views["a"], 0)], factory.options)
    assert isinstance(stack, PartyStack)
    (embeddings,) = stack.embed_rows(
        DatasetTensors.from_dataset(data, factory.options), "test", torch.arange(4)
    )
    assert embeddings.dtype == torch.float64
    assert embeddings.shape == (4, 4)
