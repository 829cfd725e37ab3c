"""`scdn data`: list, fetch, add and check data sets."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scdn.cli.command_parser import (
    Subparsers,
    add_command,
    add_command_group,
    split_pairs,
    whole_number,
)
from scdn.errors import input_error, printable

if TYPE_CHECKING:
    from scdn.data import Dataset


def add_to(subparsers: Subparsers) -> None:
    """Declare the commands."""
    group = add_command_group(
        subparsers, "data", "List, fetch, add and check data sets.", "scdn data list"
    )
    add_command(
        group,
        "list",
        _list,
        "List data sets: those that are stored, and how to get the others.",
        "scdn data list",
    )
    fetch = add_command(
        group,
        "fetch",
        _fetch,
        "Download data sets (mnist, cifar10, digits), check and store them.",
        "scdn data fetch digits",
    )
    fetch.add_argument("names", nargs="+", metavar="NAME", help="as scdn data list shows it")

    new = add_command(
        group,
        "new",
        _new,
        "Write two small example files, as two parties would bring them.",
        "scdn data new -o sample",
    )
    new.add_argument("-o", "--out", default=".", metavar="FOLDER", help="default: .")

    add = add_command(
        group,
        "add",
        _add,
        "Add your own table, files of several parties aligned by a key, or a downloaded data set.",
        "scdn data new -o sample\n"
        "scdn data add homes sample/meters.csv --label heat_pump --party a=night_kwh,day_kwh\n"
        "scdn data add homes grid=sample/meters.csv sky=sample/weather.csv --key home "
        "--label heat_pump",
    )
    add.add_argument(
        "name", metavar="NAME", help="pawpularity, mnist, cifar10, or a name of your own"
    )
    add.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help=".csv, .parquet or .npz; with --key PARTY=PATH for each party",
    )
    add.add_argument("--label", metavar="COLUMN", help="the column to predict")
    add.add_argument("--key", metavar="COLUMN", help="the column that all files share")
    add.add_argument("--task", choices=("classification", "regression"), default="classification")
    add.add_argument("--classes", type=whole_number(2), metavar="N", help="labels are 0 to N−1")
    add.add_argument(
        "--party",
        dest="parties",
        action="append",
        default=[],
        metavar="PARTY=COLUMN,…",
        help="columns that a party holds, of a single file; may be repeated",
    )
    add.add_argument("--overlap", action="store_true", help="allow a column in several parties")
    add.add_argument(
        "--seed", type=whole_number(0), default=0, help="seed of the 80/20 split; default: 0"
    )

    check = add_command(
        group,
        "check",
        _check,
        "Check stored data sets by their sha256 and describe them.",
        "scdn data fetch digits\nscdn data check digits",
    )
    check.add_argument(
        "names", nargs="*", metavar="NAME", help="default: all that are stored or shipped"
    )


def _print_message(line: str) -> None:
    print(printable(line), file=sys.stderr, flush=True)


def _list(_: argparse.Namespace) -> int:
    from scdn.data import catalog, store

    stored = store.stored_files()
    print(f"in {store.store_folder()}:")
    for name in catalog.dataset_names():
        known = catalog.CATALOG.get(name)
        size = f"{stored[name].stat().st_size / 1e6:.1f} MB" if name in stored else "-"
        if catalog.is_shipped(name):
            size = "shipped"
        description = known.about if known else "added by you"
        print(f"  {name:<12} {size:>9}  {description}", end="")
        print("" if size != "-" else f"  ({catalog.how_to_get(name)})")
    return 0


def _fetch(options: argparse.Namespace) -> int:
    from scdn.data import catalog

    for name in options.names:
        print(f"wrote {catalog.fetch(name, _print_message)}")
    return 0


def _new(options: argparse.Namespace) -> int:
    from scdn.data.example_files import write_example_files

    for path in write_example_files(Path(options.out)):
        print(f"wrote {path}")
    return 0


def _add(options: argparse.Namespace) -> int:
    from scdn.data import catalog, store

    if options.name in catalog.CATALOG:
        if len(options.paths) != 1:
            raise input_error("scdn", "PATH", f"got {len(options.paths)}", "must be one path")
        path = catalog.add(options.name, Path(options.paths[0]), _print_message)
    else:
        path = store.put(_dataset_from_files(options))
    print(f"wrote {path}")
    return 0


def _dataset_from_files(options: argparse.Namespace) -> Dataset:
    from scdn.data import alignment, import_table

    if not options.label:
        raise input_error("scdn", "--label", "is missing", "must name the column to predict")
    shared = {key: getattr(options, key) for key in ("task", "classes", "overlap", "seed")}
    if not options.key:
        if len(options.paths) != 1:
            raise input_error("scdn", "--key", "is missing", "must name the column the files share")
        parties = {
            party: columns.split(",") for party, columns in split_pairs(options.parties, "--party")
        }
        path = Path(options.paths[0])
        return import_table.import_table(
            path, options.name, options.label, parties=parties, **shared
        )
    files = {party: Path(path) for party, path in split_pairs(options.paths, "PATH")}
    aligned = alignment.align(files, options.key)
    for line in aligned.report.lines():
        _print_message(line)
    return aligned.to_dataset(options.name, options.label, **shared)


def _check(options: argparse.Namespace) -> int:
    from scdn.data.catalog import load, loadable_names, own_metric
    from scdn.learning.metrics import metric, trivial_scores

    for name in options.names or loadable_names():
        dataset, own = load(name), own_metric(name)
        shapes = ", ".join(f"{key} {rows.shape[1:]}" for key, rows in dataset.train.items())
        trivial = trivial_scores(dataset, [metric(own)] if own else [])
        score = ", ".join(f"{key} {value:.4g}" for key, value in trivial.items())
        kind = f"{len(dataset.classes)} classes" if dataset.classes else dataset.task
        print(f"{name}: valid, {len(dataset.train_y)} + {len(dataset.test_y)} rows of {shapes}")
        print(f"  {kind}; trivial predictor: {score}")
        for party, columns in dataset.parties.items():
            print(f"  {party}: {', '.join(columns)}")
        print(f"  {dataset.provenance}")
    return 0
