"""Noise is on the wire, every sending is counted, and ε is what other accountants say."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter

import numpy as np
import pytest
import torch
from federation_helpers import THREE, export_features, federate, network_of, small_scenario
from run_scenarios import interrupted
from scipy.optimize import minimize_scalar
from small_models import LOCAL_STEPS, SERVER, started

from scdn.errors import InputError
from scdn.federation.wire_format import Frame, decode, encode
from scdn.learning.batches import draw_round, sample_rows
from scdn.learning.message_noise import MessageNoise
from scdn.learning.privacy_account import epsilon
from scdn.record.event_schema import AnyEvent
from scdn.scenario import Privacy, make_scenario
from scdn.simulation.runner import resume, run

pytest.importorskip("opacus")

CLIP, NOISE = 0.5, 2.0
EMBEDDINGS = (
    f"learning.privacy.embedding_clip={CLIP}",
    f"learning.privacy.embedding_noise={NOISE}",
)
GRADIENTS = (
    "learning.labels=server",
    f"learning.privacy.gradient_clip={CLIP}",
    f"learning.privacy.gradient_noise={NOISE}",
)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The labels and the features of three devices."""
    return export_features(tmp_path_factory.mktemp("parties"), "learning.rounds=4")


def recorded(files, out, *settings, **options):
    """Return a federated run, and its messages: (node, request, reply)."""
    network, messages = network_of(files, *THREE), []
    for node, device in network.devices.items():

        def answer(raw, node=node, respond=device.answer):
            reply = respond(raw)
            messages.append((node, decode(raw), decode(reply)))
            return reply

        device.answer = answer
    return federate(files, out, network, *settings, **options), messages


def first(messages, kind, node=1):
    return next((req, reply) for n, req, reply in messages if (n, req.kind) == (node, kind))


# --- noise ----------------------------------------------------------------------------------------


def test_embeddings_on_the_wire_are_clipped_and_noisy(files, tmp_path):
    clip = (f"learning.privacy.embedding_clip={CLIP}",)
    tables = {}
    for name, settings in (("off", ()), ("clipped", clip), ("noisy", EMBEDDINGS)):
        _, messages = recorded(files, tmp_path / name, "learning.rounds=1", *settings)
        tables[name] = first(messages, "embed")[1].arrays["drawn"]
    lengths = np.linalg.norm(tables["off"], axis=1)
    assert lengths.max() > CLIP  # else nothing is tested
    shortened = tables["off"] * np.minimum(1, CLIP / lengths)[:, None]
    np.testing.assert_allclose(tables["clipped"], shortened, atol=1e-6)
    noise = (tables["noisy"] - tables["clipped"]) / (CLIP * NOISE)
    assert abs(noise.mean()) < 4 / math.sqrt(noise.size)
    assert noise.std() == pytest.approx(1, abs=4 / math.sqrt(noise.size))


def test_gradients_on_the_wire_are_clipped_and_noisy(files, tmp_path):
    clip = 1e-4  # of the gradient of a row's own loss
    setting = f"learning.privacy.gradient_clip={clip}"
    tables = {}
    for name, settings in (("clipped", ()), ("noisy", ("learning.privacy.gradient_noise=3",))):
        options = ("learning.rounds=1", "learning.labels=server", setting, *settings)
        _, messages = recorded(files, tmp_path / name, *options)
        tables[name] = first(messages, "train")[0].arrays
    for table, rows in (("gradients", 64), ("sample_gradients", 256)):
        clipped, noisy = (tables[name][table] for name in ("clipped", "noisy"))
        lengths = np.linalg.norm(clipped, axis=1)
        np.testing.assert_allclose(lengths, clip / rows, rtol=2e-2)
        assert lengths.max() <= clip / rows
        noise = (noisy - clipped) / (3 * clip / rows)
        assert noise.std() == pytest.approx(1, abs=4 / math.sqrt(noise.size))


def test_noise_of_a_federation_cannot_be_repeated_from_the_seed(files, tmp_path):
    settings = ("learning.rounds=1", *EMBEDDINGS, *GRADIENTS)
    (_, one), (_, other) = (recorded(files, tmp_path / name, *settings) for name in "ab")
    assert not np.allclose(
        first(one, "embed")[1].arrays["drawn"], first(other, "embed")[1].arrays["drawn"]
    )
    gradients = [
        first(messages, "train")[0].arrays["sample_gradients"] for messages in (one, other)
    ]
    assert np.corrcoef(*(table.ravel() for table in gradients))[0, 1] < 0.5


