"""Federated learning equals simulated learning, however the step is found, and if it goes wrong."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from federation_helpers import (
    THREE,
    Killed,
    device,
    export_features,
    federate,
    largest_difference,
    network_of,
    server,
    small_scenario,
)

from scdn.federation.device_client import DeviceClient
from scdn.federation.messages import MAX_STEP_LENGTH
from scdn.federation.messenger import RawReply
from scdn.federation.wire_format import Frame, decode, encode
from scdn.learning import local_parties, round_training
from scdn.learning.fusion_server import SEARCHED_LENGTHS, FusionServer
from scdn.learning.party_stack import PartyStack
from scdn.simulation.runner import run

FEW_ROWS = ("learning.sample_rows=64", "learning.batch_size=8")  # of which few occur twice


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The labels and the features of three devices."""
    return export_features(tmp_path_factory.mktemp("parties"), "learning.rounds=4")


def both(files, out, *settings, before=lambda: None):
    """Return a simulated and a federated run; `before` is called before each of them."""
    before()
    simulated = run(small_scenario("learning.rounds=4", *settings), out / "simulated")
    before()
    federated = federate(files, out / "federated", network_of(files, *THREE), *settings)
    return simulated, federated


def state_differences(simulation, network):
    """Return how far embeddings on the server are from those of the devices' states, by party."""
    gaps = {}
    for client in network.devices.values():
        known = simulation.remote.parties[client.party]
        parties = client._at(client.run, known.state)
        rows = torch.nonzero(known.current).flatten()
        (train,) = parties.embed(rows, "table", parties.names).values()
        (sent,) = parties.evaluation_embeddings(parties.names)
        gaps[client.party] = max(
            float((train - known.train[rows]).abs().max()),
            float((sent.test[0] - known.test).abs().max()),
        )
    return gaps


# --- equal to a simulation ------------------------------------------------------------------------

STEP, OPTIMIZER = 'learning.step="{}"', 'learning.server_optimizer="{}"'


@pytest.mark.parametrize(
    "settings",
    [
        *(
            (STEP.format(step), OPTIMIZER.format(optimizer))
            for step in ("searched", "fitted", "rate")
            for optimizer in ("adam", "sgd")
        ),
        *((STEP.format(step), "learning.refresh=3", *FEW_ROWS) for step in ("searched", "rate")),
        ('learning.damping="active"', 'learning.server_turn="parallel"'),
        ('learning.input="masked"', "max_delay_s=0.1", "learning.server_rounds=2"),
        ('learning.smoothness="measured"', "learning.server_steps=0"),
        ("method=sc-dn-dropout",),
        ("method=zoc",),
    ],
    ids=lambda settings: ",".join(s.rpartition(".")[2].replace('"', "") for s in settings),
)
def test_every_setting_gives_the_events_of_a_simulation(tmp_path, settings):
    files = export_features(tmp_path, "learning.rounds=4", *settings)
    simulated, federated = both(files, tmp_path, *settings)
    assert simulated.rounds[1]["active"]
    assert largest_difference(simulated.rounds, federated.rounds) < 1e-9
    assert largest_difference(simulated.end, federated.end) < 1e-9


@pytest.fixture
def too_long(monkeypatch):
    """The server finds steps that are too long, and has to shorten them."""
    best = FusionServer.best_step_length

    def longer(*arguments):
        return min(16 * best(*arguments), MAX_STEP_LENGTH)

    monkeypatch.setattr(FusionServer, "best_step_length", longer)


@pytest.mark.usefixtures("too_long")
@pytest.mark.parametrize("refresh", [1, 3])
def test_a_shortened_step_is_applied_again(files, tmp_path, refresh):
    simulated, federated = both(files, tmp_path, f"learning.refresh={refresh}", *FEW_ROWS)
    assert {event["step"]["shortenings"] for event in federated.rounds} & {1, 2}
    assert largest_difference(simulated.rounds, federated.rounds) < 1e-9


def test_parties_end_where_they_began_if_no_step_is_good_enough(files, tmp_path, monkeypatch):
    monkeypatch.setattr(round_training, "TOLERATED_RISE", 0.0)
    simulated, federated = both(files, tmp_path)
    assert [event["step"]["lengths"] for event in federated.rounds] == [[0.0]] * 4
    assert largest_difference(simulated.rounds, federated.rounds) < 1e-9


def test_devices_accept_every_length_that_the_server_tries():
    assert max(SEARCHED_LENGTHS) <= MAX_STEP_LENGTH


# --- a device that misses further requests to apply an update -------------------------------------


