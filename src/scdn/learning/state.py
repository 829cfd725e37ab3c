"""A vertical model as plain arrays and words, to be stored and taken up again.

What parties can send again (their embeddings of sample and test rows) is not stored; what only the
server has (tables of the departed) is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from scdn.learning.gradients import GradientSize
from scdn.learning.parties import Maker, teamed
from scdn.learning.split import View
from scdn.learning.team import Team
from scdn.learning.vertical import VerticalModel

Arrays = dict[str, NDArray[Any]]

_TABLES = ("left", "seen", "tests")


def pack(model: VerticalModel) -> tuple[Arrays, dict[str, Any]]:
    """Everything that the next round needs: arrays, and words that JSON can hold."""
    server = model.server
    arrays: Arrays = {}
    _put(arrays, "fusion", server.fusion.parameters)
    for place, team in enumerate(model.teams):
        _put(arrays, f"team/{place}", team.parameters)
    for place, name in enumerate(server.left):
        tables = {table: getattr(server, table)[name] for table in _TABLES}
        _put(arrays, f"departed/{place}", tables)
    for place, view in enumerate(model.views.values()):
        arrays[f"view/{place}/columns"] = view.columns
        arrays[f"view/{place}/held"] = view.held
    words = {
        "members": list(server.fusion.members),
        "teams": [list(team.names) for team in model.teams],
        "views": {name: [view.modality, *view.shape] for name, view in model.views.items()},
        "left": list(server.left),
        "gone": list(server.gone),
        "exits": server.exits,
        "sizes": {name: asdict(size) for name, size in model.sizes.items()},
        "connections": model.connections,
        "round": list(model.round),
    }
    return arrays, words


def unpack(
    fresh: VerticalModel, arrays: Mapping[str, NDArray[Any]], words: Mapping[str, Any]
) -> VerticalModel:
    """`fresh`, a model of the same run without parties, as it was when it was packed."""
    place, server = fresh.place, fresh.server

    def got(prefix: str) -> dict[str, Tensor]:
        return {
            key.removeprefix(f"{prefix}/"): place.tensor(value)
            for key, value in arrays.items()
            if key.startswith(f"{prefix}/")
        }

    members = tuple(words["members"])
    server.fusion = replace(server.fusion, members=members, parameters=got("fusion"))
    for number, name in enumerate(words["left"]):
        for table, value in got(f"departed/{number}").items():
            getattr(server, table)[name] = value
    server.gone, server.exits = list(words["gone"]), words["exits"]
    for number, (name, (modality, *shape)) in enumerate(words["views"].items()):
        columns, held = arrays[f"view/{number}/columns"], arrays[f"view/{number}/held"]
        fresh.views[name] = View(modality, columns, held, tuple(shape))
    fresh.teams = [
        replace(_team(fresh.maker, names, fresh), parameters=got(f"team/{number}"))
        for number, names in enumerate(words["teams"])
    ]
    fresh.sizes = {name: GradientSize(**size) for name, size in words["sizes"].items()}
    fresh.connections = dict(words["connections"])
    fresh.round = (words["round"][0], words["round"][1])
    fresh.sent = False
    return fresh


def _team(maker: Maker, names: list[str], model: VerticalModel) -> Team:
    parties = [maker.party(name, model.views[name], model.seed) for name in names]
    (team,) = teamed(parties, model.place)
    return team


def _put(arrays: Arrays, prefix: str, tensors: Mapping[str, Tensor]) -> None:
    for name, tensor in tensors.items():
        arrays[f"{prefix}/{name}"] = np.asarray(tensor.cpu())
