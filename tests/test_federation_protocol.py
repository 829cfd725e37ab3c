"""A round's messages: equal to a simulation in any number of bits, whichever of them is lost."""

from __future__ import annotations

import itertools
from itertools import pairwise

import numpy as np
import pytest
import torch
from federation_helpers import (
    THREE,
    Killed,
    after,
    device,
    differences,
    export_features,
    federate,
    further_updates,
    largest_difference,
    lengthen_steps,
    network_of,
    scripted_scenario,
    server,
    tampered,
)

from scdn.control.max_vfl import at_maximum
from scdn.control.plan import make_plan
from scdn.federation.device_client import DeviceClient
from scdn.federation.export_parties import export_parties
from scdn.federation.kept_states import KeptStates
from scdn.federation.wire_format import Frame, decode
from scdn.learning.local_parties import LocalParties
from scdn.methods import Method
from scdn.simulation.runner import run
from scdn.world.churn import churn_trace

FOUR_BITS = ("learning.number_bits=4", "learning.table_rounds=3")
TWO_BITS = ("learning.number_bits=2", 'learning.step="rate"')


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The labels and the features of three devices."""
    return export_features(tmp_path_factory.mktemp("parties"), "learning.rounds=4")


def scripted_network(folder, scenario, **options):
    """Return a network to which the device that enters later is connected from the start."""
    export_parties(scenario, churn_trace(scenario), folder)
    network = network_of(folder)
    for node, name in enumerate(churn_trace(scenario).fleet.id.tolist(), 1):
        network.plug(node, device(folder, name, **options))
    return network


# --- equal to a simulation ------------------------------------------------------------------------

STEPS, OPTIMIZERS = ("searched", "fitted", "rate"), ("adam", "sgd")
BITS, TABLE_ROUNDS = (32, 4, 2), (0, 3)


@pytest.mark.parametrize(
    ("bits", "step", "optimizer", "table_rounds"),
    list(itertools.product(BITS, STEPS, OPTIMIZERS, TABLE_ROUNDS)),
)
def test_an_exit_and_an_entry_have_the_events_of_a_simulation(
    tmp_path, bits, step, optimizer, table_rounds
):
    settings = {
        "number_bits": bits,
        "step": f'"{step}"',
        "server_optimizer": f'"{optimizer}"',
        "table_rounds": table_rounds,
    }
    scenario, _ = scripted_scenario(
        tmp_path, *(f"learning.{name}={value}" for name, value in settings.items())
    )
    simulated = run(scenario, tmp_path / "simulated")
    network, heard = scripted_network(tmp_path, scenario), []

    def count_rows(_, simulation):
        cache = simulation.model.server.heard.parties
        heard.append({name: float(rows.heard.double().mean()) for name, rows in cache.items()})

    log = []
    federated = server(tmp_path, tmp_path / "run", network, log).run(scenario, on_round=count_rows)
    assert [event["exited"] for event in federated.rounds].count([]) == 4
    assert [event["entered"] for event in federated.rounds].count([]) == 4
    assert len(list(differences(simulated.rounds, federated.rounds))) > 300
    assert largest_difference(simulated.rounds, federated.rounds) < 1e-9
    assert largest_difference(simulated.end, federated.end) < 1e-9
    assert not any("dropped" in line or "refused" in line for line in log)
    assert (heard[2]["device-1"] == 1.0) == (table_rounds == 3)  # a whole table in three rounds


@pytest.mark.parametrize("bits", [32, 4])
@pytest.mark.parametrize("turn", ["parallel", "after"])
def test_the_ledger_has_the_bits_that_were_sent(files, tmp_path, bits, turn):
    settings = (f"learning.number_bits={bits}", 'learning.precision="float32"')
    settings += (f'learning.server_turn="{turn}"', "learning.table_rounds=3")
    federated = federate(files, tmp_path / "run", network_of(files, *THREE), *settings)
    entries = [entry for event in federated.rounds for entry in event["devices"]]
    assert len(entries) == 12
    for entry in entries:
        sent = entry["measured"]
        assert 8 * sent["payload_up"] == pytest.approx(entry["bits_sent"], rel=0.03)
        assert 8 * sent["payload_down"] == pytest.approx(entry["bits_received"], rel=0.03)


def often_idle(problem, _):
    """Everything at its maximum, but in round 0 the second device has no iterations."""
    idle = problem.importance.max() == 1.0  # as in round 0
    iterations = problem.iteration_limit()
    iterations[1] = 0.0 if idle else iterations[1]
    decision = at_maximum(problem, problem.server_m, iterations=iterations)
    return make_plan(problem, "greedy", "heuristic", decision, 0.0)


OFTEN_IDLE = Method("often-idle", often_idle)


@pytest.mark.parametrize("bits", [32, 4])
def test_devices_without_an_update_are_billed_for_what_they_send(tmp_path, monkeypatch, bits):
    """The first device's training diverges, and the second has none at first."""
    train = LocalParties.train

    def diverging(parties, task):
        stats = train(parties, task)
        for stack in parties._trained:
            if "device-1" in stack.names:
                for parameter in stack.parameters.values():
                    parameter[stack.names.index("device-1")] = torch.nan
        return stats

    monkeypatch.setattr(LocalParties, "train", diverging)
    method = "method=test_federation_protocol:OFTEN_IDLE"
    settings = (f"learning.number_bits={bits}", "learning.table_rounds=3", method)
    scenario, _ = scripted_scenario(tmp_path, *settings)
    simulated = run(scenario, tmp_path / "simulated")
    network = scripted_network(tmp_path, scenario)
    federated = server(tmp_path, tmp_path / "run", network).run(scenario)
    assert all(event["step"]["diverged"] == ["device-1"] for event in federated.rounds)
    assert federated.rounds[0]["devices"][1]["executed_iterations"] == 0
    assert largest_difference(simulated.rounds, federated.rounds) < 1e-9
    for event in federated.rounds:
        for entry in event["devices"]:
            if entry["id"] not in event["exited"]:
                sent, received = entry["measured"], entry["bits_received"] - 256  # the orders
                assert 8 * sent["payload_up"] == pytest.approx(entry["bits_sent"], rel=0.03)
                assert 8 * sent["payload_down"] == pytest.approx(received, rel=0.03)