def further_updates():
    """Return a function that says whether a node was asked to apply its update before."""
    counts = {}

    def is_further(node, raw):
        kind = decode(raw).kind
        if kind == "train":
            counts[node] = 0
        elif kind == "apply":
            counts[node] += 1
        return kind == "apply" and counts[node] > 1

    return is_further


def lose_reply(network, push, request):
    """The device applies the update, but the server does not hear of it."""
    message_id = push(*request)
    network.replies[message_id] = []
    return message_id


def lose_request(_, push, request):
    return push(-1, *request[1:])


def restart(network, push, request):
    """The device's process ends and starts again, before it gets the request."""
    before = network.devices[2]
    network.devices[2] = DeviceClient(before.name, before.features, before.state_file)
    return push(*request)


@pytest.mark.usefixtures("too_long")
@pytest.mark.parametrize("refresh", [1, 3])
@pytest.mark.parametrize("disturb", [lose_reply, lose_request, restart])
def test_a_device_that_misses_a_shorter_step_goes_on_from_the_state_the_server_knows(
    files, tmp_path, disturb, refresh
):
    """It stays as far as the first request said, and is not taken for silent."""
    state, network = tmp_path / "state.npz", network_of(files, *THREE)
    network.plug(2, device(files, "device-2", state_file=state))
    gaps, disturbed, push, is_further = [], [], network.push, further_updates()

    def disturbed_push(*request):
        node, raw, _ = request
        if not is_further(node, raw) or node != 2:
            return push(*request)
        disturbed.append(request)
        return disturb(network, push, request)

    network.push = disturbed_push

    def compare_states(_, simulation):
        gaps.append(state_differences(simulation, network))

    settings = (f"learning.refresh={refresh}", *FEW_ROWS)
    federated = federate(files, tmp_path / "run", network, *settings, on_round=compare_states)
    assert disturbed
    assert max(max(by_party.values()) for by_party in gaps) < 1e-12
    assert all(event["exited"] == [] for event in federated.rounds)
    assert all(event["federation"]["missed"] == [] for event in federated.rounds)
    assert all(event["link_failed"] == [] for event in federated.rounds)


@pytest.mark.parametrize(
    ("step", "kind", "array"),
    [("searched", "train", "trained"), ("searched", "apply", "train"), ("rate", "train", "test")],
)
def test_a_reply_without_its_embeddings_counts_as_lost(files, tmp_path, step, kind, array):
    runs = []
    for strip in (True, False):
        network = network_of(files, *THREE)

        def tamper(message_id, raw, reply, *, strip=strip):
            frame = decode(reply)
            if decode(raw).kind == kind:
                kept = {name: table for name, table in frame.arrays.items() if name != array}
                frame = Frame(frame.kind, frame.fields, kept)
                return [RawReply(message_id, 2, encode(frame))] if strip else []
            return [RawReply(message_id, 2, reply)]

        network.tamper[2] = tamper
        out = tmp_path / ("stripped" if strip else "lost")
        runs.append(federate(files, out, network, "learning.rounds=2", STEP.format(step)))
        assert [event["federation"]["missed"] for event in runs[-1].rounds] == [["device-2"]] * 2
    assert largest_difference(runs[0].rounds, runs[1].rounds) < 1e-12


def test_a_silent_device_is_waited_for_at_most_twice_in_a_round(files, tmp_path):
    network, asked = network_of(files, *THREE), []

    def silence(event, _):
        asked.append([])
        if event["round"] == 1:
            network.tamper[2] = lambda _, raw, __: asked[-1].append(decode(raw).kind) or []

    settings = ("learning.refresh=8", *FEW_ROWS)
    federated = federate(files, tmp_path / "run", network, *settings, on_round=silence)
    assert [event["federation"]["missed"] for event in federated.rounds[2:]] == [["device-2"]] * 2
    assert asked[1:3] == [["train"], ["embed", "train"]]


# --- parties whose numbers are no longer finite ---------------------------------------------------


def diverges(monkeypatch, rounds):
    """Let device-2's training diverge in some rounds; return a function that begins a run."""
    calls, train_stack = [], local_parties.train_stack

    def train(training):
        trained = train_stack(training)
        if "device-2" in trained.names:
            calls.append(trained)
            if len(calls) - 1 in rounds:
                number = trained.names.index("device-2")
                for parameter in trained.parameters.values():
                    parameter[number] = torch.inf
        return trained

    monkeypatch.setattr(local_parties, "train_stack", train)
    return calls.clear