def test_honest_devices_with_much_noise_are_not_left_out(files, tmp_path):
    """Two sendings of one row differ by the noise, which is no contradiction."""
    log = []
    run_, _ = recorded(files, tmp_path, *EMBEDDINGS, *GRADIENTS, log=log)
    assert not [line for line in log if "left out" in line]
    assert all(event["federation"]["missed"] == [] for event in run_.rounds)


def test_noise_of_two_devices_and_of_two_sendings_differs(files, tmp_path):
    _, messages = recorded(files, tmp_path, "learning.rounds=2", *GRADIENTS, *EMBEDDINGS)
    received = [first(messages, "train", node)[0].arrays["gradients"] for node in (1, 2)]
    assert abs(np.corrcoef(*(table.ravel() for table in received))[0, 1]) < 0.2
    embeds = [reply for node, request, reply in messages if (node, request.kind) == (1, "embed")]
    held_out = [reply.arrays["held_out"] for reply in embeds]
    assert abs(np.corrcoef(*(table.ravel() for table in held_out))[0, 1]) < 0.5


def test_a_simulation_repeats_its_noise_and_differs_from_one_without():
    privacy = {"embedding_clip": 1.0, "embedding_noise": 0.3}
    privacy |= {"gradient_clip": 1.0, "gradient_noise": 0.3}

    def parameters(**further):
        model = started(labels="server", unheard="imputed", **further)
        model.train(0, LOCAL_STEPS, SERVER)
        return torch.cat([p.flatten() for p in model.server.fusion.parameters.values()])

    assert torch.equal(parameters(privacy=privacy), parameters(privacy=privacy))
    assert not torch.equal(parameters(privacy=privacy), parameters())


def test_without_settings_nothing_is_changed():
    table = torch.randn(5, 3)
    noise = MessageNoise(Privacy(), seed=1)
    assert noise.on_embeddings(table, "x", (0,)) is table
    assert noise.on_gradients(table, "x", (0,)) is table


# --- initial weights ------------------------------------------------------------------------------


def first_embeddings(files, out, *, own_weights):
    network, tables = network_of(files, *THREE), []
    device = network.devices[1]
    device.own_weights = own_weights

    def answer(raw, respond=device.answer):
        reply = respond(raw)
        if decode(raw).kind == "embed":
            tables.append(decode(reply).arrays["drawn"])
        return reply

    device.answer = answer
    run_ = federate(files, out, network, "learning.rounds=1")
    return tables[0], run_


def test_initial_weights_of_a_device_do_not_follow_from_the_seed(files, tmp_path):
    known = [first_embeddings(files, tmp_path / n, own_weights=False)[0] for n in "ab"]
    own = [first_embeddings(files, tmp_path / n, own_weights=True)[0] for n in "cd"]
    np.testing.assert_array_equal(*known)
    assert not np.allclose(own[0], own[1])
    assert not np.allclose(own[0], known[0])


def test_a_device_with_its_own_weights_trains_as_well(files, tmp_path):
    _, run_ = first_embeddings(files, tmp_path, own_weights=True)
    assert run_.rounds[0]["federation"]["missed"] == []


def test_a_device_refuses_to_start_in_another_run(files, tmp_path):
    network = network_of(files, *THREE)
    device, seen = network.devices[1], []
    device.own_weights = True

    def answer(raw, respond=device.answer):
        seen.append(raw)
        return respond(raw)

    device.answer = answer
    federate(files, tmp_path, network, "learning.rounds=1")
    join = next(frame for frame in map(decode, seen) if frame.kind == "join")
    other = Frame("join", {**join.fields, "run": "other", "seed": 99}, join.arrays)
    refusal = decode(device.answer(encode(other)))
    assert refusal.kind == "refused"
    assert "start it again" in refusal.fields["reason"]
    assert decode(device.answer(encode(join))).kind == "join"  # the same run may ask again


