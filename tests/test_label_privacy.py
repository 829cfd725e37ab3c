"""Labels drawn at random: how often they are true, what devices get instead of them, and ε."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pytest
import torch
from federation_helpers import (
    THREE,
    Killed,
    export_features,
    federate,
    network_of,
    server,
    small_scenario,
)
from hypothesis import given
from hypothesis import strategies as st
from run_scenarios import interrupted
from small_models import CLASSES, LOCAL_STEPS, NUMBERS, SERVER, started

from scdn.errors import InputError
from scdn.federation.wire_format import decode
from scdn.learning.batches import draw_round, sample_rows
from scdn.learning.embedding_gradients import embedding_gradients
from scdn.learning.randomised_labels import RandomisedLabels, kept_probability
from scdn.record.event_schema import AnyEvent
from scdn.scenario import make_scenario
from scdn.simulation.runner import load_checkpoint, resume, run

EPSILON = 1.0
SETTINGS = ("learning.labels=server", f"learning.privacy.label_epsilon={EPSILON}")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The labels and the features of three devices."""
    return export_features(tmp_path_factory.mktemp("parties"), "learning.rounds=4")


# --- the labels -----------------------------------------------------------------------------------


@given(st.floats(0.01, 20), st.integers(2, 100))
def test_a_true_label_is_e_to_the_epsilon_times_as_likely_as_any_other(epsilon, classes):
    kept = kept_probability(epsilon, classes)
    other = (1 - kept) / (classes - 1)
    assert math.log(kept / other) == pytest.approx(epsilon, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("classes", [2, 5])
def test_labels_are_drawn_with_these_probabilities(classes):
    targets = torch.arange(40_000) % classes
    drawn = RandomisedLabels.draw(targets, classes, "classification", EPSILON, seed=1)
    counts = np.zeros((classes, classes))
    np.add.at(counts, (targets.numpy(), drawn.labels.numpy()), 1)
    expected = np.full((classes, classes), (1 - drawn.kept) / (classes - 1))
    np.fill_diagonal(expected, drawn.kept)
    rows = len(targets) / classes
    assert np.abs(counts / rows - expected).max() < 5 / math.sqrt(rows)


def test_a_simulation_repeats_its_labels_and_a_federation_does_not():
    targets = torch.arange(1000) % 5
    draws = [
        RandomisedLabels.draw(targets, 5, "classification", EPSILON, seed).labels
        for seed in (1, 1, 2, None, None)
    ]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])
    assert not torch.equal(draws[3], draws[4])


@given(
    st.lists(st.floats(-3, 3), min_size=2, max_size=6), st.floats(0.2, 6), st.integers(0, 2**32 - 1)
)
def test_the_loss_of_drawn_labels_is_least_at_the_true_probabilities(logits, epsilon, seed):
    """So it can replace cross-entropy with true labels, whose minimum is the same."""
    classes = len(logits)
    outputs = torch.tensor(logits, dtype=torch.float64)
    probabilities = torch.softmax(outputs, -1)
    labels = RandomisedLabels(torch.arange(classes), kept_probability(epsilon, classes))
    other = (1 - labels.kept) / (classes - 1)
    drawn = other + (labels.kept - other) * probabilities

    def expected_loss(at):
        losses = labels.losses(at.expand(classes, classes), torch.arange(classes))
        return float((drawn * losses).sum())

    shift = torch.randn(classes, generator=torch.Generator().manual_seed(seed)).double()
    assert expected_loss(outputs) <= expected_loss(outputs + shift) + 1e-12


@given(st.floats(1e-6, 30), st.integers(1, 1000), st.floats(-1e30, 1e30))
def test_losses_and_their_gradients_are_finite_whatever_the_outputs(epsilon, classes, output):
    labels = RandomisedLabels(torch.zeros(1), kept_probability(epsilon, classes))
    outputs = torch.zeros(2, classes)
    outputs[:, 0] = output
    outputs.requires_grad_()
    losses = labels.losses(outputs, torch.tensor([0, classes - 1]))
    assert torch.isfinite(losses).all()
    assert torch.isfinite(torch.autograd.grad(losses.sum(), outputs)[0]).all()


# --- gradients ------------------------------------------------------------------------------------


def model_and_embeddings(epsilon=EPSILON, **settings):
    privacy = {"label_epsilon": epsilon}
    model = started(labels="server", unheard="imputed", privacy=privacy, **settings)
    generator = torch.Generator().manual_seed(0)
    embeddings = torch.randn(4, 2, 9, 5, generator=generator, dtype=torch.float64)
    return model, embeddings, torch.arange(18).view(2, 9)


