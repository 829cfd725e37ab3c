"""Creates the learning side of the server as a scenario asks for it."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from scdn.learning.batches import sample_rows
from scdn.learning.fusion_model import FusionModel
from scdn.learning.fusion_server import FusionServer
from scdn.learning.memories import memory
from scdn.learning.metrics import further_metrics
from scdn.learning.party_factory import PartyFactory
from scdn.learning.randomised_labels import RandomisedLabels
from scdn.learning.recent_rows import RecentRows
from scdn.learning.row_cache import RowCache


def create_server(
    factory: PartyFactory,
    members: Sequence[str],
    seed: int,
    memory_name: str,
    train_rows: int,
    targets: Tensor,
    test_targets: Tensor,
    *,
    labels_seed: int | None = None,
) -> FusionServer:
    """Return a server with a new fusion model of these members.

    `targets` are those of all numbers of training rows; a server that only predicts has none.
    Labels that are drawn at random come from `labels_seed`; without it nobody can draw them again.
    """
    learning, options = factory.learning, factory.options
    head = factory.create_head(seed)
    server = FusionServer(
        FusionModel.create(
            tuple(members), factory.width, options, seed, factory.fusion_hidden, head
        ),
        factory.task,
        targets,
        test_targets,
        options.tensor(sample_rows(train_rows, learning, seed)),
        memory(memory_name)(learning),
        further_metrics(learning),
        recent=RecentRows(learning.server_rounds, learning.server_steps * learning.batch_size),
        imputation=learning.imputation,
    )
    if learning.unheard == "imputed":
        server.heard = RowCache(train_rows, factory.width, options)
    epsilon = learning.privacy.label_epsilon
    if epsilon is not None and len(targets):
        server.device_labels = RandomisedLabels.draw(
            targets[:train_rows], factory.width, factory.task, epsilon, labels_seed
        )
    return server