def test_a_device_that_has_sent_nothing_may_start_in_another_run(files, tmp_path):
    network = network_of(files, *THREE)
    device, replies = network.devices[1], []
    device.own_weights = True

    def answer(raw, respond=device.answer):
        request = decode(raw)
        if request.kind == "join":  # of a server that ends before its first round
            earlier = Frame("join", {**request.fields, "run": "earlier"}, request.arrays)
            replies.append(decode(respond(encode(earlier))).kind)
        return respond(raw)

    device.answer = answer
    recorded = federate(files, tmp_path, network, "learning.rounds=1")
    assert replies == ["join"]
    assert recorded.rounds[0]["federation"]["missed"] == []
    assert "device-1" in {entry["id"] for entry in recorded.rounds[0]["devices"]}


# --- counts and epsilon ---------------------------------------------------------------------------


def test_every_sending_of_a_row_is_counted(files, tmp_path):
    run_, messages = recorded(files, tmp_path, *EMBEDDINGS, *GRADIENTS)
    scenario = small_scenario("learning.rounds=4")
    learning, seed = scenario.learning, scenario.seed
    steps = learning.steps_per_iteration * scenario.max_iterations
    join, _ = first(messages, "join")
    count = len(join.arrays["train"])
    sample = sample_rows(count, learning, seed)
    sent, received = np.zeros(count, int), np.zeros(count, int)
    round_ = 0
    for node, request, reply in messages:
        if node != 1 or request.kind not in ("embed", "train", "apply", "report"):
            continue
        round_ = request.fields.get("round", round_)
        batches, held_out = draw_round(seed, (round_,), steps, count, learning)
        rows = {"drawn": batches, "held_out": held_out, "sample": torch.from_numpy(sample)}
        for table in reply.arrays.keys() & rows.keys():
            np.add.at(sent, rows[table].flatten().numpy(), 1)
        if request.kind == "train":
            np.add.at(received, batches.flatten().numpy(), 1)
            if "sample_gradients" in request.arrays:
                np.add.at(received, sample, 1)
    entry = run_.end["privacy"]["device-1"]
    assert (entry["features_sendings"], entry["label_sendings"]) == (sent.max(), received.max())
    assert sent.max() > 4 < received.max()


@pytest.mark.parametrize("step", ["rate", "fitted", "searched"])
def test_sendings_of_a_party_that_reports_late_are_counted(monkeypatch, step):
    """Party c begins in the first round and reports in the second; noise is drawn per sending."""
    drawn = {"embeddings": Counter(), "gradients": Counter()}
    noisy = MessageNoise._noisy

    def record(noise, values, clip, deviation, purpose, at):
        _, name, table = purpose.split(":")
        if table != "test":  # nobody trains on test rows, and no label of theirs is protected
            kind = "gradients" if table.endswith("gradients") else "embeddings"
            drawn[kind][name] += values[..., 0].numel()
        return noisy(noise, values, clip, deviation, purpose, at)

    monkeypatch.setattr(MessageNoise, "_noisy", record)
    privacy = {"embedding_clip": 1.0, "embedding_noise": 0.1}
    privacy |= {"gradient_clip": 1.0, "gradient_noise": 0.1}
    model = started(labels="server", unheard="imputed", step=step, privacy=privacy)
    fast = {name: LOCAL_STEPS[name] for name in "ab"}
    later = {"c": LOCAL_STEPS["c"]}
    model.begin_cycles(0, LOCAL_STEPS, batches=4)
    assert model.account.sendings("embeddings", "c")  # before it reports
    model.train(0, fast, SERVER, batches=4, heard="ab")
    model.exchange()
    model.begin_cycles(1, fast, batches=4)
    model.train(1, fast | later, SERVER, batches=4, heard="abc")
    model.exchange()
    for kind, by_name in model.account.counts.items():
        assert {name: counts.sum() for name, counts in by_name.items()} == drawn[kind]


def test_epsilon_of_each_device_is_in_events_and_grows(files, tmp_path):
    run_, _ = recorded(files, tmp_path, *EMBEDDINGS)
    values = [event["devices"][0]["privacy"]["features_epsilon"] for event in run_.rounds]
    assert 0 < values[0] < values[1] < values[2] < values[3]
    assert set(run_.end["privacy"]) == set(THREE)
    assert run_.end["privacy"]["device-1"]["features_epsilon"] == values[-1]
    assert "label_epsilon" not in run_.end["privacy"]["device-1"]
    for line in (tmp_path / "events.jsonl").read_text().splitlines():
        AnyEvent.model_validate(json.loads(line))


