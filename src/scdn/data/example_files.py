"""Small example files to start one's own from: tables of two parties, and a folder of images."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scdn.file_io import make_folder, write_atomic
from scdn.rng import generator

_HOMES, _NEW_HOMES = 200, 20
_SHAPES = ("bar", "cross", "frame")
_IMAGES, _SIDE = 30, 12  # of each shape; pixels


def write_example_files(folder: Path) -> list[Path]:
    """Write tables of a grid operator (`meters.csv`, with the label) and of a weather service.

    `new-meters.csv` and `new-weather.csv` are of further homes, whose label is not known. Some
    homes are in one file only, as in real data. Return the paths.
    """
    rng = generator(0, "sample")
    make_folder(folder)
    return [
        *_write_homes(folder, "", range(_HOMES), rng, labelled=True),
        *_write_homes(folder, "new-", range(_HOMES, _HOMES + _NEW_HOMES), rng, labelled=False),
    ]


def _write_homes(
    folder: Path, prefix: str, homes: range, rng: np.random.Generator, *, labelled: bool
) -> list[Path]:
    cold = rng.normal(0.0, 1.0, len(homes))
    heat_pump = rng.random(len(homes)) < 0.4
    night = 1.0 + 1.5 * heat_pump * np.exp(0.3 * cold) + rng.normal(0.0, 0.2, len(homes))
    day = 2.0 + rng.normal(0.0, 0.4, len(homes))
    meters = ["home,night_kwh,day_kwh" + ",heat_pump" * labelled]
    weather = ["home,cold,wind"]
    for row, home in enumerate(homes):
        label = ",yes" if heat_pump[row] else ",no"
        if home % 40 != 7:
            meters.append(f"{home:04d},{night[row]:.3f},{day[row]:.3f}" + label * labelled)
        if home % 50 != 3:
            weather.append(f"{home:04d},{cold[row]:.3f},{rng.random():.3f}")
    paths = [folder / f"{prefix}meters.csv", folder / f"{prefix}weather.csv"]
    for path, lines in zip(paths, (meters, weather), strict=True):
        write_atomic(path, "\n".join(lines) + "\n")
    return paths


def write_example_images(folder: Path) -> list[Path]:
    """Write small grey images: `shapes`, a folder for each class, and `new-shapes` without classes.

    Return the folders.
    """
    rng = generator(0, "sample-images")
    folders = [folder / "shapes" / shape for shape in _SHAPES]
    for path in folders:
        _write_images(path, [path.name] * _IMAGES, rng)
    unlabelled = folder / "new-shapes"
    _write_images(unlabelled, _SHAPES * 2, rng)
    return [*folders, unlabelled]


def _write_images(folder: Path, shapes: Sequence[str], rng: np.random.Generator) -> None:
    from PIL import Image

    make_folder(folder)
    for number, shape in enumerate(shapes):
        raw = io.BytesIO()
        Image.fromarray(_draw(shape, rng)).save(raw, "png")
        write_atomic(folder / f"{number:02d}.png", raw.getvalue())


def _draw(shape: str, rng: np.random.Generator) -> NDArray[Any]:
    """Return a shape of random size in a noisy image."""
    pixels = rng.integers(0, 64, (_SIDE, _SIDE), dtype=np.uint8)
    low, high = rng.integers(0, 3), rng.integers(_SIDE - 3, _SIDE)
    middle = _SIDE // 2
    if shape == "frame":
        pixels[[low, high], low : high + 1] = 255
        pixels[low : high + 1, [low, high]] = 255
    else:
        pixels[middle, low : high + 1] = 255
    if shape == "cross":
        pixels[low : high + 1, middle] = 255
    return pixels