def test_a_table_may_have_more_parts_than_rows(files, tmp_path):
    """Each has one row; after the last row the first is sent again."""
    network, asked = network_of(files, *THREE), []

    def skip_to_the_end(_, simulation):
        for rows in simulation.model.server.heard.parties.values():
            asked.append(rows.table_parts)
            rows.table_parts = 1990

    settings = ("learning.table_rounds=2000", "learning.rounds=3")
    federated = federate(files, tmp_path / "run", network, *settings, on_round=skip_to_the_end)
    assert asked == [1, 1, 1, *[1991] * 6]
    assert all(event["federation"]["missed"] == [] for event in federated.rounds)


# --- messages that are lost -----------------------------------------------------------------------


def lose_reply(network, push, request):
    """The device does what it is asked to, but the server does not hear of it."""
    message_id = push(*request)
    network.replies[message_id] = []
    return message_id


def lose_request(_, push, request):
    return push(-1, *request[1:])


def restart(network, push, request):
    """The device's process ends and starts again, before it gets the request."""
    before = network.devices[2]
    network.devices[2] = DeviceClient(before.name, before.features, before.kept)
    return push(*request)


def state_differences(simulation, network):
    """Return how far embeddings on the server are from those of the devices' states, by party."""
    gaps = {}
    for client in network.devices.values():
        known = simulation.remote.parties[client.party]
        if client._parties is not None and known.sample is not None:
            parties = client._at(client.run, known.state)
            (sent,) = parties.evaluation_embeddings(parties.names)
            pairs = ((sent.sample[0], known.sample), (sent.test[0], known.test))
            gaps[client.party] = max(float((one - other).abs().max()) for one, other in pairs)
    return gaps


