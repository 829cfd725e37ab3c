"""Run a federation in this process and record every message, for attacks on what is sent.

Server and devices are those of `scdn federate`, and so are the bytes between them; only Flower,
which carries them elsewhere, is left out. What an attack is judged by, features and labels, comes
from the devices' files and the server's, never from messages.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from scdn.federation.device_client import DeviceClient
from scdn.federation.export_parties import LABELS_FILE, export_parties
from scdn.federation.federated_server import FederatedServer
from scdn.federation.messenger import Node, RawReply
from scdn.federation.row_alignment import align, read_features, read_labels
from scdn.federation.server_settings import federated_scenario
from scdn.federation.table_format import has_table, unpack_table
from scdn.federation.wire_format import Frame, decode
from scdn.learning.batches import RoundRows, draw_round, sample_rows
from scdn.learning.fusion_server import FusionServer
from scdn.learning.table_sender import BEFORE, DOWN, GRADIENTS, SAMPLE_GRADIENTS, TableSender
from scdn.record.run_reader import Run
from scdn.scenario import Scenario
from scdn.simulation.loop import Simulation
from scdn.world.churn import churn_trace

Table = NDArray[np.float64]


class Message(NamedTuple):
    """A request to a device, and its reply."""

    device: str
    request: Frame
    reply: Frame


@dataclass
class RecordingNetwork:
    """A `Transport` to devices in this process that keeps all messages."""

    devices: Sequence[DeviceClient]
    messages: list[Message] = field(default_factory=list)
    _replies: dict[str, RawReply] = field(default_factory=dict)
    _ids: Iterator[int] = field(default_factory=itertools.count)

    def nodes(self) -> list[Node]:
        """Return all devices."""
        return [Node(number, "", 1e12) for number in range(1, len(self.devices) + 1)]

    def push(self, node: int, raw: bytes, _: float) -> str:
        """Let the device answer at once."""
        message_id, device = f"m{next(self._ids)}", self.devices[node - 1]
        reply = device.answer(raw)
        self.messages.append(Message(device.name, decode(raw), decode(reply)))
        self._replies[message_id] = RawReply(message_id, node, reply)
        return message_id

    def pull(self, message_ids: Iterable[str]) -> list[RawReply]:
        """Return the replies to these messages."""
        return [self._replies.pop(name) for name in message_ids if name in self._replies]


class SentTable(NamedTuple):
    """A table that was sent, as it was received: (rows, width), and the numbers of its rows."""

    round: int
    rows: NDArray[np.int64]
    values: Table


@dataclass
class RecordedFederation:
    """A finished run with its messages, and the truth that attacks are judged by.

    Attributes
    ----------
    labels, test_labels
        Of the run's training and test rows, in order.
    features
        By device: its columns of the training rows, as its model takes them.
    server
        What the server has at the end.
    """

    scenario: Scenario
    run: Run
    messages: list[Message]
    devices: dict[str, DeviceClient]
    labels: NDArray[Any]
    test_labels: NDArray[Any]
    features: dict[str, Table]
    server: FusionServer

    @property
    def width(self) -> int:
        """Return the numbers of an embedding."""
        return self.server.fusion.width

    def of_kind(self, device: str, kind: str) -> Iterator[Message]:
        """Yield a device's messages of one kind, in order."""
        return (m for m in self.messages if m.device == device and m.request.kind == kind)

    def slopes(self, device: str, *, of_sample: bool = False) -> list[SentTable]:
        """Return the gradients at its embeddings that a device received, by round."""
        table = SAMPLE_GRADIENTS if of_sample else GRADIENTS
        result = []
        for message in self.of_kind(device, "train"):
            round_ = message.request.fields["round"]
            rows = self.sample if of_sample else self.rows(round_).batches.flatten().numpy()
            if has_table(message.request.arrays, table):
                values = self._unpack(device, table, message.request, len(rows), DOWN)
                result.append(SentTable(round_, rows, values))
        return result

    def embeddings(self, device: str) -> list[SentTable]:
        """Return the embeddings of the round's rows that a device sent before each training."""
        result = []
        for message in self.of_kind(device, "embed"):
            round_ = message.request.fields["round"]
            drawn, held_out = (part.flatten().numpy() for part in self.rows(round_))
            tables = [
                self._unpack(device, table, message.reply, len(rows), BEFORE)
                for table, rows in (("drawn", drawn), ("held_out", held_out))
            ]
            result.append(
                SentTable(round_, np.concatenate([drawn, held_out]), np.concatenate(tables))
            )
        return result

    @property
    def sample(self) -> NDArray[np.int64]:
        """Return the training rows that statistics are measured on."""
        return sample_rows(len(self.labels), self.scenario.learning, self.scenario.seed)

    def rows(self, round_: int) -> RoundRows:
        """Return the rows of a round, which both sides draw from the run's seed."""
        scenario = self.scenario
        steps = scenario.learning.steps_per_iteration * scenario.max_iterations
        count = len(self.labels)
        return draw_round(scenario.seed, (round_,), steps, count, scenario.learning)

    def _unpack(self, device: str, table: str, frame: Frame, rows: int, phase: str) -> Table:
        receiver = TableSender(self.scenario.learning.number_bits, self.scenario.seed)
        like = torch.zeros(rows, self.width, dtype=torch.float64)
        return unpack_table(receiver, device, table, frame.arrays, like, phase).numpy()


def record(scenario: Scenario, folder: Path, *, own_weights: bool = False) -> RecordedFederation:
    """Run a scenario with its devices in this process, and return it with its messages."""
    scenario = federated_scenario(scenario)
    files, trace = folder / "files", churn_trace(scenario)
    names = export_parties(scenario, trace, files)
    devices = [
        DeviceClient(name, read_features(files / f"{name}.npz"), own_weights=own_weights)
        for name in names
    ]
    network, labels = RecordingNetwork(devices), read_labels(files / LABELS_FILE)
    simulations: list[Simulation] = []
    server = FederatedServer(labels, network, folder / "run", wait_s=5.0, timeout_s=60.0)
    run = server.run(scenario, on_round=lambda _, simulation: simulations.append(simulation))
    join = next(m.request for m in network.messages if m.request.kind == "join")
    hello = next(m.request for m in network.messages if m.request.kind == "hello")
    keys = np.concatenate([join.arrays["train"], join.arrays["test"]])
    aligned = align(labels, {"the run": keys}, hello.fields["salt"])
    features = {
        device.name: device.features.select(aligned.train, hello.fields["salt"]).astype(float)
        for device in devices
    }
    return RecordedFederation(
        scenario,
        run,
        network.messages,
        {device.name: device for device in devices},
        aligned.dataset.train_y,
        aligned.dataset.test_y,
        features,
        simulations[-1].model.server,
    )
