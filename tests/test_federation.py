"""Federated runs with devices in this process: equal to simulations, whatever goes wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from federation_helpers import (
    THREE,
    Killed,
    after,
    device,
    differences,
    export_features,
    federate,
    largest_difference,
    network_of,
    scripted_scenario,
    server,
)

from scdn.errors import InputError
from scdn.federation import processes
from scdn.federation.device_client import DeviceClient
from scdn.federation.export_parties import export_parties
from scdn.federation.kept_states import KeptStates
from scdn.federation.messenger import MAX_WRONG_REPLIES, RawReply
from scdn.federation.row_alignment import read_features
from scdn.federation.wire_format import Frame, decode, encode
from scdn.file_io import write_atomic
from scdn.record.file_tail import FileTail
from scdn.simulation.runner import run
from scdn.world.churn import churn_trace


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The labels and the features of four devices."""
    folder = tmp_path_factory.mktemp("parties")
    return export_features(folder, "fleet.0.count=4", "learning.rounds=4")


@pytest.fixture(scope="module")
def undisturbed(files):
    return federate(files, files / "undisturbed", network_of(files, *THREE))


@pytest.fixture(scope="module")
def silenced(files):
    """A run in which the second device's replies are lost from round 1 on."""
    network = network_of(files, *THREE)
    silence = after(0, lambda: network.tamper.update({2: lost}))
    return federate(files, files / "silenced", network, on_round=silence)


# --- equal to a simulation ------------------------------------------------------------------------


def test_a_scripted_trace_gives_the_events_of_a_simulation(tmp_path):
    scenario, _ = scripted_scenario(tmp_path)
    simulated = run(scenario, tmp_path / "simulated")
    export_parties(scenario, churn_trace(scenario), tmp_path)
    network = network_of(tmp_path, *THREE)

    def join(event, _):
        if event["round"] == 0:
            network.plug(4, device(tmp_path, simulated.rounds[1]["entered"][0]))

    federated = server(tmp_path, tmp_path / "run", network).run(scenario, on_round=join)
    assert [event["entered"] for event in federated.rounds].count([]) == 4
    assert [event["exited"] for event in federated.rounds].count([]) == 4
    assert len(list(differences(simulated.rounds, federated.rounds))) > 300
    assert largest_difference(simulated.rounds, federated.rounds) < 1e-9
    assert largest_difference(simulated.end, federated.end) < 1e-9


def test_features_are_never_sent(files, tmp_path):
    """No column of a device's features can be found in what it sends."""
    network, sent = network_of(files, *THREE), []

    def recorded(node):
        def tamper(message_id, _, reply):
            sent.append(reply)
            return [RawReply(message_id, node, reply)]

        return tamper

    network.tamper = {node: recorded(node) for node in (1, 2, 3)}
    federate(files, tmp_path / "run", network, "learning.rounds=2")
    values = network.devices[1].features.values
    arrays = [a for raw in sent for a in decode(raw).arrays.values() if a.dtype.kind == "f"]
    assert len(arrays) > 10
    for array in arrays:
        assert array.shape[-1] == 10  # the width of an embedding, for each row
        for column in array.reshape(-1, 10)[:50].T:
            assert not any(np.array_equal(column, values[: len(column), c]) for c in range(8))


# --- invalid and late replies ---------------------------------------------------------------------


def lost(*_):
    return []


