"""Parties on other machines, as the server's model sees them: a `PartyBackend` that sends messages.

What a device reports belongs to one state of its model, whose number the server gives: a device
that does not reply is asked to go on from that state the next time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor

from scdn.federation.anomaly_detection import AnomalyDetector, Reasons
from scdn.federation.incoming_messages import (
    Reply,
    TableReader,
    Tables,
    gradient_stats,
    reply_statistics,
)
from scdn.federation.late_reports import take_reports
from scdn.federation.messenger import Messenger, Request
from scdn.federation.received_tables import receive_reports, unpack
from scdn.federation.remote_party import RemoteParty
from scdn.federation.report_checks import check_reports, go_back
from scdn.federation.round_progress import RoundProgress, SentUpdate
from scdn.federation.train_requests import train_requests
from scdn.learning.batches import table_rows
from scdn.learning.feature_split import FeatureView
from scdn.learning.fusion_server import FITTED_LENGTHS, SEARCHED_LENGTHS
from scdn.learning.gradient_stats import GradientStats
from scdn.learning.party_backend import RoundTask, SentEmbeddings
from scdn.learning.round_protocol import tables_after_step
from scdn.learning.round_training import MAX_SHORTENINGS
from scdn.learning.table_sender import BEFORE, TableSender
from scdn.learning.tensors import StateDict, TensorOptions, strip_prefix
from scdn.scenario import LearningSettings

T = TypeVar("T")
_JOIN_TIMEOUT_S = 60.0  # for a new device, which has to read all its rows


@dataclass
class RemoteParties:
    """The parties of a run, each reached through the messenger."""

    messenger: Messenger
    options: TensorOptions
    learning: LearningSettings
    seed: int
    width: int
    train_rows: int
    sample_rows: int
    test_rows: int
    join_request: Callable[[str], Request]  # for a new party of this name
    plan: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # of this round, by party
    round: tuple[int, int] = (0, 0)
    parties: dict[str, RemoteParty] = field(default_factory=dict)
    progress: RoundProgress = field(default_factory=RoundProgress)
    left_out: Reasons = field(default_factory=dict)  # in this round, of all its arrivals
    detector: AnomalyDetector = field(init=False)
    coder: TableSender = field(init=False)
    reader: TableReader = field(init=False)
    _joined: dict[str, Reply] = field(default_factory=dict)
    before: dict[str, Tables] = field(default_factory=dict)  # that parties sent when they began
    ready: dict[str, Reply] = field(default_factory=dict)  # parties that have trained ahead

    def __post_init__(self) -> None:
        self.coder = TableSender(self.learning.number_bits, self.seed)
        self.reader = TableReader(self.options, self.width)
        self.detector = AnomalyDetector(
            self.train_rows, self.learning.noise_deviation, self.messenger.log
        )

    @property
    def number_bits(self) -> int:
        """Return the bits of each number in tables that are sent; requests have it."""
        return self.coder.number_bits

    @number_bits.setter
    def number_bits(self, bits: int) -> None:
        self.coder.number_bits = bits

    @property
    def names(self) -> tuple[str, ...]:
        """Return the parties in the order in which they joined."""
        return tuple(self.parties)

    # --- joining and leaving --------------------------------------------------------------------

    def ask_to_join(self, names: Collection[str]) -> list[str]:
        """Ask devices to make or restore their models; return those that did."""
        requests = {name: self.join_request(name) for name in names}
        timeout_s = max(_JOIN_TIMEOUT_S, self.messenger.timeout_s)
        replies = self.messenger.ask(requests, timeout_s)
        self._joined |= replies
        return [name for name in names if name in replies]

    def add(self, views: Mapping[str, FeatureView]) -> dict[str, int]:
        """Add parties that have joined."""
        for name in views:
            fields = self._joined.pop(name).fields
            smoothness = 0.0 if fields.smoothness is None else fields.smoothness
            self.parties[name] = RemoteParty(fields.connections, 0, smoothness)
        self.detector.odd.note_connections({n: p.connections for n, p in self.parties.items()})
        return {name: self.parties[name].connections for name in views}

    def rejoin(self, name: str) -> None:
        """Continue with a restarted party from the common state."""
        del self._joined[name]

    def remove(self, names: Collection[str]) -> None:
        """Remove parties."""
        self.detector.forget(names)
        self.parties = {n: party for n, party in self.parties.items() if n not in names}
        for name in names:
            self.messenger.give_up(name)
            self.ready.pop(name, None)
            self.before.pop(name, None)

    # --- a round --------------------------------------------------------------------------------

    def measure_gradients(
        self, names: Collection[str], task: RoundTask
    ) -> dict[str, GradientStats]:
        """Return nothing: devices measure gradients only while they train."""
        del names, task
        return {}

    def train(self, task: RoundTask) -> dict[str, GradientStats]:
        """Ask the devices that have steps in this round to train.

        Those that train ahead are not waited for, and those that are late have trained.
        """
        if task.ahead:
            self.progress.bases = {name: party.state for name, party in self.parties.items()}
            self.messenger.begin(train_requests(self, task, self.coder))
            return {}
        if task.late:
            take_reports(self, task)
            return {}
        progress = self.progress
        progress.bases = {name: party.state for name, party in self.parties.items()}
        progress.step_known = task.step_length is not None
        progress.step_length = task.step_length
        progress.updates = 1 if progress.step_known else 0
        progress.missed |= task.training
        progress.table_parts = task.table_parts
        if not task.training:
            return {}
        replies = self.messenger.ask(train_requests(self, task, self.coder))
        replies, statistics = self.with_statistics(replies)
        finite = self.without_diverged(replies)
        if progress.step_known:
            progress.trained |= {name: {} for name in self._advance(finite)}
        else:
            progress.trained |= self.receive_trained(finite)
        return gradient_stats({n: s for n, s in statistics.items() if n in progress.trained})

    def with_statistics(
        self, replies: Mapping[str, Reply]
    ) -> tuple[dict[str, Reply], dict[str, dict[str, float | None]]]:
        """Return replies whose figures are in line, and the figures."""
        statistics = {name: reply_statistics(reply) for name, reply in replies.items()}
        replies = self.without(replies, self.detector.figures(statistics))
        for name in replies:
            self.detector.accept_figures(name, statistics[name])
        return replies, statistics

    def without_diverged(self, replies: Mapping[str, Reply]) -> dict[str, Reply]:
        """Return replies of devices whose training has not diverged."""
        finite = {name: reply for name, reply in replies.items() if not reply.fields.diverged}
        for name in replies.keys() - finite.keys():
            if self.counts_divergence(name):
                self.progress.trained[name] = {}
                self.progress.missed.discard(name)
        return finite

    def receive_trained(self, replies: Mapping[str, Reply]) -> dict[str, Tables]:
        """Return the tables of trained models on which the step is chosen."""
        progress, sent = self.progress, {}
        for name, reply in replies.items():
            if tables := unpack(self, name, reply, [self._chosen_on], "trained"):
                sent[name] = tables
        lengths = SEARCHED_LENGTHS if self.learning.step == "searched" else FITTED_LENGTHS
        reasons = self.detector.after_training(sent, progress.before, progress.rows, lengths)
        return self.without(sent, reasons)

    @property
    def _chosen_on(self) -> str:
        """The table on which the step is chosen once the parties have trained."""
        return "held_out" if self.learning.step == "searched" else "drawn"

    def apply_updates(self, step_length: float, names: Collection[str]) -> set[str]:
        """Ask devices that trained to go so far along their updates; return those that did.

        Where the length was known before, devices have applied it at the end of training. A device
        that misses a second request of the round has gone as far as the first one said: the server
        goes on from the state that it has heard of.
        """
        progress = self.progress
        trained = [name for name in progress.trained if name in names]
        if not progress.step_known:
            if progress.updates > MAX_SHORTENINGS:  # no attempt was good enough
                updated, before, rows = progress.updated, progress.before, progress.rows
                reasons = self.detector.taken_back(updated, before, rows, progress.not_finite)
                trained = list(self.without(dict.fromkeys(trained), reasons))
                go_back(self, reasons)
            progress.updates += 1
            self._ask_to_apply(step_length, trained)
        return {name for name in trained if self.parties[name].state == progress.state_after(name)}

    def _ask_to_apply(self, step_length: float, names: Collection[str]) -> None:
        progress = self.progress
        progress.step_length = step_length
        requests = {}
        for name in names:
            states = {"base": progress.bases[name], "state": progress.state_after(name)}
            fields: dict[str, Any] = {**states, "step_length": step_length}
            if progress.reports:
                fields |= {"round": self.round[0], "arrival": self.round[1]}
                fields["table_part"] = progress.table_parts.get(name)
            requests[name] = Request("apply", fields, {}, self.sizes)
        progress.not_finite.clear()
        replies = self.messenger.ask(requests)
        self._advance({n: reply for n, reply in replies.items() if not reply.fields.diverged})
        for name in [name for name, reply in replies.items() if reply.fields.diverged]:
            if self.counts_divergence(name) and step_length:  # a shorter step will be tried
                progress.not_finite.add(name)

    # --- what devices have sent -----------------------------------------------------------------

    def embed(
        self, tables: Mapping[str, Tensor], phase: str, names: Collection[str]
    ) -> dict[str, Tensor]:
        """Return tables that devices have sent; those from before training are asked for now."""
        if phase == BEFORE:
            return self._ask_to_embed(tables, names)
        source = self.progress.trained if phase == "trained" else self.progress.updated
        result = {}
        for name in [name for name in self.parties if name in names]:
            diverged = phase == "trained" and source.get(name) == {}
            if diverged or name in self.progress.not_finite:
                result[name] = self._undefined(sum(map(len, tables.values())))
            elif source.get(name, {}).keys() >= tables.keys():
                sent = (source[name][table][: len(rows)] for table, rows in tables.items())
                result[name] = torch.cat(list(sent))
        return result

    def _ask_to_embed(
        self, tables: Mapping[str, Tensor], names: Collection[str]
    ) -> dict[str, Tensor]:
        asked = [name for name in self.parties if name in names]
        if self.progress.step_length:
            self.detector.note_step_kept(self.progress.updated)
        self.progress = progress = RoundProgress(rows=dict(tables))
        replies = self.ask("embed", [name for name in asked if name not in self.ready])
        replies |= self.ask("embed", [name for name in asked if name in self.ready], phase="late")
        sent = {}
        for name in [name for name in asked if name in replies]:
            if unpacked := unpack(self, name, replies[name], list(tables), BEFORE):
                sent[name] = unpacked
        states = {name: self.parties[name].state for name in sent}
        self.detector.begin_round(self.round[0])
        progress.before = sent
        reasons = self.detector.before_training(sent, progress.rows, states, self.number_bits)
        sent = self.without(sent, reasons)
        for name in sent:
            self.detector.accept(name, states[name], sent[name], progress.rows, self.number_bits)
        progress.asked, progress.missed = set(asked), set(asked) - set(sent)
        self.before |= sent
        return {name: torch.cat([sent[name][table] for table in tables]) for name in sent}

    def training_embeddings(self, names: Collection[str]) -> dict[str, Tensor]:
        """Return nothing: the server keeps the rows that it has heard."""
        del names
        return {}

    def evaluation_embeddings(self, names: Collection[str]) -> Iterator[SentEmbeddings]:
        """Yield embeddings of the sample and the test rows, of those that have reported."""
        unknown = [
            name
            for name, party in self.parties.items()
            if name in names and party.sample is None and name not in self.progress.left_out
        ]
        if unknown:
            self._ask_to_report(unknown)
        check_reports(self, names)
        for name, party in self.parties.items():
            if name in names and party.sample is not None and party.test is not None:
                yield SentEmbeddings([name], [party.sample], [party.test])

    def _ask_to_report(self, names: Collection[str]) -> None:
        for name, update in receive_reports(self, self.ask("report", names)).items():
            self.parties[name].update(update.tables["sample"], update.test, update.smoothness)

    def ask(self, kind: str, names: Collection[str], **further: Any) -> dict[str, Reply]:
        """Ask devices for embeddings of their current models; return the replies that came."""
        requests = {}
        for name in names:
            fields = {"round": self.round[0], "base": self.parties[name].state, **further}
            fields["number_bits"] = self.number_bits
            if kind == "embed":
                fields["arrival"] = self.round[1]
            requests[name] = Request(kind, fields, {}, self.sizes)
        return self.messenger.ask(requests)

    def smoothness(self) -> dict[str, float]:
        """Return each party's smoothness L_n, as its device last reported it."""
        return {name: party.smoothness for name, party in self.parties.items()}

    # --- checkpoint -----------------------------------------------------------------------------

    def state_dict(self) -> StateDict:
        """Return what devices have sent, and earlier fusion models; their own stay with them."""
        arrays, fusions = self.detector.fusions.state_dict()
        values = {}
        for number, (name, party) in enumerate(self.parties.items()):
            state = party.state_dict()
            arrays |= {f"remote/{number}/{key}": array for key, array in state.arrays.items()}
            values[name] = state.values
        return StateDict(arrays, {"remote": values, "fusions": fusions})

    def load_state_dict(self, state: StateDict) -> None:
        """Restore what `state_dict` returned."""
        for number, (name, values) in enumerate(state.values["remote"].items()):
            arrays = strip_prefix(state.arrays, f"remote/{number}/")
            self.parties[name] = RemoteParty.from_state_dict(
                StateDict(arrays, values), self.options
            )
        if "fusions" in state.values and self.detector.harm is not None:
            saved = StateDict(state.arrays, state.values["fusions"])
            self.detector.fusions.load_state_dict(saved, self.detector.harm.server.fusion)

    # --- inside ---------------------------------------------------------------------------------

    @property
    def sizes(self) -> dict[str, int]:
        """Return the array sizes that replies must have."""
        sizes = {"sample": self.sample_rows, "test": self.test_rows, "w": self.width}
        return self.progress.sizes | sizes

    def counts_divergence(self, name: str) -> bool:
        """Log that a device's training diverged; only a search can do without its update."""
        self.messenger.log(f"{name}: training diverged")
        return self.learning.step == "searched"

    def _advance(self, replies: Mapping[str, Reply]) -> set[str]:
        """Store parties' tables after their updates; return those whose tables are all good."""
        progress, detector = self.progress, self.detector
        after = tables_after_step(self.learning)
        updates: dict[str, SentUpdate] = {}
        for name, update in receive_reports(self, replies).items():
            tables = unpack(self, name, replies[name], after, f"after {progress.updates - 1}")
            part = progress.table_parts.get(name)
            table: Tables | None = {}
            if part is not None:
                rows = table_rows(part, self.learning.table_rounds, self.train_rows)
                table = unpack(self, name, replies[name], ["table"], f"part {part}", len(rows))
            if tables is not None and table is not None:
                updates[name] = update._replace(tables={**tables, **table, **update.tables})
        sent = {name: update.tables for name, update in updates.items()}
        reasons = detector.after_step(
            sent, progress.rows, self.number_bits, progress.before, progress.step_length
        )
        for name, update in self.without(updates, reasons).items():
            progress.updated[name] = update.tables
            party = self.parties[name]
            party.state = progress.state_after(name)
            party.update(update.tables["sample"], update.test, update.smoothness)
            detector.accept(name, party.state, update.tables, progress.rows, self.number_bits)
            progress.missed.discard(name)
        go_back(self, reasons)
        return updates.keys() - reasons.keys()

    def without(self, sent: Mapping[str, T], reasons: Reasons) -> dict[str, T]:
        """Leave parties out of the round, and say why; return what the others have sent."""
        for name, reason in reasons.items():
            self.messenger.log(f"{name}: left out of round {self.round[0] + 1}: {reason}")
            if name not in self.progress.left_out:
                self.detector.suspect(name)
            self.progress.leave_out(name, reason)
            self.left_out[name] = reason
        return {name: item for name, item in sent.items() if name not in reasons}

    def _undefined(self, rows: int) -> Tensor:
        """Return embeddings of a party whose numbers are no longer finite, (rows, width)."""
        dtype, device = self.options.dtype, self.options.device
        return torch.full((rows, self.width), torch.nan, dtype=dtype, device=device)
