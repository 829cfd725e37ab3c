"""The command line: parses, calls, prints. Each command has a small file of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from scdn import __version__
from scdn.cli import plan, scenario, schema
from scdn.cli.common import Parser
from scdn.documents import OutputError
from scdn.faults import InputError, printable

DONE, FAILED, WRONG_INPUT = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. 0: done; 1: failed while running; 2: wrong input."""
    parser = _parser()
    try:
        chosen = parser.parse_args(arguments)
        status: int = chosen.run(chosen)
        sys.stdout.flush()
        return status
    except InputError as error:
        print("\n".join(error.lines()), file=sys.stderr)
        return WRONG_INPUT
    except OutputError as error:
        print(printable(f"scdn: {error}"), file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("scdn: stopped", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stderr.close()
        return DONE


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="scdn",
        description="Vertical federated learning in networks that change.",
        epilog="example:\n  scdn plan examples/request.json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"scdn {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    plan.add_to(commands)
    scenario.add_to(commands)
    schema.add_to(commands)
    return parser
