"""The command line: parses, calls, prints. Each command has a small file of its own."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from scdn import __version__
from scdn.cli import data, federate, paper, plan, report, run, scenario, schema, studio
from scdn.cli.common import Parser
from scdn.errors import InputError, printable
from scdn.file_io import OutputError

DONE, FAILED, WRONG_INPUT = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. 0: done; 1: failed while running; 2: wrong input."""
    _prepare_streams()
    try:
        chosen = _parser().parse_args(arguments)
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
        _discard_output()
        return DONE
    except OSError as error:
        _discard_output()
        print(printable(f"scdn: output cannot be written ({error.strerror})"), file=sys.stderr)
        return FAILED


def _prepare_streams() -> None:
    """Streams that take any text: a closed one is replaced, an old encoding widened."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """What is left in the buffer must not fail again when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="scdn",
        description="Vertical federated learning in networks that change.",
        epilog="example:\n  scdn plan examples/request.json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"scdn {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    data.add_to(commands)
    federate.add_to(commands)
    paper.add_to(commands)
    plan.add_to(commands)
    run.add_to(commands)
    report.add_to(commands)
    scenario.add_to(commands)
    schema.add_to(commands)
    studio.add_to(commands)
    return parser
