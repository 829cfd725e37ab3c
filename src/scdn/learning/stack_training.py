"""One round of local training of parties with stacked parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from scdn.learning.cuda_graphs import graphed_call
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.gradient_stats import GradientRecorder
from scdn.learning.local_optimizers import LocalOptimizer, LocalSteps, batched_optimizer
from scdn.learning.party_loss import PartyLoss
from scdn.learning.party_stack import PartyStack
from scdn.learning.tensors import Tensors, add_prefix, select_rows, strip_prefix

_PARAMETERS, _BUFFERS, _LOSS = "parameters/", "buffers/", "loss/"


@dataclass(frozen=True)
class StackTraining:
    """What a stack trains on in a round: a batch of rows per step, a loss, each party's steps.

    The parties' optimisers must have the same `batch_key`.
    """

    stack: PartyStack
    data: DatasetTensors
    batches: Tensor  # (steps, batch) indices of training rows
    party_loss: PartyLoss
    local_steps: Sequence[LocalSteps]
    recorder: GradientRecorder | None = None


def train_stack(training: StackTraining) -> PartyStack:
    """Return the stack after a round in which each party takes its own number of steps."""
    stack, local_steps = training.stack, training.local_steps
    optimizer_class = batched_optimizer(steps.optimizer for steps in local_steps)
    optimizer = optimizer_class(stack.parameters, local_steps, stack.options)
    for active, first, end in step_ranges([steps.count for steps in local_steps]):
        if len(active) == len(stack.names):
            _take_steps(training, optimizer, None, first, end)
        else:
            parties = torch.tensor(active, device=stack.options.device)
            selected = optimizer.select(parties)
            _take_steps(training, selected, parties, first, end)
            optimizer.merge(parties, selected)
    return replace(stack, parameters=optimizer.parameters)


def step_ranges(counts: Sequence[int]) -> Iterator[tuple[list[int], int, int]]:
    """Yield ranges of steps in which the same parties train: their indices, first step, end."""
    first = 0
    for end in sorted({count for count in counts if count > 0}):
        yield [n for n, count in enumerate(counts) if count >= end], first, end
        first = end


def _take_steps(
    training: StackTraining, optimizer: LocalOptimizer, parties: Tensor | None, first: int, end: int
) -> None:
    """Take a range of steps with all parties of the stack, or with those of these indices."""
    stack, party_loss = training.stack, training.party_loss
    buffers = stack.buffers if parties is None else select_rows(stack.buffers, parties)
    graph_key = ("parties", stack.module, stack.options, *party_loss.graph_key)
    for index in range(first, end):
        rows = training.batches[index]
        inputs = {
            "rows": stack.views.gather(training.data, "train", rows, parties),
            **add_prefix(optimizer.parameters, _PARAMETERS),
            **add_prefix(buffers, _BUFFERS),
            **add_prefix(party_loss.step_tensors(index, parties), _LOSS),
        }
        gradients = graphed_call(graph_key, partial(_gradients, stack, party_loss), inputs)
        if training.recorder is not None:
            training.recorder.add(gradients, parties)
        optimizer.step(gradients, index)


def _gradients(stack: PartyStack, party_loss: PartyLoss, inputs: Tensors) -> Tensors:
    """Compute each party's gradient of its own loss, from tensors by name for `graphed_call`."""
    return stack.gradients(
        strip_prefix(inputs, _PARAMETERS),
        partial(party_loss.losses, strip_prefix(inputs, _LOSS)),
        inputs["rows"],
        strip_prefix(inputs, _BUFFERS),
    )
