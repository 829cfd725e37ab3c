"""The server's model: fuses embeddings, and grows and shrinks with the network.

Its first layer has one block of weights per member, so that a member's coming adds a block and
leaves every trained weight as it was. After it comes a head, the paper's or any module.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn

from scdn.data.dataset import Task
from scdn.learning.losses import row_losses
from scdn.learning.replay import replayed
from scdn.learning.stacked import by_rows
from scdn.learning.tensors import Place, Tensors, seeded, under
from scdn.rng import generator

_HEAD = "head."
_EMBEDDINGS, _TARGETS, _FIXED = "batch.embeddings", "batch.targets", "fixed."


@dataclass(frozen=True)
class Fusion:
    """A first layer in blocks and a head; `members` are in the order of the blocks."""

    members: tuple[str, ...]
    layers: nn.Module  # the head; its own numbers are not used
    parameters: Tensors  # blocks (members, width, hidden), bias (hidden,), head.…
    buffers: Tensors  # the head's
    place: Place
    seed: int

    @classmethod
    def of(
        cls,
        members: Sequence[str],
        width: int,
        place: Place,
        seed: int,
        hidden: int = 64,
        head: nn.Module | None = None,
    ) -> Fusion:
        """A new model for these members, with PyTorch's default initialisation."""
        if head is None:
            with seeded(seed, "fusion-head"):
                head = nn.Sequential(nn.ReLU(), nn.Linear(hidden, width))
        own = {_HEAD + name: p.detach().clone() for name, p in head.named_parameters()}
        inputs = len(members) * width
        start = {
            "blocks": _drawn((0, width, hidden), inputs, seed, "fusion"),
            "bias": _drawn((hidden,), inputs, seed, "fusion-bias"),
        }
        placed = {name: p.to(place.device, place.dtype) for name, p in (start | own).items()}
        fixed = {
            name: b.to(place.device, place.dtype if b.is_floating_point() else None)
            for name, b in head.named_buffers()
        }
        empty = cls((), deepcopy(head).to("meta"), placed, fixed, place, seed)
        return empty.widened(members)

    @property
    def width(self) -> int:
        """Of an embedding."""
        return self.parameters["blocks"].shape[1]

    def widened(self, names: Sequence[str]) -> Fusion:
        """With a block for each newcomer; what was trained stays as it was."""
        if not names:
            return self
        blocks = self.parameters["blocks"]
        _, width, hidden = blocks.shape
        inputs = (len(self.members) + len(names)) * width
        new = [
            _drawn((1, width, hidden), inputs, self.seed, f"fusion:{name}").to(blocks)
            for name in names
        ]
        return self._with(torch.cat([blocks, *new]), (*self.members, *names))

    def without(self, names: Collection[str]) -> Fusion:
        """Without the blocks of `names`: the inputs and their weights are gone."""
        kept = [place for place, name in enumerate(self.members) if name not in names]
        members = tuple(self.members[place] for place in kept)
        return self._with(self.parameters["blocks"][kept], members)

    @property
    def head_tensors(self) -> Tensors:
        """The head's own."""
        return under(self.parameters, _HEAD) | self.buffers

    def head(self, inputs: Tensor, parameters: Tensors | None = None) -> Tensor:
        """From the first layer's sums, (…, hidden), to outputs."""
        found = self.parameters if parameters is None else parameters
        return by_rows(self.layers, under(found, _HEAD) | self.buffers, inputs)

    def sums(self, embeddings: Tensor, parameters: Tensors | None = None) -> Tensor:
        """Σ over members of their embeddings times their blocks: (members, …, width) to (…)."""
        blocks = (self.parameters if parameters is None else parameters)["blocks"]
        side_by_side = embeddings.movedim(0, -2).flatten(-2)
        return side_by_side @ blocks.flatten(0, 1)

    def outputs(self, embeddings: Tensor, parameters: Tensors | None = None) -> Tensor:
        """Logits, or the number to predict, of (members, …, width) embeddings."""
        found = self.parameters if parameters is None else parameters
        return self.head(self.sums(embeddings, found) + found["bias"], found)

    def train(self, embeddings: Tensor, targets: Tensor, task: Task, rate: float) -> Fusion:
        """After one step of SGD per batch of (members, steps, batch, width) embeddings."""
        now = self.parameters
        for step in range(len(targets)):
            given = now | {_EMBEDDINGS: embeddings[:, step], _TARGETS: targets[step]}
            given |= {_FIXED + name: value for name, value in self.buffers.items()}
            slopes = replayed(("server", self.layers, task), partial(self._slopes, task), given)
            now = {name: p.sub(slopes[name], alpha=rate) for name, p in now.items()}
        return replace(self, parameters=now)

    def _slopes(self, task: Task, given: Tensors) -> Tensors:
        """Of the mean loss of a batch, at parameters."""
        free = {name: given[name].detach().requires_grad_() for name in self.parameters}
        model = replace(self, buffers=under(given, _FIXED))
        outputs = model.outputs(given[_EMBEDDINGS], free)
        loss = row_losses(outputs, given[_TARGETS], task).mean()
        slopes = torch.autograd.grad(loss, list(free.values()))
        return dict(zip(free, slopes, strict=True))

    def norms(self) -> float:
        """Product of the spectral norms of the first layer and the head's linear layers."""
        layers = [self.parameters["blocks"].flatten(0, 1)]
        layers += [
            p for name, p in self.parameters.items() if name.startswith(_HEAD) and p.dim() == 2
        ]
        return math.prod(float(torch.linalg.matrix_norm(w.double(), 2)) for w in layers)

    def _with(self, blocks: Tensor, members: tuple[str, ...]) -> Fusion:
        return replace(self, members=members, parameters=self.parameters | {"blocks": blocks})


def _drawn(shape: tuple[int, ...], inputs: int, seed: int, purpose: str) -> Tensor:
    """As `nn.Linear` starts a layer of so many inputs: uniform within ±1/√inputs."""
    limit = 1 / math.sqrt(max(inputs, 1))
    return torch.from_numpy(generator(seed, purpose).uniform(-limit, limit, shape))
