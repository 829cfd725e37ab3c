"""The learning side of the server: fusion model, labels, and what parties have sent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor

from scdn.data.dataset import Task
from scdn.learning.fusion import Fusion
from scdn.learning.guide import Guide, Kept, LabelGuide, SlopeGuide
from scdn.learning.importance import exclusion_losses
from scdn.learning.imputation import IMPUTATIONS, Imputation, impute
from scdn.learning.losses import row_losses, scores
from scdn.scenario.model import Memory

AT_ONCE = 4_000_000  # numbers in the embeddings that are fused in one piece
SHARES = tuple(2 ** (-half / 2) for half in range(13))  # of an update: from all to a 64th


@dataclass
class Server:
    """Holds what stays on the server, and answers parties with guides.

    Attributes
    ----------
    sample
        Numbers of the training rows that importance and `train_loss` are measured on.
    seen, tests
        By member: its embeddings of those rows and of the test rows, as it last sent them.
    left
        By departed member: its embeddings of all training rows (`keep`).
    gone
        Departed members whose blocks stand empty (`dropout`).
    exits
        How many have left so far.
    """

    fusion: Fusion
    task: Task
    targets: Tensor
    test_targets: Tensor
    sample: Tensor
    memory: Memory = "keep"
    seen: dict[str, Tensor] = field(default_factory=dict)
    tests: dict[str, Tensor] = field(default_factory=dict)
    left: dict[str, Tensor] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    exits: int = 0

    def receive(
        self, names: Sequence[str], seen: Iterable[Tensor], tests: Iterable[Tensor]
    ) -> None:
        """Takes parties' embeddings of the sample and of the test rows."""
        for name, of_sample, of_test in zip(names, seen, tests, strict=True):
            self.seen[name], self.tests[name] = of_sample, of_test

    def admit(self, names: Sequence[str]) -> None:
        """Makes room for newcomers."""
        self.fusion = self.fusion.widened(names)

    def dismiss(self, tables: Mapping[str, Tensor | None]) -> None:
        """Parties left; `tables` has their embeddings of all training rows, if they are kept."""
        self.exits += len(tables)
        if self.memory == "zero-out":
            self.fusion = self.fusion.without(set(tables))
        for name, table in tables.items():
            if self.memory == "keep" and table is not None:
                self.left[name] = table
            else:
                del self.seen[name], self.tests[name]
        if self.memory == "dropout":
            self.gone += list(tables)

    def stack(self, sent: Mapping[str, Tensor], rows: Tensor) -> Tensor:
        """Every member's embeddings of training rows, (members, rows, width), in order."""
        known = dict(sent) | {name: table[rows] for name, table in self.left.items()}
        return self._in_order(known, len(rows))

    def guide(
        self,
        names: Sequence[str],
        batches: Tensor,
        stale: Tensor,
        labels: Literal["shared", "server"],
        kept: Kept | None = None,
    ) -> Guide:
        """What the parties `names` get to train on (steps, batch) rows.

        `stale` are the members' embeddings of those rows, (members, steps, batch, width).
        """
        places = self.places(names)
        if labels == "server":
            return SlopeGuide(self.slopes(stale, self.targets[batches], kept)[places])
        return LabelGuide(
            self.task,
            self.targets[batches],
            self.fusion.parameters["bias"],
            self.fusion.sums(_shown(stale, kept)),
            self.fusion.parameters["blocks"][places],
            stale[places],
            self.fusion.layers,
            self.fusion.head_tensors,
            kept,
            places,
        )

    def slopes(self, embeddings: Tensor, targets: Tensor, kept: Kept | None = None) -> Tensor:
        """Slopes of each batch's mean loss at (members, steps, batch, width) embeddings."""
        free = embeddings.detach().requires_grad_()
        losses = row_losses(self.fusion.outputs(_shown(free, kept)), targets, self.task)
        return torch.autograd.grad(losses.mean(-1).sum(), free)[0]

    def sample_slopes(self) -> Tensor:
        """The same of the mean loss over the sample: (members, 1, rows, width)."""
        table = self._in_order(self.seen, len(self.sample))[:, None]
        return self.slopes(table, self.targets[self.sample][None], self.standing(1))

    def train(
        self, batches: Tensor, embeddings: Tensor, rate: float, kept: Kept | None = None
    ) -> Fusion:
        """The fusion model after one step per batch; `self` stays as it is."""
        shown = _shown(embeddings, kept)
        return self.fusion.train(shown, self.targets[batches], self.task, rate)

    @torch.no_grad()
    def best_share(
        self, batches: Tensor, stale: Tensor, fresh: Tensor, kept: Kept | None = None
    ) -> float:
        """The part of the way from `stale` to `fresh` embeddings at which the loss is least."""
        targets = self.targets[batches]
        losses = []
        for share in SHARES:
            outputs = self.fusion.outputs(_shown(torch.lerp(stale, fresh, share), kept))
            loss = float(row_losses(outputs, targets, self.task).double().mean())
            losses.append(loss if math.isfinite(loss) else math.inf)
        return SHARES[losses.index(min(losses))]

    def standing(self, steps: int) -> Kept | None:
        """Which blocks have someone to fill them, where some stand empty."""
        if not self.gone:
            return None
        flags = [float(name not in self.gone) for name in self.fusion.members]
        return Kept(torch.tensor(flags).to(self.fusion.parameters["bias"]).expand(steps, -1))

    def places(self, names: Sequence[str]) -> Tensor:
        """Where `names` are among the members."""
        found = [self.fusion.members.index(name) for name in names]
        return torch.tensor(found, dtype=torch.int64, device=self.fusion.place.device)

    def importance_losses(self, names: Sequence[str]) -> list[float]:
        """The loss on the sample without each of `names` (Algorithm 2)."""
        targets, table = self.targets[self.sample], self._table(self.seen, len(self.sample))
        return exclusion_losses(self.fusion, table, targets, self.task, names).tolist()

    @torch.no_grad()
    def metrics(self, serve: Imputation = "learned") -> dict[str, Any]:
        """Losses and scores; after an exit also `future`: rows the departed never embedded.

        `serve` names the imputation that `future` shows; `future_by` has all three.
        """
        outputs = self._outputs(self.seen, len(self.sample))
        losses = row_losses(outputs, self.targets[self.sample], self.task)
        cached = scores(self.predict(), self.test_targets, self.task)
        found: dict[str, Any] = {"train_loss": float(losses.double().mean()), **cached}
        if self.exits:
            ways = {how: self._future(how) if self.left else cached for how in IMPUTATIONS}
            known = {"train_loss": found["train_loss"]}  # training rows were all embedded
            found |= {"future": known | ways[serve], "future_by": ways}
        return found

    @torch.no_grad()
    def predict(self) -> Tensor:
        """Outputs for the test rows, with cached embeddings where a party has left."""
        return self._outputs(self.tests, len(self.test_targets))

    def _future(self, how: Imputation) -> dict[str, float]:
        present = self.places([name for name in self.fusion.members if name not in self.left])
        seen = self._table(self.seen, len(self.sample))[present]
        tests = self._table(self.tests, len(self.test_targets))
        filled = tests.clone()
        for name in self.left:
            place = self.fusion.members.index(name)
            filled[place] = impute(how, self.seen[name], seen, tests[present])
        return scores(self.fusion.outputs(filled), self.test_targets, self.task)

    def _outputs(self, found: Mapping[str, Tensor], rows: int) -> Tensor:
        """The fusion model's outputs, in pieces whose table stays near the processor."""
        size = max(1, AT_ONCE // max(1, len(self.fusion.members) * self.fusion.width))
        pieces = []
        for first in range(0, max(1, rows), size):
            some = {name: table[first : first + size] for name, table in found.items()}
            pieces.append(self.fusion.outputs(self._table(some, min(size, rows - first))))
        return torch.cat(pieces)

    def _table(self, found: Mapping[str, Tensor], rows: int) -> Tensor:
        """What the fusion model takes of (members, rows, width) embeddings."""
        return _shown(self._in_order(found, rows)[:, None], self.standing(1))[:, 0]

    def _in_order(self, found: Mapping[str, Tensor], rows: int) -> Tensor:
        bias, members = self.fusion.parameters["bias"], self.fusion.members
        blank = bias.new_zeros(rows, self.fusion.width)
        if not members:
            return blank[None, :][:0]
        # Row by row in memory, as the fusion model reads it: it need not copy the table again.
        return torch.stack([found.get(name, blank) for name in members], 1).movedim(1, 0)


def _shown(embeddings: Tensor, kept: Kept | None) -> Tensor:
    return embeddings if kept is None else kept.shown(embeddings)