def references_agree(simulation, network):
    """Return whether both sides have the same embeddings from the beginning of the round."""
    asked = simulation.remote.progress.asked - simulation.remote.progress.missed
    clients = [client for client in network.devices.values() if client.party in asked]
    on_server = simulation.remote.coder._before
    return all(
        torch.equal(table, on_server[key])
        for client in clients
        for key, table in client._sender._before.items()
    )


@pytest.mark.parametrize("bits", [32, 4])
@pytest.mark.parametrize("disturb", [lose_reply, lose_request, restart])
@pytest.mark.parametrize("kind", ["embed", "train", "apply", "second apply"])
def test_a_device_that_misses_a_message_goes_on_from_the_state_the_server_knows(
    files, tmp_path, monkeypatch, kind, disturb, bits
):
    """It has missed the round, unless it has already answered a request for the update.

    After a second request for a shorter step it stays as far as the first one said. Nobody else is
    disturbed.
    """
    if kind == "second apply":
        lengthen_steps(monkeypatch)
    state, network = KeptStates(tmp_path / "state"), network_of(files, *THREE)
    network.plug(2, device(files, "device-2", kept=state))
    push, is_further = network.push, further_updates()
    gaps, bases, known, disturbed, recorded, log = [], [], [], [], [], []

    def disturbed_push(*request):
        node, raw, _ = request
        frame, further = decode(raw), is_further(node, raw)
        if node == 2 and frame.kind == "embed":
            bases.append(frame.fields["base"])
        wanted = further if kind == "second apply" else frame.kind == kind
        if node != 2 or not wanted or len(recorded) != 1:
            return push(*request)
        disturbed.append(frame.kind)
        return disturb(network, push, request)

    network.push = disturbed_push

    def compare_states(event, simulation):
        recorded.append(event)
        if bits == 32:
            gaps.append(state_differences(simulation, network))
        assert references_agree(simulation, network)
        known.append({name: party.state for name, party in simulation.remote.parties.items()})

    settings = (f"learning.number_bits={bits}", "learning.table_rounds=3")
    federated = federate(
        files, tmp_path / "run", network, *settings, on_round=compare_states, log=log
    )
    assert disturbed
    missed = [] if kind == "second apply" else ["device-2"]
    assert [event["federation"]["missed"] for event in federated.rounds] == [[], missed, [], []]
    assert [event["link_failed"] for event in federated.rounds] == [[], missed, [], []]
    assert all(event["exited"] == event["entered"] == [] for event in federated.rounds)
    assert max((max(by_party.values()) for by_party in gaps), default=0.0) < 1e-12
    assert bases == [0, *(states["device-2"] for states in known[:3])]
    assert (bases[2] == bases[1]) == bool(missed)
    assert all(known[n]["device-1"] < known[n + 1]["device-1"] for n in range(3))
    refused = f"device-2: refused {disturbed[0]}"
    assert any(refused in line for line in log) == (disturb is restart)
    assert not any("dropped" in line for line in log)


def test_a_device_that_misses_embeddings_is_not_asked_to_train(files, tmp_path):
    network, asked = network_of(files, *THREE), []

    def lose(request, frame):
        asked.append(request.kind)
        return None if request.kind == "embed" and request.fields["round"] == 1 else frame

    tampered(network, 2, lose)
    federate(files, tmp_path / "run", network, "learning.rounds=3")
    round_ = ["embed", "train", "apply"]
    kinds = [kind for kind in asked if kind in round_]
    # A step that is shortened is one more `apply`.
    once = [kind for last, kind in pairwise(["", *kinds]) if (last, kind) != ("apply", "apply")]
    assert once == [*round_, "embed", *round_]


