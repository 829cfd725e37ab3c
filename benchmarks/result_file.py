"""A file of results, one JSON object per line, to which a benchmark adds what is missing."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
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
    done = {json.dumps([record[name] for name in names]) for record in read(path)}
    planned = [PoolJob(str(args), train, args) for args in wanted if json.dumps(args) not in done]
    with path.open("a") as file:
        for count, (_, record) in enumerate(run_jobs(planned, workers=jobs), 1):
            file.write(json.dumps(record) + "\n")
            file.flush()
            print(f"\r{count} of {len(planned)} runs", end="", file=sys.stderr, flush=True)


def mean_text(values: Sequence[float], digits: int) -> str:
    """Return the mean, and the standard deviation if there is more than one value."""
    deviation = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{deviation}"


def argument_parser(description: str | None, seeds: int) -> argparse.ArgumentParser:
    """Return a parser of `run FILE` and `table FILE`, with so many seeds by default."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("run", "table"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--jobs", type=int, default=1)
    return parser


def run_or_show(
    description: str | None,
    run_all: Callable[[Path, int, int], None],
    rows: Callable[[Sequence[Record]], Iterable[str]],
    seeds: int,
) -> None:
    """Run what the file does not have yet if asked to, and print the table of the file.

    `run_all` is called with the file, the number of seeds and the number of processes.
    """
    args = argument_parser(description, seeds).parse_args()
    if args.action == "run":
        run_all(args.file, args.seeds, args.jobs)
    print("\n".join(rows(read(args.file))))
