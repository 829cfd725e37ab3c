"""The side that holds features: what a server asks of parties, and the parties of this process.

`VerticalModel` speaks to `Parties` and does not know where they are. A `Crew` has them here, in
teams of one structure; a device that takes part from afar is a crew of one behind a connection.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scdn.learning.features import Rows
from scdn.learning.gradients import GradientSize, Tally, turning
from scdn.learning.guide import Guide, SlopeGuide
from scdn.learning.local import Order
from scdn.learning.parties import Maker, teamed
from scdn.learning.smoothness import curvature, smoothness
from scdn.learning.split import View
from scdn.learning.team import Lesson, Team, train
from scdn.learning.tensors import Tensors, under
from scdn.rng import generator

Arrays = dict[str, NDArray[Any]]
Figures = dict[str, GradientSize]  # of one round, party by party

_NONE = SlopeGuide(torch.empty(0))  # where nobody trains


@dataclass(frozen=True)
class Task:
    """What the server tells parties to do in a round; each learns of its own guide alone."""

    batches: Tensor  # (steps, batch) numbers of training rows
    orders: Mapping[str, Order]
    guide: Callable[[Sequence[str]], Guide]
    sample: Callable[[Sequence[str]], Guide] | None  # of the sample of rows, to measure against
    share: float | None = None  # the part of updates to apply, where it is known beforehand


class Sent(NamedTuple):
    """Each party's embeddings of the sample and of the test rows, (rows, width)."""

    names: Sequence[str]
    sample: Sequence[Tensor]
    tests: Sequence[Tensor]


class Parties(Protocol):
    """Whoever holds features, as the server sees them."""

    round: tuple[int, int]  # which round and arrival is trained, or was last

    @property
    def names(self) -> tuple[str, ...]:
        """Those who can train."""
        ...

    def seat(self, views: Mapping[str, View]) -> dict[str, int]:
        """Takes newcomers in; the connections of their models."""
        ...

    def drop(self, names: Collection[str]) -> None:
        """Parties are gone."""
        ...

    def probe(self, names: Collection[str], task: Task) -> Figures:
        """Measures gradients of the parties `names` at the task's batches, without a step."""
        ...

    def learn(self, task: Task) -> Figures:
        """Parties take their orders' steps; what they learned waits until it is applied."""
        ...

    def apply(self, share: float) -> set[str]:
        """Parties go this part of their way; who did."""
        ...

    def embeddings(self, rows: Tensor, sending: str, names: Collection[str]) -> dict[str, Tensor]:
        """Embeddings of training rows, (rows, width) each, of those of `names` who are there.

        `"trained"`: at the end of the way.
        """
        ...

    def tables(self, names: Collection[str]) -> dict[str, Tensor]:
        """Embeddings of all training rows, of parties that go."""
        ...

    def sent(self, names: Collection[str]) -> Iterator[Sent]:
        """Embeddings of the sample and the test rows, as the parties `names` stand."""
        ...

    def smoothness(self) -> dict[str, float]:
        """L_n of everyone."""
        ...

    def pack(self) -> tuple[Arrays, dict[str, Any]]:
        """All there is to save: arrays, and words that JSON can hold."""
        ...

    def unpack(self, arrays: Mapping[str, NDArray[Any]], words: Mapping[str, Any]) -> None:
        """Goes back to what was saved."""
        ...


