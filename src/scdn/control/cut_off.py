"""Positions that no flight reaches: walls that the server cannot pass."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scdn.control.exact.allowed_boxes import allowed_boxes
from scdn.control.problem import RoundProblem
from scdn.errors import Fault


def cut_off_faults(problem: RoundProblem) -> Iterator[Fault]:
    """Yield candidates to which no flight leads, or the part of the region that is cut off."""
    if problem.routes is None:
        return
    if problem.candidates_m is not None:
        reached = problem.reachable(problem.candidates_m)
        for index in np.flatnonzero(problem.allowed(problem.candidates_m) & ~reached):
            allowed = "the server does not use it: leave a gap in the walls, or room above them"
            yield Fault(f"candidates_m.{index}", "no way leads there", allowed)
        return
    boxes = allowed_boxes(problem)
    centre, half_width = boxes[:, 0], boxes[:, 1]
    cut_off = problem.routes.unreachable(np.stack([centre - half_width, centre + half_width], 1))
    if cut_off.any():
        on_ground = centre[:, 2] == 0
        extent = half_width.prod(axis=1, where=~on_ground[:, None] | (np.arange(3) < 2))
        shares = [
            f"{extent[cut_off & kind].sum() / extent[kind].sum():.0%} of the {name}"
            for name, kind in (("ground", on_ground), ("air", ~on_ground))
            if (cut_off & kind).any()
        ]
        allowed = "the server cannot go there: leave a gap in the walls, or room above them"
        yield Fault("keep_out_m", f"cuts off {' and '.join(shares)}", allowed)
