"""Embeddings of rows that were recorded after some members had left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from torch import Tensor

from scdn.learning.imputation import Imputation, impute

if TYPE_CHECKING:
    from scdn.learning.fusion_server import FusionServer


def future_embeddings(
    server: FusionServer, sent: Mapping[str, Tensor], rows: int, how: Imputation
) -> dict[str, Tensor]:
    """Return the members' embeddings of rows that departed ones never embedded.

    `sent` are those of members that are present. Of departed ones the memory keeps embeddings, from
    which these rows' are imputed; those of which it keeps none count as zero.
    """
    kept = server.memory.embeddings
    names = [name for name in server.fusion.members if name not in kept]
    present = server.member_indices(names)
    sample = server.in_member_order(server.sample_embeddings, len(server.sample))[present]
    known = server.in_member_order(sent, rows)[present]
    embeddings = dict(zip(names, known, strict=True))
    imputed = {}
    for name, left in kept.items():
        if server.heard is not None and name in server.heard.parties:
            imputed[name] = server.heard.impute(name, embeddings, rows, how)
        else:
            imputed[name] = impute(how, left.sample, sample, known)
    return embeddings | imputed
