"""What the commands of a federation's server share: its address, its log, and how it is stopped."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scdn.cli.command_parser import whole_number
from scdn.errors import input_error, printable

if TYPE_CHECKING:
    from scdn.federation.processes import ServerAddress

PORT = 9092


def add_address_options(parser: argparse.ArgumentParser) -> None:
    """Add where the server listens, and its keys."""
    parser.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1")
    parser.add_argument("--port", type=whole_number(1), default=PORT, help=f"default: {PORT}")
    parser.add_argument("--keys", metavar="FOLDER", help="folder made by scdn federate keys")
    parser.add_argument("--insecure", action="store_true", help="without keys; 127.0.0.1 only")


def server_address(options: argparse.Namespace) -> ServerAddress:
    """Return the address that the options say."""
    from scdn.federation.processes import ServerAddress

    if options.keys is None and not options.insecure:
        allowed = "must be the folder of scdn federate keys, or --insecure on this machine"
        raise input_error("scdn", "--keys", "is missing", allowed)
    keys = None if options.keys is None else Path(options.keys).resolve()
    return ServerAddress(options.host, options.port, keys)


def print_log_line(line: str) -> None:
    """Print a line of the server's log, in place of a progress bar that may be there."""
    clear = "\r\033[K" if sys.stderr.isatty() else ""
    print(clear + printable(line), file=sys.stderr, flush=True)


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """Let SIGTERM stop the command as Ctrl-C does."""

    def interrupt(_: int, __: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
