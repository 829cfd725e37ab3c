"""The content of a map, independent of how it is drawn: devices, server, obstacles, heat map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

import numpy as np

from scdn.arrays import Array, Mask
from scdn.errors import input_error
from scdn.file_io import write_atomic


@dataclass(frozen=True, eq=False)
class DeviceMarkers:
    """A group of devices with the same colour and marker; some markers are not filled."""

    label: str
    style: int  # index of the colour and marker
    position_m: Array
    filled: Mask
    names: Sequence[str]
    hover: Sequence[str]
    unfilled_label: str = "out of reach"


@dataclass(frozen=True, eq=False)
class HeatMap:
    """A value for every horizontal position of the server at its altitude."""

    x: Array
    y: Array
    value: Array
    label: str
    max_count: int | None = None  # values are counts from 0 to this; None: a continuous scale
    low_is_better: bool = False

    def colour_range(self) -> tuple[float, float]:
        """Return the values at the two ends of the colour scale; extreme values are cut off."""
        if self.max_count is not None:
            return 0.0, float(max(1, self.max_count))
        finite = self.value[np.isfinite(self.value)]
        if not len(finite):
            return 0.0, 1.0
        return float(finite.min()), float(np.quantile(finite, 0.98))


@dataclass(frozen=True, eq=False)
class ReachOutline:
    """A device's reach at the server's altitude: where its power suffices, `power_share` ≤ 1."""

    name: str
    power_share: Array  # of its transmit limit, on the heat map's grid
    active: bool


@dataclass(frozen=True, eq=False)
class MapScene:
    """Everything that a map shows."""

    title: str
    region_m: tuple[float, float, float]
    server_m: Array
    path_m: Array  # (K, 3), the server's planned way to there; empty without one
    groups: Sequence[DeviceMarkers]
    departed_m: Array  # positions of devices that have left
    departed_names: Sequence[str]
    linked_m: Array  # positions of devices with a link to the server
    keep_out_m: Sequence[Sequence[float]]
    candidates_m: Array
    candidate_labels: Sequence[str]
    shocks: Sequence[tuple[tuple[float, float], float, str]]  # centre, radius, text
    heat_map: HeatMap
    reach: Sequence[ReachOutline] = ()

    def forbids_altitude(self, box: Sequence[float]) -> bool:
        """Return whether a keep-out box is in the server's way at its altitude."""
        low, high, z = box[2], box[5], float(self.server_m[2])
        return (low < z or low <= 0) and (z < high or high >= self.region_m[2])


_LEAST_HEIGHT = 0.22  # of the longest side, to which flat regions are stretched


def drawn_size(region_m: Sequence[float]) -> tuple[tuple[float, float, float], float]:
    """Return the sides of a region as drawn in 3-D, and the factor by which heights are stretched.

    A region of 2 km × 2 km × 120 m would look like a sheet of paper.
    """
    x, y, z = region_m
    factor = max(1.0, _LEAST_HEIGHT * max(x, y) / z)
    return (x, y, z * factor), factor


def height_label(factor: float) -> str:
    """Return the label of the vertical axis."""
    return "z (m)" if factor == 1 else f"z (m), × {factor:.2g}"


def box_edges(box: Sequence[float]) -> Iterator[tuple[list[float], list[float]]]:
    """Yield the two ends of each of the twelve edges of a box x0, y0, z0, x1, y1, z1."""
    for sides in combinations(product((0, 3), repeat=3), 2):
        start, end = ([box[side + axis] for axis, side in enumerate(corner)] for corner in sides)
        if sum(a != b for a, b in zip(*sides, strict=True)) == 1:
            yield start, end


def write_map(scene: MapScene, out: str | Path) -> None:
    """Write the map as .png, .svg or (interactive, offline) .html."""
    check_map_format(out)
    if Path(out).suffix.lower() == ".html":
        from scdn.report.map_html import map_html

        write_atomic(out, map_html(scene))
    else:
        from scdn.report.map_image import map_image

        write_atomic(out, map_image(scene, Path(out).suffix[1:].lower()))


def check_map_format(out: str | Path) -> None:
    """Refuse a file name that does not end with a supported format."""
    suffix = Path(out).suffix.lower()
    if suffix not in (".png", ".svg", ".html"):
        fault = f"ends with {suffix or 'nothing'}"
        raise input_error("picture", str(out), fault, "must end with .png, .svg or .html")
