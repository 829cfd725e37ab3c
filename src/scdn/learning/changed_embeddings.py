"""Embeddings outside rounds: for a memory to keep, and those that a checkpoint does not have."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from scdn.learning.tensors import single_threaded

if TYPE_CHECKING:
    from scdn.learning.vertical_model import VerticalModel


def tables_to_keep(model: VerticalModel, names: Collection[str]) -> dict[str, Tensor]:
    """Return parties' embeddings of all training rows, as far as the memory needs them."""
    server = model.server
    if not server.memory.needs_training_embeddings:
        return {}
    if server.heard is None:
        return model.parties.training_embeddings(names)
    if server.memory.keeps_heard_rows:
        return {}
    rows = torch.arange(server.heard.count, device=model.factory.options.device)
    heard = server.heard.fill(names, rows, {}, server.imputation)
    return {name: heard.get(name, server.zeros(len(rows))) for name in names}


def restore_embeddings(model: VerticalModel) -> None:
    """Ask for what a checkpoint does not have: embeddings of test rows, with the same noise."""
    samples = dict(model.server.sample_embeddings)
    with single_threaded():
        for at in sorted(set(model.sent_in.values())):
            model.parties.round = at
            names = {name for name, sent_in in model.sent_in.items() if sent_in == at}
            for sent in model.parties.evaluation_embeddings(names):
                # The sample as it was rounded then.
                pairs = zip(sent.names, sent.sample, strict=True)
                kept = [samples.get(name, sample) for name, sample in pairs]
                model.server.receive(sent._replace(sample=kept))