def gradients_of(model, embeddings, rows):
    labels, fusion = model.server.device_labels, model.server.fusion
    return labels.gradients(fusion, embeddings, rows, torch.arange(4), None)


def test_what_other_devices_say_of_a_row_does_not_show_in_its_gradient():
    """Permuting others' rows leaves their mean, and so a device's gradients, as they are."""
    model, embeddings, rows = model_and_embeddings()
    permuted = embeddings.clone()
    permuted[1:] = permuted[1:].flip(1).flip(2)
    one, other = (gradients_of(model, table, rows)[0] for table in (embeddings, permuted))
    torch.testing.assert_close(one, other)
    full = [
        embedding_gradients(
            model.server.fusion, table, model.server.targets[rows], "classification"
        )
        for table in (embeddings, permuted)
    ]
    assert not torch.allclose(full[0][0], full[1][0])  # else nothing is tested


def test_true_labels_and_a_single_device_give_the_gradients_of_the_usual_loss():
    views = {"a": next(iter(started().local_parties.views.values()))}
    model, embeddings, rows = model_and_embeddings(30.0, views=views)
    alone = embeddings[:1]
    expected = embedding_gradients(
        model.server.fusion, alone, model.server.targets[rows], "classification"
    )
    labels, fusion = model.server.device_labels, model.server.fusion
    actual = labels.gradients(fusion, alone, rows, torch.arange(1), None)
    torch.testing.assert_close(actual, expected)


def test_gradients_are_those_of_the_drawn_labels_alone():
    """Other true labels with the same draws change nothing."""
    model, embeddings, rows = model_and_embeddings()
    before = gradients_of(model, embeddings, rows)
    model.server.targets = model.server.targets.roll(1)
    loss = model.server.party_loss(list("abcd"), rows, embeddings, "server")
    assert torch.equal(loss.gradients, before)


def test_the_server_s_work_is_that_of_a_prediction_for_each_device():
    works = {}
    for privacy in ({}, {"label_epsilon": EPSILON}):
        model = started(labels="server", unheard="imputed", privacy=privacy, server_steps=0)
        model.train(0, LOCAL_STEPS, SERVER)
        works[len(privacy)] = model.server.take_work().gradient_rows
    rows = max(steps.count for steps in LOCAL_STEPS.values()) * model.learning.batch_size
    assert works[1] - works[0] == (len(LOCAL_STEPS) - 1) * rows > 0


# --- on the wire ----------------------------------------------------------------------------------


def recorded(files, out, monkeypatch, *settings):
    """Return a federated run, the gradients that a device received, and the labels as drawn."""
    network, messages, drawn = network_of(files, *THREE), [], []
    device = network.devices[1]

    def answer(raw, respond=device.answer):
        messages.append(decode(raw))
        return respond(raw)

    device.answer = answer
    draw = RandomisedLabels.draw

    def keep(targets, *arguments):
        assert arguments[-1] is None  # no seed: devices know the run's
        drawn.append((targets, draw(targets, *arguments).labels))
        return RandomisedLabels(drawn[-1][1], kept_probability(EPSILON, 10))

    monkeypatch.setattr(RandomisedLabels, "draw", keep)
    run_ = federate(files, out, network, *settings)
    monkeypatch.undo()
    return run_, [frame for frame in messages if frame.kind == "train"], drawn[0]


def explained(values, labels):
    """Return the share of the variance of values (rows, width) that labels explain."""
    values = values - values.mean(0)
    means = np.stack([values[labels == k].mean(0) for k in np.unique(labels)])
    predicted = means[np.unique(labels, return_inverse=True)[1]]
    return (predicted**2).sum() / (values**2).sum()


def test_gradients_on_the_wire_follow_the_drawn_labels_in_every_round(files, tmp_path, monkeypatch):
    run_, messages, (true, drawn) = recorded(files, tmp_path, monkeypatch, *SETTINGS)
    scenario = small_scenario("learning.rounds=4")
    learning, steps = scenario.learning, scenario.learning.steps_per_iteration
    sample = sample_rows(len(true), learning, scenario.seed)
    assert len(messages) == 4
    for frame in messages:
        batches, _ = draw_round(
            scenario.seed,
            (frame.fields["round"],),
            steps * scenario.max_iterations,
            len(true),
            learning,
        )
        rows = batches.flatten().numpy()
        for table, sent in (("gradients", rows), ("sample_gradients", sample)):
            by_drawn, by_true = (
                explained(frame.arrays[table], labels[sent].numpy()) for labels in (drawn, true)
            )
            assert by_drawn > 0.2
            assert by_true < by_drawn / 3
    assert all(event["federation"]["missed"] == [] for event in run_.rounds)
    entries = run_.end["privacy"].values()
    assert {entry["label_epsilon"] for entry in entries} == {EPSILON}
    assert all(entry["label_sendings"] > 4 for entry in entries)


