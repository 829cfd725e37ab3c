"""Parties on other machines, as the server's model sees them: a `PartyBackend` that sends messages.

What a device reports belongs to one state of its model, whose number the server gives: a device
that does not reply is asked to go on from that state the next time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from scdn.federation.messenger import Messenger, Reply, Request
from scdn.federation.remote_party import RemoteParty
from scdn.federation.table_format import NotFiniteError, pack_table, unpack_table
from scdn.federation.wire_format import Arrays, WireError
from scdn.learning.batches import table_rows
from scdn.learning.feature_split import FeatureView
from scdn.learning.gradient_stats import GradientStats
from scdn.learning.party_backend import RoundTask, SentEmbeddings
from scdn.learning.party_loss import GradientLoss, PartyLoss
from scdn.learning.round_protocol import tables_after_step
from scdn.learning.table_sender import BEFORE, DOWN, GRADIENTS, SAMPLE_GRADIENTS, TableSender
from scdn.learning.tensors import StateDict, TensorOptions, strip_prefix
from scdn.scenario import LearningSettings

_JOIN_TIMEOUT_S = 60.0  # for a new device, which has to read all its rows

Tables = dict[str, Tensor]


@dataclass
class RoundProgress:
    """How far a round has got.

    Attributes
    ----------
    sizes
        The number of rows of each table that devices send.
    bases
        By party: the state from which it trains.
    table_parts
        By party: the part of the table of all training rows that it is asked for.
    step_known
        Whether the length of the step was known before training; devices then apply their updates
        at once.
    updates
        The number of times that devices were asked to apply their updates.
    asked, missed
        Parties that were asked to take part, and those of whose update the server has not heard.
    trained, updated
        By party: tables after training, on which the step is chosen, and after the last update.
    not_finite
        Parties whose numbers were no longer finite after the last update.
    """

    sizes: dict[str, int] = field(default_factory=dict)
    bases: Mapping[str, int] = field(default_factory=dict)
    table_parts: Mapping[str, int] = field(default_factory=dict)
    step_known: bool = False
    updates: int = 0
    asked: set[str] = field(default_factory=set)
    missed: set[str] = field(default_factory=set)
    trained: dict[str, Tables] = field(default_factory=dict)
    updated: dict[str, Tables] = field(default_factory=dict)
    not_finite: set[str] = field(default_factory=set)

    def state_after(self, name: str) -> int:
        """Return the number of a party's state after the last update."""
        return self.bases[name] + self.updates


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
    _coder: TableSender = field(init=False)
    _joined: dict[str, Reply] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._coder = TableSender(self.learning.number_bits, self.seed)

    @property
    def number_bits(self) -> int:
        """Return the bits of each number in tables that are sent; requests have it."""
        return self._coder.number_bits

    @number_bits.setter
    def number_bits(self, bits: int) -> None:
        self._coder.number_bits = bits

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
        return {name: self.parties[name].connections for name in views}

    def rejoin(self, name: str) -> None:
        """Continue with a restarted party from the common state."""
        del self._joined[name]

    def remove(self, names: Collection[str]) -> None:
        """Remove parties."""
        self.parties = {n: party for n, party in self.parties.items() if n not in names}

    # --- a round --------------------------------------------------------------------------------

    def measure_gradients(
        self, names: Collection[str], task: RoundTask
    ) -> dict[str, GradientStats]:
        """Return nothing: devices measure gradients only while they train."""
        del names, task
        return {}

    def train(self, task: RoundTask) -> dict[str, GradientStats]:
        """Ask the devices that have steps in this round to train."""
        progress = self.progress
        progress.bases = {name: party.state for name, party in self.parties.items()}
        progress.step_known = task.step_length is not None
        progress.updates = 1 if progress.step_known else 0
        progress.missed |= task.training
        progress.table_parts = task.table_parts
        if not task.training:
            return {}
        replies = self.messenger.ask(self._train_requests(task))
        usable = {}
        for name, reply in replies.items():
            if reply.fields.diverged:
                if self._counts_divergence(name):
                    progress.trained[name] = {}
                    progress.missed.discard(name)
                    usable[name] = reply
            elif progress.step_known:
                if self._advance(name, reply):
                    progress.trained[name] = {}
                    usable[name] = reply
            elif tables := self._unpack(name, reply, [self._chosen_on], "trained"):
                progress.trained[name] = tables
                usable[name] = reply
        return _gradient_stats(usable)

    @property
    def _chosen_on(self) -> str:
        """The table on which the step is chosen once the parties have trained."""
        return "held_out" if self.learning.step == "searched" else "drawn"

    def _train_requests(self, task: RoundTask) -> dict[str, Request]:
        names = [name for name in self.parties if name in task.training]
        bases, loss = self.progress.bases, task.party_loss(names)
        sample_loss = None if task.sample_loss is None else task.sample_loss(names)
        requests = {}
        for n, name in enumerate(names):
            try:
                arrays = self._gradients(name, GRADIENTS, loss, n)
                if sample_loss is not None:
                    arrays |= self._gradients(name, SAMPLE_GRADIENTS, sample_loss, n)
            except NotFiniteError as error:  # the run will end for this, or go on without it
                self.messenger.log(f"{name}: cannot train ({error})")
                continue
            steps = task.local_steps[name]
            fields = {
                "round": self.round[0],
                "base": bases[name],
                "state": bases[name] + 1,
                "step_length": task.step_length,
                "table_part": task.table_parts.get(name),
                "steps": steps.count,
                "rate": steps.rate,
                "optimizer": steps.optimizer,
                "optimizer_value": steps.optimizer_value,
                **{key: float(value) for key, value in self.plan[name].items()},
            }
            requests[name] = Request("train", fields, arrays, self._sizes())
        return requests

    def _gradients(self, name: str, table: str, loss: PartyLoss, party: int) -> Arrays:
        assert isinstance(loss, GradientLoss)  # noqa: S101
        values = loss.gradients[party].flatten(0, -2)
        return pack_table(self._coder, name, table, values, DOWN, self.round)

    def apply_updates(self, step_length: float, names: Collection[str]) -> set[str]:
        """Ask devices that trained to go so far along their updates; return those that did.

        Where the length was known before, devices have applied it at the end of training. A device
        that misses a second request of the round has gone as far as the first one said: the server
        goes on from the state that it has heard of.
        """
        progress = self.progress
        trained = [name for name in progress.trained if name in names]
        if not progress.step_known:
            progress.updates += 1
            self._ask_to_apply(step_length, trained)
        return {name for name in trained if self.parties[name].state == progress.state_after(name)}

    def _ask_to_apply(self, step_length: float, names: Collection[str]) -> None:
        progress = self.progress
        requests = {}
        for name in names:
            states = {"base": progress.bases[name], "state": progress.state_after(name)}
            fields = {**states, "step_length": step_length}
            requests[name] = Request("apply", fields, {}, self._sizes())
        progress.not_finite.clear()
        for name, reply in self.messenger.ask(requests).items():
            if not reply.fields.diverged:
                self._advance(name, reply)
            elif self._counts_divergence(name) and step_length:  # a shorter step will be tried
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
                result[name] = torch.cat([source[name][table] for table in tables])
        return result

    def _ask_to_embed(
        self, tables: Mapping[str, Tensor], names: Collection[str]
    ) -> dict[str, Tensor]:
        asked = [name for name in self.parties if name in names]
        self.progress = RoundProgress(sizes={table: len(rows) for table, rows in tables.items()})
        replies = self._ask("embed", asked)
        result = {}
        for name in [name for name in asked if name in replies]:
            if sent := self._unpack(name, replies[name], list(tables), BEFORE):
                result[name] = torch.cat([sent[table] for table in tables])
        self.progress.asked, self.progress.missed = set(asked), set(asked) - set(result)
        return result

    def training_embeddings(self, names: Collection[str]) -> dict[str, Tensor]:
        """Return nothing: the server keeps the rows that it has heard."""
        del names
        return {}

    def evaluation_embeddings(self, names: Collection[str]) -> Iterator[SentEmbeddings]:
        """Yield embeddings of the sample and the test rows, of those that have reported."""
        unknown = [n for n, party in self.parties.items() if n in names and party.sample is None]
        if unknown:
            self._ask_to_report(unknown)
        for name, party in self.parties.items():
            if name in names and party.sample is not None and party.test is not None:
                yield SentEmbeddings([name], [party.sample], [party.test])

    def _ask_to_report(self, names: Collection[str]) -> None:
        for name, reply in self._ask("report", names).items():
            self._store_report(name, reply)

    def _ask(self, kind: str, names: Collection[str]) -> dict[str, Reply]:
        """Ask devices for embeddings of their current models; return the replies that came."""
        requests = {}
        for name in names:
            fields = {"round": self.round[0], "base": self.parties[name].state}
            fields["number_bits"] = self.number_bits
            requests[name] = Request(kind, fields, {}, self._sizes())
        return self.messenger.ask(requests)

    def smoothness(self) -> dict[str, float]:
        """Return each party's smoothness L_n, as its device last reported it."""
        return {name: party.smoothness for name, party in self.parties.items()}

    # --- checkpoint -----------------------------------------------------------------------------

    def state_dict(self) -> StateDict:
        """Return what devices have sent; their models stay with them."""
        arrays: Arrays = {}
        values = {}
        for number, (name, party) in enumerate(self.parties.items()):
            state = party.state_dict()
            arrays |= {f"remote/{number}/{key}": array for key, array in state.arrays.items()}
            values[name] = state.values
        return StateDict(arrays, {"remote": values})

    def load_state_dict(self, state: StateDict) -> None:
        """Restore what `state_dict` returned."""
        for number, (name, values) in enumerate(state.values["remote"].items()):
            arrays = strip_prefix(state.arrays, f"remote/{number}/")
            self.parties[name] = RemoteParty.from_state_dict(
                StateDict(arrays, values), self.options
            )

    # --- inside ---------------------------------------------------------------------------------

    def _sizes(self) -> dict[str, int]:
        sizes = {"sample": self.sample_rows, "test": self.test_rows, "w": self.width}
        return self.progress.sizes | sizes

    def _counts_divergence(self, name: str) -> bool:
        """Log that a device's training diverged; only a search can do without its update."""
        self.messenger.log(f"{name}: training diverged")
        return self.learning.step == "searched"

    def _advance(self, name: str, reply: Reply) -> bool:
        """Store a party's tables after its update; return whether they were all there."""
        progress = self.progress
        after = tables_after_step(self.learning)
        tables = self._unpack(name, reply, after, f"after {progress.updates - 1}")
        part = progress.table_parts.get(name)
        table: Tables | None = {}
        if part is not None:
            rows = table_rows(part, self.learning.table_rounds, self.train_rows)
            table = self._unpack(name, reply, ["table"], f"part {part}", len(rows))
        if tables is None or table is None or not self._store_report(name, reply):
            return False
        progress.updated[name] = tables | table
        self.parties[name].state = progress.state_after(name)
        progress.missed.discard(name)
        return True

    def _store_report(self, name: str, reply: Reply) -> bool:
        if "test" not in reply.arrays:
            self.messenger.reject(name, "array 'test' is missing")
            return False
        sent = self._unpack(name, reply, ["sample"], "after", self.sample_rows)
        if sent is None:
            return False
        test = self.options.tensor(reply.arrays["test"].copy())
        self.parties[name].update(sent["sample"], test, reply.fields.smoothness)
        return True

    def _unpack(
        self, name: str, reply: Reply, tables: Collection[str], phase: str, rows: int | None = None
    ) -> Tables | None:
        """Return tables of a reply; None, and a line in the log, where one is missing or wrong."""
        unpacked: Tables = {}
        for table in tables:
            count = self.progress.sizes[table] if rows is None else rows
            like = torch.zeros(
                count, self.width, dtype=self.options.dtype, device=self.options.device
            )
            if count == 0:
                unpacked[table] = like
                continue
            try:
                unpacked[table] = unpack_table(self._coder, name, table, reply.arrays, like, phase)
            except WireError as error:
                self.messenger.reject(name, str(error))
                return None
        return unpacked

    def _undefined(self, rows: int) -> Tensor:
        """Return embeddings of a party whose numbers are no longer finite, (rows, width)."""
        dtype, device = self.options.dtype, self.options.device
        return torch.full((rows, self.width), torch.nan, dtype=dtype, device=device)


def _gradient_stats(replies: Mapping[str, Reply]) -> dict[str, GradientStats]:
    return {
        name: GradientStats(
            reply.fields.bound_sq, reply.fields.variance, reply.fields.measured_smoothness
        )
        for name, reply in replies.items()
        if reply.fields.bound_sq is not None and reply.fields.variance is not None
    }
