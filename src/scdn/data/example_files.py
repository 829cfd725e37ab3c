"""Small example files to start one's own from: tables of two parties, and a folder of images."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scdn.file_io import make_folder, write_atomic
from scdn.rng import generator

_HOMES = 200
_SHAPES = ("bar", "cross", "frame")
_IMAGES, _SIDE = 30, 12  # of each shape; pixels


def write_example_files(folder: Path) -> list[Path]:
    """Write `meters.csv` (a grid operator's, with the label) and `weather.csv`; return their paths.

    Some homes are in one file only, as in real data.
    """
    rng = generator(0, "sample")
    cold = rng.normal(0.0, 1.0, _HOMES)
    heat_pump = rng.random(_HOMES) < 0.4
    night = 1.0 + 1.5 * heat_pump * np.exp(0.3 * cold) + rng.normal(0.0, 0.2, _HOMES)
    day = 2.0 + rng.normal(0.0, 0.4, _HOMES)
    meters = ["home,night_kwh,day_kwh,heat_pump"]
    weather = ["home,cold,wind"]
    for home in range(_HOMES):
        label = "yes" if heat_pump[home] else "no"
        if home % 40 != 7:
            meters.append(f"{home:04d},{night[home]:.3f},{day[home]:.3f},{label}")
        if home % 50 != 3:
            weather.append(f"{home:04d},{cold[home]:.3f},{rng.random():.3f}")
    make_folder(folder)
    paths = [folder / "meters.csv", folder / "weather.csv"]
    for path, lines in zip(paths, (meters, weather), strict=True):
        write_atomic(path, "\n".join(lines) + "\n")
    return paths


def write_example_images(folder: Path) -> list[Path]:
    """Write small grey images with a folder for each class; return the class folders."""
    from PIL import Image

    rng = generator(0, "sample-images")
    folders = [folder / shape for shape in _SHAPES]
    for path in folders:
        make_folder(path)
        for number in range(_IMAGES):
            raw = io.BytesIO()
            Image.fromarray(_draw(path.name, rng)).save(raw, "png")
            write_atomic(path / f"{number:02d}.png", raw.getvalue())
    return folders


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
