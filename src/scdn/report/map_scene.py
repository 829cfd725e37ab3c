"""What a map shows, before any drawing: devices, the server, obstacles, and a shaded ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scdn.arrays import Array, Mask
from scdn.errors import input_error
from scdn.file_io import write_atomic


@dataclass(frozen=True, eq=False)
class DeviceMarkers:
    """Devices that look alike; those that are not `filled` are drawn hollow."""

    label: str
    look: int  # which colour and marker
    position_m: Array
    filled: Mask
    names: Sequence[str]
    hover: Sequence[str]
    hollow_label: str = "out of reach"


@dataclass(frozen=True, eq=False)
class HeatMap:
    """A value for every place of the server at its altitude."""

    x: Array
    y: Array
    value: Array
    label: str
    steps: int | None = None  # whole numbers 0 … steps, or None for a continuous scale
    low_is_good: bool = False


@dataclass(frozen=True, eq=False)
class MapScene:
    """Everything on a map."""

    title: str
    region_m: tuple[float, float, float]
    server_m: Array
    before_m: Array | None  # where the server came from
    crowds: Sequence[DeviceMarkers]
    ghosts_m: Array  # devices that have left
    ghost_names: Sequence[str]
    linked_m: Array  # devices with a link to the server
    keep_out_m: Sequence[Sequence[float]]
    candidates_m: Array
    discs: Sequence[tuple[tuple[float, float], float, str]]  # centre, radius, text
    shade: HeatMap


def write_map(scene: MapScene, out: str | Path) -> None:
    """Writes the map as .png, .svg or (interactive, offline) .html."""
    if Path(out).suffix.lower() == ".html":
        from scdn.report.map_html import html

        write_atomic(out, html(scene))
    else:
        from scdn.report.map_image import image

        write_atomic(out, image(scene, Path(out).suffix[1:].lower()))


def check_map_format(out: str | Path) -> None:
    """Refuses a file name whose ending says nothing that can be drawn."""
    suffix = Path(out).suffix.lower()
    if suffix not in (".png", ".svg", ".html"):
        found = f"ends with {suffix or 'nothing'}"
        raise input_error("picture", str(out), found, "must end with .png, .svg or .html")
