"""Outages: nobody is there, devices are cut off or dead, processes behind Flower's stay."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from types import SimpleNamespace

import pytest
from federation_helpers import (
    THREE,
    InProcessNetwork,
    after,
    device,
    export_features,
    federate,
    network_of,
    scripted_scenario,
    server,
    small_scenario,
)

from scdn.federation.export_parties import export_parties
from scdn.federation.kept_states import KeptStates
from scdn.federation.membership import Membership
from scdn.federation.messenger import Messenger, Node, RawReply, Request
from scdn.federation.wire_format import Frame, decode, encode
from scdn.file_io import OutputError
from scdn.record.run_reader import read_run
from scdn.world.churn import churn_trace


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return export_features(tmp_path_factory.mktemp("parties"), "learning.rounds=4")


def test_no_round_is_spent_on_nobody_and_the_run_can_be_resumed(files, tmp_path):
    network, out, log = network_of(files, *THREE), tmp_path / "run", []
    absent = dict(network.devices)
    unplug = after(1, network.devices.clear)
    with pytest.raises(OutputError, match=r"before round 3; continue with --resume"):
        federate(files, out, network, "learning.rounds=6", on_round=unplug, log=log)
    assert read_run(out).end is None
    assert len(read_run(out).rounds) == 2
    assert any("no device is connected; waiting" in line for line in log)
    network.devices.update(absent)
    resumed = server(files, out, network).resume()
    assert resumed.end["status"] == "done"
    assert len(resumed.rounds) == 6


def test_a_round_waits_for_devices_that_are_cut_off(files, tmp_path):
    network = network_of(files, *THREE)
    nodes, looks = network.nodes, [0]

    def cut_off():
        looks[0] = 4

    def nodes_after_a_while():
        looks[0] -= 1
        return [] if looks[0] > 0 else nodes()

    network.nodes = nodes_after_a_while
    federated = federate(files, tmp_path / "run", network, on_round=after(1, cut_off))
    assert [event["exited"] for event in federated.rounds] == [[]] * 4
    assert [event["federation"]["missed"] for event in federated.rounds] == [[]] * 4


def test_a_dead_device_is_waited_for_once_and_then_not_as_long():
    network, now = InProcessNetwork(), [0.0]

    def goodbye(raw):
        ids = {key: decode(raw).fields[key] for key in ("run", "nonce")}
        return encode(Frame("goodbye", ids))

    for node in (1, 2):
        network.plug(node, SimpleNamespace(answer=goodbye))
    dead = [True]
    network.tamper[2] = lambda id_, _, reply: [] if dead[0] else [RawReply(id_, 2, reply)]
    messenger = Messenger(network, "r", 30.0, clock=lambda: now[0])
    messenger.sleep = lambda seconds: now.__setitem__(0, now[0] + seconds)
    requests = {name: (n, Request("goodbye", {"reason": ""})) for n, name in ((1, "a"), (2, "b"))}

    def seconds():
        began = now[0]
        replies = messenger.ask_nodes(requests)
        return now[0] - began, replies.keys()

    first, heard = seconds()
    assert (first >= 30, heard) == (True, {"a"})
    later, heard = seconds()
    assert (later < 3, heard) == (True, {"a"})
    dead[0] = False
    assert seconds()[1] == {"a", "b"}
    dead[0] = True
    assert seconds()[0] < 3  # it has been heard, but less often than in a round
    dead[0] = False
    for _ in range(5):
        assert seconds()[1] == {"a", "b"}
    dead[0] = True
    assert seconds()[0] >= 30  # it was heard again, and may just be slow


def test_a_device_that_stops_in_a_long_round_has_left_at_once(files, tmp_path, monkeypatch):
    """The network would have given it up long before the round ends, had it been cut off."""
    network, now = network_of(files, *THREE), [1000.0]
    monkeypatch.setattr("scdn.federation.messenger.time", SimpleNamespace(time=lambda: now[0]))
    network.nodes = lambda: [Node(node, "", now[0] + 20.0) for node in network.devices]
    answer, device_2 = network.push, network.devices[2]

    def push(node, raw, lasts_s):
        if decode(raw).kind == "embed" and node == 3:
            now[0] += 10.0
        if decode(raw).kind == "embed" and decode(raw).fields["round"] == 2:
            network.devices.pop(2, None)
        return answer(node, raw, lasts_s)

    def sleep(seconds):
        now[0] += seconds

    network.push = push
    federation = server(files, tmp_path / "run", network)
    messenger = federation._membership.messenger
    messenger.timeout_s, messenger.clock, messenger.sleep = 30.0, lambda: now[0], sleep
    run = federation.run(small_scenario("learning.rounds=4"))
    assert device_2.party == "device-2"
    assert [event["exited"] for event in run.rounds] == [[], [], ["device-2"], []]


def test_a_process_that_flower_starts_ends_with_the_command():
    """Even if the process in between goes on."""
    command = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    code = "from scdn.federation.processes import end_with_ancestors as e; import time; e()"
    environment = {**os.environ, "SCDN_ANCESTORS": f"{command.pid} {os.getpid()}"}
    app = subprocess.Popen([sys.executable, "-c", f"{code}; time.sleep(60)"], env=environment)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            app.wait(3.0)
        command.communicate(b"\n")
        assert app.wait(20.0) != 0
    finally:
        for process in (command, app):
            process.kill()
            process.wait()


# --- devices that die and come back ---------------------------------------------------------------


class Killable:
    """Three devices of which the second can be killed, so that the network misses it later."""

    def __init__(self, files, folder):
        self.network, self.files = network_of(files, *THREE), files
        self.kept = KeptStates(folder / "state")
        self.start(2)
        self.network.nodes = lambda: [Node(node, "", 0.0) for node in self.network.devices]

    def start(self, node):
        self.network.plug(node, device(self.files, "device-2", kept=self.kept))

    def kill(self):
        self.network.devices.pop(2, None)

    def between(self, killed, started):
        """Return what to do after each round: kill the device after one, start it after another."""

        def act(event, _):
            if event["round"] == killed:
                self.kill()
            if event["round"] == started:
                self.start(9)

        return act


@pytest.mark.parametrize("silent_rounds", [2, 4, 8])
def test_a_killed_device_comes_back_as_itself_with_its_state(files, tmp_path, silent_rounds):
    site, log, rounds = Killable(files, tmp_path), [], 4 + silent_rounds
    run = federate(
        files,
        tmp_path / "run",
        site.network,
        f"learning.rounds={rounds}",
        on_round=site.between(0, silent_rounds - 1),
        log=log,
        patience_s=600.0,
    )
    assert all(event["exited"] == event["entered"] == [] for event in run.rounds)
    missed = [event["federation"]["missed"] for event in run.rounds]
    assert missed == [[], *[["device-2"]] * silent_rounds, [], [], []]
    assert sum(line == "device-2: is back" for line in log) == 1
    assert sum(line == "device-2: is no longer connected" for line in log) <= 1


def test_a_device_that_is_killed_before_the_first_round_comes_back_as_itself(files, tmp_path):
    site, push = Killable(files, tmp_path), None

    def push_and_kill(node, raw, lasts_s):
        if decode(raw).kind == "embed":
            site.kill()
        return push(node, raw, lasts_s)

    push, site.network.push = site.network.push, push_and_kill
    run = federate(
        files,
        tmp_path / "run",
        site.network,
        "learning.rounds=8",
        on_round=site.between(None, 4),
        patience_s=600.0,
    )
    assert all(event["exited"] == event["entered"] == [] for event in run.rounds)
    missed = [event["federation"]["missed"] for event in run.rounds]
    assert missed == [*[["device-2"]] * 6, [], []]


@pytest.mark.parametrize(
    ("is_connected", "silent_s", "leaves"),
    [(False, 299.0, False), (False, 301.0, True), (True, 29.0, False), (True, 31.0, True)],
)
def test_silence_becomes_a_departure_with_time(is_connected, silent_s, leaves):
    now, network = [0.0], InProcessNetwork()
    network.nodes = lambda: [Node(7, "", 0.0)] if is_connected else []
    membership = Membership(Messenger(network, "r", clock=lambda: now[0]), "")
    membership.device_of["a"], membership.messenger.node_of["a"] = "a", 7
    for _ in range(4):
        assert membership.find_departed(["a"], ["a"], ["a"]) == set()
    now[0] += silent_s
    assert membership.find_departed(["a"], ["a"], ["a"]) == ({"a"} if leaves else set())
    membership.find_departed(["a"], ["a"], [])
    now[0] += 1000.0
    assert membership.find_departed(["a"], ["a"], ["a"]) == set()  # it has been heard since


def test_a_device_that_is_back_may_miss_a_round_again():
    """It is waited for less long at first, and may still be starting."""
    now, network = [0.0], InProcessNetwork()
    network.nodes = lambda: [Node(7, "", 0.0)]
    membership = Membership(Messenger(network, "r", clock=lambda: now[0]), "")
    membership.device_of["a"], membership.messenger.node_of["a"] = "a", 6
    for _ in range(4):
        assert membership.find_departed(["a"], ["a"], ["a"]) == set()
        now[0] += 50.0
    membership.messenger.node_of["a"] = 7
    membership.note_return("a")
    assert membership.find_departed(["a"], ["a"], ["a"]) == set()
    now[0] += 29.0
    assert membership.find_departed(["a"], ["a"], ["a"]) == set()
    now[0] += 2.0
    assert membership.find_departed(["a"], ["a"], ["a"]) == {"a"}  # it is connected, and silent


def test_coming_back_again_and_again_without_a_word_does_not_help():
    now, network = [0.0], InProcessNetwork()
    network.nodes = lambda: [Node(7, "", 0.0)]
    membership = Membership(Messenger(network, "r", clock=lambda: now[0]), "")
    membership.device_of["a"], membership.messenger.node_of["a"] = "a", 7
    while not membership.find_departed(["a"], ["a"], ["a"]):
        now[0] += 20.0
        membership.note_return("a")
    assert 300.0 <= now[0] < 340.0


@pytest.mark.parametrize("node", [3, 9])
def test_with_a_trace_a_killed_device_comes_back_as_itself(tmp_path, node):
    """At the node that it had, or at another one where there are no keys."""
    scenario, _ = scripted_scenario(tmp_path)
    export_parties(scenario, churn_trace(scenario), tmp_path)
    names, kept, log = churn_trace(scenario).fleet.id.tolist(), KeptStates(tmp_path / "state"), []
    network = InProcessNetwork()
    network.nodes = lambda: [Node(node, "", 0.0) for node in network.devices]
    for number, name in enumerate(names, 1):
        kept_here = kept if number == 3 else None
        network.plug(number, device(tmp_path, name, kept=kept_here))

    def act(event, _):
        if event["round"] == 2:
            network.unplug(3)
            network.plug(node, device(tmp_path, names[2], kept=kept))

    federation = server(tmp_path, tmp_path / "run", network, log, patience_s=600.0)
    run = federation.run(scenario, on_round=act)
    missed = [names[2] in event["federation"]["missed"] for event in run.rounds]
    assert sum(line == f"{names[2]}: is back" for line in log) == 1
    assert missed[-1] is False


# --- devices that work ----------------------------------------------------------------------------


class Working:
    """A messenger on a clock that can be set, and two nodes whose devices work until told."""

    def __init__(self):
        self.now, self.network = 0.0, InProcessNetwork()
        for node in (1, 2):
            self.network.plug(node, SimpleNamespace(answer=self.goodbye))
        self.held = {1: [], 2: []}
        for node, held in self.held.items():
            self.network.tamper[node] = partial(self.hold, held, node)
        self.messenger = Messenger(self.network, "r", 30.0, clock=lambda: self.now)
        self.messenger.sleep = self.sleep
        self.messenger.probe = lambda: Request("goodbye", {"reason": "are you there?"})
        self.messenger.node_of |= {"a": 1, "b": 2}
        self.begin("a", "b")

    @staticmethod
    def goodbye(raw):
        return encode(Frame("goodbye", {key: decode(raw).fields[key] for key in ("run", "nonce")}))

    @staticmethod
    def hold(held, node, id_, _, reply):
        held.append(RawReply(id_, node, reply))
        return []

    def begin(self, *names):
        work = Request("goodbye", {"reason": ""}, wait=False)
        self.messenger.begin(dict.fromkeys(names, work))

    def release(self, node, first=0):
        """Let a node's replies come, all that are there or the later ones."""
        for reply in self.held[node][first:]:
            self.network.replies[reply.message_id] = [reply]
        self.held[node].clear()

    def sleep(self, seconds):
        self.now += seconds
        if self.now > 100.0:
            self.release(2)


