"""Two small example files, as two parties would bring them, to start one's own from."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from scdn.file_io import make_folder, write_atomic
from scdn.rng import generator

_HOMES = 200


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
