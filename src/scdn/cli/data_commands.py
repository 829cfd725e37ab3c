"""`scdn data`: list, fetch, add, show, check and remove data sets."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path

from scdn.cli.command_parser import (
    Subparsers,
    add_command,
    add_command_group,
    split_pairs,
    whole_number,
)
from scdn.cli.progress_bar import ProgressBar
from scdn.errors import input_error, printable


def add_to(subparsers: Subparsers) -> None:
    """Declare the commands."""
    group = add_command_group(
        subparsers, "data", "List, fetch, add, show, check and remove data sets.", "scdn data list"
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
        "Write small example files: tables as two parties would bring them, and images.",
        "scdn data new -o sample",
    )
    new.add_argument("-o", "--out", default=".", metavar="FOLDER", help="default: .")

    add = add_command(
        group,
        "add",
        _add,
        "Add your own table, image arrays, IDX files, a folder of images with a folder per class, "
        "files of several parties aligned by a key, or a downloaded data set.",
        "scdn data new -o sample\n"
        "scdn data add homes sample/meters.csv --label heat_pump --key home\n"
        "scdn data add homes grid=sample/meters.csv sky=sample/weather.csv --key home "
        "--label heat_pump\n"
        "scdn data add shapes sample/shapes",
    )
    add.add_argument(
        "name", metavar="NAME", help="pawpularity, mnist, cifar10, or a name of your own"
    )
    add.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help=".csv, .parquet, .npz, IDX files or a folder; PARTY=PATH if each party has a table",
    )
    add.add_argument(
        "--test",
        nargs="+",
        default=[],
        metavar="PATH",
        help="the test rows, in the same form; default: those that names call so "
        "(x_test, t10k-images-idx3-ubyte, test/), else a fifth of the rows",
    )
    add.add_argument(
        "--label",
        metavar="COLUMN",
        help="the column to predict, PARTY.COLUMN if several parties have it, or the array of "
        "labels in an .npz file of images",
    )
    add.add_argument(
        "--key", metavar="COLUMN", help="the column that names the rows and aligns files"
    )
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
        "--missing",
        choices=("refuse", "drop", "mean"),
        default="refuse",
        help="empty cells: refuse the file, drop the rows, or take the mean of the training rows; "
        "default: refuse",
    )
    add.add_argument(
        "--seed", type=whole_number(0), default=0, help="seed of the 80/20 split; default: 0"
    )

    show = add_command(
        group,
        "show",
        _show,
        "Describe a data set: rows, classes, parties, where it is stored and how to use it.",
        "scdn data show occupancy",
    )
    show.add_argument("name", metavar="NAME", help="as scdn data list shows it")

    remove = add_command(
        group,
        "remove",
        _remove,
        "Remove stored data sets.",
        "scdn data fetch digits\nscdn data remove digits",
    )
    remove.add_argument("names", nargs="+", metavar="NAME", help="as scdn data list shows it")

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
    from scdn.data.example_files import write_example_files, write_example_images

    folder = Path(options.out)
    for path in (*write_example_files(folder), *write_example_images(folder)):
        print(f"wrote {path}")
    return 0


def _add(options: argparse.Namespace) -> int:
    from scdn.data import catalog

    if options.name in catalog.CATALOG:
        if len(options.paths) != 1:
            raise input_error("scdn", "PATH", f"got {len(options.paths)}", "must be one path")
        path = catalog.add(options.name, Path(options.paths[0]), _print_message)
    else:
        path = _import_files(options)
    print(f"wrote {path}")
    return 0


def _import_files(options: argparse.Namespace) -> Path:
    from scdn.data.import_files import ImportRequest, import_files

    request = ImportRequest(
        name=options.name,
        files=_files(options.paths, "PATH"),
        test=_files(options.test, "--test"),
        label=options.label or "",
        key=options.key or "",
        task=options.task,
        classes=options.classes,
        parties={p: names.split(",") for p, names in split_pairs(options.parties, "--party")},
        overlap=options.overlap,
        missing=options.missing,
        seed=options.seed,
    )
    bars: defaultdict[str, ProgressBar] = defaultdict(lambda: ProgressBar(lines=5))
    return import_files(
        request, _print_message, lambda count, total, text: bars[text].show(count, total, text)
    )


def _files(arguments: list[str], option: str) -> list[Path] | dict[str, Path]:
    """Return the paths, by party if they are given as PARTY=PATH."""
    if not any("=" in argument and not Path(argument).exists() for argument in arguments):
        return [Path(argument) for argument in arguments]
    return {party: Path(path) for party, path in split_pairs(arguments, option)}


def _show(options: argparse.Namespace) -> int:
    from scdn.data import catalog, store
    from scdn.data.description import description_lines

    dataset = catalog.load(options.name)
    for line in description_lines(dataset, store.stored_files().get(options.name)):
        print(printable(line))
    return 0


def _remove(options: argparse.Namespace) -> int:
    from scdn.data import catalog

    for name in options.names:
        print(f"removed {catalog.remove(name)}")
    return 0


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
