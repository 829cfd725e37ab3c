"""Whether a device can be heard from any position that the server may take.

Boxes of positions are halved until a position is found from which the device is in reach, or until
the link model's bounds exclude all of them. Either answer is proven, as far as the bounds hold.
"""

from __future__ import annotations

import numpy as np

from scdn.arrays import Array, Mask, floats
from scdn.control.exact.allowed_boxes import allowed_boxes
from scdn.control.problem import RoundProblem

_MOST_BOXES = 20_000  # at a time; then the answer is left open
_MOST_HALVINGS = 200


def reach_from_anywhere(site: RoundProblem, device_m: Array, max_loss: float) -> bool | None:
    """Return whether some allowed position has a path loss of at most `max_loss` to a device.

    Parameters
    ----------
    site
        A problem with the region, its boxes, the server and the radio; its devices do not matter.
    device_m
        The device's position.
    max_loss
        The greatest path loss, as a ratio, without the device's walls.

    Returns
    -------
    bool | None
        None where neither answer was found in reasonable time.
    """
    if site.candidates_m is not None:
        return _is_heard(
            site, site.candidates_m[site.allowed(site.candidates_m)], device_m, max_loss
        )
    boxes = allowed_boxes(site)
    for _ in range(_MOST_HALVINGS):
        low, high = boxes[:, 0] - boxes[:, 1], boxes[:, 0] + boxes[:, 1]
        nearest = np.clip(device_m, low, high)
        if _is_heard(site, np.concatenate([boxes[:, 0], nearest]), device_m, max_loss):
            return True
        boxes = boxes[_may_hear(site, boxes, device_m, max_loss)]
        boxes = boxes[boxes[:, 1].any(axis=1)]  # a single position has just been tried
        if not len(boxes):
            return False
        if len(boxes) > _MOST_BOXES:
            return None
        boxes = _halves(boxes)
    return None


def _is_heard(site: RoundProblem, positions: Array, device_m: Array, max_loss: float) -> bool:
    loss = site.link.losses(positions, device_m[None]).mean_loss()[:, 0]
    heard = positions[loss <= max_loss]
    return bool(site.reachable(heard).any())


def _may_hear(site: RoundProblem, boxes: Array, device_m: Array, max_loss: float) -> Mask:
    """Return the boxes that may hold a position from which the device is heard."""
    centre, half_width = boxes[:, 0], boxes[:, 1]
    link = site.link
    least = link.bounds(centre, half_width, device_m[None]).range.low[:, 0]
    rounding = link.rounding() * np.finfo(np.float64).eps
    possible = ~(least * (1 - rounding) > max_loss)
    if site.routes is not None:
        possible &= np.isfinite(site.routes.in_box(centre, half_width).offset_cost)
    return np.asarray(possible)


def _halves(boxes: Array) -> Array:
    """Return both halves of every box, cut across its longest side."""
    rows = np.arange(len(boxes))
    axis = boxes[:, 1].argmax(axis=1)
    step = np.zeros((len(boxes), 3))
    step[rows, axis] = boxes[rows, 1, axis] / 2
    centre, half_width = boxes[:, 0], boxes[:, 1] - step
    halves = [np.stack([floats(c), half_width], axis=1) for c in (centre - step, centre + step)]
    return np.concatenate(halves)
