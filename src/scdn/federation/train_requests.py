"""The requests that ask devices to train: each one's part of the plan, and its gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scdn.federation.messenger import Request
from scdn.federation.table_format import NotFiniteError, pack_table
from scdn.federation.wire_format import Arrays
from scdn.learning.message_noise import MessageNoise
from scdn.learning.party_backend import RoundTask
from scdn.learning.party_loss import GradientLoss, PartyLoss
from scdn.learning.table_sender import DOWN, GRADIENTS, SAMPLE_GRADIENTS, Round, TableSender

if TYPE_CHECKING:
    from scdn.federation.remote_parties import RemoteParties


def train_requests(
    remote: RemoteParties, task: RoundTask, coder: TableSender
) -> dict[str, Request]:
    """Return the requests by party; one whose gradients are not finite gets none."""
    names = [name for name in remote.parties if name in task.training]
    bases, sizes, requests = remote.progress.bases, remote.sizes, {}
    for name, arrays in _gradients(remote, task, coder, names):
        steps = task.local_steps[name]
        fields = {
            "round": remote.round[0],
            "arrival": remote.round[1],
            "ahead": task.ahead,
            "base": bases[name],
            "state": bases[name] + 1,
            "step_length": task.step_length,
            "table_part": task.table_parts.get(name),
            "steps": steps.count,
            "rate": steps.rate,
            "optimizer": steps.optimizer,
            "optimizer_value": steps.optimizer_value,
            **{key: float(value) for key, value in remote.plan[name].items()},
        }
        requests[name] = Request("train", fields, arrays, sizes, wait=not task.ahead)
    return requests


def _gradients(
    remote: RemoteParties, task: RoundTask, coder: TableSender, names: list[str]
) -> Iterator[tuple[str, Arrays]]:
    noise = MessageNoise(remote.learning.privacy, seed=None)  # devices know the run's seed
    loss = noise.on_loss(task.party_loss(names), names, GRADIENTS, ())
    sample_loss = None if task.sample_loss is None else task.sample_loss(names)
    if sample_loss is not None:
        sample_loss = noise.on_loss(sample_loss, names, SAMPLE_GRADIENTS, ())
    for party, name in enumerate(names):
        try:
            arrays = _pack(coder, name, GRADIENTS, loss, party, remote.round)
            if sample_loss is not None:
                arrays |= _pack(coder, name, SAMPLE_GRADIENTS, sample_loss, party, remote.round)
        except NotFiniteError as error:  # the run will end for this, or go on without it
            remote.messenger.log(f"{name}: cannot train ({error})")
        else:
            yield name, arrays


def _pack(
    coder: TableSender, name: str, table: str, loss: PartyLoss, party: int, at: Round
) -> Arrays:
    assert isinstance(loss, GradientLoss)  # noqa: S101
    return pack_table(coder, name, table, loss.gradients[party].flatten(0, -2), DOWN, at)
