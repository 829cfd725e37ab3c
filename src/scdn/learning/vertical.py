"""Vertical learning: parties, the server, and one round of training.

One round is stochastic parallel block coordinate descent: the parties train at the same time, each
against everybody's embeddings and the fusion model as they stood when the round began; then
embeddings are exchanged. The server trains at the same time too (`server_turn = "parallel"`, the
paper's way) or afterwards, on fresh embeddings.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from scdn.errors import input_error
from scdn.learning.crew import Crew, Figures, Parties, Task, learn_together
from scdn.learning.features import Rows
from scdn.learning.fusion import Fusion
from scdn.learning.gradients import GradientSize
from scdn.learning.guide import Guide, Kept, SlopeGuide
from scdn.learning.importance import importance
from scdn.learning.local import Order
from scdn.learning.parties import Maker
from scdn.learning.server import Server
from scdn.learning.smoothness import global_smoothness
from scdn.learning.split import View
from scdn.learning.team import Team
from scdn.learning.tensors import Place, Tensors, one_thread
from scdn.rng import generator
from scdn.scenario.model import Learning, Memory

PROBES = 8  # batches that a newcomer's first gradient figures are taken from


@dataclass
class VerticalModel:
    """Everything that learns: parties, wherever they are, and the server."""

    learning: Learning
    rows: Rows
    maker: Maker
    server: Server
    seed: int
    place: Place
    parties: Parties
    sizes: dict[str, GradientSize] = field(default_factory=dict)
    connections: dict[str, int] = field(default_factory=dict)
    measure: bool = True  # whether gradients are measured, for a controller that asks
    moved: set[str] = field(default_factory=set)  # whose present embeddings the server has not

    @classmethod
    def start(
        cls,
        rows: Rows,
        maker: Maker,
        views: Mapping[str, View],
        learning: Learning,
        seed: int,
        memory: Memory = "keep",
        measure: bool = True,
        parties: Parties | None = None,
    ) -> VerticalModel:
        """Before round 0: new models for the first parties; `parties`: those elsewhere."""
        place = maker.place
        sample = place.tensor(sample_rows(rows.count("train"), learning, seed))
        fusion = Fusion.of(
            tuple(views), maker.width, place, seed, learning.fusion_hidden, maker.head(seed)
        )
        targets = rows.targets
        server = Server(fusion, maker.task, targets["train"], targets["test"], sample, memory)
        crew = Crew(rows, maker, seed, sample) if parties is None else parties
        model = cls(learning, rows, maker, server, seed, place, crew, measure=measure)
        with one_thread():
            model._seat(views)
        return model

    # --- who is there ---------------------------------------------------------------------------

    @property
    def present(self) -> tuple[str, ...]:
        """Parties that can train."""
        return self.parties.names

    @property
    def crew(self) -> Crew:
        """The parties, where they are in this process."""
        if not isinstance(self.parties, Crew):
            raise TypeError("the parties are elsewhere")
        return self.parties

    @property
    def teams(self) -> list[Team]:
        """Parties of this process, by structure."""
        return self.crew.teams

    @teams.setter
    def teams(self, teams: list[Team]) -> None:
        self.crew.teams = teams
        self.moved |= set(self.present)

    def enter(self, views: Mapping[str, View]) -> None:
        """Newcomers: a model each, and a block of the fusion model."""
        for name in views:
            if name in self.connections:
                raise input_error(
                    "learning", name, "has been here before", "needs a name of its own"
                )
        with one_thread():
            self.server.admit(tuple(views))
            self._seat(views)

    def leave(self, names: Collection[str]) -> None:
        """Parties go for good; the server's memory decides what stays of them."""
        for name in names:
            if name not in self.present:
                raise input_error("learning", name, "is not there to leave", "must be present")
        self.exchange()
        with one_thread():
            tables: dict[str, Tensor | None] = dict.fromkeys(names)
            if self.server.memory == "keep":
                tables |= self.parties.tables(names)
            self.server.dismiss(tables)
            self.parties.drop(names)

    # --- one round ------------------------------------------------------------------------------

    def train(
        self,
        round_: int,
        orders: Mapping[str, Order],
        server: Order,
        *,
        moving: int | None = None,
        arrival: int | None = None,
    ) -> None:
        """All parties take their orders' steps, and the server its own.

        `moving` is how many parties set out to train, for the damping: one whose link failed or
        who left on the way has no steps. `arrival` says which of an asynchronous round's arrivals
        this is.
        """
        with one_thread():
            work = self._begin(round_, orders, server, moving, arrival)
            self._finish(work, self.parties.learn(work.task))

    def exchange(self) -> None:
        """Parties that have moved send their embeddings of the sample and the test rows.

        Whatever needs these embeddings asks for them; a round by itself does not.
        """
        if not self.moved:
            return
        with one_thread():
            for sent in self.parties.sent(self.moved):
                self.server.receive(*sent)
        self.moved = set()

    # --- what parties and server report ---------------------------------------------------------

    def metrics(self) -> dict[str, Any]:
        """Losses and scores as the models stand."""
        self.exchange()
        with one_thread():
            return self.server.metrics(self.learning.imputation)

    def importance(self, names: Sequence[str] | None = None) -> dict[str, float]:
        """γ of the parties present, or of those in `names` (Algorithm 2)."""
        names = self.present if names is None else names
        self.exchange()
        with one_thread():
            losses = self.server.importance_losses(names)
        return dict(zip(names, importance(losses, self.learning.importance_max), strict=True))

    def smoothness(self) -> tuple[dict[str, float], float]:
        """L_n of the parties present, and L of the whole model.

        Measured, the largest L_n stands for L, and for parties that showed nothing yet; if nobody
        did, nobody is told.
        """
        if self.learning.smoothness == "measured":
            told = {name: self.sizes[name] for name in self.present if name in self.sizes}
            known = {n: size.smoothness for n, size in told.items() if size.smoothness is not None}
            if not known:
                return {}, self.learning.global_smoothness
            most = max(known.values())
            return {name: known.get(name, most) for name in self.present}, most
        with one_thread():
            found = self.parties.smoothness()
            largest = torch.tensor(list(found.values()) or [0.0])
            whole = global_smoothness(self.server.fusion.norms(), largest)
        return found, whole

    def sample_gradients(self, team: Team) -> Tensors:
        """Each party's gradient of the loss over the sample of rows."""
        return self.crew.gradients(team, self._sample_guide(team.names))

    # --- inside ---------------------------------------------------------------------------------

    def _seat(self, views: Mapping[str, View]) -> None:
        """Takes new parties in, and their first gradient figures."""
        self.connections |= self.parties.seat(views)
        self.moved |= set(views)
        if self.measure and views:
            self._probe(set(views))

    def _probe(self, names: Collection[str]) -> None:
        """First gradient figures, from a few drawn batches."""
        first = sorted(names)[0]
        batches = self._drawn(generator(self.seed, f"probe:{first}"), PROBES)
        stale = self._embeddings(batches, "probe")
        task = self._task(batches, {}, stale, self.server.standing(PROBES))
        self.sizes |= self.parties.probe(names, task)

    def _begin(
        self,
        round_: int,
        orders: Mapping[str, Order],
        server: Order,
        moving: int | None,
        arrival: int | None,
    ) -> _Work:
        """The round's batches, what everybody knows of them as it begins, and the parties' task."""
        for name in orders:
            if name not in self.present:
                raise input_error("learning", name, "is not there to train", "must be present")
        self.parties.round = (round_, 0 if arrival is None else arrival + 1)
        steps = max([server.steps, *(order.steps for order in orders.values())])
        batches = self._drawn(batch_draws(self.seed, round_, arrival), steps)
        if moving is None:
            moving = sum(order.steps > 0 for order in orders.values())
        kept = self._kept(round_, arrival, steps)
        stale = self._embeddings(batches, "before")
        self._try(set(self.present) - {n for n, o in orders.items() if o.steps}, batches, stale)
        task = self._task(batches, orders, stale, kept, known_share(self.learning, moving))
        return _Work(server, batches, stale, kept, task)

    def _try(self, resting: Collection[str], batches: Tensor, stale: Tensor) -> None:
        """L_n of parties that will not move, by a step on trial: it must not stay as it was."""
        measured = self.measure and self.learning.smoothness == "measured"
        if not (measured and resting and len(batches)):
            return
        task = self._task(batches[:1], {}, stale[:, :1], self.server.standing(1))
        for name, size in self.parties.probe(resting, task).items():
            if size.smoothness is not None:
                before = self.sizes.get(name, size)
                self.sizes[name] = replace(before, smoothness=size.smoothness)

    def _task(
        self,
        batches: Tensor,
        orders: Mapping[str, Order],
        stale: Tensor,
        kept: Kept | None,
        share: float | None = None,
    ) -> Task:
        def guide(names: Sequence[str]) -> Guide:
            return self.server.guide(names, batches, stale, self.learning.labels, kept)

        return Task(batches, orders, guide, self._sample_guide if self.measure else None, share)

    def _sample_guide(self, names: Sequence[str]) -> Guide:
        """Slopes of the loss over the sample of rows."""
        self.exchange()
        return SlopeGuide(self.server.sample_slopes()[self.server.places(names)])

    def _finish(self, work: _Work, figures: Figures) -> None:
        """Parties apply what they learned, and the server takes its turn."""
        for name, size in figures.items():
            self.sizes[name] = self.sizes.get(name, GradientSize()).after(size)
        again = self._again(work.task.orders)
        share, fresh = work.task.share, None
        if share is None:  # fitted: the least loss when all embeddings go that part of their way
            fresh = self._anew(work.batches, work.stale, "trained", again)
            share = self.server.best_share(work.batches, work.stale, fresh, work.kept)
        went = self.parties.apply(share)
        self.moved |= again
        batches, stale = work.batches[: work.server.steps], work.stale
        if self.learning.server_turn == "after" and work.server.steps:
            there = share == 1.0 and went == again and not self.learning.perturbation
            if fresh is None or not there:
                fresh = self._anew(batches, stale, "after", again)
            stale = fresh
        kept = None if work.kept is None else work.kept.first(work.server.steps)
        stale = stale[:, : work.server.steps]
        self.server.fusion = self.server.train(batches, stale, work.server.rate, kept)

    def _again(self, orders: Mapping[str, Order]) -> set[str]:
        """Who sends again after a round: who trained. Noise is new in every sending of everyone."""
        if self.learning.perturbation:
            return set(self.present)
        return {name for name, order in orders.items() if order.steps}

    def _anew(self, batches: Tensor, stale: Tensor, sending: str, again: Collection[str]) -> Tensor:
        """Embeddings of rows that the server had `stale`, after the parties `again` have moved."""
        stale = stale[:, : len(batches)]
        sent = self.parties.embeddings(batches.flatten(), sending, again)
        if not sent:
            return stale
        fresh = torch.stack(list(sent.values())).view(len(sent), *stale.shape[1:])
        return stale.index_copy(0, self.server.places(tuple(sent)), fresh)

    def _embeddings(self, batches: Tensor, sending: str) -> Tensor:
        """What the server has of (steps, batch) rows: (members, steps, batch, width)."""
        rows = batches.flatten()
        sent = self.parties.embeddings(rows, sending, self.present)
        table = self.server.stack(sent, rows)
        return table.view(len(table), *batches.shape, table.shape[-1])

    def _drawn(self, draws: np.random.Generator, steps: int) -> Tensor:
        found = drawn(draws, steps, self.rows.count("train"), self.learning.batch_size)
        return found.to(self.place.device)

    def _kept(self, round_: int, arrival: int | None, steps: int) -> Kept | None:
        """Whose embeddings count in each step, where the model trains for departures."""
        if self.server.memory != "dropout":
            return None
        members = self.server.fusion.members
        draws = generator(self.seed, "dropout", round_, *_index(arrival))
        here = [place for place, name in enumerate(members) if name not in self.server.gone]
        flags = np.zeros((steps, len(members)))
        for step in range(steps):
            stays = draws.random(len(members)) >= self.learning.dropout
            if here:
                spare = draws.choice(here)
                flags[step, here] = stays[here]
                if not stays[here].any():
                    flags[step, spare] = 1.0  # never without anyone
        return Kept(self.place.tensor(flags))


