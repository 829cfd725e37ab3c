"""How long path loss takes, and how much memory: run `make bench`.

Each row is measured in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np

from scdn.scenario import Radio
from scdn.world.path_loss import path_loss

SIZES = ((10, 1_000), (1_000, 1_000), (10_000, 1_000), (100_000, 100))


def measure(devices: int, positions: int) -> None:
    """One row: seconds (best of three), peak memory, nanoseconds per link."""
    draw = np.random.default_rng(0)
    place = draw.uniform(0, 100, (devices, 3))
    place[::2, 2] = 0  # half on the ground: both kinds of link
    server = draw.uniform(0, 100, (positions, 3))
    best = min(_seconds(server, place) for _ in range(3))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    per_link = best / (devices * positions) * 1e9
    print(f"{devices:>9,}{positions:>11,}{best:>10.3f}{peak:>11.2f}{per_link:>10.1f}")


def _seconds(server: np.ndarray, place: np.ndarray) -> float:
    start = time.perf_counter()
    path_loss(server, place, Radio())
    return time.perf_counter() - start


if __name__ == "__main__":
    if len(sys.argv) == 3:
        measure(int(sys.argv[1]), int(sys.argv[2]))
    else:
        print(f"{'devices':>9}{'positions':>11}{'seconds':>10}{'peak GiB':>11}{'ns/link':>10}")
        for size in SIZES:
            subprocess.run([sys.executable, __file__, *map(str, size)], check=True)  # noqa: S603
