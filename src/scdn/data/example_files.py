"""Two small files as two parties would bring them: a start for one's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from scdn.file_io import OutputError, write_atomic
from scdn.rng import generator

_HOMES = 200


def write_example_files(folder: Path) -> list[Path]:
    """`meters.csv` (a grid operator's, with the label) and `weather.csv` (a weather service's).

    Some homes are in one file only, as in life.
    """
    draw = generator(0, "sample")
    cold = draw.normal(0.0, 1.0, _HOMES)
    pump = draw.random(_HOMES) < 0.4
    night = 1.0 + 1.5 * pump * np.exp(0.3 * cold) + draw.normal(0.0, 0.2, _HOMES)
    day = 2.0 + draw.normal(0.0, 0.4, _HOMES)
    meters = ["home,night_kwh,day_kwh,heat_pump"]
    weather = ["home,cold,wind"]
    for home in range(_HOMES):
        answer = "yes" if pump[home] else "no"
        if home % 40 != 7:
            meters.append(f"{home:04d},{night[home]:.3f},{day[home]:.3f},{answer}")
        if home % 50 != 3:
            weather.append(f"{home:04d},{cold[home]:.3f},{draw.random():.3f}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({error.strerror})") from None
    paths = [folder / "meters.csv", folder / "weather.csv"]
    for path, lines in zip(paths, (meters, weather), strict=True):
        write_atomic(path, "\n".join(lines) + "\n")
    return paths
