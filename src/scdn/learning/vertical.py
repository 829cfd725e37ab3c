"""Vertical learning in one process: parties, the server, and one round of training.

One round is stochastic parallel block coordinate descent: the parties train at the same time, each
against everybody's embeddings and the fusion model as they stood when the round began; then
embeddings are exchanged. The server trains at the same time too (`server_turn = "parallel"`, the
paper's way) or afterwards, on fresh embeddings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from scdn.draws import generator
from scdn.faults import refuse
from scdn.learning.features import Rows
from scdn.learning.fusion import Fusion
from scdn.learning.gradients import GradientSize, Tally
from scdn.learning.guide import Kept, SlopeGuide
from scdn.learning.importance import importance
from scdn.learning.local import REST, Order
from scdn.learning.parties import Maker, teamed
from scdn.learning.server import Server
from scdn.learning.smoothness import curvature, global_smoothness, smoothness
from scdn.learning.split import View
from scdn.learning.team import Lesson, Team, train
from scdn.learning.tensors import Place, Tensors, one_thread
from scdn.scenario.model import Learning, Memory

PROBES = 8  # batches that a newcomer's first gradient figures are taken from


@dataclass
class VerticalModel:
    """Everything that learns: teams of parties, and the server."""

    learning: Learning
    rows: Rows
    maker: Maker
    server: Server
    seed: int
    place: Place
    teams: list[Team] = field(default_factory=list)
    views: dict[str, View] = field(default_factory=dict)  # of the parties present
    sizes: dict[str, GradientSize] = field(default_factory=dict)
    connections: dict[str, int] = field(default_factory=dict)
    measure: bool = True  # whether gradients are measured, for a controller that asks
    round: tuple[int, int] = (0, 0)  # which round and arrival was trained last
    sent: bool = False  # whether the server has the parties' present embeddings
    _inputs: dict[tuple[str, ...], tuple[Tensor, Tensor]] = field(default_factory=dict)

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
    ) -> VerticalModel:
        """Before round 0: new models for the first parties."""
        place = maker.place
        count = rows.count("train")
        drawn = generator(seed, "sample").choice(
            count, min(count, learning.sample_rows), replace=False
        )
        fusion = Fusion.of(
            tuple(views), maker.width, place, seed, learning.fusion_hidden, maker.head(seed)
        )
        targets = rows.targets
        sample = place.tensor(drawn)
        server = Server(fusion, maker.task, targets["train"], targets["test"], sample, memory)
        model = cls(learning, rows, maker, server, seed, place, measure=measure)
        with one_thread():
            model._seat(views)
        return model

    # --- who is there ---------------------------------------------------------------------------

    @property
    def present(self) -> tuple[str, ...]:
        """Parties that can train."""
        return tuple(name for team in self.teams for name in team.names)

    def enter(self, views: Mapping[str, View]) -> None:
        """Newcomers: a model each, and a block of the fusion model."""
        for name in views:
            if name in self.connections:
                raise refuse("learning", name, "has been here before", "needs a name of its own")
        with one_thread():
            self.server.admit(tuple(views))
            self._seat(views)

    def leave(self, names: Collection[str]) -> None:
        """Parties go for good; the server's memory decides what stays of them."""
        for name in names:
            if name not in self.present:
                raise refuse("learning", name, "is not there to leave", "must be present")
        self.exchange()
        with one_thread():
            tables: dict[str, Tensor | None] = dict.fromkeys(names)
            if self.server.memory == "keep":
                every = torch.arange(self.rows.count("train"), device=self.place.device)
                going = [team.only(names) for team in self.teams]
                tables |= self._send([team for team in going if team.names], every, "left")
            self.server.dismiss(tables)
            stay = set(self.present) - set(names)
            self.views = {name: view for name, view in self.views.items() if name in stay}
            self.teams = [left for team in self.teams if (left := team.only(stay)).names]
            self._inputs.clear()

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
        train_together([self], round_, [orders], server, moving, arrival)

    def exchange(self) -> None:
        """Parties send their embeddings of the sample and the test rows, if they have moved.

        Whatever needs these embeddings asks for them; a round by itself does not.
        """
        if self.sent:
            return
        with one_thread():
            for team in self.teams:
                sample, tests = self._fixed_inputs(team)
                self.server.receive(
                    team.names,
                    self._perturbed(team, team.embed_each(sample), "sample"),
                    self._perturbed(team, team.embed_each(tests), "test"),
                )
        self.sent = True

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
        """L_n of the parties present, and L of the whole model."""
        found: dict[str, float] = {}
        with one_thread():
            for team in self.teams:
                c = curvature(self.maker.task)
                each = smoothness(team.module, team.parameters, team.sight.shape, c)
                found |= dict(zip(team.names, each.tolist(), strict=True))
            largest = torch.tensor(list(found.values()) or [0.0])
            whole = global_smoothness(self.server.fusion.norms(), largest)
        return found, whole

    def sample_gradients(self, team: Team) -> Tensors:
        """Each party's gradient of the loss over the sample of rows."""
        self.exchange()
        guide = SlopeGuide(self.server.sample_slopes()[self.server.places(team.names)])
        inputs, _ = self._fixed_inputs(team)
        return team.gradients(team.parameters, partial(guide.losses, 0, who=None), inputs)

    # --- inside ---------------------------------------------------------------------------------

    def _seat(self, views: Mapping[str, View]) -> None:
        """Puts new parties into teams, takes their first embeddings and gradient figures."""
        parties = [self.maker.party(name, view, self.seed) for name, view in views.items()]
        self.views |= views
        self.connections |= {party.name: party.connections for party in parties}
        for team in teamed(parties, self.place):
            for place, other in enumerate(self.teams):
                if other.matches(team):
                    self.teams[place] = other.joined(team)
                    break
            else:
                self.teams.append(team)
        self._inputs.clear()
        self.sent = False
        if self.measure and views:
            self._probe(set(views))
            self._inputs.clear()

    def _probe(self, names: Collection[str]) -> None:
        """First gradient figures, from a few drawn batches."""
        first = sorted(names)[0]
        draws = generator(self.seed, f"probe:{first}")
        batches = self._drawn(draws, PROBES)
        stale = self._embeddings(self.teams, batches, "probe")
        standing = self.server.standing(PROBES)
        for whole in self.teams:
            team = whole.only(names)
            if not team.names:
                continue
            tally = Tally(self.sample_gradients(team))
            guide = self.server.guide(team.names, batches, stale, self.learning.labels, standing)
            for step, batch in enumerate(batches):
                inputs = team.sight.take(self.rows, "train", batch)
                loss = partial(guide.losses, step, who=None)
                tally.add(team.gradients(team.parameters, loss, inputs), None)
            fresh = tally.report([GradientSize()] * len(team.names))
            self.sizes |= dict(zip(team.names, fresh, strict=True))

    def _begin(
        self,
        round_: int,
        orders: Mapping[str, Order],
        server: Order,
        moving: int | None,
        arrival: int | None,
    ) -> _Work:
        """The round's batches, what everybody knows of them as it begins, and the lessons."""
        for name in orders:
            if name not in self.present:
                raise refuse("learning", name, "is not there to train", "must be present")
        self.round = (round_, 0 if arrival is None else arrival + 1)
        steps = max([server.steps, *(order.steps for order in orders.values())])
        batches = self._drawn(generator(self.seed, "batches", round_, *_index(arrival)), steps)
        if moving is None:
            moving = sum(order.steps > 0 for order in orders.values())
        kept = self._kept(round_, arrival, steps)
        stale = self._embeddings(self.teams, batches, "before")
        lessons = []
        for team in self.teams:
            own = [orders.get(name, REST) for name in team.names]
            counted = self.measure and any(order.steps for order in own)
            guide = self.server.guide(team.names, batches, stale, self.learning.labels, kept)
            tally = Tally(self.sample_gradients(team)) if counted else None
            lessons.append(Lesson(team, self.rows, batches, guide, own, tally))
        return _Work(server, moving, batches, stale, kept, lessons)

    def _finish(self, work: _Work) -> None:
        """Parties apply what they learned, and the server takes its turn."""
        for lesson in work.lessons:
            if lesson.tally is not None:
                names = lesson.team.names
                before = [self.sizes.get(name, GradientSize()) for name in names]
                self.sizes |= dict(zip(names, lesson.tally.report(before), strict=True))
        share = self._share(work)
        after = [old.towards(new, share) for old, new in zip(self.teams, work.trained, strict=True)]
        batches, stale = work.batches[: work.server.steps], work.stale
        if self.learning.server_turn == "after" and work.server.steps:
            stale = self._embeddings(after, batches, "after")
        kept = None if work.kept is None else work.kept.first(work.server.steps)
        stale = stale[:, : work.server.steps]
        self.server.fusion = self.server.train(batches, stale, work.server.rate, kept)
        self.teams = after
        self.sent = False

    def _share(self, work: _Work) -> float:
        """The part of their updates that parties apply.

        `fitted`: the one with the least loss when all embeddings go that part of their way.
        """
        damping = self.learning.damping
        if damping == "none" or work.moving == 0:
            return 1.0
        if damping == "active":
            return 1 / work.moving
        if damping != "fitted":
            return float(damping)
        fresh = self._embeddings(work.trained, work.batches, "trained")
        return self.server.best_share(work.batches, work.stale, fresh, work.kept)

    def _embeddings(self, teams: Sequence[Team], batches: Tensor, sending: str) -> Tensor:
        """What the server has of (steps, batch) rows: (members, steps, batch, width)."""
        rows = batches.flatten()
        table = self.server.stack(self._send(teams, rows, sending), rows)
        return table.view(len(table), *batches.shape, table.shape[-1])

    def _send(self, teams: Sequence[Team], rows: Tensor, sending: str) -> dict[str, Tensor]:
        """Parties' embeddings of training rows, as they arrive."""
        sent: dict[str, Tensor] = {}
        for team in teams:
            each = self._perturbed(team, team.embed_rows(self.rows, "train", rows), sending)
            sent |= dict(zip(team.names, each, strict=True))
        return sent

    def _perturbed(
        self, team: Team, embeddings: Iterable[Tensor], sending: str
    ) -> Iterable[Tensor]:
        """With each party's own noise, if that is asked for; new in every sending."""
        size = self.learning.perturbation
        if not size:
            return embeddings
        streams = (
            generator(self.seed, f"perturb:{name}:{sending}", *self.round) for name in team.names
        )
        return [
            each + size * self.place.tensor(draws.standard_normal(each.shape))
            for each, draws in zip(embeddings, streams, strict=True)
        ]

    def _fixed_inputs(self, team: Team) -> tuple[Tensor, Tensor]:
        """A team's inputs of the sample and the test rows, gathered once."""
        if team.names not in self._inputs:
            tests = torch.arange(self.rows.count("test"), device=self.place.device)
            self._inputs[team.names] = (
                team.sight.take(self.rows, "train", self.server.sample),
                team.sight.take(self.rows, "test", tests),
            )
        return self._inputs[team.names]

    def _drawn(self, draws: Any, steps: int) -> Tensor:
        """One batch per step; the first steps are the same however many follow."""
        count = self.rows.count("train")
        size = min(self.learning.batch_size, count)
        found = torch.empty(steps, size, dtype=torch.int64)
        for step in range(steps):
            found[step] = torch.from_numpy(draws.choice(count, size, replace=False))
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
    moving: int
    batches: Tensor
    stale: Tensor
    kept: Kept | None
    lessons: list[Lesson]
    trained: list[Team] = field(default_factory=list)


def train_together(
    models: Sequence[VerticalModel],
    round_: int,
    orders: Sequence[Mapping[str, Order]],
    server: Order,
    moving: int | None = None,
    arrival: int | None = None,
) -> None:
    """One round of several runs at once, where their teams have the same structures.

    Runs that differ in their seed share batched products; each gets what it would alone.
    """
    with one_thread():
        works = [
            model._begin(round_, wishes, server, moving, arrival)
            for model, wishes in zip(models, orders, strict=True)
        ]
        for lessons in zip(*(work.lessons for work in works), strict=True):
            for work, team in zip(works, train(lessons), strict=True):
                work.trained.append(team)
        for model, work in zip(models, works, strict=True):
            model._finish(work)


def _index(arrival: int | None) -> tuple[int, ...]:
    return () if arrival is None else (arrival,)
