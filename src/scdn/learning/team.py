"""Parties of one structure, trained together: their parameters are stacked, products batched."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import chain
from math import prod

import torch
from torch import Tensor, nn
from torch.func import stack_module_state

from scdn.learning.features import Part, Rows, Sight
from scdn.learning.gradients import Tally
from scdn.learning.guide import Guide
from scdn.learning.local import Descent, Order, stretches
from scdn.learning.models import structure
from scdn.learning.replay import replayed
from scdn.learning.split import View
from scdn.learning.stacked import alone, apiece, together
from scdn.learning.tensors import Place, Tensors, under

AT_ONCE = 100_000  # rows of all parties together that are embedded in one piece,…
VALUES = 100_000_000  # …if they have no more values than this
ALONE = 1_024  # rows from which on parties may embed one after another, and…
AT_ONCE_ALONE = 8_192  # …how many of them in one piece


@dataclass(frozen=True)
class Team:
    """Parties whose models have the same layers. A device on its own is a team of one."""

    names: tuple[str, ...]
    module: nn.Module  # the layers; its own numbers are not used
    parameters: Tensors  # each with a first dimension of parties
    buffers: Tensors
    sight: Sight
    place: Place

    @classmethod
    def of(
        cls, names: Sequence[str], modules: Sequence[nn.Module], views: Sequence[View], place: Place
    ) -> Team:
        """Stacks parties that `models.structure` calls equal."""
        parameters, buffers = stack_module_state(list(modules))

        def here(tensors: Tensors) -> Tensors:
            return {
                name: t.detach().to(place.device, place.dtype if t.is_floating_point() else None)
                for name, t in tensors.items()
            }

        layers = deepcopy(modules[0]).to("meta")
        return cls(
            tuple(names), layers, here(parameters), here(buffers), Sight.of(views, place), place
        )

    def matches(self, other: Team) -> bool:
        """Whether the other's parties could be in this team."""
        mine, theirs = (
            (structure(team.module, team.sight.shape), team.sight.modality)
            for team in (self, other)
        )
        return mine == theirs

    def seats(self, names: Collection[str]) -> list[int]:
        """Where in the team those of `names` are that belong to it."""
        return [place for place, name in enumerate(self.names) if name in names]

    def only(self, names: Collection[str]) -> Team:
        """The part of the team that is in `names`."""
        kept = self.seats(names)
        if len(kept) == len(self.names):
            return self
        where = torch.tensor(kept, dtype=torch.int64, device=self.place.device)
        return replace(
            self,
            names=tuple(self.names[place] for place in kept),
            parameters={name: p[where] for name, p in self.parameters.items()},
            buffers={name: b[where] for name, b in self.buffers.items()},
            sight=self.sight.only(where),
        )

    def put(self, part: Team) -> Team:
        """With the parameters that some of the team have come to."""
        if part.names == self.names:
            return part
        where = torch.tensor(self.seats(part.names), device=self.place.device, dtype=torch.int64)
        own = {n: p.index_copy(0, where, part.parameters[n]) for n, p in self.parameters.items()}
        return replace(self, parameters=own)

    def joined(self, other: Team) -> Team:
        """With another team of the same structure at its end."""

        def both(mine: Tensors, theirs: Tensors) -> Tensors:
            return {name: torch.cat([mine[name], theirs[name]]) for name in mine}

        return replace(
            self,
            names=self.names + other.names,
            parameters=both(self.parameters, other.parameters),
            buffers=both(self.buffers, other.buffers),
            sight=self.sight.joined(other.sight),
        )

    def forward(self, parameters: Tensors, buffers: Tensors, inputs: Tensor) -> Tensor:
        """Embeddings of inputs: (parties, rows, …) to (parties, rows, width)."""
        with self.place.computing():
            return together(self.module)(parameters | buffers, inputs).to(self.place.dtype)

    @torch.no_grad()
    def embed(self, inputs: Tensor) -> list[Tensor]:
        """What the parties send for these inputs: (parties, rows, …) to (rows, width) of each.

        With many rows a CPU gains nothing from batched products, which add a layer's bias in a
        pass of its own, and neither does a GPU from convolutions in groups; there the parties
        compute one after another.
        """
        if self._apart(inputs.shape[1]):
            with self.place.computing():
                pairs = zip(apiece(self.parameters | self.buffers), inputs, strict=True)
                return [self._alone(own, seen) for own, seen in pairs]
        pieces = [
            self.forward(self.parameters, self.buffers, piece)
            for piece in torch.split(inputs, self._piece, 1)
        ]
        return list(torch.cat(pieces, 1))

    @torch.no_grad()
    def embed_each(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """The same, of rows whose embeddings are kept: each in memory of its own.

        On a CPU not even their last bits hang on who else sends, or on a party's seat.
        """
        if self.place.device != "cpu" and len(self.sight.shape) != 3:
            return [table.clone() for table in self.embed(torch.stack(list(inputs)))]
        found = []
        with self.place.computing():
            for own, seen in zip(apiece(self.parameters | self.buffers), inputs, strict=True):
                found.append(self._alone({name: t.clone() for name, t in own.items()}, seen))
        return found

    def _apart(self, rows: int) -> bool:
        return rows >= ALONE and (self.place.device == "cpu" or len(self.sight.shape) == 3)

    def _alone(self, own: Tensors, inputs: Tensor) -> Tensor:
        """One party's embeddings: (rows, …) to (rows, width)."""
        pieces = [alone(self.module)(own, piece) for piece in torch.split(inputs, AT_ONCE_ALONE)]
        return torch.cat(pieces).to(self.place.dtype)

    @property
    def _piece(self) -> int:
        rows = min(AT_ONCE, VALUES // prod(self.sight.shape))
        return max(256, rows // len(self.names))

    def embed_rows(self, rows: Rows, part: Part, which: Tensor) -> list[Tensor]:
        """The same for rows of a data set, a few at a time."""
        pieces = [
            self.embed(self.sight.take(rows, part, some))
            for some in torch.split(which, self._piece)
        ]
        return [torch.cat(tables) for tables in zip(*pieces, strict=True)]

    def gradients(
        self,
        parameters: Tensors,
        loss: Callable[[Tensor], Tensor],
        inputs: Tensor,
        buffers: Tensors | None = None,
    ) -> Tensors:
        """Each party's gradient of its own loss."""
        free = {name: p.detach().requires_grad_() for name, p in parameters.items()}
        embeddings = self.forward(free, self.buffers if buffers is None else buffers, inputs)
        found = torch.autograd.grad(loss(embeddings).sum(), list(free.values()))
        return dict(zip(free, found, strict=True))

    def towards(self, other: Team, share: float) -> Team:
        """The part `share` of the way to the same team at another time (damping)."""
        if share == 1.0:
            return other
        mine, theirs = self.parameters, other.parameters
        between = {name: torch.lerp(mine[name], theirs[name], share) for name in mine}
        return replace(self, parameters=between)


@dataclass(frozen=True)
class Lesson:
    """A team's work in a round: a batch of rows per step, a guide, an order for each party."""

    team: Team
    rows: Rows
    batches: Tensor  # (steps, batch) numbers of training rows
    guide: Guide
    orders: Sequence[Order]
    tally: Tally | None = None


def train(lessons: Sequence[Lesson]) -> list[Team]:
    """The teams after a round: each party takes its own number of steps against its guide.

    Teams of one structure (of runs with different seeds, say) train in the same batched products.
    """
    whole = lessons[0].team
    for lesson in lessons[1:]:
        whole = whole.joined(lesson.team)
    descent = Descent(
        whole.parameters, [o for lesson in lessons for o in lesson.orders], whole.place
    )
    for who, first, end in stretches([o.steps for lesson in lessons for o in lesson.orders]):
        everyone = len(who) == len(whole.names)
        some = None if everyone else torch.tensor(who, device=whole.place.device)
        going = descent if some is None else descent.part(some)
        buffers = whole.buffers if some is None else {n: b[some] for n, b in whole.buffers.items()}
        desks = _desks(lessons, who)
        work = _Step(whole, desks)
        for step in range(first, end):
            inputs = [desk.inputs(step) for desk in desks]
            seen = torch.cat(inputs) if len(inputs) > 1 else inputs[0]
            given = work.given(step, going.now, buffers, seen)
            gradients = replayed(work.kind, work.gradients, given)
            for desk in desks:
                desk.count(gradients)
            going.step(gradients)
        if some is not None:
            descent.put(some, going)
    parts = [len(lesson.orders) for lesson in lessons]
    split = {name: torch.split(p, parts) for name, p in descent.now.items()}
    return [
        replace(lesson.team, parameters={name: pieces[k] for name, pieces in split.items()})
        for k, lesson in enumerate(lessons)
    ]


@dataclass(frozen=True)
class _Desk:
    """The parties of one lesson that are at work: `where` among all of them, `some` of its own."""

    lesson: Lesson
    where: slice
    some: Tensor | None

    def inputs(self, step: int) -> Tensor:
        lesson = self.lesson
        return lesson.team.sight.take(lesson.rows, "train", lesson.batches[step], self.some)

    def told(self, step: int) -> Tensors:
        return self.lesson.guide.told(step, self.some)

    def losses(self, told: Tensors, embeddings: Tensor) -> Tensor:
        return self.lesson.guide.losses(told, embeddings[self.where])

    def count(self, gradients: Tensors) -> None:
        if self.lesson.tally is not None:
            mine = {name: gradient[self.where] for name, gradient in gradients.items()}
            self.lesson.tally.add(mine, self.some)


@dataclass(frozen=True)
class _Step:
    """A step of those at work, as a function of tensors that have one name each."""

    team: Team
    desks: Sequence[_Desk]

    @property
    def kind(self) -> tuple[Hashable, ...]:
        """What is the same in every step."""
        each = [(d.where.start, d.where.stop, *d.lesson.guide.kind) for d in self.desks]
        return "parties", self.team.module, self.team.place, *chain.from_iterable(each)

    def given(self, step: int, parameters: Tensors, buffers: Tensors, inputs: Tensor) -> Tensors:
        """What the step's gradients hang on."""
        found = {"inputs": inputs}
        found |= {f"own/{name}": value for name, value in parameters.items()}
        found |= {f"fixed/{name}": value for name, value in buffers.items()}
        for place, desk in enumerate(self.desks):
            found |= {f"told/{place}/{name}": value for name, value in desk.told(step).items()}
        return found

    def gradients(self, given: Tensors) -> Tensors:
        """Each party's gradient of its own loss."""
        told = [under(given, f"told/{place}/") for place in range(len(self.desks))]

        def losses(embeddings: Tensor) -> Tensor:
            pairs = zip(self.desks, told, strict=True)
            return torch.cat([desk.losses(own, embeddings) for desk, own in pairs])

        own, fixed = under(given, "own/"), under(given, "fixed/")
        return self.team.gradients(own, losses, given["inputs"], fixed)


def _desks(lessons: Sequence[Lesson], who: Sequence[int]) -> list[_Desk]:
    found, first, seat = [], 0, 0
    for lesson in lessons:
        size = len(lesson.orders)
        own = [n - first for n in who if first <= n < first + size]
        if own:
            some = None if len(own) == size else torch.tensor(own, device=lesson.batches.device)
            found.append(_Desk(lesson, slice(seat, seat + len(own)), some))
        first, seat = first + size, seat + len(own)
    return found
