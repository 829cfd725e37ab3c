"""`scdn studio`: the web page."""

from __future__ import annotations

import argparse

from scdn.cli.common import Commands, command, count
from scdn.errors import input_error, require_package


def add_to(commands: Commands) -> None:
    """Declares the command."""
    parser = command(
        commands,
        "studio",
        _studio,
        "Open the web page: plan a round by hand, start and watch runs, compare methods.",
        "scdn studio runs",
    )
    parser.add_argument("runs", nargs="?", default="runs", metavar="RUNS_DIR", help="default: runs")
    parser.add_argument("--host", default="127.0.0.1", metavar="H", help="default: this machine")
    parser.add_argument("--port", type=count(0), metavar="P", help="default: the next free one")
    parser.add_argument("--token", metavar="T", help="asked of everyone; drawn where others come")
    parser.add_argument("--no-browser", action="store_true", help="only say where the page is")


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