@dataclass
class Crew:
    """Parties of this process, in teams of one structure."""

    rows: Rows
    maker: Maker
    seed: int
    sample: Tensor  # numbers of the training rows that figures are measured on
    teams: list[Team] = field(default_factory=list)
    views: dict[str, View] = field(default_factory=dict)
    round: tuple[int, int] = (0, 0)
    _trained: list[Team] = field(default_factory=list)
    _working: set[str] = field(default_factory=set)
    _inputs: dict[tuple[str, ...], tuple[list[Tensor], list[Tensor]]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Team by team."""
        return tuple(name for team in self.teams for name in team.names)

    # --- who is there ---------------------------------------------------------------------------

    def seat(self, views: Mapping[str, View]) -> dict[str, int]:
        """A model each, in the team of its structure."""
        parties = [self.maker.party(name, view, self.seed) for name, view in views.items()]
        self.views |= views
        for team in teamed(parties, self.maker.place):
            for place, other in enumerate(self.teams):
                if other.matches(team):
                    self.teams[place] = other.joined(team)
                    break
            else:
                self.teams.append(team)
        self._inputs.clear()
        return {party.name: party.connections for party in parties}

    def drop(self, names: Collection[str]) -> None:
        """Parties are gone."""
        stay = set(self.names) - set(names)
        self.views = {name: view for name, view in self.views.items() if name in stay}
        self.teams = [left for team in self.teams if (left := team.only(stay)).names]
        self._inputs.clear()

    # --- a round --------------------------------------------------------------------------------

    def probe(self, names: Collection[str], task: Task) -> Figures:
        """Gradients at the task's batches, as the models stand."""
        found: Figures = {}
        for whole in self.teams:
            team = whole.only(names)
            if not team.names:
                continue
            sample = team.sight.take(self.rows, "train", self.sample)
            tally, guide = self._tally(team, task, sample), task.guide(team.names)
            for step, batch in enumerate(task.batches):
                inputs = team.sight.take(self.rows, "train", batch)
                loss = partial(guide.losses, guide.told(step))
                tally.add(team.gradients(team.parameters, loss, inputs), None)
            figures = tally.figures(team.names)
            if self._turns:
                rate = self.maker.learning.server_rate
                trial = {n: p - rate * tally.reference[n] for n, p in team.parameters.items()}
                figures = self._turned(team, guide, task.batches[0], trial, figures)
            found |= figures
        return found

    def learn(self, task: Task) -> Figures:
        """The round's steps of everyone."""
        return learn_together([self], [task])[0]

    def lessons(self, task: Task) -> list[Lesson]:
        """A task as those of each team see it who have something to do."""
        found = []
        self._working = {name for name, order in task.orders.items() if order.steps}
        for whole in self.teams:
            team = whole.only(self._working)
            tally = None
            if task.sample is not None and team.names:
                sample = self._fixed_inputs(whole)[0]
                seen = torch.stack([sample[n] for n in whole.seats(self._working)])
                tally = self._tally(team, task, seen)
            own = [task.orders[name] for name in team.names]
            guide = task.guide(team.names) if team.names else _NONE
            found.append(Lesson(team, self.rows, task.batches, guide, own, tally))
        return found

    def figures(self, lesson: Lesson, trained: Team) -> Figures:
        """What a lesson showed of the gradients."""
        if lesson.tally is None:
            return {}
        found = lesson.tally.figures(lesson.team.names)
        if not self._turns:
            return found
        end = trained.parameters
        return self._turned(lesson.team, lesson.guide, lesson.batches[0], end, found)

    def apply(self, share: float) -> set[str]:
        """Parties go this part of their way."""
        pairs = zip(self.teams, self._trained, strict=True)
        self.teams = [old.towards(new, share) for old, new in pairs]
        self._trained = []
        return self._working

    # --- what parties send ----------------------------------------------------------------------

    def embeddings(self, rows: Tensor, sending: str, names: Collection[str]) -> dict[str, Tensor]:
        """Of training rows."""
        teams = self._trained if sending == "trained" else self.teams
        return self._send(teams, rows, sending, names)

    def tables(self, names: Collection[str]) -> dict[str, Tensor]:
        """Of all training rows."""
        every = torch.arange(self.rows.count("train"), device=self.maker.place.device)
        return self._send(self.teams, every, "left", names)

    def sent(self, names: Collection[str]) -> Iterator[Sent]:
        """Of the sample and the test rows."""
        for whole in self.teams:
            team = whole.only(names)
            if not team.names:
                continue
            seats = whole.seats(names)
            sample, tests = ([each[n] for n in seats] for each in self._fixed_inputs(whole))
            yield Sent(
                team.names,
                self._perturbed(team, team.embed_each(sample), "sample"),
                self._perturbed(team, team.embed_each(tests), "test"),
            )

    def smoothness(self) -> dict[str, float]:
        """From spectral norms."""
        found: dict[str, float] = {}
        c = curvature(self.maker.task)
        for team in self.teams:
            each = smoothness(team.module, team.parameters, team.sight.shape, c)
            found |= dict(zip(team.names, each.tolist(), strict=True))
        return found

    def gradients(self, team: Team, guide: Guide) -> Tensors:
        """Each party's gradient of a loss over the sample of rows."""
        return _gradients(team, guide, torch.stack(self._fixed_inputs(team)[0]))

    # --- to go on later -------------------------------------------------------------------------

    def pack(self) -> tuple[Arrays, dict[str, Any]]:
        """Parameters, and who sees what."""
        arrays: Arrays = {}
        for place, team in enumerate(self.teams):
            put(arrays, f"team/{place}", team.parameters)
        for place, view in enumerate(self.views.values()):
            arrays[f"view/{place}/columns"] = view.columns
            arrays[f"view/{place}/held"] = view.held
        return arrays, {
            "teams": [list(team.names) for team in self.teams],
            "views": {name: [view.modality, *view.shape] for name, view in self.views.items()},
        }

    def unpack(self, arrays: Mapping[str, NDArray[Any]], words: Mapping[str, Any]) -> None:
        """Parties with the parameters they had."""
        for number, (name, (modality, *shape)) in enumerate(words["views"].items()):
            columns, held = arrays[f"view/{number}/columns"], arrays[f"view/{number}/held"]
            self.views[name] = View(modality, columns, held, tuple(shape))
        place = self.maker.place
        for number, names in enumerate(words["teams"]):
            parties = [self.maker.party(name, self.views[name], self.seed) for name in names]
            (team,) = teamed(parties, place)
            own = {
                key: place.tensor(value) for key, value in under(arrays, f"team/{number}/").items()
            }
            self.teams.append(replace(team, parameters=own))

    # --- inside ---------------------------------------------------------------------------------

    def _tally(self, team: Team, task: Task, sample: Tensor) -> Tally:
        assert task.sample is not None  # noqa: S101
        return Tally(_gradients(team, task.sample(team.names), sample))

    @property
    def _turns(self) -> bool:
        return self.maker.learning.smoothness == "measured"

    def _turned(
        self, team: Team, guide: Guide, batch: Tensor, end: Tensors, figures: Figures
    ) -> Figures:
        """Figures with how fast the gradient of the first step's batch turns from here to `end`."""
        inputs = team.sight.take(self.rows, "train", batch)
        loss = partial(guide.losses, guide.told(0))
        before, after = (team.gradients(at, loss, inputs) for at in (team.parameters, end))
        each = zip(team.names, turning(team.parameters, end, before, after), strict=True)
        return {n: replace(figures[n], smoothness=found) for n, found in each if n in figures}

    def _send(
        self, teams: Sequence[Team], rows: Tensor, sending: str, names: Collection[str]
    ) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}
        for team in (whole.only(names) for whole in teams):
            if not team.names:
                continue
            each = self._perturbed(team, team.embed_rows(self.rows, "train", rows), sending)
            found |= dict(zip(team.names, each, strict=True))
        return found

    def _perturbed(self, team: Team, embeddings: list[Tensor], sending: str) -> list[Tensor]:
        """With each party's own noise, if that is asked for; new in every sending."""
        size = self.maker.learning.perturbation
        if not size:
            return embeddings
        streams = (
            generator(self.seed, f"perturb:{name}:{sending}", *self.round) for name in team.names
        )
        return [
            each + size * self.maker.place.tensor(draws.standard_normal(each.shape))
            for each, draws in zip(embeddings, streams, strict=True)
        ]

    def _fixed_inputs(self, team: Team) -> tuple[list[Tensor], list[Tensor]]:
        """A team's inputs of the sample and the test rows, party by party, gathered once."""
        if team.names not in self._inputs:
            tests = torch.arange(self.rows.count("test"), device=self.maker.place.device)
            sample = team.sight.take(self.rows, "train", self.sample)
            self._inputs[team.names] = (
                [own.clone() for own in sample],
                [own.clone() for own in team.sight.take(self.rows, "test", tests)],
            )
        return self._inputs[team.names]


def learn_together(crews: Sequence[Crew], tasks: Sequence[Task]) -> list[Figures]:
    """One round of several crews at once, where their teams have the same structures.

    Runs that differ in their seed share batched products; each gets what it would alone.
    """
    each = [crew.lessons(task) for crew, task in zip(crews, tasks, strict=True)]
    for crew in crews:
        crew._trained = []
    found: list[Figures] = [{} for _ in crews]
    for place, lessons in enumerate(zip(*each, strict=True)):
        trained = train(lessons)
        for crew, lesson, team, figures in zip(crews, lessons, trained, found, strict=True):
            figures |= crew.figures(lesson, team)
            crew._trained.append(crew.teams[place].put(team))
    return found


def _gradients(team: Team, guide: Guide, inputs: Tensor) -> Tensors:
    return team.gradients(team.parameters, partial(guide.losses, guide.told(0)), inputs)


def put(arrays: Arrays, prefix: str, tensors: Mapping[str, Tensor]) -> None:
    """Tensors as arrays, under names of their own."""
    for name, tensor in tensors.items():
        arrays[f"{prefix}/{name}"] = np.asarray(tensor.cpu())
