"""The command line `scdn`: one module per command, which parses, calls the library and prints."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from scdn import __version__
from scdn.cli import (
    check_command,
    compare_command,
    data_commands,
    export_command,
    federate_commands,
    flight_command,
    paper_commands,
    plan_command,
    predict_command,
    report_command,
    run_command,
    scenario_commands,
    schema_command,
    studio_command,
    tune_command,
)
from scdn.cli.command_parser import CommandParser
from scdn.errors import InputError, printable
from scdn.file_io import OutputError
from scdn.job_pool import WorkerDiedError

DONE, FAILED, WRONG_INPUT = 0, 1, 2  # exit codes

# In the order in which `scdn --help` lists the commands.
_MODULES = (
    data_commands,
    federate_commands,
    paper_commands,
    plan_command,
    run_command,
    compare_command,
    tune_command,
    predict_command,
    export_command,
    report_command,
    flight_command,
    scenario_commands,
    check_command,
    schema_command,
    studio_command,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return 0 (done), 1 (failed while running) or 2 (wrong input)."""
    _prepare_streams()
    _import_from_current_folder()
    try:
        options = _parser().parse_args(arguments)
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except InputError as error:
        print("\n".join(error.lines()), file=sys.stderr)
        return WRONG_INPUT
    except (OutputError, WorkerDiedError) as error:
        print(printable(f"scdn: {error}"), file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("scdn: stopped", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # such as `scdn schema plan | head`
        _discard_output()
        return DONE
    except OSError as error:
        _discard_output()
        print(printable(f"scdn: output cannot be written ({error.strerror})"), file=sys.stderr)
        return FAILED


def _prepare_streams() -> None:
    """Replace a closed standard output, and escape characters that the encoding lacks."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _import_from_current_folder() -> None:
    """Let users name modules of their own that lie where they run the command.

    The folder comes last, so that no file in it replaces an installed package.
    """
    try:
        folder = os.getcwd()
    except FileNotFoundError:  # it was removed meanwhile
        return
    if folder not in sys.path:
        sys.path.append(folder)


def _discard_output() -> None:
    """Send buffered output to /dev/null, so that flushing it at exit does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="scdn",
        description="Vertical federated learning in networks that change.",
        epilog="example:\n  scdn plan examples/request.json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"scdn {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in _MODULES:
        module.add_to(subparsers)
    return parser
