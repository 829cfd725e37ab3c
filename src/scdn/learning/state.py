"""A vertical model as plain arrays and words, to be stored and taken up again.

What parties can send again (their embeddings of sample and test rows) is not stored; what only the
server has (tables of the departed) is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from numpy.typing import NDArray

from scdn.learning.crew import Arrays, put
from scdn.learning.gradients import GradientSize
from scdn.learning.tensors import under
from scdn.learning.vertical import VerticalModel

_TABLES = ("left", "seen", "tests")


def pack(model: VerticalModel) -> tuple[Arrays, dict[str, Any]]:
    """Everything that the next round needs: arrays, and words that JSON can hold."""
    server = model.server
    arrays, parties = model.parties.pack()
    put(arrays, "fusion", server.fusion.parameters)
    for place, name in enumerate(server.left):
        tables = {table: getattr(server, table)[name] for table in _TABLES}
        put(arrays, f"departed/{place}", tables)
    words = {
        **parties,
        "members": list(server.fusion.members),
        "left": list(server.left),
        "gone": list(server.gone),
        "exits": server.exits,
        "sizes": {name: asdict(size) for name, size in model.sizes.items()},
        "connections": model.connections,
        "round": list(model.parties.round),
    }
    return arrays, words


def unpack(
    fresh: VerticalModel, arrays: Mapping[str, NDArray[Any]], words: Mapping[str, Any]
) -> VerticalModel:
    """`fresh`, a model of the same run without parties, as it was when it was packed."""
    place, server = fresh.place, fresh.server
    fusion = {key: place.tensor(value) for key, value in under(arrays, "fusion/").items()}
    server.fusion = replace(server.fusion, members=tuple(words["members"]), parameters=fusion)
    for number, name in enumerate(words["left"]):
        for table, value in under(arrays, f"departed/{number}/").items():
            getattr(server, table)[name] = place.tensor(value)
    server.gone, server.exits = list(words["gone"]), words["exits"]
    fresh.parties.unpack(arrays, words)
    fresh.sizes = {name: GradientSize(**size) for name, size in words["sizes"].items()}
    fresh.connections = dict(words["connections"])
    fresh.parties.round = (words["round"][0], words["round"][1])
    fresh.moved = set(fresh.present)
    return fresh
