"""`scdn export`: write the models of a run as PyTorch and ONNX files, with a card."""

from __future__ import annotations

import argparse

from scdn.cli.command_parser import Subparsers, add_command


def add_to(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = add_command(
        subparsers,
        "export",
        _export,
        "Write the models of a run, for each party and the server, as PyTorch (.pt2) and ONNX "
        "files, with a card.",
        "scdn data fetch digits\n"
        "scdn run examples/quick.toml --set learning.rounds=3 --out runs/quick\n"
        "scdn export runs/quick --out model",
    )
    parser.add_argument("run_dir", metavar="RUN_DIR", help="folder of the run")
    parser.add_argument(
        "--out", required=True, metavar="DIR", help="folder for the files; made if missing"
    )


def _export(options: argparse.Namespace) -> int:
    from scdn.export.model_files import export_run

    for path in export_run(options.run_dir, options.out):
        print(f"wrote {path}")
    return 0
