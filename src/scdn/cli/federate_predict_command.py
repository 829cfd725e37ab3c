"""`scdn federate predict`: predict rows whose features are on devices."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from scdn.cli.command_parser import Subparsers, add_command, number_in_range, write_output
from scdn.cli.federate_options import (
    add_address_options,
    print_log_line,
    server_address,
    sigterm_interrupts,
)
from scdn.errors import input_error, printable
from scdn.file_io import OutputError

if TYPE_CHECKING:
    from scdn.federation.processes import LocalDevices, ServerAddress

_LAST_S = 8.0  # of the timeout: to fuse the embeddings, write the answer and stop processes


def add_to(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = add_command(
        subparsers,
        "predict",
        _predict,
        "Predict rows of which devices have the features; devices that are missing are imputed.",
        "scdn data fetch digits\n"
        "scdn federate local examples/quick.toml --devices 2 --set learning.rounds=1 "
        "--out trained\n"
        "scdn federate predict trained trained/shares/labels.npz --local -o digits.csv",
    )
    parser.add_argument("run_dir", metavar="RUN_DIR", help="folder of the run, ended or stopped")
    parser.add_argument("rows", metavar="KEYS", help=".csv, .parquet or .npz with the rows' keys")
    parser.add_argument(
        "--key", metavar="COLUMN", help="the column of keys; default: the only column"
    )
    parser.add_argument(
        "-o", "--out", default="-", metavar="FILE", help="CSV; default: standard output"
    )
    parser.add_argument(
        "--timeout",
        type=number_in_range(1e-3, 1e9, "a number of seconds > 0"),
        default=60.0,
        metavar="S",
        help="seconds for the whole answer, from the start of the command; default: 60",
    )
    add_address_options(parser)
    parser.add_argument(
        "--local",
        action="store_true",
        help="start the devices of scdn federate local; needs no keys",
    )


def _predict(options: argparse.Namespace) -> int:
    began = time.time()
    from scdn.federation import flower

    flower.check_installed()
    from scdn.data.new_rows import read_row_keys
    from scdn.federation.federated_model import FederatedModel
    from scdn.federation.prediction_request import read_answer

    run_dir = Path(options.run_dir).resolve()
    address, local = _address_and_devices(options, run_dir)
    model = FederatedModel.load(run_dir)
    rows = read_row_keys(Path(options.rows), options.key)
    deadline = began + options.timeout - min(_LAST_S, options.timeout / 4)
    request = model.request(rows, deadline)
    with ExitStack() as stack:
        stack.enter_context(sigterm_interrupts())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="scdn-")))
        request.save(folder)
        _collect(stack, run_dir, folder, address, local, deadline)
        answer = read_answer(folder)
        text = model.predict(rows, answer).to_csv(index=False, lineterminator="\n")
        write_output(options.out, text, messages=sys.stderr)
        sys.stdout.flush()  # before the server's processes are stopped
        silent = model.silent(answer)
        heard = f"no answer from {', '.join(silent)}" if silent else "every device has answered"
        took = f"{len(rows.keys)} rows in {time.time() - began:.1f} s"
        print(printable(f"{options.run_dir}: {took}, {heard}"), file=sys.stderr)
    return 0


def _address_and_devices(
    options: argparse.Namespace, run_dir: Path
) -> tuple[ServerAddress, LocalDevices | None]:
    """Return where the server listens, and the devices to start on this machine."""
    from scdn.federation.processes import LocalDevices, ServerAddress, free_port

    if not options.local:
        return server_address(options), None
    if options.keys or options.insecure:
        fault = "cannot be combined with --keys or --insecure"
        raise input_error("scdn", "--local", fault, "leave one out")
    local = LocalDevices.prepare(run_dir, None, None, with_keys=False)
    return ServerAddress("127.0.0.1", free_port(), local.keys), local


def _collect(
    stack: ExitStack,
    run_dir: Path,
    folder: Path,
    address: ServerAddress,
    local: LocalDevices | None,
    deadline: float,
) -> None:
    """Start the server, which `stack` stops, and wait until the answer is in the folder, or due."""
    from scdn.federation.prediction_request import has_answer
    from scdn.federation.processes import run_at_superlink, running_superlink
    from scdn.federation.server_settings import ServerSettings
    from scdn.record.run_lock import lock_run_folder

    stack.enter_context(lock_run_folder(run_dir))
    control = stack.enter_context(running_superlink(address, run_dir))
    if local is not None:
        stack.enter_context(local.running(address))
    else:
        print(f"devices connect to port {address.port}", file=sys.stderr)
    run_at_superlink(
        control,
        ServerSettings(str(run_dir), predict=str(folder)),
        lambda name, line: print_log_line(line) if name.endswith(".log") else None,
        lambda: has_answer(folder) or time.time() > deadline + 1.0,
    )
    if not has_answer(folder):
        fault = "the server's processes have not started in time, no device was asked"
        raise OutputError(f"{run_dir}: {fault}; try a longer --timeout")
