"""`scdn check`: exercise a method, model, metric, data set or another part of your own."""

from __future__ import annotations

import argparse
import sys

from scdn.cli.command_parser import Subparsers, add_command
from scdn.errors import printable

_KINDS = ("method", "model", "metric", "dataset", "memory", "schedule", "optimizer")


def add_to(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = add_command(
        subparsers,
        "check",
        _check,
        "Check a method, model, metric, data set, memory, schedule or optimizer before it is used.",
        "scdn check max-vfl\nscdn check mlp --kind model",
    )
    parser.add_argument(
        "name",
        metavar="NAME",
        help="a registered name, or package.module:NAME in this folder or on PYTHONPATH",
    )
    parser.add_argument(
        "--kind", choices=_KINDS, metavar="KIND",
        help=f"what it is, if that is not clear: {', '.join(_KINDS)}",
    )  # fmt: skip


def _check(options: argparse.Namespace) -> int:
    from scdn.check.check_by_name import check_named

    kind, problems = check_named(options.name, options.kind)
    for problem in problems:
        print(printable(f"{options.name}: {problem}"), file=sys.stderr)
    if not problems:
        print(f"{options.name}: no problems found ({kind})")
    return 2 if problems else 0
