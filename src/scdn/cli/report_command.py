"""`scdn report`: write a page with tables, curves and maps of finished runs."""

from __future__ import annotations

import argparse
import sys

from scdn.cli.command_parser import Subparsers, add_command, add_target_option, write_output


def add_to(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = add_command(
        subparsers,
        "report",
        _report,
        "Compare runs in one HTML page that works offline; optionally as pictures and tables.",
        "scdn data fetch digits\n"
        "scdn run examples/quick.toml --out runs/one\n"
        "scdn report runs\n"
        "scdn report runs -o report.html --png figures --export rounds.csv",
    )  # fmt: skip
    parser.add_argument(
        "folders", metavar="DIR", nargs="+", help="a run, or a folder that holds runs"
    )
    parser.add_argument(
        "-o", "--out", default="report.html", metavar="FILE", help="default: report.html"
    )
    parser.add_argument("--png", metavar="FOLDER", help="also write each chart as a picture")
    parser.add_argument(
        "--reference",
        metavar="METHOD",
        help="compare the other methods with this one; default: mission, or sc-dn",
    )
    add_target_option(parser, "those of the runs' scenarios")
    parser.add_argument(
        "--export", metavar="FILE", help="also write all rounds as .csv or .parquet"
    )


def _report(options: argparse.Namespace) -> int:
    from scdn.record.run_reader import find_runs
    from scdn.record.run_tables import check_table_name, export_table
    from scdn.report.page import report_page
    from scdn.report.study import Study

    if options.export:
        check_table_name(options.export)
    runs = find_runs(options.folders)
    study = Study.from_runs(runs, options.reference, options.target or None)
    messages = sys.stderr if options.out == "-" else sys.stdout
    for note in study.notes:
        print(f"note: {note}", file=sys.stderr)
    write_output(options.out, report_page(study))
    if options.png:
        from scdn.report.matplotlib_figures import write_figures

        for path in write_figures(study, options.png):
            print(f"wrote {path}", file=messages)
    if options.export:
        export_table(study.runs, options.export)
        print(f"wrote {options.export}", file=messages)
    return 0
