"""`scdn studio`: serve the web page."""

from __future__ import annotations

import argparse

from scdn.cli.command_parser import Subparsers, add_command, whole_number
from scdn.errors import input_error, require_package


def add_to(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = add_command(
        subparsers,
        "studio",
        _studio,
        "Open the web page: plan a round by hand, start and watch runs, compare methods.",
        "scdn studio runs",
    )
    parser.add_argument(
        "runs", nargs="?", default="runs", metavar="RUNS_DIR", help="folder of runs; default: runs"
    )
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="H", help="address to listen on; default: 127.0.0.1"
    )
    parser.add_argument(
        "--port", type=whole_number(0), metavar="P", help="default: the next free port"
    )
    parser.add_argument(
        "--token",
        metavar="T",
        help="secret that every request must carry; drawn at random unless the host is local",
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="print the address, open no browser"
    )


def _studio(options: argparse.Namespace) -> int:
    for name in ("fastapi", "uvicorn"):
        require_package(name, "studio", "studio")
    if options.port is not None and options.port > 65535:
        raise input_error("scdn", "--port", f"got {options.port}", "must be at most 65535")
    from scdn.studio.serve import serve

    return serve(
        options.runs,
        host=options.host,
        port=options.port,
        token=options.token,
        browser=not options.no_browser,
    )