def test_a_device_that_answers_nothing_still_works():
    working = Working()
    name, reply = working.messenger.next_finished(["a", "b"])
    assert (name, reply is not None, working.now > 100.0) == ("b", True, True)
    assert len(working.held[1]) == 2  # its work, and one question


def test_a_device_that_answers_a_question_first_has_lost_its_work():
    working, log = Working(), []
    working.messenger.log = log.append
    working.network.tamper[1] = lambda id_, _, reply: [RawReply(id_, 1, reply)]
    assert working.messenger.next_finished(["a", "b"]) == ("a", None)
    assert 30.0 < working.now < 35.0
    assert log == ["a: no longer works on what it was asked"]


def test_a_device_that_has_just_finished_has_not_lost_its_work():
    working = Working()
    working.messenger.next_finished(["b"])
    working.release(1)  # its report, and the answer to the question
    name, reply = working.messenger.next_finished(["a"])
    assert (name, reply is not None) == ("a", True)


def test_a_dead_device_is_noticed_where_others_are_always_ready():
    working = Working()
    working.network.unplug(1)
    for _ in range(30):
        working.release(2)
        name, reply = working.messenger.next_finished(["a", "b"])
        if name == "a":
            break
        working.now += 0.5
        working.begin("b")
    assert (name, reply) == ("a", None)
    assert working.now < 5.0
