"""What commands share: how they are declared, and the options they have in common."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from scdn.errors import printable
from scdn.file_io import write_atomic

Commands = Any  # argparse keeps the type of `add_subparsers` private


class Parser(argparse.ArgumentParser):
    """A parser whose complaint is one clear line."""

    def error(self, message: str) -> NoReturn:
        """Exits with 2."""
        self.exit(2, printable(f"{self.prog}: {message} (see {self.prog} --help)") + "\n")


def command(
    commands: Commands,
    name: str,
    run: Callable[[argparse.Namespace], int],
    about: str,
    example: str,
) -> argparse.ArgumentParser:
    """Declares a command with its help and an example that works as printed."""
    lines = "\n".join(f"  {line}" for line in example.splitlines())
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=about[0].lower() + about[1:].rstrip("."),
        description=about,
        epilog=f"example:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def group(commands: Commands, name: str, about: str, example: str) -> Commands:
    """Declares a command that has commands of its own."""
    parser = command(commands, name, lambda _: 0, about, example)
    return parser.add_subparsers(title="commands", metavar="COMMAND", required=True)


def number(least: float, below: float, allowed: str) -> Callable[[str], float]:
    """Reads an option's number, or says what is allowed."""

    def read(text: str) -> float:
        try:
            found = float(text)
        except ValueError:
            found = math.nan
        if not least <= found < below:
            raise argparse.ArgumentTypeError(f"got {text!r}, must be {allowed}")
        return found

    return read


def count(least: int) -> Callable[[str], int]:
    """Reads an option's whole number, or says what is allowed."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"got {text!r}, must be a whole number ≥ {least}")
        return int(text)

    return read


def scenario_options(parser: argparse.ArgumentParser) -> None:
    """The scenario file and what changes it."""
    parser.add_argument("scenario", metavar="FILE", help="TOML or JSON, - for standard input")
    settings_options(parser)


def settings_options(parser: argparse.ArgumentParser) -> None:
    """`--set` and `--strict`."""
    parser.add_argument(
        "--set",
        dest="settings",
        metavar="KEY.PATH=VALUE",
        action="append",
        default=[],
        help="override a value; may be repeated",
    )
    parser.add_argument(
        "--strict", action="store_true", help="refuse what is outside Theorem 1's conditions"
    )


def warn(lines: list[str]) -> None:
    """Warnings go to standard error, one line each."""
    for line in lines:
        print(printable(f"warning: {line}"), file=sys.stderr)


def write_out(path: str, text: str) -> None:
    """To a file, whole or not at all, or to standard output for `-`."""
    if path == "-":
        sys.stdout.write(text)
    else:
        write_atomic(path, text)
        print(f"wrote {path}")
