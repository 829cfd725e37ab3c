"""Parties that are elsewhere, as a server's model sees them: `Parties`, by message.

What devices sent last stays here: embeddings of training rows (all of them, or those that are
needed next), of the test rows, and a few figures. A device that does not answer stands where it
stood, and so do its embeddings.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scdn.federation.post import Answer, Ask, Post
from scdn.learning.crew import Arrays, Figures, Sent, Task, put
from scdn.learning.gradients import GradientSize
from scdn.learning.guide import SlopeGuide
from scdn.learning.split import View
from scdn.learning.tensors import Place, under


@dataclass
class Absent:
    """What the server has of one party."""

    connections: int
    state: int  # the last one that the server heard of
    smoothness: float
    table: Tensor  # (training rows, width)
    known: Tensor  # which of these rows are as the party stands
    tests: Tensor

    def take(self, rows: Tensor | None, answer: Answer, place: Place) -> None:
        """Newer embeddings, of all training rows or of some."""
        table = place.tensor(answer.arrays["table"].copy())
        if rows is None:
            self.table = table
            self.known = torch.ones(len(table), dtype=torch.bool, device=table.device)
        else:
            self.table = self.table.index_copy(0, rows, table)
            self.known = torch.zeros_like(self.known).index_fill(0, rows, True)
        self.tests = place.tensor(answer.arrays["tests"].copy())
        smooth = answer.words.smoothness
        self.smoothness = float("inf") if smooth is None else smooth


@dataclass
class Remote:
    """Devices behind a post."""

    post: Post
    place: Place
    sample: Tensor
    width: int
    tests: int  # how many test rows there are
    starting: Callable[[str], Ask]  # what a new device is told
    upcoming: Callable[[int], Tensor]  # the rows that a round will draw
    first_s: float = 60.0  # for a newcomer to make ready; reading and embedding takes its time
    refresh: int = 1  # rounds from one whole table to the next
    plan: Mapping[str, Mapping[str, float]] = field(
        default_factory=dict
    )  # power, clock, iterations
    round: tuple[int, int] = (0, 0)
    here: dict[str, Absent] = field(default_factory=dict)
    missed: set[str] = field(default_factory=set)  # who did not answer in this round
    _trained: dict[str, Tensor] = field(default_factory=dict)
    _batches: Tensor | None = None
    _applied: bool = False
    _invited: dict[str, Answer] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """In the order in which they came."""
        return tuple(self.here)

    # --- who is there ---------------------------------------------------------------------------

    def invite(self, names: Collection[str]) -> list[str]:
        """Asks newcomers to make ready; those who did."""
        asks = {name: self.starting(name) for name in names}
        answers = self.post.ask(asks, max(self.first_s, self.post.timeout_s))
        self._invited |= answers
        return [name for name in names if name in answers]

    def seat(self, views: Mapping[str, View]) -> dict[str, int]:
        """Newcomers who were invited, with the embeddings they sent."""
        for name in views:
            answer = self._invited.pop(name)
            blank = torch.zeros(0)
            self.here[name] = Absent(answer.words.connections, 0, 0.0, blank, blank, blank)
            self.here[name].take(None, answer, self.place)
        return {name: self.here[name].connections for name in views}

    def drop(self, names: Collection[str]) -> None:
        """Devices are gone."""
        self.here = {name: one for name, one in self.here.items() if name not in names}

    def rejoin(self, name: str) -> None:
        """A party that was away, or that its server was, goes on from where both know it was."""
        del self._invited[name]

    # --- a round --------------------------------------------------------------------------------

    @property
    def trained(self) -> Collection[str]:
        """Who has learned in this round."""
        return self._trained.keys()

    def probe(self, names: Collection[str], task: Task) -> Figures:
        """Devices measure their gradients; one that does not answer has no figures yet."""
        assert task.sample is not None  # noqa: S101
        order = [name for name in self.here if name in names]
        guide, sample = task.guide(order), task.sample(order)
        asks = {
            name: Ask(
                "probe",
                {"base": self.here[name].state},
                {
                    "batches": _array(task.batches),
                    "slopes": _slopes(guide, n),
                    "sample_slopes": _slopes(sample, n)[0],
                },
            )
            for n, name in enumerate(order)
        }
        return _figures(self.post.ask(asks))

    def learn(self, task: Task) -> Figures:
        """Devices that have steps take them."""
        self.missed, self._trained, self._batches = set(), {}, task.batches
        self._applied = task.share is not None
        going = [name for name in self.here if task.orders.get(name) and task.orders[name].steps]
        if not going:
            return {}
        guide = task.guide(going)
        sample = None if task.sample is None else task.sample(going)
        wanted = self._wanted()
        asks = {}
        for n, name in enumerate(going):
            order, arrays = task.orders[name], {"batches": _array(task.batches)}
            arrays["slopes"] = _slopes(guide, n)
            if sample is not None:
                arrays["sample_slopes"] = _slopes(sample, n)[0]
            if self._applied and wanted is not None:
                arrays["rows"] = _array(wanted)
            words = {
                "round": self.round[0],
                "base": self.here[name].state,
                "state": self.round[0] + 1,
                "share": task.share,
                "steps": order.steps,
                "rate": order.rate,
                "mu": order.mu,
                "rho": order.rho,
                **{key: float(value) for key, value in self.plan[name].items()},
            }
            sizes = self._sizes(wanted) | {"t": len(task.batches), "b": task.batches.shape[1]}
            asks[name] = Ask("train", words, arrays, sizes)
        answers = self._complete(self.post.ask(asks))
        self.missed |= set(asks) - set(answers)
        for name, answer in answers.items():
            self._trained[name] = self.place.tensor(answer.arrays["trained"].copy())
            if self._applied:
                self._took(name, wanted, answer)
        return _figures(answers)

    def apply(self, share: float) -> set[str]:
        """Devices that learned go this part of their way, and send where that led."""
        if self._applied or not self._trained:
            return set(self._trained)
        wanted = self._wanted()
        arrays = {} if wanted is None else {"rows": _array(wanted)}
        sizes = self._sizes(wanted)
        asks = {
            name: Ask(
                "apply",
                {"base": self.here[name].state, "state": self.round[0] + 1, "share": share},
                arrays,
                sizes,
            )
            for name in self._trained
        }
        answers = self.post.ask(asks)
        self.missed |= set(asks) - set(answers)
        for name, answer in answers.items():
            self._took(name, wanted, answer)
        return set(answers)

    # --- what devices have sent -----------------------------------------------------------------

    def embeddings(self, rows: Tensor, sending: str, names: Collection[str]) -> dict[str, Tensor]:
        """Of training rows, as they were last sent; asked for where they were not."""
        if sending != "trained":
            self._ask_for(rows, names)
        found = {name: one.table[rows] for name, one in self.here.items() if name in names}
        if sending == "trained":
            found |= {name: sent.flatten(0, 1) for name, sent in self._trained.items()}
        return found

    def tables(self, names: Collection[str]) -> dict[str, Tensor]:
        """Of all training rows, as they were last sent."""
        return {name: self.here[name].table for name in names}

    def sent(self, names: Collection[str]) -> Iterator[Sent]:
        """Of the sample and the test rows."""
        self._ask_for(self.sample, names)
        for name, one in self.here.items():
            if name in names:
                yield Sent([name], [one.table[self.sample]], [one.tests])

    def smoothness(self) -> dict[str, float]:
        """As devices last reported it."""
        return {name: one.smoothness for name, one in self.here.items()}

    # --- to go on later -------------------------------------------------------------------------

    def pack(self) -> tuple[Arrays, dict[str, Any]]:
        """Everything that devices have sent; their models are theirs."""
        arrays: Arrays = {}
        for number, one in enumerate(self.here.values()):
            put(
                arrays, f"remote/{number}", {"table": one.table, "known": one.known.to(torch.int64)}
            )
            put(arrays, f"remote/{number}", {"tests": one.tests})
        keys = ("connections", "state")
        return arrays, {
            "remote": {
                name: {key: getattr(one, key) for key in keys}
                | {"smoothness": one.smoothness if np.isfinite(one.smoothness) else None}
                for name, one in self.here.items()
            }
        }

    def unpack(self, arrays: Mapping[str, NDArray[Any]], words: Mapping[str, Any]) -> None:
        """What devices had sent when the server last wrote it down."""
        for number, (name, told) in enumerate(words["remote"].items()):
            own = under(arrays, f"remote/{number}/")
            smooth = told["smoothness"]
            self.here[name] = Absent(
                told["connections"],
                told["state"],
                float("inf") if smooth is None else smooth,
                self.place.tensor(own["table"]),
                torch.from_numpy(own["known"]).bool().to(self.place.device),
                self.place.tensor(own["tests"]),
            )

    # --- inside ---------------------------------------------------------------------------------

    def _wanted(self) -> Tensor | None:
        """Which training rows devices send after this round; None: all."""
        assert self._batches is not None  # noqa: S101
        if self.round[0] % self.refresh == 0:
            return None
        coming = self.upcoming(self.round[0] + 1).to(self.place.device)
        return torch.unique(torch.cat([self.sample, self._batches.flatten(), coming.flatten()]))

    def _sizes(self, wanted: Tensor | None) -> dict[str, int]:
        rows = len(next(iter(self.here.values())).known) if wanted is None else len(wanted)
        return {"r": rows, "m": self.tests, "w": self.width}

    def _took(self, name: str, wanted: Tensor | None, answer: Answer) -> None:
        self.here[name].take(wanted, answer, self.place)
        self.here[name].state = self.round[0] + 1

    def _complete(self, answers: Mapping[str, Answer]) -> dict[str, Answer]:
        """Those that have all that was asked for."""
        if not self._applied:
            return dict(answers)
        return {name: a for name, a in answers.items() if {"table", "tests"} <= set(a.arrays)}

    def _ask_for(self, rows: Tensor, names: Collection[str]) -> None:
        """Rows that some of these devices have not sent since they moved."""
        lacking = [
            name for name, one in self.here.items() if name in names and not one.known[rows].all()
        ]
        if not lacking:
            return
        wanted = torch.unique(torch.cat([self.sample, rows]))
        asks = {
            name: Ask(
                "embed",
                {"base": self.here[name].state},
                {"rows": _array(wanted)},
                self._sizes(wanted),
            )
            for name in lacking
        }
        for name, answer in self.post.ask(asks).items():
            self.here[name].take(wanted, answer, self.place)


def _array(tensor: Tensor) -> NDArray[Any]:
    return tensor.cpu().numpy()


def _slopes(guide: Any, n: int) -> NDArray[Any]:
    assert isinstance(guide, SlopeGuide)  # noqa: S101
    return guide.slopes[n].detach().cpu().numpy()


def _figures(answers: Mapping[str, Answer]) -> Figures:
    return {
        name: GradientSize(answer.words.bound_sq, answer.words.variance, answer.words.turning)
        for name, answer in answers.items()
        if answer.words.bound_sq is not None and answer.words.variance is not None
    }
