"""`scdn predict`: predict rows with the model of a run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scdn.cli.command_parser import Subparsers, add_command, split_pairs, write_output
from scdn.errors import input_error


def add_to(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = add_command(
        subparsers,
        "predict",
        _predict,
        "Predict rows with the model of a run, finished or running; parties that are missing "
        "are imputed.",
        "scdn data new -o sample\n"
        "scdn data add homes grid=sample/meters.csv sky=sample/weather.csv --key home "
        "--label heat_pump\n"
        "scdn run examples/quick.toml --set learning.dataset=homes --set learning.split=parties "
        "--set fleet.0.count=2 --set learning.rounds=3 --out runs/homes\n"
        "scdn predict runs/homes grid=sample/new-meters.csv sky=sample/new-weather.csv "
        "-o homes.csv\n"
        "scdn predict runs/homes grid=sample/new-meters.csv\n"
        "scdn predict runs/homes --test",
    )
    parser.add_argument("run_dir", metavar="RUN_DIR", help="folder of the run")
    parser.add_argument(
        "rows",
        metavar="ROWS",
        nargs="*",
        help=".csv, .parquet or .npz with the data set's columns, or PARTY=FILE for each party; "
        "images: .npz, an IDX file or a folder of pictures",
    )
    parser.add_argument(
        "--test", action="store_true", help="predict the run's own test rows, and score them"
    )
    parser.add_argument(
        "--key", metavar="COLUMN", help="the column that names a row; default: the data set's key"
    )
    parser.add_argument(
        "-o", "--out", default="-", metavar="FILE", help="CSV; default: standard output"
    )


def _predict(options: argparse.Namespace) -> int:
    if bool(options.rows) == options.test:
        fault = "needs one of ROWS and --test"
        raise input_error("scdn", "predict", fault, "see scdn predict --help")
    if options.test and options.key:
        raise input_error("scdn", "--key", "cannot be combined with --test", "leave it out")
    rows = _row_source(options.rows)

    from scdn.simulation.trained_model import TrainedModel

    model = TrainedModel.load(options.run_dir)
    frame = model.predict_test() if options.test else model.predict(rows, options.key)
    write_output(options.out, frame.to_csv(index=False, lineterminator="\n"), messages=sys.stderr)
    if options.test:
        achieved = ", ".join(f"{name} {value!r}" for name, value in model.test_scores().items())
        print(f"{options.run_dir}: {achieved} after {model.rounds} rounds", file=sys.stderr)
    return 0


def _row_source(arguments: list[str]) -> str | dict[str, str | Path]:
    """Return the one file, or the files by party."""
    if len(arguments) == 1 and ("=" not in arguments[0] or Path(arguments[0]).exists()):
        return arguments[0]
    return dict(split_pairs(arguments, "ROWS"))
