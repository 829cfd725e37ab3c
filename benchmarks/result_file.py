"""A file of results, one JSON object per line, to which a benchmark adds what is missing."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from scdn.job_pool import PoolJob, run_jobs

Record = dict[str, Any]


def read(path: Path) -> list[Record]:
    """Return the records of a file, if it is there."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def run_missing(
    path: Path,
    train: Callable[..., Record],
    wanted: Iterable[tuple[Any, ...]],
    key: Iterable[str],
    jobs: int,
) -> None:
    """Call `train` with each of the arguments that the file has no record of, and append it.

    `key` are the fields of a record that hold the arguments.
    """
    names = tuple(key)
    done = {tuple(record[name] for name in names) for record in read(path)}
    planned = [PoolJob(str(args), train, args) for args in wanted if args not in done]
    with path.open("a") as file:
        for count, (_, record) in enumerate(run_jobs(planned, workers=jobs), 1):
            file.write(json.dumps(record) + "\n")
            file.flush()
            print(f"\r{count} of {len(planned)} runs", end="", file=sys.stderr, flush=True)
