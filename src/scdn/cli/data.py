"""`scdn data`: list, fetch, add and check the data sets that learning uses."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scdn.cli.common import Commands, command, count, group
from scdn.errors import input_error, printable

if TYPE_CHECKING:
    from scdn.data import Dataset


def add_to(commands: Commands) -> None:
    """Declares the commands."""
    ours = group(commands, "data", "List, fetch, add and check data sets.", "scdn data list")
    command(
        ours,
        "list",
        _list,
        "List data sets: what is stored, and how to get what is not.",
        "scdn data list",
    )
    fetch = command(
        ours,
        "fetch",
        _fetch,
        "Fetch data sets (mnist, cifar10, digits), check them and store them.",
        "scdn data fetch digits",
    )
    fetch.add_argument("names", nargs="+", metavar="NAME")

    new = command(
        ours,
        "new",
        _new,
        "Write two small files as two parties would bring them, to start your own from.",
        "scdn data new -o sample",
    )
    new.add_argument("-o", "--out", default=".", metavar="FOLDER", help="default: this folder")

    add = command(
        ours,
        "add",
        _add,
        "Add your own table, parties' files aligned by a key, or a data set you have as files.",
        "scdn data new -o sample\n"
        "scdn data add homes sample/meters.csv --label heat_pump --party a=night_kwh,day_kwh\n"
        "scdn data add homes grid=sample/meters.csv sky=sample/weather.csv --key home "
        "--label heat_pump",
    )
    add.add_argument("name", metavar="NAME", help="pawpularity, mnist, cifar10, or one of yours")
    add.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help=".csv, .parquet or .npz; or PARTY=PATH for each party",
    )
    add.add_argument("--label", metavar="COLUMN", help="the column to predict")
    add.add_argument("--key", metavar="COLUMN", help="the column that parties' files share")
    add.add_argument("--task", choices=("classification", "regression"), default="classification")
    add.add_argument("--classes", type=count(2), metavar="N", help="labels are 0 to N−1")
    add.add_argument(
        "--party",
        dest="parties",
        action="append",
        default=[],
        metavar="PARTY=COLUMN,…",
        help="who holds which columns of one file; may be repeated",
    )
    add.add_argument("--overlap", action="store_true", help="a column may have several owners")
    add.add_argument("--seed", type=count(0), default=0, help="of the 80/20 split; default: 0")

    check = command(
        ours,
        "check",
        _check,
        "Check stored data sets by their sha256 and say what is in them.",
        "scdn data fetch digits\nscdn data check digits",
    )
    check.add_argument("names", nargs="*", metavar="NAME", help="default: all that are stored")


def _say(line: str) -> None:
    print(printable(line), file=sys.stderr, flush=True)


def _list(_: argparse.Namespace) -> int:
    from scdn.data import registry, store

    stored = store.stored()
    print(f"in {store.folder()}:")
    for name in registry.names():
        known = registry.KNOWN.get(name)
        size = f"{stored[name].stat().st_size / 1e6:.1f} MB" if name in stored else "-"
        about = known.about if known else "yours"
        print(f"  {name:<12} {size:>9}  {about}", end="")
        print("" if name in stored else f"  ({registry.how_to_get(name)})")
    return 0


def _fetch(options: argparse.Namespace) -> int:
    from scdn.data import registry

    for name in options.names:
        print(f"wrote {registry.fetch(name, _say)}")
    return 0


def _new(options: argparse.Namespace) -> int:
    from scdn.data.sample import write_sample

    for path in write_sample(Path(options.out)):
        print(f"wrote {path}")
    return 0


def _add(options: argparse.Namespace) -> int:
    from scdn.data import registry, store

    if options.name in registry.KNOWN:
        if len(options.paths) != 1:
            raise input_error("scdn", "PATH", f"got {len(options.paths)}", "must be one")
        path = registry.add(options.name, Path(options.paths[0]), _say)
    else:
        path = store.put(_own(options))
    print(f"wrote {path}")
    return 0


def _own(options: argparse.Namespace) -> Dataset:
    from scdn.data import alignment, table

    if not options.label:
        raise input_error("scdn", "--label", "missing", "must name the column to predict")
    shared = {key: getattr(options, key) for key in ("task", "classes", "overlap", "seed")}
    if not options.key:
        if len(options.paths) != 1:
            raise input_error("scdn", "--key", "missing", "must name the column the files share")
        parties = {
            party: columns.split(",") for party, columns in _pairs(options.parties, "--party")
        }
        only = Path(options.paths[0])
        return table.from_file(only, options.name, options.label, parties=parties, **shared)
    files = {party: Path(path) for party, path in _pairs(options.paths, "PATH")}
    aligned = alignment.align(files, options.key)
    for line in aligned.report.lines():
        _say(line)
    return aligned.dataset(options.name, options.label, **shared)


def _pairs(words: list[str], option: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for word in words:
        party, equals, rest = word.partition("=")
        if not (party and equals and rest) or party in dict(pairs):
            raise input_error("scdn", option, f"got {word!r}", "must be PARTY=…, each party once")
        pairs.append((party, rest))
    return pairs


def _check(options: argparse.Namespace) -> int:
    from scdn.data import load, store
    from scdn.data.dataset import trivial_score

    for name in options.names or store.stored():
        dataset = load(name)
        shapes = ", ".join(f"{key} {rows.shape[1:]}" for key, rows in dataset.train.items())
        score = ", ".join(f"{key} {value:.4g}" for key, value in trivial_score(dataset).items())
        kind = f"{len(dataset.classes)} classes" if dataset.classes else dataset.task
        print(f"{name}: fine, {len(dataset.train_y)} + {len(dataset.test_y)} rows of {shapes}")
        print(f"  {kind}; without looking: {score}")
        for party, columns in dataset.parties.items():
            print(f"  {party}: {', '.join(columns)}")
        print(f"  {dataset.provenance}")
    return 0
