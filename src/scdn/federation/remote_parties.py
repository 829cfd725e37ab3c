"""Parties on other machines, as the server's model sees them: a `PartyBackend` that sends messages.

The server keeps what each device sent last: embeddings of training rows (all of them, or those that
are needed next), embeddings of the test rows, and its smoothness. These belong to one state of the
device's model, whose number the server gives: a device that does not reply is asked to go on from
that state the next time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from scdn.federation.messenger import Messenger, Reply, Request
from scdn.federation.remote_party import RemoteParty
from scdn.learning.feature_split import FeatureView
from scdn.learning.gradient_stats import GradientStats
from scdn.learning.party_backend import RoundTask, SentEmbeddings
from scdn.learning.party_loss import GradientLoss
from scdn.learning.tensors import Arrays, StateDict, TensorOptions, strip_prefix

_JOIN_TIMEOUT_S = 60.0  # for a new device, which has to read and embed all its rows
_UPDATED = ("train", "test")  # arrays of embeddings after an update


@dataclass
class RoundProgress:
    """How far the training of a round has got.

    Attributes
    ----------
    rows
        The training rows that the round has drawn.
    bases
        By party: the state from which it trains.
    step_known
        Whether the length of the step was known before training; devices then apply their updates
        at once.
    updates
        The number of times that devices were asked to apply their updates.
    missed
        Parties that were asked to train, and of whose update the server has not heard.
    trained
        By party: embeddings after training, of the rows on which the step is chosen.
    not_finite
        Parties whose numbers were no longer finite after the last update.
    """

    rows: Tensor = field(default_factory=lambda: torch.zeros(0))
    bases: Mapping[str, int] = field(default_factory=dict)
    step_known: bool = False
    updates: int = 0
    missed: set[str] = field(default_factory=set)
    trained: dict[str, Tensor] = field(default_factory=dict)
    not_finite: set[str] = field(default_factory=set)

    def state_after(self, name: str) -> int:
        """Return the number of a party's state after the last update."""
        return self.bases[name] + self.updates


