"""Who takes part: first devices that lack rows or do not join, and those that come back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from federation_helpers import (
    THREE,
    after,
    device,
    export_features,
    federate,
    network_of,
    server,
    small_scenario,
    tampered,
)
from malicious_behaviours import BEHAVIOURS, behave

from scdn.errors import InputError
from scdn.federation.export_parties import LABELS_FILE
from scdn.federation.membership import MAX_PARTIES, MAX_REFUSALS, MAX_SILENT_DEPARTURES
from scdn.federation.row_alignment import devices_to_leave_out, hash_keys, read_labels
from scdn.federation.wire_format import Frame


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return export_features(tmp_path_factory.mktemp("parties"), "fleet.0.count=4")


@pytest.fixture(scope="module")
def labels(files):
    return read_labels(files / LABELS_FILE)


def with_rows(client, count, first=0):
    features, rows = client.features, slice(first, first + count)
    client.features = replace(features, keys=features.keys[rows], values=features.values[rows])
    return client


# --- which first devices are left out -------------------------------------------------------------


def left_out(labels, min_rows=0, **rows):
    keys = {name: hash_keys(labels.keys[a:b], "") for name, (a, b) in rows.items()}
    return devices_to_leave_out(labels, keys, "", min_rows)


def test_a_device_that_would_empty_the_alignment_is_left_out(labels):
    assert left_out(labels, a=(0, 1797), b=(0, 1797), c=(0, 0)) == ["c"]
    assert left_out(labels, a=(0, 1797), b=(0, 0)) == ["b"]
    assert left_out(labels, a=(0, 0)) == []  # then the run has no rows


def test_the_device_that_costs_most_rows_is_left_out_first(labels):
    rows = {"a": (0, 1700), "b": (100, 1797), "c": (1250, 1797), "d": (0, 1797)}
    assert left_out(labels, **rows) == ["c"]
    assert left_out(labels, min_rows=1650, **rows) == ["c", "b"]
    assert left_out(labels, min_rows=100, **rows) == []


def test_two_devices_that_share_few_rows_both_take_part(labels):
    assert left_out(labels, a=(0, 1700), b=(1200, 1797)) == []


@pytest.mark.parametrize("how", ["no_rows_at_all", "few_rows", "other_rows", "one_row_many_times"])
def test_a_run_starts_without_a_device_that_lacks_rows(files, tmp_path, how):
    network, log = network_of(files, *THREE), []
    behave(network, 2, BEHAVIOURS[f"hello: {how}"])
    run = federate(files, tmp_path / "run", network, "learning.rounds=2", log=log)
    assert run.end["status"] == "done"
    assert [d["id"] for d in run.rounds[0]["devices"]] == ["device-1", "device-3"]
    assert "device-2: lacks too many of the rows; refused" in log
    assert any("1797 rows are shared" in line for line in log)


def test_a_run_with_too_few_rows_is_refused(files, tmp_path):
    network = network_of(files, *THREE)
    federation = server(files, tmp_path / "run", network)
    federation.min_rows = 1798
    with pytest.raises(InputError, match=r"only 1797 are .*--min-rows 1798"):
        federation.run(small_scenario())


@pytest.mark.parametrize("how", ["refuses", "random_bytes", "wrong_types"])
def test_a_run_starts_without_a_device_that_does_not_join(files, tmp_path, how):
    network, log = network_of(files, *THREE), []
    behave(network, 2, BEHAVIOURS[f"join: {how}"])
    run = federate(files, tmp_path / "run", network, log=log)
    assert run.end["status"] == "done"
    assert all("device-2" not in [d["id"] for d in e["devices"]] for e in run.rounds)
    assert log.count("device-2: did not join; refused") == MAX_REFUSALS
    assert any(line.startswith("device-2: dismissed") for line in log)


# --- coming back ----------------------------------------------------------------------------------


def test_a_device_that_lacked_rows_may_come_back_with_a_mended_file(files, tmp_path):
    """Flower gives a device with a key the same node again."""
    network, log = network_of(files, *THREE), []
    whole, broken = device(files, "device-4"), with_rows(device(files, "device-4"), 100)

    def change(event, _):
        if event["round"] == 0:
            network.plug(9, broken)
        if event["round"] == 1:
            assert "lacks 1697 of the run's rows" in broken.stopped
            network.unplug(9)
        if event["round"] == 2:
            network.plug(9, whole)

    settings = ("learning.rounds=6",)
    run = federate(files, tmp_path / "run", network, *settings, on_round=change, log=log)
    assert [e["entered"] for e in run.rounds if e["entered"]] == [["device-4"]]
    assert "device-4: has joined, takes part from round 5" in log


def test_a_device_that_lacks_rows_again_and_again_is_dismissed(files, tmp_path):
    network, log = network_of(files, *THREE), []

    def reconnect(event, _):
        network.devices.pop(9, None)
        if event["round"] % 2 == 0:
            network.plug(9, with_rows(device(files, "device-4"), 100))

    settings = ("learning.rounds=9",)
    federate(files, tmp_path / "run", network, *settings, on_round=reconnect, log=log)
    assert sum("lacks 1697" in line for line in log) == MAX_REFUSALS
    assert any(line.startswith("device-4: dismissed") for line in log)


def test_a_device_that_comes_and_goes_does_not_fill_the_memory(files, tmp_path):
    network, log = network_of(files, *THREE), []

    def replace_device(event, _):
        network.devices.pop(100 + event["round"] - 1, None)
        network.plug(100 + event["round"], device(files, "device-4"))

    rounds = 2 * MAX_PARTIES + 6
    settings = (f"learning.rounds={rounds}",)
    run = federate(files, tmp_path / "run", network, *settings, on_round=replace_device, log=log)
    assert sum(len(event["entered"]) for event in run.rounds) == MAX_PARTIES
    assert any(f"which has joined {MAX_PARTIES} times; refused" in line for line in log)


def test_a_device_may_be_called_as_another_one_would_be_that_joins_again(files, tmp_path):
    """A second `device-1` is `device-1-2`, unless another device has that name."""
    network = network_of(files, *THREE)
    network.devices[3].name = "device-1-2"
    leave = after(1, lambda: network.unplug(1))
    return_ = after(4, lambda: network.plug(9, device(files, "device-1")))

    def change(event, simulation):
        leave(event, simulation)
        return_(event, simulation)

    run = federate(files, tmp_path / "run", network, "learning.rounds=7", on_round=change)
    assert [event["entered"] for event in run.rounds] == [[], [], [], [], [], ["device-1-3"], []]
    assert run.end["status"] == "done"


def test_a_party_has_left_once_its_device_is_back_as_another_one(files, tmp_path):
    """It was killed and has lost its model: nobody waits for the party that it was."""
    network, log = network_of(files, *THREE), []

    restart = after(1, lambda: network.plug(2, device(files, "device-2")))
    settings = {"on_round": restart, "log": log, "patience_s": 300.0}
    run = federate(files, tmp_path / "run", network, "learning.rounds=6", **settings)
    assert [event["entered"] for event in run.rounds] == [[], [], ["device-2-2"], [], [], []]
    assert [event["exited"] for event in run.rounds] == [[], [], [], ["device-2"], [], []]
    assert not any("dismissed" in line for line in log)


def test_a_device_that_joins_anew_without_ever_taking_a_step_is_dismissed(files, tmp_path):
    """It refuses to apply its update, and says that it is another party."""
    network, log = network_of(files, *THREE), []

    def lie(request, frame):
        if request.kind == "apply":
            ids = {key: request.fields[key] for key in ("run", "nonce")}
            return Frame("refused", {**ids, "reason": "not now"}, {})
        forgotten = {"party": "", "states": []} if request.kind == "hello" else {}
        return Frame(frame.kind, {**frame.fields, **forgotten}, frame.arrays)

    tampered(network, 2, lie)
    heard = {}

    def note(event, simulation):
        heard[event["round"]] = set(simulation.model.server.heard.parties)

    settings = {"log": log, "patience_s": 300.0, "on_round": note}
    run = federate(files, tmp_path / "run", network, "learning.rounds=8", **settings)
    assert "device-2" in heard[0]
    assert heard[7] == {"device-1", "device-3"}  # it has never reported: nothing of it is kept
    entered = [name for event in run.rounds for name in event["entered"]]
    assert entered == [f"device-2-{n}" for n in range(2, MAX_SILENT_DEPARTURES + 2)]
    assert "device-2-3: dismissed (it left so 3 times)" in log


def test_entries_and_departures_are_in_the_log(files, tmp_path):
    network, log = network_of(files, *THREE), []
    join = after(0, lambda: network.plug(4, device(files, "device-4")))
    leave = after(2, lambda: network.unplug(2))

    def change(event, simulation):
        join(event, simulation)
        leave(event, simulation)

    federate(files, tmp_path / "run", network, "learning.rounds=5", on_round=change, log=log)
    assert "device-4: has joined, takes part from round 3" in log
    assert "device-2: has left, in round 4" in log


def test_a_position_outside_of_the_region_is_not_used(files, tmp_path):
    network, log = network_of(files, "device-1", "device-2"), []
    network.plug(3, device(files, "device-3", position_m=(1e308, 0.0, 0.0)))
    network.devices[3].name = "guest"
    run = federate(files, tmp_path / "run", network, "learning.rounds=1", log=log)
    assert run.end["status"] == "done"
    assert "guest: its position is outside of the region, and not used" in log


def test_a_device_says_no_more_seconds_than_it_was_waited_for(files, tmp_path):
    network, log = network_of(files, *THREE), []
    behave(network, 2, BEHAVIOURS["days_of_computing"])
    run = federate(files, tmp_path / "run", network, "learning.rounds=2", log=log)
    assert sum("says it computed 9e+08 s" in line for line in log) == 1
    measured = [d["measured"] for e in run.rounds for d in e["devices"]]
    assert max(m["seconds"] for m in measured) < 100


def test_a_device_whose_connection_is_still_there_is_asked_again(files, tmp_path, monkeypatch):
    """Without keys a restarted device is another node, while Flower waits for the killed one."""
    monkeypatch.setattr("scdn.federation.membership._ASK_AGAIN_S", 0.0)
    network, log = network_of(files, *THREE), []

    def change(event, _):
        if event["round"] == 0:
            network.plug(9, network.devices[2])  # with the states of the one before
        if event["round"] == 1:
            network.unplug(2)

    settings = ("learning.rounds=5",)
    run = federate(files, tmp_path / "run", network, *settings, on_round=change, log=log)
    assert "node 9: calls itself device-2, which is connected already" in log
    assert {d["id"] for d in run.rounds[-1]["devices"]} >= {"device-1", "device-3"}
    assert np.array([e["federation"]["wrong"] == {} for e in run.rounds]).all()
    assert any(line.startswith("device-2") and "back" in line for line in log) or any(
        e["entered"] == ["device-2-2"] for e in run.rounds
    )
