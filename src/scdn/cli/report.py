"""`scdn report`: runs in, one page with tables, curves and maps out."""

from __future__ import annotations

import argparse
import sys

from scdn.cli.common import Commands, command, write_out


def add_to(commands: Commands) -> None:
    """Declares the command."""
    parser = command(
        commands,
        "report",
        _report,
        "Compare runs: a page that works offline, pictures, a table.",
        "scdn run examples/quick.toml --out runs/one\n"
        "scdn report runs\n"
        "scdn report runs -o report.html --png figures --export rounds.csv",
    )  # fmt: skip
    parser.add_argument("folders", metavar="DIR", nargs="+", help="a run, or a folder above runs")
    parser.add_argument(
        "-o", "--out", default="report.html", metavar="FILE", help="default: report.html"
    )
    parser.add_argument("--png", metavar="FOLDER", help="each chart as a picture")
    parser.add_argument(
        "--reference", metavar="METHOD", help="what the others are compared with; default: sc-dn"
    )
    parser.add_argument("--export", metavar="FILE", help="the rounds as .csv or .parquet")


def _report(options: argparse.Namespace) -> int:
    from scdn.record.frames import check_table_name, export
    from scdn.record.read import find_runs
    from scdn.report.page import page
    from scdn.report.study import make_study

    if options.export:
        check_table_name(options.export)
    study = make_study(find_runs(options.folders), options.reference)
    told = sys.stderr if options.out == "-" else sys.stdout
    for note in study.notes:
        print(f"note: {note}", file=sys.stderr)
    write_out(options.out, page(study))
    if options.png:
        from scdn.report.figures import write_figures

        for path in write_figures(study, options.png):
            print(f"wrote {path}", file=told)
    if options.export:
        export(study.runs, options.export)
        print(f"wrote {options.export}", file=told)
    return 0