@pytest.mark.parametrize("kind", ["embed", "train", "apply"])
def test_a_device_that_restarts_without_its_state_joins_as_a_new_party(files, tmp_path, kind):
    network, recorded = network_of(files, *THREE), []
    push = network.push

    def restarted(node, raw, lasts_s):
        if node == 2 and decode(raw).kind == kind and len(recorded) == 1:
            network.plug(2, device(files, "device-2"))
        return push(node, raw, lasts_s)

    network.push = restarted
    settings = ("learning.rounds=7", *FOUR_BITS)
    federated = federate(
        files, tmp_path / "run", network, *settings, on_round=lambda e, _: recorded.append(e)
    )
    assert [event["entered"] for event in federated.rounds[:2]] == [[], ["device-2-2"]]
    assert federated.rounds[1]["link_failed"] == ["device-2"]
    (left,) = [event["round"] for event in federated.rounds if event["exited"]]
    assert federated.rounds[left]["exited"] == ["device-2"]
    assert federated.rounds[-1]["federation"]["missed"] == []
    assert len(federated.rounds) == 7


def test_a_scripted_run_goes_on_with_a_device_that_restarted(tmp_path):
    scenario, _ = scripted_scenario(tmp_path, *FOUR_BITS)
    network = scripted_network(tmp_path, scenario)
    state = KeptStates(tmp_path / "state")
    network.plug(1, device(tmp_path, "device-1", kept=state))
    again = after(1, lambda: network.plug(1, device(tmp_path, "device-1", kept=state)))
    federated = server(tmp_path, tmp_path / "run", network).run(scenario, on_round=again)
    missed = [event["federation"]["missed"] for event in federated.rounds]
    assert missed == [[], [], ["device-1"], [], []]


# --- a server that is killed and resumed ----------------------------------------------------------


@pytest.mark.parametrize("devices_restart", [False, True])
@pytest.mark.parametrize(
    "settings", [FOUR_BITS, ("learning.number_bits=2", 'learning.step="rate"')]
)
def test_a_server_that_is_killed_after_every_round_has_the_same_events(
    tmp_path, settings, devices_restart
):
    """The rows that were heard, samples as they were rounded and states of devices are restored."""
    scenario, _ = scripted_scenario(tmp_path, *settings)
    plain = server(tmp_path, tmp_path / "plain", scripted_network(tmp_path, scenario)).run(scenario)
    network, out = scripted_network(tmp_path, scenario), tmp_path / "run"
    names = {node: client.name for node, client in network.devices.items()}
    push, kill_in = network.push, [1]

    def start_devices():
        for node, name in names.items():
            network.plug(node, device(tmp_path, name, kept=KeptStates(tmp_path / f"{name}.state")))

    def killed_in_round(node, raw, lasts_s):
        """The server is killed when it begins the round; one device has got its request."""
        frame = decode(raw)
        if frame.kind == "embed" and frame.fields["round"] == kill_in[0]:
            push(node, raw, lasts_s)
            raise Killed
        return push(node, raw, lasts_s)

    start_devices()
    network.push = killed_in_round
    with pytest.raises(Killed):
        server(tmp_path, out, network).run(scenario)
    for round_ in range(2, 6):
        kill_in[0] = round_
        if devices_restart:
            start_devices()
        if round_ < 5:
            with pytest.raises(Killed):
                server(tmp_path, out, network).resume()
        else:
            resumed = server(tmp_path, out, network).resume()
    assert len(plain.rounds) == 5
    assert any(event["exited"] for event in plain.rounds)
    assert largest_difference(plain.rounds, resumed.rounds) == 0
    assert largest_difference(plain.end, resumed.end) == 0


# --- malformed tables -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def silenced(files):
    """A run in which the second device's replies are lost from round 1 on."""
    network = network_of(files, *THREE)
    silence = after(0, lambda: tampered(network, 2, lambda *_: None))
    return federate(files, files / "silenced", network, *FOUR_BITS, on_round=silence)


def without(*endings):
    return lambda name, _: None if name.endswith(endings) else {}


def of_codes(change):
    return lambda name, array: {name: change(array)} if name.endswith("_codes") else {}


def of_ranges(change):
    return lambda name, array: {name: change(array)} if name.endswith("_ranges") else {}


