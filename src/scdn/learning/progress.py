"""What each party's update contributed to a round's progress, measured on the server.

After a step the server has the embeddings of the rows that nobody trains on, before and after, of
every party that reported. The loss with some parties moved and others not tells what each of them
contributed. No message is sent for it.
"""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor

from scdn.learning.fusion_server import FusionServer


@torch.no_grad()
def contributions(
    server: FusionServer,
    rows: Tensor,
    before: Tensor,
    after: Tensor,
    names: Collection[str],
    weights: Tensor | None = None,
) -> dict[str, float]:
    """Return by how much each party's update lowered the mean loss of rows (steps, batch).

    What an update contributes depends on which others have moved already. It is the mean of two
    cases here: the party moves alone, and it is the last to move.
    """
    moved = sorted(names)
    if not moved:
        return {}
    start, end = (server.mean_loss(rows, table, weights) for table in (before, after))
    result = {}
    for name in moved:
        index = server.member_indices((name,))
        alone = server.mean_loss(rows, before.index_copy(0, index, after[index]), weights)
        without = server.mean_loss(rows, after.index_copy(0, index, before[index]), weights)
        result[name] = ((start - alone) + (without - end)) / 2
    return result
