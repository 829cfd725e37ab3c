"""Federated learning equals simulated learning, however the step is found, and if it goes wrong."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from federation_helpers import (
    THREE,
    Killed,
    export_features,
    federate,
    further_updates,
    largest_difference,
    lengthen_steps,
    network_of,
    server,
    small_scenario,
    tampered,
)

from scdn.federation.messages import MAX_STEP_LENGTH
from scdn.federation.wire_format import Frame, decode
from scdn.learning import local_parties, round_training
from scdn.learning.fusion_server import SEARCHED_LENGTHS
from scdn.learning.party_stack import PartyStack
from scdn.simulation.runner import run


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
        *(
            (STEP.format(step), OPTIMIZER.format("sgd"), 'learning.server_turn="parallel"')
            for step in ("searched", "fitted")
        ),
        ('learning.damping="active"', 'learning.server_turn="parallel"'),
        ('learning.input="masked"', "learning.server_rounds=2"),
        ('learning.smoothness="measured"', "learning.server_steps=0"),
        ('learning.model="linear"', 'learning.fusion_head="linear"'),
        ('learning.dataset="occupancy"', 'learning.split="blocks"'),  # with a metric of its own
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
    lengthen_steps(monkeypatch)


@pytest.mark.usefixtures("too_long")
@pytest.mark.parametrize("bits", [4, 32])
def test_a_shortened_step_is_applied_again(files, tmp_path, bits):
    simulated, federated = both(files, tmp_path, f"learning.number_bits={bits}")
    assert {event["step"]["shortenings"] for event in federated.rounds} & {1, 2}
    assert largest_difference(simulated.rounds, federated.rounds) < 1e-9


def test_parties_end_where_they_began_if_no_step_is_good_enough(files, tmp_path, monkeypatch):
    monkeypatch.setattr(round_training, "TOLERATED_RISE", 0.0)
    simulated, federated = both(files, tmp_path)
    assert [event["step"]["lengths"] for event in federated.rounds] == [[0.0]] * 4
    assert largest_difference(simulated.rounds, federated.rounds) < 1e-9


def test_devices_accept_every_length_that_the_server_tries():
    assert max(SEARCHED_LENGTHS) <= MAX_STEP_LENGTH


# --- replies that are not whole -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "kind", "array"),
    [
        ("searched", "embed", "held_out"),
        ("searched", "train", "held_out"),
        *(("searched", "apply", array) for array in ("drawn", "held_out", "sample", "table")),
        ("fitted", "train", "drawn"),
        ("rate", "train", "test"),
    ],
)
def test_a_reply_without_its_embeddings_counts_as_lost(files, tmp_path, step, kind, array):
    runs = []
    for strip in (True, False):
        network = network_of(files, *THREE)

        def lose(request, frame, *, strip=strip):
            if request.kind != kind:
                return frame
            kept = {name: table for name, table in frame.arrays.items() if name != array}
            assert len(kept) == len(frame.arrays) - 1
            return Frame(frame.kind, frame.fields, kept) if strip else None

        tampered(network, 2, lose)
        out, log = tmp_path / ("stripped" if strip else "lost"), []
        rounds = 1 if kind == "apply" else 2  # a device is ignored after three such replies
        settings = (f"learning.rounds={rounds}", "learning.table_rounds=3", STEP.format(step))
        runs.append(federate(files, out, network, *settings, log=log))
        dropped = f"device-2: invalid reply dropped (array '{array}' is missing)"
        assert (log.count(dropped) >= rounds) == strip  # more often, if a step is shortened
        missed = [event["federation"]["missed"] for event in runs[-1].rounds]
        assert missed == [["device-2"]] * rounds
    assert largest_difference(runs[0].rounds, runs[1].rounds) < 1e-12


def test_a_silent_device_is_waited_for_once_in_a_round(files, tmp_path):
    network, asked = network_of(files, *THREE), []

    def silence(event, _):
        asked.append([])
        if event["round"] == 1:
            tampered(network, 2, lambda request, _: asked[-1].append(request.kind))

    federated = federate(files, tmp_path / "run", network, on_round=silence)
    assert [event["federation"]["missed"] for event in federated.rounds[2:]] == [["device-2"]] * 2
    assert asked[1:3] == [["embed"], ["embed"]]


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
    assert federated.rounds[0]["step"]["shortenings"] >= 2
    assert federated.rounds[0]["federation"]["missed"] == []
    assert largest_difference(simulated.rounds, federated.rounds) < 1e-9


# --- the server trains on what devices sent -------------------------------------------------------


def test_the_server_trains_on_the_embeddings_that_devices_sent(files, tmp_path):
    network, sent = network_of(files, *THREE), {}  # by party, the rows last sent

    def recorded(node):
        def change(_, frame):
            tables = {
                name: frame.arrays[name] + node  # so that it is nobody's own embedding
                for name in ("drawn", "held_out", "sample", "test")
                if name in frame.arrays
            }
            if "drawn" in tables:
                rows = [tables["drawn"], tables["held_out"]]
                sent[network.devices[node].party] = np.concatenate(rows)
            return Frame(frame.kind, frame.fields, {**frame.arrays, **tables})

        return change

    for node in (1, 2, 3):
        tampered(network, node, recorded(node))

    def compare_rows(event, simulation):
        heard = simulation.model.server.recent.rounds[-1]
        assert heard.round == event["round"]
        assert heard.embeddings.keys() == set(THREE)
        assert int(heard.held_out.sum()) > 0
        cache = simulation.model.server.heard
        for party, table in heard.embeddings.items():
            np.testing.assert_array_equal(table.numpy(), sent[party])
            np.testing.assert_array_equal(cache.parties[party].values[heard.rows], sent[party])

    federate(files, tmp_path / "run", network, on_round=compare_rows)
    assert sent.keys() == set(THREE)


# --- a server that is killed and resumed ----------------------------------------------------------


@pytest.mark.usefixtures("too_long")
@pytest.mark.parametrize("round_", [1, 2])
@pytest.mark.parametrize("kind", ["embed", "train", "apply", "second apply"])
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