def test_a_run_without_privacy_records_none(tmp_path):
    recorded_run = run(small_scenario("learning.rounds=1"), tmp_path / "run")
    assert "privacy" not in recorded_run.end
    assert "privacy" not in recorded_run.rounds[0]["devices"][0]


def test_a_resumed_run_goes_on_counting(tmp_path):
    scenario = small_scenario("learning.rounds=3", *EMBEDDINGS)
    whole = run(scenario, tmp_path / "whole")
    cut = interrupted(scenario, tmp_path / "cut", 1)
    assert resume(cut).end["privacy"] == whole.end["privacy"]


@pytest.mark.parametrize(
    ("noise", "sendings"), [(1.0, 1), (4.0, 3), (10.0, 90), (40.0, 300), (0.5, 60)]
)
def test_epsilon_agrees_with_an_independent_minimum_over_orders(noise, sendings):
    """Rényi divergence α·Δ²/(2σ²) per sending, converted by Canonne, Kamath and Steinke (2020)."""
    delta = 1e-5

    def bound(log_excess):
        order = 1 + math.exp(log_excess)
        divergence = sendings * order * (2 / noise) ** 2 / 2
        return (
            divergence + math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1)
        )

    best = minimize_scalar(bound, bounds=(-8, 8), method="bounded").fun
    assert epsilon(noise, sendings, delta) == pytest.approx(best, rel=0.01)


@pytest.mark.parametrize(
    ("noise", "sendings", "theirs"),  # RdpAccountant of dp-accounting 0.6.0, its default orders
    [(2.0, 1, 4.728507), (4.0, 10, 8.079406), (10.0, 90, 10.058839), (40.0, 300, 4.011322)],
)
def test_epsilon_agrees_with_google_s_accountant(noise, sendings, theirs):
    assert epsilon(noise, sendings, 1e-5) == pytest.approx(theirs, rel=0.01)


def test_epsilon_is_above_that_of_the_exact_gaussian_mechanism():
    """Balle and Wang (2018): δ of n sendings is that of one with noise/√n, and is exact."""
    from scipy.stats import norm

    noise, sendings, delta = 10.0, 50, 1e-5
    distance = 2 * math.sqrt(sendings) / noise
    value = epsilon(noise, sendings, delta)

    def exact_delta(eps):
        shift = eps / distance
        return norm.cdf(distance / 2 - shift) - math.exp(eps) * norm.cdf(-distance / 2 - shift)

    assert exact_delta(value) <= delta
    assert exact_delta(0.8 * value) > delta


def test_no_noise_gives_no_bound():
    assert epsilon(0.0, 3, 1e-5) is None
    assert epsilon(0.0, 0, 1e-5) == 0


# --- Opacus ---------------------------------------------------------------------------------------


def test_only_privacy_needs_opacus(monkeypatch, tmp_path):
    monkeypatch.setattr("scdn.errors.find_spec", lambda _: None)
    monkeypatch.setitem(sys.modules, "opacus", None)  # importing it fails
    run(small_scenario("learning.rounds=1"), tmp_path / "without")
    with pytest.raises(InputError, match=r"opacus is not installed.*scdn\[privacy\]"):
        run(small_scenario("learning.rounds=1", *EMBEDDINGS), tmp_path / "with")


# --- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("learning", "words"),
    [
        ({"privacy": {"embedding_noise": 1.0}}, "needs embedding_clip"),
        ({"privacy": {"gradient_noise": 1.0}, "labels": "server"}, "needs gradient_clip"),
        ({"privacy": {"gradient_clip": 1.0}}, 'needs labels = "server"'),
        ({"privacy": {"embedding_clip": 1.0}, "unheard": "known"}, 'needs unheard = "imputed"'),
        ({"privacy": {"embedding_clip": 1.0}, "perturbation": 0.1}, "perturbation must be 0"),
        ({"privacy": {"delta": 0.0}}, "delta"),
        ({"privacy": {"embedding_clip": -1.0}}, "embedding_clip"),
        ({"privacy": {"noise": 1.0}}, "noise"),
    ],
)
def test_settings_that_do_not_fit_are_refused(learning, words):
    with pytest.raises(InputError, match=words):
        make_scenario({"fleet": [{"count": 2}], "learning": learning})
