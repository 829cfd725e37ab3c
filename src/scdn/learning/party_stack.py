"""Parties of one structure: their parameters are stacked, so that products are batched."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from math import prod

import torch
from torch import Tensor, nn
from torch.func import stack_module_state

from scdn.learning.dataset_tensors import DatasetTensors, Subset, ViewStack
from scdn.learning.feature_split import FeatureView
from scdn.learning.models import structure_key
from scdn.learning.stacked_forward import single_forward, stacked_forward, unstack
from scdn.learning.tensors import TensorOptions, Tensors, select_rows

MAX_ROWS = 100_000  # rows of all parties together that are embedded in one piece,…
MAX_VALUES = 100_000_000  # …if they have no more values than this
MIN_ROWS_APART = 1_024  # rows from which on parties may embed one after another, and…
MAX_ROWS_APART = 8_192  # …how many of them in one piece
IMAGES_PER_PIECE = 256  # on a CPU, whose cache and allocator then hold what a layer computes


@dataclass(frozen=True)
class PartyStack:
    """Parties whose models have the same layers. A device on its own is a stack of one."""

    names: tuple[str, ...]
    module: nn.Module  # the layers; its own tensors are not used
    parameters: Tensors  # each with a first dimension of parties
    buffers: Tensors
    views: ViewStack
    options: TensorOptions

    @classmethod
    def from_modules(
        cls,
        names: Sequence[str],
        modules: Sequence[nn.Module],
        views: Sequence[FeatureView],
        options: TensorOptions,
    ) -> PartyStack:
        """Stack modules of equal `models.structure_key`."""
        parameters, buffers = map(options.convert, stack_module_state(list(modules)))
        layers = deepcopy(modules[0]).to("meta")
        return cls(
            tuple(names), layers, parameters, buffers, ViewStack.from_views(views, options), options
        )

    # --- subsets and unions ---------------------------------------------------------------------

    @property
    def structure(self) -> Hashable:
        """Return a key that is equal for stacks that could be one."""
        return structure_key(self.module, self.views.shape), self.views.modality

    def indices(self, names: Collection[str]) -> list[int]:
        """Return the positions of those of `names` that are in the stack."""
        return [index for index, name in enumerate(self.names) if name in names]

    def select(self, names: Collection[str]) -> PartyStack:
        """Return the part of the stack that is in `names`."""
        kept = self.indices(names)
        if len(kept) == len(self.names):
            return self
        which = torch.tensor(kept, dtype=torch.int64, device=self.options.device)
        return replace(
            self,
            names=tuple(self.names[index] for index in kept),
            parameters=select_rows(self.parameters, which),
            buffers=select_rows(self.buffers, which),
            views=self.views.select(which),
        )

    def updated_with(self, part: PartyStack) -> PartyStack:
        """Replace the parameters of the parties in `part` by those they have there."""
        if part.names == self.names:
            return part
        which = torch.tensor(
            self.indices(part.names), device=self.options.device, dtype=torch.int64
        )
        parameters = {
            name: p.index_copy(0, which, part.parameters[name])
            for name, p in self.parameters.items()
        }
        return replace(self, parameters=parameters)

    def concat(self, other: PartyStack) -> PartyStack:
        """Append the parties of a stack of the same structure."""

        def join(first: Tensors, second: Tensors) -> Tensors:
            return {name: torch.cat([first[name], second[name]]) for name in first}

        return replace(
            self,
            names=self.names + other.names,
            parameters=join(self.parameters, other.parameters),
            buffers=join(self.buffers, other.buffers),
            views=self.views.concat(other.views),
        )

    def with_parts(self, other: PartyStack, names: Collection[str]) -> PartyStack:
        """Replace the parameters of the parties in `names` by those they have in `other`."""
        part = other.select(names)
        return self.updated_with(part) if part.names else self

    def interpolate(self, other: PartyStack, step_length: float) -> PartyStack:
        """Move the parameters so far along the way to those of the same parties in `other`."""
        if step_length == 1.0:
            return other
        if step_length == 0.0:
            return self  # also if the others are not finite
        parameters = {
            name: torch.lerp(p, other.parameters[name], step_length)
            for name, p in self.parameters.items()
        }
        return replace(self, parameters=parameters)

    # --- embeddings and gradients ---------------------------------------------------------------

    def forward(self, parameters: Tensors, buffers: Tensors, inputs: Tensor) -> Tensor:
        """Compute embeddings (parties, rows, width) of inputs (parties, rows, ...)."""
        with self.options.autocast():
            embeddings = stacked_forward(self.module)(parameters | buffers, inputs)
            return embeddings.to(self.options.dtype)

    @torch.no_grad()
    def embed(self, inputs: Tensor) -> list[Tensor]:
        """Compute each party's embeddings (rows, width) of inputs (parties, rows, ...).

        With many rows a CPU gains nothing from batched products, which add a layer's bias in a
        separate pass, and a GPU gains nothing from grouped convolutions; there the parties compute
        one after another.
        """
        if self._embeds_apart(inputs.shape[1]):
            with self.options.autocast():
                pairs = zip(unstack(self.parameters | self.buffers), inputs, strict=True)
                return [self._embed_one(tensors, rows) for tensors, rows in pairs]
        pieces = [
            self.forward(self.parameters, self.buffers, piece)
            for piece in torch.split(inputs, self._rows_per_piece, 1)
        ]
        return list(torch.cat(pieces, 1))

    @torch.no_grad()
    def embed_separately(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """Compute embeddings that are stored: each party's in memory of its own.

        On a CPU not even the last bit depends on the other parties or on the order of the stack.
        """
        if self.options.device != "cpu" and len(self.views.shape) != 3:
            return [table.clone() for table in self.embed(torch.stack(list(inputs)))]
        embeddings = []
        with self.options.autocast():
            for tensors, rows in zip(unstack(self.parameters | self.buffers), inputs, strict=True):
                copies = {name: tensor.clone() for name, tensor in tensors.items()}
                embeddings.append(self._embed_one(copies, rows))
        return embeddings

    def embed_rows(self, data: DatasetTensors, subset: Subset, rows: Tensor) -> list[Tensor]:
        """Compute each party's embeddings of rows of a data set, piece by piece."""
        pieces = [
            self.embed(self.views.gather(data, subset, piece))
            for piece in torch.split(rows, self._rows_per_piece)
        ]
        return [torch.cat(tables) for tables in zip(*pieces, strict=True)]

    def gradients(
        self,
        parameters: Tensors,
        loss: Callable[[Tensor], Tensor],
        inputs: Tensor,
        buffers: Tensors | None = None,
    ) -> Tensors:
        """Compute each party's gradient of its own loss."""
        leaves = {name: p.detach().requires_grad_() for name, p in parameters.items()}
        embeddings = self.forward(leaves, self.buffers if buffers is None else buffers, inputs)
        gradients = torch.autograd.grad(loss(embeddings).sum(), list(leaves.values()))
        return dict(zip(leaves, gradients, strict=True))

    def _embeds_apart(self, rows: int) -> bool:
        is_slow_batched = self.options.device == "cpu" or len(self.views.shape) == 3
        return rows >= MIN_ROWS_APART and is_slow_batched

    def _embed_one(self, tensors: Tensors, inputs: Tensor) -> Tensor:
        """Compute one party's embeddings (rows, width) of inputs (rows, ...)."""
        forward, most = single_forward(self.module), MAX_ROWS_APART
        if self.options.device == "cpu" and len(self.views.shape) == 3:
            most = IMAGES_PER_PIECE
        pieces = [forward(tensors, piece) for piece in torch.split(inputs, most)]
        return torch.cat(pieces).to(self.options.dtype)

    @property
    def _rows_per_piece(self) -> int:
        rows = min(MAX_ROWS, MAX_VALUES // prod(self.views.shape))
        return max(256, rows // len(self.names))
