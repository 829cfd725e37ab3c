"""Measure time and memory of the path loss between many devices and server positions.

    python benchmarks/path_loss.py

Each row is measured in a separate process, so that its peak memory is its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np

from scdn.scenario import Radio
from scdn.world.link_models import path_loss

SIZES = ((10, 1_000), (1_000, 1_000), (10_000, 1_000), (100_000, 100))


def measure(devices: int, positions: int) -> None:
    """Print one row: seconds (best of three), peak memory, nanoseconds per link."""
    rng = np.random.default_rng(0)
    position = rng.uniform(0, 100, (devices, 3))
    position[::2, 2] = 0  # half on the ground, so that both kinds of link occur
    server = rng.uniform(0, 100, (positions, 3))
    best = min(_seconds(server, position) for _ in range(3))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    per_link = best / (devices * positions) * 1e9
    print(f"{devices:>9,}{positions:>11,}{best:>10.3f}{peak:>11.2f}{per_link:>10.1f}")


def _seconds(server: np.ndarray, position: np.ndarray) -> float:
    start = time.perf_counter()
    path_loss(server, position, Radio())
    return time.perf_counter() - start


if __name__ == "__main__":
    if len(sys.argv) == 3:
        measure(int(sys.argv[1]), int(sys.argv[2]))
    else:
        print(f"{'devices':>9}{'positions':>11}{'seconds':>10}{'peak GiB':>11}{'ns/link':>10}")
        for size in SIZES:
            subprocess.run([sys.executable, __file__, *map(str, size)], check=True)  # noqa: S603