@pytest.mark.parametrize("rounds", [{1}, {0, 1, 2, 3}])
def test_a_party_that_diverges_is_left_out_of_the_step(files, tmp_path, monkeypatch, rounds):
    simulated, federated = both(files, tmp_path, before=diverges(monkeypatch, rounds))
    for event in federated.rounds:
        assert event["step"]["diverged"] == (["device-2"] if event["round"] in rounds else [])
        assert event["federation"]["missed"] == event["link_failed"] == []
    assert largest_difference(simulated.rounds, federated.rounds) < 1e-9


@pytest.mark.parametrize("step", ["fitted", "rate"])
def test_a_device_that_diverges_without_a_search_has_failed(files, tmp_path, monkeypatch, step):
    """A simulation ends there; a federation goes on without the device's update."""
    network, log = network_of(files, *THREE), []
    diverges(monkeypatch, {1})
    setting = STEP.format(step)
    federated = federate(files, tmp_path / "run", network, setting, log=log)
    missed = [event["federation"]["missed"] for event in federated.rounds]
    assert missed == [[], ["device-2"], [], []]
    assert "device-2: training diverged" in log
    assert network.devices[2].states.keys() == {2, 3}


def test_a_step_is_shortened_where_numbers_are_no_longer_finite(files, tmp_path, monkeypatch):
    interpolate = PartyStack.interpolate

    def overflow(stack, other, step_length):
        moved = interpolate(stack, other, step_length)
        if "device-2" in moved.names and step_length > 4:
            number = moved.names.index("device-2")
            for parameter in moved.parameters.values():
                parameter[number] = torch.inf
        return moved

    monkeypatch.setattr(PartyStack, "interpolate", overflow)
    simulated, federated = both(files, tmp_path)
    assert federated.rounds[0]["step"]["shortenings"] == 2
    assert federated.rounds[0]["federation"]["missed"] == []
    assert largest_difference(simulated.rounds, federated.rounds) < 1e-9


# --- the server trains on what devices sent -------------------------------------------------------


@pytest.mark.parametrize("refresh", [1, 3])
def test_the_server_trains_on_the_embeddings_that_devices_sent(files, tmp_path, refresh):
    network, sent = network_of(files, *THREE), {}  # by party and row, the last embedding sent

    def record(node):
        def tamper(message_id, raw, reply):
            request, frame, party = decode(raw), decode(reply), network.devices[node].party
            if "train" in frame.arrays:
                table = frame.arrays["train"] + node  # so that it is nobody's own embedding
                rows = request.arrays.get("rows", np.arange(len(table)))
                sent.setdefault(party, {}).update(zip(rows.tolist(), table, strict=True))
                frame = Frame(frame.kind, frame.fields, {**frame.arrays, "train": table})
            return [RawReply(message_id, node, encode(frame))]

        return tamper

    network.tamper = {node: record(node) for node in (1, 2, 3)}

    def compare_rows(event, simulation):
        heard = simulation.model.server.recent.rounds[-1]
        assert heard.round == event["round"]
        assert heard.embeddings.keys() == set(THREE)
        assert int(heard.held_out.sum()) > 0
        for party, table in heard.embeddings.items():
            expected = np.stack([sent[party][row] for row in heard.rows.tolist()])
            np.testing.assert_array_equal(table.numpy(), expected)

    settings = (f"learning.refresh={refresh}", *FEW_ROWS)
    federate(files, tmp_path / "run", network, *settings, on_round=compare_rows)
    assert sent.keys() == set(THREE)


# --- a server that is killed and resumed ----------------------------------------------------------


@pytest.mark.usefixtures("too_long")
@pytest.mark.parametrize("round_", [1, 3])
@pytest.mark.parametrize("kind", ["train", "apply", "second apply"])
def test_a_resumed_server_ends_as_if_it_had_not_stopped(files, tmp_path, kind, round_):
    """Rows of recent rounds and the rates that were found are in the checkpoint."""
    plain = federate(files, tmp_path / "plain", network_of(files, *THREE))
    network, out, rounds = network_of(files, *THREE), tmp_path / "run", []
    push, is_further = network.push, further_updates()

    def killed_in_round(node, raw, lasts_s):
        """Some devices have got their request, the third has not."""
        further = is_further(node, raw)
        wanted = further if kind == "second apply" else decode(raw).kind == kind
        if wanted and len(rounds) == round_ and node == 3:
            raise Killed
        return push(node, raw, lasts_s)

    network.push = killed_in_round
    with pytest.raises(Killed):
        federate(files, out, network, on_round=lambda event, _: rounds.append(event))
    network.push = push
    resumed = server(files, out, network).resume()
    assert largest_difference(plain.rounds, resumed.rounds) < 1e-12
    assert largest_difference(plain.end, resumed.end) < 1e-12
