"""`scdn federate`: the same training with devices as separate processes, on Flower."""

from __future__ import annotations

import argparse
from pathlib import Path

from scdn.cli import (
    federate_device_command,
    federate_predict_command,
    federate_training_commands,
)
from scdn.cli.command_parser import Subparsers, add_command, add_command_group, number_in_range


def add_to(subparsers: Subparsers) -> None:
    """Declare the commands."""
    group = add_command_group(
        subparsers,
        "federate",
        "Train and predict with real devices, each a process that holds its own features.",
        "scdn federate keys -o keys --device sky",
    )
    _add_keys(group)
    federate_training_commands.add_server(group)
    federate_device_command.add_to(group)
    federate_training_commands.add_local(group)
    federate_predict_command.add_to(group)


def _add_keys(group: Subparsers) -> None:
    keys = add_command(
        group,
        "keys",
        _keys,
        "Make a certificate authority, the server's certificate and a key for each device.",
        "scdn federate keys -o keys --device meter-1 --device meter-2 --host server.example.org",
    )
    keys.add_argument(
        "-o", "--out", required=True, metavar="FOLDER", help="existing files in it are kept"
    )
    keys.add_argument(
        "--device", action="append", default=[], metavar="NAME", help="may be repeated"
    )
    keys.add_argument(
        "--host",
        action="append",
        default=[],
        help="name or address of the server for its certificate; may be repeated",
    )
    keys.add_argument(
        "--days",
        type=number_in_range(-3650, 36500, "a number of days"),
        default=365.0,
        help="validity of the certificates; default: 365",
    )


def _keys(options: argparse.Namespace) -> int:
    from scdn.federation import flower

    flower.check_installed()
    from scdn.federation.certificates import make_keys
    from scdn.federation.messages import check_name

    names = [check_name(name) for name in options.device]
    paths = make_keys(Path(options.out), names, options.host, options.days)
    for path in paths:
        print(f"wrote {path}")
    if not paths:
        print(f"{options.out}: every file exists already")
    return 0
