"""Training to the end of parties and fusion model together, as one network without a federation.

No rate has to be set: Adam starts at 0.001, and the rate is divided by four whenever rows that are
held out have gained nothing for three passes; after the third time training ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from scdn.learning.cuda_graphs import graphed_call
from scdn.learning.losses import row_losses
from scdn.learning.tensors import Tensors, add_prefix, single_threaded, strip_prefix
from scdn.learning.vertical_model import VerticalModel
from scdn.rng import generator

RATE, RATE_DIVISOR, RATES = 1e-3, 4.0, 3
PATIENCE = 3  # passes without a lower loss, after which the rate is divided
MAX_PASSES = 200
MAX_BATCHES = 100  # of a pass; more rows make larger batches
HELD_OUT = 0.1  # fraction of the training rows

_FUSION, _BUFFERS, _INPUTS, _TARGETS = "fusion/", "buffers/", "inputs/", "targets"


OnPass = Callable[[int, float], None]  # called with the number of passes and the least loss so far


def train_jointly(
    model: VerticalModel, max_passes: int = MAX_PASSES, on_pass: OnPass | None = None
) -> float:
    """Train a model whose parties are in this process; return its loss on rows held out.

    The model ends with the parameters that had the least such loss.
    """
    with single_threaded():
        return _JointNetwork(model).train(max_passes, on_pass)


@dataclass
class _JointNetwork:
    """All parameters of a model by name: of each stack of parties, and of the fusion model."""

    model: VerticalModel

    def __post_init__(self) -> None:
        fusion, names = self.model.server.fusion, self.model.local_parties.names
        self.order = torch.tensor([names.index(name) for name in fusion.members])
        self.order = self.order.to(fusion.options.device)
        self.draw = generator(self.model.seed, "joint")
        rows = self.draw.permutation(self.model.data.count("train"))
        held_out = max(1, int(HELD_OUT * len(rows)))
        self.held_out, self.rows = self._rows(rows[:held_out]), rows[held_out:]

    def train(self, max_passes: int, on_pass: OnPass | None) -> float:
        parameters = self._parameters()
        best, least = _copy(parameters), self._held_out_loss(parameters)
        waited, rate = 0, RATE
        optimizer = _adam(parameters, rate)
        for passes in range(1, max_passes + 1):
            self._take_pass(parameters, optimizer)
            waited, loss = waited + 1, self._held_out_loss(parameters)
            if loss < least:
                best, least, waited = _copy(parameters), loss, 0
            if on_pass is not None:
                on_pass(passes, least)
            if waited == PATIENCE:
                rate, waited, parameters = rate / RATE_DIVISOR, 0, _copy(best)
                optimizer = _adam(parameters, rate)
                if rate < RATE / RATE_DIVISOR ** (RATES - 0.5):
                    break
        self._load(best)
        return least

    def _take_pass(self, parameters: Tensors, optimizer: torch.optim.Adam) -> None:
        """Take one step per batch of all rows, in random order."""
        order = self.draw.permutation(self.rows)
        size = max(self.model.learning.batch_size, len(order) // MAX_BATCHES)
        size = min(size, len(order))
        for first in range(0, len(order) - size + 1, size):
            rows = self._rows(order[first : first + size])
            targets = self.model.server.targets[rows]
            if self.model.data.augmentation is not None:
                rows = self.model.data.augmentation.draw(self.draw, rows)
            inputs = {**parameters, _TARGETS: targets}
            for number, stack in enumerate(self.model.stacks):
                inputs[f"{_INPUTS}{number}"] = stack.views.gather(self.model.data, "train", rows)
                inputs |= add_prefix(stack.buffers, f"{_BUFFERS}{number}/")
            inputs |= add_prefix(self.model.server.fusion.buffers, f"{_BUFFERS}{_FUSION}")
            modules = [stack.module for stack in self.model.stacks]
            key = ("joint", *modules, self.model.server.fusion.layers)
            gradients = graphed_call(key, partial(self._gradients, list(parameters)), inputs)
            for name, parameter in parameters.items():
                parameter.grad = gradients[name]
            optimizer.step()

    def _gradients(self, names: list[str], inputs: Tensors) -> Tensors:
        leaves = {name: inputs[name].detach().requires_grad_() for name in names}
        embeddings = [
            stack.forward(
                strip_prefix(leaves, f"{number}/"),
                strip_prefix(inputs, f"{_BUFFERS}{number}/"),
                inputs[f"{_INPUTS}{number}"],
            )
            for number, stack in enumerate(self.model.stacks)
        ]
        fusion = replace(
            self.model.server.fusion,
            parameters=strip_prefix(leaves, _FUSION),
            buffers=strip_prefix(inputs, f"{_BUFFERS}{_FUSION}"),
        )
        outputs = fusion.outputs(torch.cat(embeddings)[self.order])
        loss = row_losses(outputs, inputs[_TARGETS], self.model.server.task).mean()
        return dict(zip(leaves, torch.autograd.grad(loss, list(leaves.values())), strict=True))

    @torch.no_grad()
    def _held_out_loss(self, parameters: Tensors) -> float:
        embeddings: list[Tensor] = []
        for number, stack in enumerate(self.model.stacks):
            current = replace(stack, parameters=strip_prefix(parameters, f"{number}/"))
            embeddings += current.embed_rows(self.model.data, "train", self.held_out)
        fusion = replace(self.model.server.fusion, parameters=strip_prefix(parameters, _FUSION))
        outputs = fusion.outputs(torch.stack(embeddings)[self.order])
        targets = self.model.server.targets[self.held_out]
        loss = float(row_losses(outputs, targets, self.model.server.task).double().mean())
        return loss if np.isfinite(loss) else float("inf")

    # --- parameters and rows --------------------------------------------------------------------

    def _parameters(self) -> Tensors:
        parameters = add_prefix(self.model.server.fusion.parameters, _FUSION)
        for number, stack in enumerate(self.model.stacks):
            parameters |= add_prefix(stack.parameters, f"{number}/")
        return _copy(parameters)

    def _load(self, parameters: Tensors) -> None:
        parties, server = self.model.local_parties, self.model.server
        parties.stacks = [
            replace(stack, parameters=strip_prefix(parameters, f"{number}/"))
            for number, stack in enumerate(parties.stacks)
        ]
        server.fusion = replace(server.fusion, parameters=strip_prefix(parameters, _FUSION))
        self.model.unsent = set(self.model.present)

    def _rows(self, rows: np.ndarray) -> Tensor:
        return torch.from_numpy(rows).to(self.model.server.fusion.options.device)


def _adam(parameters: Tensors, rate: float) -> torch.optim.Adam:
    return torch.optim.Adam(parameters.values(), lr=rate)


def _copy(parameters: Mapping[str, Tensor]) -> Tensors:
    return {name: parameter.detach().clone() for name, parameter in parameters.items()}
