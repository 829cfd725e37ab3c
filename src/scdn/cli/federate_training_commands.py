"""`scdn federate server` and `scdn federate local`: start a federated training and follow it."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scdn.cli.command_parser import (
    Subparsers,
    add_command,
    add_scenario_options,
    number_in_range,
    read_scenario_from,
    refuse_with_resume,
    whole_number,
)
from scdn.cli.federate_options import (
    add_address_options,
    print_log_line,
    server_address,
    sigterm_interrupts,
)
from scdn.cli.progress_bar import ProgressBar, format_score
from scdn.errors import input_error
from scdn.file_io import OutputError, to_json, write_atomic
from scdn.scenario import Scenario

if TYPE_CHECKING:
    from scdn.federation.flower.superlink import SuperLinkControl
    from scdn.federation.server_settings import ServerSettings

SCENARIO = "scenario.json"  # as the server's process reads it


def add_server(subparsers: Subparsers) -> None:
    """Declare `scdn federate server`."""
    parser = add_command(
        subparsers,
        "server",
        _server,
        "Wait for devices, align their rows by key, train, and record every round.",
        "scdn data new -o sample\n"
        "scdn federate keys -o keys --device sky\n"
        "scdn federate server examples/quick.toml --labels sample/meters.csv --key home "
        "--label heat_pump --keys keys --out runs/homes --check",
    )
    _add_run_options(parser)
    parser.add_argument("--out", metavar="DIR", help="new folder for the run")
    parser.add_argument("--labels", metavar="FILE", help=".csv, .parquet or .npz with the labels")
    parser.add_argument("--key", metavar="COLUMN", help="the column that all files share")
    parser.add_argument("--label", metavar="COLUMN", help="the column to predict")
    parser.add_argument(
        "--task", choices=("classification", "regression"), default="classification"
    )
    parser.add_argument(
        "--classes", type=whole_number(2), default=0, metavar="N", help="labels are 0 to N−1"
    )
    parser.add_argument(
        "--reference", metavar="DIR", help="SC-DN run that sets the rivals' iterations"
    )
    add_address_options(parser)
    parser.add_argument(
        "--check", action="store_true", help="check files and options without starting"
    )
    parser.add_argument(
        "--devices",
        type=whole_number(1),
        metavar="N",
        help="devices to wait for at the start; default: the scenario's number",
    )
    parser.add_argument(
        "--min-rows",
        type=whole_number(1),
        default=0,
        metavar="N",
        help="rows that the first devices must share: those that lack most are left out until they "
        "do; default: half of the rows of a device in the middle, where there are three",
    )


def add_local(subparsers: Subparsers) -> None:
    """Declare `scdn federate local`."""
    parser = add_command(
        subparsers,
        "local",
        _local,
        "Split a stored data set between device processes on this machine, and train.",
        "scdn data fetch digits\n"
        "scdn federate local examples/quick.toml --devices 2 --set learning.rounds=2 "
        "--out federated",
    )
    _add_run_options(parser)
    parser.add_argument(
        "--devices", type=whole_number(1), metavar="N", help="default: the scenario's number"
    )
    parser.add_argument("--out", metavar="DIR", help="new folder; default: runs/NAME-federated")
    parser.add_argument(
        "--with-keys", action="store_true", help="with TLS and keys, as between machines"
    )


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    add_scenario_options(parser, nargs="?")
    seconds = number_in_range(1e-3, 1e9, "a number of seconds > 0")
    parser.add_argument("--resume", metavar="DIR", help="continue the interrupted run in DIR")
    parser.add_argument(
        "--wait",
        type=seconds,
        default=120.0,
        metavar="S",
        help="seconds to wait for devices; default: 120",
    )
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=30.0,
        metavar="S",
        help="seconds to wait for an answer; default: 30",
    )
    parser.add_argument(
        "--patience",
        type=number_in_range(0, 1e9, "a number of seconds"),
        default=300.0,
        metavar="S",
        help="seconds in which a device that was killed or cut off may come back as itself; "
        "default: 300",
    )


def _server(options: argparse.Namespace) -> int:
    from scdn.federation import flower

    flower.check_installed()
    from scdn.federation.processes import running_superlink

    address = server_address(options)
    if options.labels is None:
        raise input_error("scdn", "--labels", "is missing", "must be the file with the labels")
    out, scenario = _folder_and_scenario(options)
    settings = _settings(options, out, scenario, Path(options.labels))
    labels = settings.read_labels()  # faults in the labels are reported before anything starts
    devices = address.device_certificates()
    print(f"{settings.labels}: {len(labels.keys)} rows with a label", file=sys.stderr)
    for device in devices:
        print(f"{device.name}: {device.problem or 'may take part'}", file=sys.stderr)
    if options.check:
        return 0
    _write_scenario(scenario, out)
    with sigterm_interrupts(), running_superlink(address, out) as control:
        print(f"devices connect to port {address.port}", file=sys.stderr)
        return _follow(control, settings, out)


def _local(options: argparse.Namespace) -> int:
    from scdn.federation import flower

    flower.check_installed()
    from scdn.federation.processes import LocalDevices, ServerAddress, free_port, running_superlink

    out, scenario = _folder_and_scenario(options)
    local = LocalDevices.prepare(out, scenario, options.devices, options.with_keys)
    settings = _settings(options, out, local.scenario, local.labels)
    address = ServerAddress("127.0.0.1", free_port(), local.keys)
    _write_scenario(local.scenario, out)
    with sigterm_interrupts(), running_superlink(address, out) as control, local.running(address):
        return _follow(control, settings, out)


def _folder_and_scenario(options: argparse.Namespace) -> tuple[Path, Scenario | None]:
    """Return the run's folder, and the scenario unless the run is resumed."""
    from scdn.federation.server_settings import federated_scenario
    from scdn.record.run_reader import read_run
    from scdn.record.run_writer import check_unused

    if (options.resume is None) == (options.scenario is None):
        raise input_error("scdn", "federate", "needs one of FILE and --resume", "see --help")
    if options.resume is not None:
        refuse_with_resume(options, ("out", "settings"))
        read_run(options.resume)  # raises where there is no run
        return Path(options.resume).resolve(), None
    scenario = federated_scenario(read_scenario_from(options))
    out = Path(options.out or Path("runs") / f"{scenario.name}-federated").resolve()
    check_unused(out)
    return out, scenario


