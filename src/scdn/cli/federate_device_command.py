"""`scdn federate device`: take part in a training with the features in a file."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from scdn.cli.command_parser import Subparsers, add_command, number_in_range
from scdn.errors import input_error, printable
from scdn.file_io import OutputError

if TYPE_CHECKING:
    from scdn.federation.flower.supernode import SuperNodeConnection


def add_to(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = add_command(
        subparsers,
        "device",
        _device,
        "Take part with the features in a file; the features are never sent.",
        "scdn data new -o sample\n"
        "scdn federate keys -o keys --device sky\n"
        "scdn federate device --features sample/weather.csv --key home --server 127.0.0.1:9092 "
        "--ca keys/ca.crt --private-key keys/devices/sky.key --check",
    )
    parser.add_argument("--features", required=True, metavar="FILE", help=".csv, .parquet or .npz")
    parser.add_argument("--key", metavar="COLUMN", help="the column that all files share")
    parser.add_argument(
        "--columns",
        metavar="A,B,...",
        help="columns that are features; default: all but the key and what is to be predicted",
    )
    parser.add_argument("--server", metavar="HOST:PORT", help="address of the server")
    parser.add_argument(
        "--socket", metavar="FILE", help="connect to a SuperNode of Flower through this socket"
    )
    parser.add_argument("--name", metavar="NAME", help="default: name of the key or features file")
    parser.add_argument("--ca", metavar="FILE", help="the authority's certificate, ca.crt")
    parser.add_argument("--private-key", metavar="FILE", help="the device's own key")
    parser.add_argument("--insecure", action="store_true", help="without keys; 127.0.0.1 only")
    parser.add_argument(
        "--check", action="store_true", help="check files and options without connecting"
    )
    parser.add_argument(
        "--state",
        metavar="FOLDER",
        help="folder that keeps models, in FOLDER/NAME/RUN; default: SCDN_STATE, or scdn/devices "
        "in the user's folder for states",
    )
    parser.add_argument(
        "--weights-from-seed",
        action="store_true",
        help="draw initial weights from the run's seed, which the server knows, so that the run "
        "equals a simulation; by default from the device's own entropy",
    )
    parser.add_argument("--position", metavar="X,Y,Z", help="in metres, for the server's plan")
    parser.add_argument(
        "--patience",
        type=number_in_range(0, 1e9, "a number of seconds"),
        default=600.0,
        metavar="S",
        help="seconds to wait for a server that does not answer; default: 600",
    )


def _device(options: argparse.Namespace) -> int:
    from scdn.federation import flower

    flower.check_installed()
    from scdn.federation.device_client import DeviceClient
    from scdn.federation.flower.supernode import RefusedByServerError
    from scdn.federation.kept_states import KeptStates, default_state_folder
    from scdn.federation.messages import check_name
    from scdn.federation.processes import end_with_parent
    from scdn.federation.row_alignment import read_features
    from scdn.federation.unix_socket import serve_socket
    from scdn.federation.warm_up import warm_up

    end_with_parent()
    if (options.server is None) == (options.socket is None):
        raise input_error("scdn", "device", "needs one of --server and --socket", "see --help")
    columns = [] if options.columns is None else options.columns.split(",")
    features = read_features(Path(options.features), options.key or "", columns)
    name = check_name(options.name or Path(options.private_key or options.features).stem)
    folder = Path(options.state) if options.state else default_state_folder()
    if folder.exists() and not folder.is_dir():
        raise input_error("scdn", "--state", f"{folder} is a file", "must be a folder")
    kept = KeptStates((folder / name).absolute(), _log)
    own_weights = not options.weights_from_seed
    device = DeviceClient(name, features, kept, _position(options), _log, own_weights)
    connection = None if options.server is None else _connection(options, kept.folder)
    _log(f"{device.name}: {len(features.keys)} rows of {features.values.shape[1]} features")
    if features.unusable_rows:
        _log(f"{features.unusable_rows} rows ignored: without a key, or with a duplicate one")
    if options.check:
        return 0
    kept.make_folder()
    _log(f"its model is kept in {kept.folder}")
    warm_up()
    signals: list[int] = []
    for kind in (signal.SIGTERM, signal.SIGINT):
        signal.signal(kind, lambda number, _: signals.append(number))

    def stop() -> bool:
        return bool(signals) or device.stopped is not None

    if connection is None:
        serve_socket(Path(options.socket), device.answer, stop)
    else:
        try:
            connection.serve(device.answer, stop)
        except RefusedByServerError as error:
            raise OutputError(str(error)) from None
    _log(f"{device.name}: " + (device.stopped or "stopped, and has left the training"))
    return 0


def _connection(options: argparse.Namespace, folder: Path) -> SuperNodeConnection:
    from scdn.federation import flower
    from scdn.federation.certificates import read_certificate, read_private_key
    from scdn.federation.flower.supernode import SuperNodeConnection

    host, colon, port = options.server.rpartition(":")
    if not (host and colon and port.isdecimal()):
        raise input_error("scdn", "--server", f"got {options.server!r}", "must be HOST:PORT")
    if options.insecure:
        if not flower.is_loopback(host):
            fault = f"{host} is not this machine"
            raise input_error("scdn", "--insecure", fault, "give --ca and --private-key")
        return SuperNodeConnection(options.server, None, None, options.patience, log=_log)
    for option in ("ca", "private_key"):
        if getattr(options, option) is None:
            name = f"--{option.replace('_', '-')}"
            raise input_error("scdn", name, "is missing", "must be a file of scdn federate keys")
    authority, private_key = Path(options.ca), Path(options.private_key)
    read_certificate(authority)
    read_private_key(private_key)
    node_file = folder / "node.json"
    return SuperNodeConnection(
        options.server, authority, private_key, options.patience, _log, node_file
    )


def _position(options: argparse.Namespace) -> tuple[float, float, float] | None:
    if options.position is None:
        return None
    try:
        x, y, z = (float(part) for part in options.position.split(","))
    except ValueError:
        fault = f"got {options.position!r}"
        raise input_error("scdn", "--position", fault, "must be X,Y,Z") from None
    return x, y, z


def _log(line: str) -> None:
    print(printable(f"{time.strftime('%H:%M:%S')} {line}"), file=sys.stderr, flush=True)
