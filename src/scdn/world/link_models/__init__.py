"""Link models: the mean path loss between devices and the server, and its bounds in a box.

A model has a file of its own, named after it; a second one, ending in `_numba`, has the same bounds
compiled. The exact solver proves its plans with either, so a user's own model needs only the first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from scdn.arrays import Array, floats
from scdn.registry import Registry
from scdn.scenario import Radio
from scdn.world.decibels import db_to_ratio
from scdn.world.link_models.air_to_ground import AirToGround
from scdn.world.link_models.link_model import LinkLosses, LinkModel, LossBounds, PowerLaw
from scdn.world.link_models.log_distance import LogDistanceLink
from scdn.world.link_models.two_ray import TwoRayLink

__all__ = [
    "LINK_MODELS",
    "LinkLosses",
    "LinkModel",
    "LossBounds",
    "PowerLaw",
    "link_model",
    "path_loss",
]

LINK_MODELS: Registry[type[LinkModel]] = Registry("link model", LinkModel, of_classes=True)
for _model in (AirToGround, TwoRayLink, LogDistanceLink):
    LINK_MODELS.register(_model)

_BLOCK = 1 << 16  # pairs computed at a time: temporaries stay in the cache


def link_model(radio: Radio) -> LinkModel:
    """Return the model that a radio's settings name."""
    return LINK_MODELS.get(radio.model)(radio)


def path_loss(
    server_m: ArrayLike, device_m: ArrayLike, radio: Radio, wall_loss_db: ArrayLike = 0.0
) -> Array:
    """Return the mean path loss (a ratio) of every link, with walls and the planning margin.

    Positions (…, 3) and devices (N, 3) give (…, N). Large products are computed in blocks, so that
    memory is little more than the result's.
    """
    model = link_model(radio)
    server = floats(server_m)
    device = floats(device_m).reshape(-1, 3)
    flat = server.reshape(-1, 3)
    result = np.empty((len(flat), len(device)))
    for rows, columns in _blocks(*result.shape):
        result[rows, columns] = model.losses(flat[rows], device[columns]).mean_loss()
    return result.reshape(*server.shape[:-1], len(device)) * db_to_ratio(wall_loss_db)


def _blocks(rows: int, columns: int) -> Iterator[tuple[slice, slice]]:
    width = min(columns, _BLOCK) or 1
    height = max(1, _BLOCK // width)
    for top in range(0, rows, height):
        for left in range(0, columns, width):
            yield slice(top, top + height), slice(left, left + width)
