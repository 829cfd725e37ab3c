"""How commands are declared, and the options that several of them share."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TextIO

from scdn.errors import input_error, printable
from scdn.file_io import to_json, write_atomic
from scdn.scenario import Scenario, read_scenario, scenario_warnings
from scdn.targets import Target, parse_target

Subparsers = Any  # argparse keeps the type that `add_subparsers` returns private


class CommandParser(argparse.ArgumentParser):
    """A parser that reports a usage error in one line instead of argparse's several."""

    def error(self, message: str) -> NoReturn:
        """Print the error and exit with 2."""
        self.exit(2, printable(f"{self.prog}: {message} (see {self.prog} --help)") + "\n")


def add_command(
    subparsers: Subparsers,
    name: str,
    run: Callable[[argparse.Namespace], int],
    description: str,
    example: str,
) -> argparse.ArgumentParser:
    """Declare a command that `run` executes; its help ends with the example, which must work."""
    lines = "\n".join(f"  {line}" for line in example.splitlines())
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        help=description[0].lower() + description[1:].rstrip("."),
        description=description,
        epilog=f"example:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def add_command_group(
    subparsers: Subparsers, name: str, description: str, example: str
) -> Subparsers:
    """Declare a command that consists of subcommands."""
    parser = add_command(subparsers, name, lambda _: 0, description, example)
    return parser.add_subparsers(title="commands", metavar="COMMAND", required=True)


def number_in_range(least: float, below: float, allowed: str) -> Callable[[str], float]:
    """Return an argparse type for numbers in [least, below)."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value < below:
            raise argparse.ArgumentTypeError(f"got {text!r}, must be {allowed}")
        return value

    return parse


def whole_number(least: int) -> Callable[[str], int]:
    """Return an argparse type for whole numbers of at least `least`."""

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"got {text!r}, must be a whole number ≥ {least}")
        return int(text)

    return parse


def add_scenario_options(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """Add the scenario file, `--set` and `--strict`."""
    parser.add_argument(
        "scenario", nargs=nargs, metavar="FILE", help="scenario, TOML or JSON; - reads stdin"
    )
    add_setting_option(parser)
    add_strict_option(parser)


def add_setting_option(parser: argparse.ArgumentParser) -> None:
    """Add `--set`."""
    parser.add_argument(
        "--set",
        dest="settings",
        metavar="KEY.PATH=VALUE",
        action="append",
        default=[],
        help="override a value of the scenario or request; may be repeated",
    )


def add_target_option(parser: argparse.ArgumentParser, replaced: str) -> None:
    """Add `--target`, which replaces the targets that `replaced` names."""
    parser.add_argument(
        "--target",
        metavar="METRIC=VALUE",
        type=_target,
        action="append",
        default=[],
        help="report what it cost to reach a value, such as top3=95; may be repeated; "
        f"default: {replaced}",
    )


def _target(text: str) -> Target:
    try:
        return parse_target(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"got {text!r}, {error}") from None


def add_strict_option(parser: argparse.ArgumentParser) -> None:
    """Add `--strict`."""
    parser.add_argument(
        "--strict",
        action="store_true",
        help="refuse values outside the conditions of Theorem 1 instead of warning",
    )


def read_scenario_from(options: argparse.Namespace, **overrides: Any) -> Scenario:
    """Read the scenario that the options name, override what is not None, print warnings."""
    settings = list(options.settings)
    if getattr(options, "target", None):
        settings.append(f"targets={to_json([str(target) for target in options.target])}")
    scenario = read_scenario(options.scenario, settings, strict=options.strict)
    changes = {name: value for name, value in overrides.items() if value is not None}
    scenario = scenario.model_copy(update=changes)
    print_warnings(scenario_warnings(scenario))
    return scenario


def refuse_with_resume(options: argparse.Namespace, names: Sequence[str]) -> None:
    """Refuse options that a resumed run cannot change: it continues as it was started."""
    for name in names:
        if getattr(options, name) not in (None, []):
            option = "--set" if name == "settings" else f"--{name}"
            raise input_error("scdn", option, "cannot be combined with --resume", "leave it out")


def split_pairs(arguments: Sequence[str], option: str) -> list[tuple[str, str]]:
    """Return parties and values from arguments `PARTY=…` of an option, each party once."""
    pairs: list[tuple[str, str]] = []
    for argument in arguments:
        party, equals, value = argument.partition("=")
        if not (party and equals and value) or party in dict(pairs):
            allowed = "must be PARTY=…, each party once"
            raise input_error("scdn", option, f"got {argument!r}", allowed)
        pairs.append((party, value))
    return pairs


def print_warnings(lines: Sequence[str]) -> None:
    """Print warnings on standard error, one line each."""
    for line in lines:
        print(printable(f"warning: {line}"), file=sys.stderr)


def write_output(path: str, text: str, *, messages: TextIO | None = None) -> None:
    """Write a file atomically, or to standard output where the path is `-`.

    `messages` is where to say that it was written; standard output by default.
    """
    if path == "-":
        sys.stdout.write(text)
    else:
        write_atomic(path, text)
        print(f"wrote {path}", file=messages)
