"""One round of local training of parties with stacked parameters."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import torch
from torch import Tensor

from scdn.learning.cuda_graphs import graphed_call
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.gradient_stats import GradientRecorder
from scdn.learning.local_optimizers import LocalOptimizer, LocalSteps, batched_optimizer
from scdn.learning.party_loss import PartyLoss
from scdn.learning.party_stack import PartyStack
from scdn.learning.tensors import Tensors, strip_prefix


@dataclass(frozen=True)
class StackTraining:
    """What a stack trains on in a round: a batch of rows per step, a loss, each party's steps."""

    stack: PartyStack
    data: DatasetTensors
    batches: Tensor  # (steps, batch) indices of training rows
    party_loss: PartyLoss
    local_steps: Sequence[LocalSteps]
    recorder: GradientRecorder | None = None


def train_stacks(trainings: Sequence[StackTraining]) -> list[PartyStack]:
    """Return the stacks after a round in which each party takes its own number of steps.

    Stacks of one structure (of runs with different seeds, say) train in the same batched products.
    Their optimisers must have the same `batch_key`.
    """
    stack = trainings[0].stack
    for training in trainings[1:]:
        stack = stack.concat(training.stack)
    local_steps = [steps for training in trainings for steps in training.local_steps]
    optimizer_class = batched_optimizer(steps.optimizer for steps in local_steps)
    optimizer = optimizer_class(stack.parameters, local_steps, stack.options)
    for active, first, end in step_ranges([steps.count for steps in local_steps]):
        groups = _active_groups(trainings, active)
        if len(active) == len(stack.names):
            _take_steps(_GradientStep(stack, groups), optimizer, stack.buffers, first, end)
        else:
            parties = torch.tensor(active, device=stack.options.device)
            buffers = {name: b[parties] for name, b in stack.buffers.items()}
            selected = optimizer.select(parties)
            _take_steps(_GradientStep(stack, groups), selected, buffers, first, end)
            optimizer.merge(parties, selected)
    sizes = [len(training.local_steps) for training in trainings]
    pieces = {name: torch.split(p, sizes) for name, p in optimizer.parameters.items()}
    return [
        replace(training.stack, parameters={name: piece[k] for name, piece in pieces.items()})
        for k, training in enumerate(trainings)
    ]


def step_ranges(counts: Sequence[int]) -> Iterator[tuple[list[int], int, int]]:
    """Yield ranges of steps in which the same parties train: their indices, first step, end."""
    first = 0
    for end in sorted({count for count in counts if count > 0}):
        yield [n for n, count in enumerate(counts) if count >= end], first, end
        first = end


def _take_steps(
    gradient_step: _GradientStep,
    optimizer: LocalOptimizer,
    buffers: Tensors,
    first: int,
    end: int,
) -> None:
    for index in range(first, end):
        inputs = gradient_step.inputs(index, optimizer.parameters, buffers)
        gradients = graphed_call(gradient_step.graph_key, gradient_step.gradients, inputs)
        for group in gradient_step.groups:
            group.record(gradients)
        optimizer.step(gradients, index)


@dataclass(frozen=True)
class _ActiveGroup:
    """The parties of one `StackTraining` that still train.

    `where` is their range among all active parties, `parties` are their indices in their own stack
    (None: all of it).
    """

    training: StackTraining
    where: slice
    parties: Tensor | None

    def rows(self, step: int) -> Tensor:
        training = self.training
        return training.stack.views.gather(
            training.data, "train", training.batches[step], self.parties
        )

    def step_tensors(self, step: int) -> Tensors:
        return self.training.party_loss.step_tensors(step, self.parties)

    def losses(self, tensors: Tensors, embeddings: Tensor) -> Tensor:
        return self.training.party_loss.losses(tensors, embeddings[self.where])

    def record(self, gradients: Tensors) -> None:
        if self.training.recorder is not None:
            own = {name: gradient[self.where] for name, gradient in gradients.items()}
            self.training.recorder.add(own, self.parties)


@dataclass(frozen=True)
class _GradientStep:
    """The gradients of all active parties as a function of named tensors, for `graphed_call`."""

    stack: PartyStack
    groups: Sequence[_ActiveGroup]

    @property
    def graph_key(self) -> tuple[Hashable, ...]:
        """Return what the computation depends on that is the same in every step."""
        parts = [
            (g.where.start, g.where.stop, *g.training.party_loss.graph_key) for g in self.groups
        ]
        return "parties", self.stack.module, self.stack.options, *chain.from_iterable(parts)

    def inputs(self, step: int, parameters: Tensors, buffers: Tensors) -> Tensors:
        """Return the tensors that a step's gradients depend on."""
        rows = [group.rows(step) for group in self.groups]
        tensors = {"rows": torch.cat(rows) if len(rows) > 1 else rows[0]}
        tensors |= {f"parameters/{name}": value for name, value in parameters.items()}
        tensors |= {f"buffers/{name}": value for name, value in buffers.items()}
        for index, group in enumerate(self.groups):
            loss_tensors = group.step_tensors(step)
            tensors |= {f"loss/{index}/{name}": value for name, value in loss_tensors.items()}
        return tensors

    def gradients(self, inputs: Tensors) -> Tensors:
        """Compute each party's gradient of its own loss."""
        loss_tensors = [strip_prefix(inputs, f"loss/{k}/") for k in range(len(self.groups))]

        def losses(embeddings: Tensor) -> Tensor:
            pairs = zip(self.groups, loss_tensors, strict=True)
            return torch.cat([group.losses(tensors, embeddings) for group, tensors in pairs])

        return self.stack.gradients(
            strip_prefix(inputs, "parameters/"),
            losses,
            inputs["rows"],
            strip_prefix(inputs, "buffers/"),
        )


def _active_groups(trainings: Sequence[StackTraining], active: Sequence[int]) -> list[_ActiveGroup]:
    groups, first_party, first_active = [], 0, 0
    for training in trainings:
        size = len(training.local_steps)
        own = [n - first_party for n in active if first_party <= n < first_party + size]
        if own:
            where = slice(first_active, first_active + len(own))
            device = training.batches.device
            parties = None if len(own) == size else torch.tensor(own, device=device)
            groups.append(_ActiveGroup(training, where, parties))
        first_party, first_active = first_party + size, first_active + len(own)
    return groups