def not_coded(name, array):
    table = name.removesuffix("_codes").removesuffix("_ranges")
    return {table: np.zeros((len(array), 10))}


MALFORMED = {
    "without codes": without("_codes"),
    "without ranges": without("_ranges"),
    "without tables": without("_codes", "_ranges"),
    "a byte less": of_codes(lambda array: array[:-1]),
    "a byte more": of_codes(lambda array: np.append(array, np.uint8(0))),
    "empty": of_codes(lambda array: array[:0]),
    "two dimensions": of_codes(lambda array: array[None]),
    "a column less": of_ranges(lambda array: array[:, :-1]),
    "no columns": of_ranges(lambda array: array[:, :0]),
    "a range less": of_ranges(lambda array: array[:1]),
    "inverted": of_ranges(lambda array: array[::-1] + np.array([[1], [0]], "f4")),
    "64-bit ranges": of_ranges(lambda array: array.astype(float)),
    "not coded": not_coded,
}


@pytest.mark.parametrize("how", MALFORMED)
def test_malformed_tables_count_as_lost_and_are_logged(files, tmp_path, silenced, how):
    change, network, log = MALFORMED[how], network_of(files, *THREE), []

    def malform(_, frame):
        arrays = {}
        for name, array in frame.arrays.items():
            changed = change(name, array) if name != "test" else {}
            arrays |= {} if changed is None else changed or {name: array}
        return Frame(frame.kind, frame.fields, arrays)

    begin = after(0, lambda: tampered(network, 2, malform))
    federated = federate(files, tmp_path / "run", network, *FOUR_BITS, on_round=begin, log=log)
    assert largest_difference(silenced.rounds[:3], federated.rounds[:3]) < 1e-12
    assert sum("device-2: invalid reply dropped" in line for line in log) == 3
    assert "device-2: 3 invalid replies, ignored from now on" in log
    assert federated.rounds[3]["exited"] == ["device-2"]


@pytest.mark.parametrize("kind", ["train", "apply"])
@pytest.mark.parametrize("how", ["without codes", "a byte less", "inverted"])
def test_a_malformed_table_later_in_a_round_is_a_missed_round(files, tmp_path, kind, how):
    change, network, log = MALFORMED[how], network_of(files, *THREE), []
    changed_tables = ("held_out",) if kind == "train" else ("table",)

    def malform(request, frame):
        if request.kind != kind:
            return frame
        arrays = {}
        for name, array in frame.arrays.items():
            changed = change(name, array) if name.startswith(changed_tables) else {}
            arrays |= {} if changed is None else changed or {name: array}
        return Frame(frame.kind, frame.fields, arrays)

    tampered(network, 2, malform)
    settings = ("learning.rounds=2", *FOUR_BITS)
    federated = federate(files, tmp_path / "run", network, *settings, log=log)
    assert [event["federation"]["missed"] for event in federated.rounds] == [["device-2"]] * 2
    assert sum("device-2: invalid reply dropped" in line for line in log) >= 2


@pytest.mark.parametrize("bits", [32, 4])
def test_numbers_that_would_overflow_on_the_server_are_dropped(files, tmp_path, bits):
    """They are finite as they are sent, and the losses of such embeddings would not be."""
    network, log = network_of(files, *THREE), []

    def enlarge(_, frame):
        changed = {
            name: np.full(array.shape, 3e38, "f4")
            for name, array in frame.arrays.items()
            if array.dtype.kind == "f"
        }
        return Frame(frame.kind, frame.fields, {**frame.arrays, **changed})

    begin = after(0, lambda: tampered(network, 2, enlarge))
    settings = ('learning.precision="float32"', f"learning.number_bits={bits}")
    federated = federate(files, tmp_path / "run", network, *settings, on_round=begin, log=log)
    assert federated.end["status"] == "done"
    assert sum("has numbers that are too large" in line for line in log) == 3
    assert federated.rounds[3]["exited"] == ["device-2"]
