"""Helpers for tests of the federation: devices in this process, one scenario, events compared."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from scdn.data import fetch
from scdn.federation.device_client import DeviceClient
from scdn.federation.export_parties import LABELS_FILE, export_parties
from scdn.federation.federated_server import FederatedServer
from scdn.federation.messages import MAX_STEP_LENGTH
from scdn.federation.messenger import Node, RawReply
from scdn.federation.row_alignment import read_features, read_labels
from scdn.federation.server_settings import federated_scenario
from scdn.federation.wire_format import decode, encode
from scdn.learning.fusion_server import FusionServer
from scdn.scenario import read_scenario
from scdn.world.churn import NEVER, churn_trace

SETTINGS = (
    "max_delay_s=1",  # enough for all settings of these tests
    'learning.precision="float64"',
    "learning.sample_rows=256",
    "learning.steps_per_iteration=2",
    "fleet.0.count=3",
    "churn.entry_rate=0",
    "method=sc-dn-greedy",  # all devices train in every round
)
THREE = ("device-1", "device-2", "device-3")  # at nodes 1, 2 and 3
MEASURED = ("seconds", "solve_seconds", "measured", "federation")  # differ from run to run


def small_scenario(*settings):
    fetch("digits")
    return federated_scenario(read_scenario("examples/quick.toml", (*SETTINGS, *settings)))


def scripted_scenario(folder, *further):
    """Return a scenario in which one device enters and one exits, and its settings."""
    trace = churn_trace(small_scenario("learning.rounds=5", "churn.entry_rate=0.4"))
    trace = trace.take(np.arange(len(trace.fleet)) < 4)
    trace = replace(
        trace, entered=np.array([-1, -1, -1, 1]), exited=np.array([NEVER, 2, NEVER, NEVER])
    )
    trace.save(folder / "trace.json")
    settings = ("learning.rounds=5", f'churn.trace="{folder / "trace.json"}"', *further)
    return small_scenario(*settings), settings


def differences(one, other, path=""):
    """Yield the relative difference of each pair of numbers in two events, and its path."""
    if isinstance(one, dict):
        assert {*one, *MEASURED} == {*other, *MEASURED}, path
        for key in one.keys() - set(MEASURED):
            yield from differences(one[key], other[key], f"{path}/{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), path
        for index, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, f"{path}/{index}")
    elif isinstance(one, float):
        yield abs(one - other) / max(1.0, abs(one)), path
    else:
        assert one == other, path


def largest_difference(one, other):
    return max(differences(one, other))[0]


class InProcessNetwork:
    """A `Transport` to devices in this process; replies may be lost, late, changed or misdirected.

    `tamper` has, by node, a function of (message id, request, reply) that returns the replies that
    the server gets instead. `delay_s` has how long a node's replies take, on the clock `now`.
    """

    def __init__(self):
        self.devices, self.key_names = {}, {}
        self.replies = {}  # by message id, until they are pulled
        self.tamper, self.delay_s = {}, {}
        self.now, self._due = 0.0, {}
        self._ids = itertools.count()

    def plug(self, node, device, key_name=""):
        self.devices[node] = device
        self.key_names[node] = key_name

    def unplug(self, node):
        del self.devices[node]

    def nodes(self):
        return [Node(node, self.key_names[node], 1e12) for node in self.devices]

    def push(self, node, raw, _lasts_s):
        message_id = f"m{next(self._ids)}"
        if node in self.devices:
            reply = self.devices[node].answer(raw)
            tamper = self.tamper.get(node)
            replies = [RawReply(message_id, node, reply)]
            self.replies[message_id] = tamper(message_id, raw, reply) if tamper else replies
            self._due[message_id] = self.now + self.delay_s.get(node, 0.0)
        return message_id

    def pull(self, message_ids):
        due = [id_ for id_ in message_ids if self._due.get(id_, 0.0) <= self.now]
        return [reply for id_ in due for reply in self.replies.pop(id_, [])]

    def sleep(self, seconds):
        """Let time pass on the network's clock."""
        self.now += seconds


def export_features(folder, *settings):
    """Write the labels and the devices' features of a scenario to a folder, and return it."""
    scenario = small_scenario(*settings)
    export_parties(scenario, churn_trace(scenario), folder)
    return folder


def device(files, name, **options):
    return DeviceClient(name, read_features(files / f"{name}.npz"), **options)


def network_of(files, *names):
    network = InProcessNetwork()
    for node, name in enumerate(names, 1):
        network.plug(node, device(files, name))
    return network


def tampered(network, node, change):
    """Let a function of (request frame, reply frame) change the replies of a node.

    It returns the frame that the server gets, or None if the server gets nothing.
    """

    def tamper(message_id, raw, reply):
        frame = change(decode(raw), decode(reply))
        return [] if frame is None else [RawReply(message_id, node, encode(frame))]

    network.tamper[node] = tamper


def server(files, out, network, log=None, patience_s=0.0, **changes):
    labels = read_labels(files / LABELS_FILE)
    log = (lambda _: None) if log is None else log.append
    labels = replace(labels, **changes)
    return FederatedServer(labels, network, out, None, 0.5, 0.3, log, patience_s)


def federate(files, out, network, *settings, on_round=None, log=None, patience_s=0.0):
    scenario = small_scenario("learning.rounds=4", *settings)
    return server(files, out, network, log, patience_s).run(scenario, on_round=on_round)


def after(round_, act):
    """Act once, when a round has been recorded."""
    return lambda event, _: act() if event["round"] == round_ else None


def lengthen_steps(monkeypatch):
    """Let the server find steps that are too long, so that it has to shorten them."""
    best = FusionServer.best_step_length

    def longer(*arguments):
        return min(16 * best(*arguments), MAX_STEP_LENGTH)

    monkeypatch.setattr(FusionServer, "best_step_length", longer)


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


class Killed(BaseException):
    """Raised in a server that is killed."""
