"""The server's model f_0: it fuses embeddings, and grows and shrinks with the network.

Its first layer has one block of weights per member, so that a new member adds a block and leaves
every trained weight unchanged. After the first layer comes a head: the paper's, or any module.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn

from scdn.data.dataset import TaskKind
from scdn.learning.cuda_graphs import graphed_call
from scdn.learning.losses import row_losses
from scdn.learning.stacked_forward import forward_rows
from scdn.learning.tensors import TensorOptions, Tensors, add_prefix, seeded_init, strip_prefix
from scdn.rng import generator

_HEAD = "head."
_EMBEDDINGS, _TARGETS, _BUFFERS = "batch.embeddings", "batch.targets", "buffers."


@dataclass(frozen=True)
class FusionModel:
    """A first layer in blocks and a head; `members` are in the order of the blocks."""

    members: tuple[str, ...]
    layers: nn.Module  # the head; its own tensors are not used
    parameters: Tensors  # blocks (members, width, hidden), bias (hidden,), head.…
    buffers: Tensors  # the head's
    options: TensorOptions
    seed: int

    @classmethod
    def create(
        cls,
        members: Sequence[str],
        width: int,
        options: TensorOptions,
        seed: int,
        hidden: int = 64,
        head: nn.Module | None = None,
    ) -> FusionModel:
        """Create a model for these members, with PyTorch's default initialisation.

        With an empty head the model is linear, and adds up the members' embeddings at first.
        """
        if head is None:
            with seeded_init(seed, "fusion-head"):
                head = nn.Sequential(nn.ReLU(), nn.Linear(hidden, width))
        inputs = len(members) * width
        parameters = {
            "blocks": torch.zeros((0, width, hidden), dtype=torch.float64),
            "bias": _initial((hidden,), inputs, seed, "fusion-bias"),
        } | {_HEAD + name: p.detach().clone() for name, p in head.named_parameters()}
        if _is_empty(head):
            parameters["bias"].zero_()
        layers, buffers = deepcopy(head).to("meta"), dict(head.named_buffers())
        empty = cls(
            (), layers, options.convert(parameters), options.convert(buffers), options, seed
        )
        return empty.with_members(members)

    @property
    def width(self) -> int:
        """Return the width of an embedding."""
        return self.parameters["blocks"].shape[1]

    @property
    def connections(self) -> int:
        """Return the number of weights and biases."""
        return sum(parameter.numel() for parameter in self.parameters.values())

    def with_members(self, names: Sequence[str]) -> FusionModel:
        """Add a block for each new member; trained weights stay unchanged."""
        if not names:
            return self
        blocks = self.parameters["blocks"]
        _, width, hidden = blocks.shape
        inputs = (len(self.members) + len(names)) * width
        if _is_empty(self.layers):
            added = torch.eye(width, dtype=torch.float64).expand(len(names), -1, -1)
        else:
            shape = (1, width, hidden)
            added = torch.cat(
                [_initial(shape, inputs, self.seed, f"fusion:{name}") for name in names]
            )
        return self._with_blocks(torch.cat([blocks, added.to(blocks)]), (*self.members, *names))

    def without_members(self, names: Collection[str]) -> FusionModel:
        """Remove the blocks of these members."""
        kept = [index for index, name in enumerate(self.members) if name not in names]
        members = tuple(self.members[index] for index in kept)
        return self._with_blocks(self.parameters["blocks"][kept], members)

    # --- outputs --------------------------------------------------------------------------------

    @property
    def head_tensors(self) -> Tensors:
        """Return the head's parameters and buffers."""
        return strip_prefix(self.parameters, _HEAD) | self.buffers

    def head(self, inputs: Tensor) -> Tensor:
        """Compute outputs from the first layer's results, (…, hidden)."""
        return forward_rows(self.layers, self.head_tensors, inputs)

    def first_layer(self, embeddings: Tensor) -> Tensor:
        """Sum (members, …, width) embeddings times their blocks; the bias is not included."""
        side_by_side = embeddings.movedim(0, -2).flatten(-2)
        return side_by_side @ self.parameters["blocks"].flatten(0, 1)

    def outputs(self, embeddings: Tensor) -> Tensor:
        """Compute logits, or predicted numbers, from (members, …, width) embeddings."""
        return self.head(self.first_layer(embeddings) + self.parameters["bias"])

    def spectral_norm_product(self) -> float:
        """Multiply the spectral norms of the first layer and the head's linear layers."""
        layers = [self.parameters["blocks"].flatten(0, 1)]
        layers += [
            p for name, p in self.parameters.items() if name.startswith(_HEAD) and p.dim() == 2
        ]
        return math.prod(float(torch.linalg.matrix_norm(w.double(), 2)) for w in layers)

    # --- training -------------------------------------------------------------------------------

    def train(
        self, embeddings: Tensor, targets: Tensor, task: TaskKind, rate: float
    ) -> FusionModel:
        """Take one SGD step per batch of (members, steps, batch, width) embeddings."""
        parameters = self.parameters
        for step in range(len(targets)):
            gradients = self.gradients(parameters, embeddings[:, step], targets[step], task)
            parameters = {
                name: p.sub(gradients[name], alpha=rate) for name, p in parameters.items()
            }
        return replace(self, parameters=parameters)

    def gradients(
        self, parameters: Tensors, embeddings: Tensor, targets: Tensor, task: TaskKind
    ) -> Tensors:
        """Return the gradient of a batch's mean loss at these parameters."""
        inputs = parameters | {_EMBEDDINGS: embeddings, _TARGETS: targets}
        inputs |= add_prefix(self.buffers, _BUFFERS)
        return graphed_call(("server", self.layers, task), partial(self._gradients, task), inputs)

    def _gradients(self, task: TaskKind, inputs: Tensors) -> Tensors:
        """Compute the gradient of a batch's mean loss."""
        leaves = {name: inputs[name].detach().requires_grad_() for name in self.parameters}
        model = replace(self, parameters=leaves, buffers=strip_prefix(inputs, _BUFFERS))
        outputs = model.outputs(inputs[_EMBEDDINGS])
        loss = row_losses(outputs, inputs[_TARGETS], task).mean()
        gradients = torch.autograd.grad(loss, list(leaves.values()))
        return dict(zip(leaves, gradients, strict=True))

    def _with_blocks(self, blocks: Tensor, members: tuple[str, ...]) -> FusionModel:
        return replace(self, members=members, parameters=self.parameters | {"blocks": blocks})


def _is_empty(head: nn.Module) -> bool:
    """Return whether the first layer's results are the outputs."""
    return isinstance(head, nn.Sequential) and len(head) == 0


def _initial(shape: tuple[int, ...], inputs: int, seed: int, purpose: str) -> Tensor:
    """Draw weights as `nn.Linear` does for so many inputs: uniform within ±1/√inputs."""
    limit = 1 / math.sqrt(max(inputs, 1))
    return torch.from_numpy(generator(seed, purpose).uniform(-limit, limit, shape))


def member_weights(flags: Tensor) -> Tensor:
    """Scale ones and zeros, (steps, members), so that the fusion model's inputs keep their size."""
    return flags * (flags.shape[1] / flags.sum(1).clamp(min=1))[:, None]


def masked(embeddings: Tensor, weights: Tensor | None) -> Tensor:
    """Multiply (members, steps, ...) embeddings by their weights, if there are any."""
    if weights is None:
        return embeddings
    return embeddings * weights.T.view(*embeddings.shape[:2], *[1] * (embeddings.dim() - 2))