def test_without_the_setting_gradients_follow_true_labels(files, tmp_path, monkeypatch):
    _, messages, (true, drawn) = recorded(files, tmp_path, monkeypatch, *SETTINGS)
    del messages
    network, received = network_of(files, *THREE), []
    device = network.devices[1]

    def answer(raw, respond=device.answer):
        received.append(decode(raw))
        return respond(raw)

    device.answer = answer
    federate(files, tmp_path / "off", network, "learning.labels=server", "learning.rounds=1")
    frame = next(frame for frame in received if frame.kind == "train")
    scenario = small_scenario("learning.rounds=4")
    sample = sample_rows(len(true), scenario.learning, scenario.seed)
    shares = [
        explained(frame.arrays["sample_gradients"], labels[sample].numpy())
        for labels in (true, drawn)
    ]
    assert shares[0] > 0.5 > 3 * shares[1]


# --- the record -----------------------------------------------------------------------------------


def test_epsilon_is_in_events_and_does_not_grow_with_rounds(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "opacus", None)  # no accountant is needed
    run_ = run(small_scenario("learning.rounds=3", *SETTINGS), tmp_path / "run")
    values = [event["devices"][0]["privacy"]["label_epsilon"] for event in run_.rounds]
    assert values == [EPSILON] * 3
    for line in (tmp_path / "run" / "events.jsonl").read_text().splitlines():
        AnyEvent.model_validate(json.loads(line))


def test_a_resumed_run_keeps_its_labels():
    """Another draw would say more about each label than ε does."""
    settings = {"labels": "server", "unheard": "imputed", "privacy": {"label_epsilon": EPSILON}}
    one, other = started(CLASSES, **settings), started(CLASSES, views={}, **settings)
    other.server.device_labels = RandomisedLabels.draw(
        one.server.targets, 5, "classification", EPSILON, seed=None
    )
    assert not torch.equal(one.server.device_labels.labels, other.server.device_labels.labels)
    other.load_state_dict(one.state_dict())
    assert torch.equal(one.server.device_labels.labels, other.server.device_labels.labels)


def test_a_restarted_server_of_a_federation_keeps_its_labels(files, tmp_path):
    network, used = network_of(files, *THREE), []

    def kill(event, simulation):
        used.append(simulation.model.server.device_labels.labels.numpy())
        if event["round"] == 1:
            raise Killed

    with pytest.raises(Killed):
        federate(files, tmp_path, network, *SETTINGS, on_round=kill)
    assert len(server(files, tmp_path, network).resume().rounds) == 4
    used.append(load_checkpoint(tmp_path)[0].arrays["device/labels"])
    assert all(np.array_equal(used[0], later) for later in used)


def test_a_resumed_run_equals_a_whole_one(tmp_path):
    scenario = small_scenario("learning.rounds=3", *SETTINGS)
    whole = run(scenario, tmp_path / "whole")
    cut = interrupted(scenario, tmp_path / "cut", 1)
    assert resume(cut).end["metrics"] == whole.end["metrics"]


# --- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("learning", "words"),
    [
        ({"privacy": {"label_epsilon": 1.0}}, 'needs labels = "server"'),
        (
            {"privacy": {"label_epsilon": 1.0, "gradient_clip": 1.0}, "labels": "server"},
            "choose one",
        ),
        ({"privacy": {"label_epsilon": 0.0}, "labels": "server"}, "label_epsilon"),
        ({"privacy": {"label_epsilon": 200.0}, "labels": "server"}, "label_epsilon"),
        (
            {"privacy": {"label_epsilon": 1.0}, "labels": "server", "unheard": "known"},
            'needs unheard = "imputed"',
        ),
    ],
)
def test_settings_that_do_not_fit_are_refused(learning, words):
    with pytest.raises(InputError, match=words):
        make_scenario({"fleet": [{"count": 2}], "learning": learning})


def test_numbers_to_predict_have_no_labels_to_draw():
    with pytest.raises(InputError, match="numbers to predict, not classes"):
        started(NUMBERS, labels="server", unheard="imputed", privacy={"label_epsilon": 1.0})
