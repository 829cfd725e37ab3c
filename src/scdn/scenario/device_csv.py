"""Read devices from a CSV: `id`, and either x, y, z in metres or lat, lon, alt.

Geographic positions are projected onto the plane that touches the WGS-84 ellipsoid at the origin.
`alt` is the height above the ground, so a device on the ground has z = 0 whatever the terrain.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scdn.errors import Fault, InputError, format_value
from scdn.file_io import read_text
from scdn.scenario.local_plane import LocalPlane
from scdn.scenario.network_settings import ListedDevice

_METRES, _DEGREES = ("x", "y", "z"), ("lat", "lon", "alt")
_TEXT_COLUMNS = {"id", "kind"}
_OPTIONAL_COLUMNS = sorted(set(ListedDevice.model_fields) - {"id", "position_m", "optimizer"})
Degrees = tuple[float, float]


def read_device_csv(
    path: Path, origin_deg: Degrees | None
) -> tuple[list[dict[str, Any]], Degrees | None]:
    """Return the devices in a file, as `parse_device_csv` does."""
    return parse_device_csv(read_text(path), str(path), origin_deg)


def parse_device_csv(
    text: str, source: str, origin_deg: Degrees | None = None
) -> tuple[list[dict[str, Any]], Degrees | None]:
    """Return the devices, each as a table for a scenario's `devices`, and the origin.

    Without an origin, (0, 0) is the south-west corner of devices whose positions are in degrees.
    """
    try:
        rows = list(csv.reader(io.StringIO(text), strict=True))
    except csv.Error as error:
        raise InputError(source, [Fault("file", f"is not CSV ({error})", "must be CSV")]) from None
    header = [name.strip() for name in rows[0]] if rows else []
    faults = list(_header_faults(header))
    if faults:
        raise InputError(source, faults)
    devices, faults = [], []
    for line, row in enumerate(rows[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        device, row_faults = _device(line, header, row)
        faults += row_faults
        devices.append(device)
    if not devices and not faults:
        faults.append(Fault("rows", "the file has none", "needs at least one device"))
    if faults:
        raise InputError(source, faults)
    if "lat" in header:
        origin_deg = origin_deg or (
            min(device["lat"] for device in devices),
            min(device["lon"] for device in devices),
        )
        _project(devices, LocalPlane(*origin_deg))
    for device in devices:
        device["position_m"] = [device.pop(axis) for axis in _METRES]
    return devices, origin_deg


def _header_faults(header: list[str]) -> Iterator[Fault]:
    if "id" not in header:
        yield Fault("column id", "missing", "it is required")
    metres, degrees = set(_METRES) & set(header), set(_DEGREES) & set(header)
    if metres and degrees:
        yield Fault(
            "columns", f"got {format_value(header)}", "must have x, y, z or lat, lon, alt, not both"
        )
    else:
        for name in _DEGREES if degrees else _METRES:
            if name not in header:
                allowed = "x, y, z in metres (or lat, lon, alt) are required"
                yield Fault(f"column {name}", "missing", allowed)
    for name in header:
        if name not in {"id", *_METRES, *_DEGREES, *_OPTIONAL_COLUMNS}:
            yield Fault(
                f"column {format_value(name)}", "unknown", f"known: {', '.join(_OPTIONAL_COLUMNS)}"
            )
        elif header.count(name) > 1:
            yield Fault(f"column {name}", "duplicate", "must be unique")
            return


def _device(line: int, header: list[str], row: list[str]) -> tuple[dict[str, Any], list[Fault]]:
    if len(row) != len(header):
        fault = f"got {len(row)} cells"
        return {}, [Fault(f"line {line}", fault, f"must have {len(header)}, like the header")]
    device: dict[str, Any] = {}
    faults = []
    for name, raw in zip(header, row, strict=True):
        cell = raw.strip()
        if name in _TEXT_COLUMNS:
            device[name] = cell
        elif cell or name in (*_METRES, *_DEGREES):  # other empty cells take the default
            number = _number(cell)
            if number is None:
                where = f"line {line}, {name}"
                faults.append(Fault(where, f"got {format_value(cell)}", "must be a finite number"))
            elif name in ("lat", "lon") and abs(number) > (90 if name == "lat" else 180):
                allowed = f"must be within ±{90 if name == 'lat' else 180} degrees"
                faults.append(Fault(f"line {line}, {name}", f"got {format_value(cell)}", allowed))
            else:
                device[name] = number
    return device, faults


def _number(cell: str) -> float | None:
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _project(devices: list[dict[str, Any]], plane: LocalPlane) -> None:
    """Replace lat, lon, alt by x (east), y (north), z, in metres from the origin."""
    for device in devices:
        device["x"], device["y"] = plane.metres(device.pop("lat"), device.pop("lon"))
        device["z"] = device.pop("alt")