@dataclass
class RemoteParties:
    """The parties of a run, each reached through the messenger."""

    messenger: Messenger
    options: TensorOptions
    sample: Tensor
    width: int
    test_rows: int
    join_request: Callable[[str], Request]  # for a new party of this name
    rows_of: Callable[[int], Tensor]  # the training rows that a round will draw
    searches: bool = False  # whether the step is searched, on rows held out
    refresh: int = 1  # rounds between two replies with embeddings of all training rows
    plan: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # of this round, by party
    round: tuple[int, int] = (0, 0)
    parties: dict[str, RemoteParty] = field(default_factory=dict)
    progress: RoundProgress = field(default_factory=RoundProgress)
    _joined: dict[str, Reply] = field(default_factory=dict)

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
        """Add parties that have joined, with the embeddings they sent."""
        for name in views:
            reply = self._joined.pop(name)
            self.parties[name] = RemoteParty(reply.fields.connections, state=0)
            self.parties[name].update(None, reply, self.options)
        return {name: self.parties[name].connections for name in views}

    def rejoin(self, name: str) -> None:
        """Continue with a restarted party: its embeddings of the common state are here already."""
        del self._joined[name]

    def remove(self, names: Collection[str]) -> None:
        """Remove parties."""
        self.parties = {n: party for n, party in self.parties.items() if n not in names}

    # --- a round --------------------------------------------------------------------------------

    def measure_gradients(
        self, names: Collection[str], task: RoundTask
    ) -> dict[str, GradientStats]:
        """Ask devices to measure their gradients; return the statistics of those that reply."""
        assert task.sample_loss is not None  # noqa: S101
        order = [name for name in self.parties if name in names]
        loss, sample_loss = task.party_loss(order), task.sample_loss(order)
        requests = {
            name: Request(
                "probe",
                {"base": self.parties[name].state},
                {
                    "batches": _numpy(task.batches),
                    "gradients": _gradients(loss, n),
                    "sample_gradients": _gradients(sample_loss, n)[0],
                },
            )
            for n, name in enumerate(order)
        }
        return _gradient_stats(self.messenger.ask(requests))

    def train(self, task: RoundTask) -> dict[str, GradientStats]:
        """Ask the devices that have steps in this round to train."""
        step_known = task.step_length is not None
        self.progress = RoundProgress(
            rows=torch.cat([task.batches.flatten(), task.held_out.flatten()]),
            bases={name: party.state for name, party in self.parties.items()},
            step_known=step_known,
            updates=1 if step_known else 0,
            missed=set(task.training),
        )
        if not task.training:
            return {}
        rows, trained_rows = self._rows_to_send(), self._trained_rows(task)
        replies = self.messenger.ask(self._train_requests(task, rows, trained_rows))
        expected = {"trained", *(_UPDATED if step_known else ())}
        usable = {name: r for name, r in replies.items() if self._is_usable(name, r, expected)}
        for name, reply in usable.items():
            if reply.fields.diverged:
                self.progress.trained[name] = self._undefined(len(trained_rows))
                self.progress.missed.discard(name)
                continue
            self.progress.trained[name] = self.options.tensor(reply.arrays["trained"].copy())
            if step_known:
                self._advance(name, rows, reply)
        return _gradient_stats(usable)

    def _train_requests(
        self, task: RoundTask, rows: Tensor | None, trained_rows: Tensor
    ) -> dict[str, Request]:
        names = [name for name in self.parties if name in task.training]
        bases = self.progress.bases
        loss = task.party_loss(names)
        sample_loss = None if task.sample_loss is None else task.sample_loss(names)
        sizes = self._sizes(rows) | {"k": len(trained_rows)}
        requests = {}
        for n, name in enumerate(names):
            arrays = {
                "batches": _numpy(task.batches),
                "gradients": _gradients(loss, n),
                "trained_rows": _numpy(trained_rows),
            }
            if sample_loss is not None:
                arrays["sample_gradients"] = _gradients(sample_loss, n)[0]
            if self.progress.step_known and rows is not None:
                arrays["rows"] = _numpy(rows)
            steps = task.local_steps[name]
            fields = {
                "round": self.round[0],
                "base": bases[name],
                "state": bases[name] + 1,
                "step_length": task.step_length,
                "steps": steps.count,
                "rate": steps.rate,
                "optimizer": steps.optimizer,
                "optimizer_value": steps.optimizer_value,
                **{key: float(value) for key, value in self.plan[name].items()},
            }
            requests[name] = Request("train", fields, arrays, sizes)
        return requests

    def _trained_rows(self, task: RoundTask) -> Tensor:
        """Return the rows on which the step is chosen once the parties have trained."""
        if task.step_length is not None:
            return task.batches.new_zeros(0)
        return (task.held_out if self.searches else task.batches).flatten()

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
        progress, rows = self.progress, self._rows_to_send()
        arrays, sizes = {} if rows is None else {"rows": _numpy(rows)}, self._sizes(rows)
        requests = {}
        for name in names:
            states = {"base": progress.bases[name], "state": progress.state_after(name)}
            fields = {**states, "step_length": step_length}
            requests[name] = Request("apply", fields, arrays, sizes)
        progress.not_finite.clear()
        for name, reply in self.messenger.ask(requests).items():
            if not self._is_usable(name, reply, _UPDATED):
                continue
            if not reply.fields.diverged:
                self._advance(name, rows, reply)
            elif step_length:  # the server will try a shorter step
                progress.not_finite.add(name)

    # --- what devices have sent -----------------------------------------------------------------

    def embed(self, rows: Tensor, phase: str, names: Collection[str]) -> dict[str, Tensor]:
        """Return embeddings of training rows; before training, ask for those that are not here.

        After an update they are: devices send embeddings of the round's rows with it.
        """
        if phase in ("before", "probe"):
            self._fetch(rows, names)
        embeddings = {n: party.train[rows] for n, party in self.parties.items() if n in names}
        if phase == "trained":
            return embeddings | self.progress.trained
        return embeddings | dict.fromkeys(self.progress.not_finite, self._undefined(len(rows)))

    def training_embeddings(self, names: Collection[str]) -> dict[str, Tensor]:
        """Return the embeddings of all training rows, as they were last sent."""
        return {name: self.parties[name].train for name in names}

    def evaluation_embeddings(self, names: Collection[str]) -> Iterator[SentEmbeddings]:
        """Return each party's embeddings of the sample and the test rows."""
        self._fetch(self.sample, names)
        for name, party in self.parties.items():
            if name in names:
                yield SentEmbeddings([name], [party.train[self.sample]], [party.test])

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

    def _rows_to_send(self) -> Tensor | None:
        """Return the training rows whose embeddings devices send after this round; None: all."""
        if self.round[0] % self.refresh == 0:
            return None
        next_rows = self.rows_of(self.round[0] + 1).to(self.options.device)
        return torch.unique(torch.cat([self.sample, self.progress.rows, next_rows]))

    def _sizes(self, rows: Tensor | None) -> dict[str, int]:
        count = len(next(iter(self.parties.values())).current) if rows is None else len(rows)
        return {"r": count, "m": self.test_rows, "w": self.width}

    def _is_usable(self, name: str, reply: Reply, expected: Collection[str]) -> bool:
        """Return whether a reply has these arrays, or tells a search that the device diverged."""
        if reply.fields.diverged:
            self.messenger.log(f"{name}: training diverged")
            return self.searches
        return reply.arrays.keys() >= set(expected)

    def _advance(self, name: str, rows: Tensor | None, reply: Reply) -> None:
        """Store a party's embeddings after its update."""
        self.parties[name].update(rows, reply, self.options)
        self.parties[name].state = self.progress.state_after(name)
        self.progress.missed.discard(name)

    def _undefined(self, rows: int) -> Tensor:
        """Return embeddings of a party whose numbers are no longer finite, (rows, width)."""
        dtype, device = self.options.dtype, self.options.device
        return torch.full((rows, self.width), torch.nan, dtype=dtype, device=device)

    def _fetch(self, rows: Tensor, names: Collection[str]) -> None:
        """Ask for embeddings of rows that some parties have not sent since their last update."""
        outdated = [
            name
            for name, party in self.parties.items()
            if name in names and not party.current[rows].all()
        ]
        if not outdated:
            return
        wanted = torch.unique(torch.cat([self.sample, rows]))
        arrays, sizes = {"rows": _numpy(wanted)}, self._sizes(wanted)
        requests = {
            name: Request("embed", {"base": self.parties[name].state}, arrays, sizes)
            for name in outdated
        }
        for name, reply in self.messenger.ask(requests).items():
            self.parties[name].update(wanted, reply, self.options)


def _numpy(tensor: Tensor) -> NDArray[Any]:
    return tensor.cpu().numpy()


def _gradients(loss: Any, party: int) -> NDArray[Any]:
    assert isinstance(loss, GradientLoss)  # noqa: S101
    return loss.gradients[party].detach().cpu().numpy()


def _gradient_stats(replies: Mapping[str, Reply]) -> dict[str, GradientStats]:
    return {
        name: GradientStats(
            reply.fields.bound_sq, reply.fields.variance, reply.fields.measured_smoothness
        )
        for name, reply in replies.items()
        if reply.fields.bound_sq is not None and reply.fields.variance is not None
    }