def _settings(
    options: argparse.Namespace, out: Path, scenario: Scenario | None, labels: Path
) -> ServerSettings:
    from scdn.federation.server_settings import ServerSettings

    texts = {name: getattr(options, name, None) or "" for name in ("key", "label", "reference")}
    return ServerSettings(
        out=str(out),
        scenario="" if scenario is None else str(out / SCENARIO),
        labels=str(labels.resolve()),
        task=getattr(options, "task", "classification"),
        classes=getattr(options, "classes", 0),
        devices=options.devices or 0,
        wait_s=options.wait,
        timeout_s=options.timeout,
        patience_s=options.patience,
        min_rows=getattr(options, "min_rows", 0),
        resume=scenario is None,
        **texts,
    )


def _write_scenario(scenario: Scenario | None, out: Path) -> None:
    """Write the scenario, with `--set` applied, for the server's process."""
    if scenario is None:
        return
    out.mkdir(parents=True, exist_ok=True)
    write_atomic(out / SCENARIO, to_json(scenario.model_dump(mode="json", by_alias=True)) + "\n")


def _follow(control: SuperLinkControl, settings: ServerSettings, out: Path) -> int:
    """Start the run, print its log and its rounds until it ends, and return the exit code."""
    from scdn.federation.processes import run_at_superlink
    from scdn.record.run_reader import read_run

    bar = ProgressBar()

    def print_line(name: str, line: str) -> None:
        if name.endswith(".log"):
            print_log_line(line)
            return
        event = json.loads(line)
        if event["event"] != "round":
            return
        start = read_run(out).start
        rounds = start["scenario"]["learning"]["rounds"]
        missed = event["federation"]["missed"]
        text = f"{format_score(start, event['metrics'])}, {len(event['active'])} active"
        text += f", no answer from {', '.join(missed)}" if missed else ""
        bar.show(event["round"] + 1, rounds, f"{text}, {event['seconds']:.1f} s")

    run_at_superlink(control, settings, print_line)
    run = read_run(out)
    end = run.end
    if end is None:
        raise OutputError(f"{out}: the run has not ended; see {out / 'superlink.log'}")
    print(f"{out}: {format_score(run.start, end['metrics'])} after {end['rounds']} rounds")
    return 1 if end["status"] == "diverged" else 0