@dataclass(frozen=True)
class _Work:
    """A round between its beginning and its end."""

    server: Order
    batches: Tensor
    stale: Tensor
    kept: Kept | None
    task: Task


def train_together(
    models: Sequence[VerticalModel],
    round_: int,
    orders: Sequence[Mapping[str, Order]],
    server: Order,
    moving: int | None = None,
    arrival: int | None = None,
) -> None:
    """One round of several runs of this process at once; each gets what it would alone."""
    with one_thread():
        works = [
            model._begin(round_, wishes, server, moving, arrival)
            for model, wishes in zip(models, orders, strict=True)
        ]
        found = learn_together([model.crew for model in models], [work.task for work in works])
        for model, work, figures in zip(models, works, found, strict=True):
            model._finish(work, figures)


def sample_rows(count: int, learning: Learning, seed: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Numbers of the training rows that importance and losses are measured on."""
    return generator(seed, "sample").choice(count, min(count, learning.sample_rows), replace=False)


def batch_draws(seed: int, round_: int, arrival: int | None = None) -> np.random.Generator:
    """Where a round's batches are drawn from."""
    return generator(seed, "batches", round_, *_index(arrival))


def drawn(draws: np.random.Generator, steps: int, count: int, batch_size: int) -> Tensor:
    """One batch of rows per step; the first steps are the same however many follow."""
    size = min(batch_size, count)
    found = torch.empty(steps, size, dtype=torch.int64)
    for step in range(steps):
        found[step] = torch.from_numpy(draws.choice(count, size, replace=False))
    return found


def known_share(learning: Learning, moving: int) -> float | None:
    """The part of updates that parties apply, if it does not hang on what they learn."""
    damping = learning.damping
    if damping == "none" or moving == 0:
        return 1.0
    if damping == "active":
        return 1 / moving
    return None if damping == "fitted" else float(damping)


def _index(arrival: int | None) -> tuple[int, ...]:
    return () if arrival is None else (arrival,)