def cut(message_id, _, reply):
    return [RawReply(message_id, 2, reply[: len(reply) // 2])]


def empty(message_id, *_):
    return [RawReply(message_id, 2, b"")]


def from_another_node(message_id, _, reply):
    return [RawReply(message_id, 7, reply)]


def duplicated(message_id, _, reply):
    return [RawReply(message_id, 2, reply)] * 2


def not_finite(message_id, _, reply):
    raw = bytearray(reply)
    raw[-8:] = np.float64("nan").tobytes()
    return [RawReply(message_id, 2, bytes(raw))]


def changed(change):
    def tamper(message_id, _, reply):
        frame = decode(reply)
        return [RawReply(message_id, 2, encode(Frame(*change(frame))))]

    return tamper


def with_fields(**fields):
    return changed(lambda frame: (frame.kind, {**frame.fields, **fields}, frame.arrays))


def with_arrays(convert):
    return changed(
        lambda frame: (frame.kind, frame.fields, {k: convert(a) for k, a in frame.arrays.items()})
    )


def replayed(first):
    return lambda message_id, *_: [RawReply(message_id, 2, first)]


INVALID = {
    "cut": cut,
    "empty": empty,
    "other node": from_another_node,
    "shape": with_arrays(lambda array: array[:-1]),
    "integers": with_arrays(lambda array: array.astype(np.int64)),
    "not finite": not_finite,
    "negative": with_fields(smoothness=-1.0, seconds=-1.0),
    "unknown field": with_fields(more=1),
    "unknown array": changed(
        lambda frame: (frame.kind, frame.fields, {**frame.arrays, "more": np.zeros(3)})
    ),
    "other kind": changed(lambda frame: ("goodbye", frame.fields, frame.arrays)),
    "other nonce": with_fields(nonce="0"),
    "other run": with_fields(run="0"),
}


@pytest.mark.parametrize("how", INVALID)
def test_invalid_replies_count_as_lost_and_are_logged(files, tmp_path, silenced, how):
    """After three of them, the device has left."""
    network, log = network_of(files, *THREE), []
    tamper = after(0, lambda: network.tamper.update({2: INVALID[how]}))
    federated = federate(files, tmp_path / "run", network, on_round=tamper, log=log)
    assert largest_difference(silenced.rounds, federated.rounds) < 1e-12
    assert federated.rounds[-1]["federation"]["wrong"] == {"device-2": MAX_WRONG_REPLIES}
    assert sum("device-2: invalid reply dropped" in line for line in log) == MAX_WRONG_REPLIES
    assert any("ignored from now on" in line for line in log)
    assert federated.rounds[3]["exited"] == ["device-2"]


def test_a_replayed_reply_is_invalid(files, tmp_path, silenced):
    network, genuine = network_of(files, *THREE), []

    def record(message_id, _, reply):
        genuine.append(reply)
        return [RawReply(message_id, 2, reply)]

    network.tamper[2] = record
    replay = after(0, lambda: network.tamper.update({2: replayed(genuine[-1])}))
    federated = federate(files, tmp_path / "run", network, on_round=replay)
    assert len(genuine) > 2
    assert largest_difference(silenced.rounds, federated.rounds) < 1e-12
    assert federated.rounds[-1]["federation"]["wrong"] == {"device-2": MAX_WRONG_REPLIES}


def test_a_duplicated_reply_counts_once(files, tmp_path, undisturbed):
    network, log = network_of(files, *THREE), []
    network.tamper[2] = duplicated
    federated = federate(files, tmp_path / "run", network, log=log)
    assert largest_difference(undisturbed.rounds, federated.rounds) < 1e-12
    assert any("reply to no pending request" in line for line in log)


def test_late_replies_are_dropped_counted_and_logged(files, tmp_path, silenced):
    network, log, held = network_of(files, *THREE), [], []

    def hold(message_id, _, reply):
        held.append((message_id, reply))
        return []

    def deliver(event, _):
        if event["round"] == 0:
            network.tamper[2] = hold
        else:
            network.replies |= {id_: [RawReply(id_, 2, reply)] for id_, reply in held}

    federated = federate(files, tmp_path / "run", network, on_round=deliver, log=log)
    assert largest_difference(silenced.rounds, federated.rounds) < 1e-12
    assert federated.rounds[-1]["federation"]["late"]["device-2"] >= 1
    assert federated.rounds[-1]["federation"]["wrong"] == {}
    assert any("device-2: reply arrived too late" in line for line in log)


# --- devices that leave, fall silent and come back ------------------------------------------------


def test_disconnecting_is_leaving_and_embeddings_stay(files, tmp_path):
    network = network_of(files, *THREE)
    leave = after(1, lambda: network.unplug(2))
    federated = federate(files, tmp_path / "run", network, on_round=leave)
    assert [event["exited"] for event in federated.rounds] == [[], [], ["device-2"], []]
    assert "future" in federated.rounds[-1]["metrics"]
    assert [len(event["devices"]) for event in federated.rounds] == [3, 3, 3, 2]


def test_silence_is_a_failed_link_and_three_silent_rounds_are_leaving(silenced):
    rounds, silent = silenced.rounds, ["device-2"]
    assert [event["federation"]["missed"] for event in rounds] == [[], silent, silent, silent]
    assert [event["link_failed"] for event in rounds] == [[], silent, silent, []]
    assert [event["exited"] for event in rounds] == [[], [], [], silent]
    for event in rounds[1:3]:
        (entry,) = [entry for entry in event["devices"] if entry["id"] == "device-2"]
        assert entry["bits_sent"] == 0
        spent = entry["power_w"] * silenced.scenario["max_delay_s"]
        assert entry["transmission_j"] == pytest.approx(spent)


def test_a_device_that_replies_again_continues(files, tmp_path):
    network = network_of(files, *THREE)

    def lose_round_1(event, _):
        network.tamper = {2: lost} if event["round"] == 0 else {}

    federated = federate(files, tmp_path / "run", network, on_round=lose_round_1)
    assert [event["link_failed"] for event in federated.rounds] == [[], ["device-2"], [], []]
    assert all(event["exited"] == [] for event in federated.rounds)


def test_a_device_that_is_back_too_late_joins_as_a_new_party(files, tmp_path):
    network = network_of(files, *THREE)

    def without_training(message_id, raw, reply):
        return [] if decode(raw).kind == "train" else [RawReply(message_id, 2, reply)]

    def tamper(event, _):
        network.tamper = {2: without_training} if event["round"] < 3 else {}

    federated = federate(files, tmp_path / "run", network, "learning.rounds=6", on_round=tamper)
    assert federated.rounds[3]["exited"] == ["device-2"]
    assert federated.rounds[3]["entered"] == ["device-2-2"]
    assert [len(event["devices"]) for event in federated.rounds] == [3] * 6
    assert "device-2-2" not in federated.rounds[5]["federation"]["missed"]


def test_an_update_whose_reply_was_lost_is_taken_back(files, tmp_path):
    """The device has applied it, the server does not know: both continue from the state before."""
    network = network_of(files, *THREE)

    def without_applied(message_id, raw, reply):
        return [] if decode(raw).kind == "apply" else [RawReply(message_id, 2, reply)]

    def tamper(event, _):
        network.tamper = {2: without_applied} if event["round"] == 0 else {}

    federated = federate(files, tmp_path / "run", network, on_round=tamper)
    assert federated.rounds[1]["federation"]["missed"] == ["device-2"]
    assert network.devices[2].states.keys() == {2, 3}  # of three updates, the last two


def test_a_restarted_device_that_saved_its_state_continues(files, tmp_path):
    state, network = KeptStates(tmp_path / "state"), network_of(files, *THREE)
    network.plug(2, device(files, "device-2", kept=state))
    restart = after(0, lambda: network.plug(2, device(files, "device-2", kept=state)))
    federated = federate(files, tmp_path / "run", network, on_round=restart)
    assert [event["exited"] for event in federated.rounds] == [[]] * 4
    assert federated.rounds[1]["link_failed"] == ["device-2"]  # until it was asked for its name
    assert federated.rounds[2]["link_failed"] == []


def test_a_restarted_device_without_a_saved_state_joins_as_a_new_party(files, tmp_path):
    network = network_of(files, *THREE)

    def restart():
        network.unplug(2)
        network.plug(9, device(files, "device-2"))

    federated = federate(files, tmp_path / "run", network, on_round=after(0, restart))
    assert federated.rounds[1]["exited"] == ["device-2"]
    assert federated.rounds[1]["entered"] == ["device-2-2"]


# --- devices that join ----------------------------------------------------------------------------


def test_a_device_that_connects_joins_the_run(files, tmp_path):
    network = network_of(files, *THREE)
    join = after(0, lambda: network.plug(9, device(files, "device-4")))
    federated = federate(files, tmp_path / "run", network, on_round=join)
    assert [event["entered"] for event in federated.rounds] == [[], ["device-4"], [], []]
    assert [len(event["devices"]) for event in federated.rounds] == [3, 3, 4, 4]


def test_a_device_cannot_take_the_name_of_another(files, tmp_path):
    network, log = network_of(files, *THREE), []
    network.plug(8, device(files, "device-1"))
    network.plug(9, device(files, "device-4"), key_name="device-3")
    federated = federate(files, tmp_path / "run", network, log=log)
    assert all(len(event["devices"]) == 3 for event in federated.rounds)
    assert any("which is connected already" in line for line in log)
    assert any("its key belongs to device-3" in line for line in log)


def test_a_device_cannot_take_the_name_of_another_devices_party(files, tmp_path):
    network = network_of(files, *THREE)
    namesake = DeviceClient("device-2-2", read_features(files / "device-4.npz"))

    def change(event, _):
        if event["round"] == 0:  # device-2 restarts without its state
            network.unplug(2)
            network.plug(8, device(files, "device-2"))
        if event["round"] == 1:
            network.plug(9, namesake)

    federated = federate(files, tmp_path / "run", network, on_round=change)
    entered = [event["entered"] for event in federated.rounds]
    assert entered == [[], ["device-2-2"], ["device-2-2-2"], []]


def test_a_device_without_all_rows_of_the_run_is_refused(files, tmp_path):
    network, log = network_of(files, *THREE), []
    joining = device(files, "device-4")
    features = joining.features
    joining.features = replace(features, keys=features.keys[:100], values=features.values[:100])
    join = after(0, lambda: network.plug(9, joining))
    federated = federate(files, tmp_path / "run", network, on_round=join, log=log)
    assert all(event["entered"] == [] for event in federated.rounds)
    assert any("lacks 1697 of the run's rows" in line for line in log)
    assert "lacks 1697" in joining.stopped


# --- a server that is killed and resumed ----------------------------------------------------------


@pytest.mark.parametrize("round_", [1, 3])
@pytest.mark.parametrize("damping", ["fitted", "active"])
def test_a_resumed_server_ends_as_if_it_had_not_stopped(files, tmp_path, round_, damping):
    setting = f'learning.damping="{damping}"'
    plain = federate(files, tmp_path / "plain", network_of(files, *THREE), setting)
    network, out = network_of(files, *THREE), tmp_path / "run"
    push = network.push

    def killed_in_round(node, raw, lasts_s):
        """Some devices have got their request, the third has not."""
        frame = decode(raw)
        if frame.kind == "train" and frame.fields["round"] == round_ and node == 3:
            raise Killed
        return push(node, raw, lasts_s)

    network.push = killed_in_round
    with pytest.raises(Killed):
        federate(files, out, network, setting)
    network.push = push
    resumed = server(files, out, network).resume()
    assert largest_difference(plain.rounds, resumed.rounds) < 1e-12
    assert largest_difference(plain.end, resumed.end) < 1e-12


def test_a_run_is_not_resumed_with_other_labels(files, tmp_path):
    network, out = network_of(files, *THREE), tmp_path / "run"

    def kill():
        raise Killed

    with pytest.raises(Killed):
        federate(files, out, network, on_round=after(0, kill))
    labels = server(files, out, network).labels
    other = {"keys": labels.keys[:-5] + ["?"] * 5, "test": ~labels.test}
    with pytest.raises(InputError, match="not those the run began with"):
        server(files, out, network, **other).resume()


def test_a_run_is_not_resumed_with_shuffled_labels(files, tmp_path):
    """The keys are the same, but not their labels."""

    def stop(*_):
        raise Killed

    network, out = network_of(files, *THREE), tmp_path / "run"
    with pytest.raises(Killed):
        federate(files, out, network, on_round=stop)
    targets = np.roll(server(files, out, network).labels.targets, 1)
    with pytest.raises(InputError, match="are not those the run began with"):
        server(files, out, network, targets=targets).resume()


def test_lines_of_a_resumed_run_are_shown_once(tmp_path):
    events, shown = tmp_path / "events.jsonl", []
    tail = FileTail(events)
    events.write_text("start\nround 0\nround 1\n")
    processes._show_new_lines(tail, lambda name, line: shown.append((name, line)))
    write_atomic(events, "start\nround 0\n")  # cut back to the checkpoint
    processes._show_new_lines(tail, lambda name, line: shown.append((name, line)))
    with events.open("a") as file:
        file.write("round 1\n")
    processes._show_new_lines(tail, lambda name, line: shown.append((name, line)))
    lines = ["start", "round 0", "round 1", "round 1"]
    assert shown == [("events.jsonl", line) for line in lines]
