"""`scdn federate`: the same training with devices that are processes of their own, on Flower."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scdn.cli.common import Commands, command, count, group, number, settings_options, warn
from scdn.cli.progress import Progress, score
from scdn.errors import input_error, printable
from scdn.file_io import OutputError, to_json, write_atomic
from scdn.scenario import Scenario, read_scenario, warnings_of

if TYPE_CHECKING:
    from scdn.federation.launch import Settings

PORT = 9092
SCENARIO = "scenario.json"  # as the server's process reads it


def add_to(commands: Commands) -> None:
    """Declares the commands."""
    ours = group(
        commands,
        "federate",
        "Train with real devices: each a process with features of its own.",
        "scdn federate keys -o keys --device sky",
    )
    _declare_keys(ours)
    _declare_server(ours)
    _declare_device(ours)
    _declare_local(ours)


def _declare_keys(ours: Commands) -> None:
    keys = command(
        ours,
        "keys",
        _keys,
        "Make an authority, the server's certificate, and a key for each device.",
        "scdn federate keys -o keys --device meter-1 --device meter-2 --host server.example.org",
    )
    keys.add_argument("-o", "--out", required=True, metavar="FOLDER")
    keys.add_argument("--device", action="append", default=[], metavar="NAME")
    keys.add_argument(
        "--host", action="append", default=[], help="a name or address the server is reached by"
    )
    keys.add_argument(
        "--days", type=number(-3650, 36500, "a number of days"), default=365.0, help="default: 365"
    )


def _declare_server(ours: Commands) -> None:
    server = command(
        ours,
        "server",
        _server,
        "Wait for devices, align rows by key, train, and record every round.",
        "scdn data new -o sample\n"
        "scdn federate keys -o keys --device sky\n"
        "scdn federate server examples/quick.toml --labels sample/meters.csv --key home "
        "--label heat_pump --keys keys --out runs/homes --check",
    )
    server.add_argument("scenario", nargs="?", metavar="FILE", help="TOML or JSON")
    settings_options(server)
    server.add_argument("--out", metavar="DIR", help="a new folder for the run")
    server.add_argument("--resume", metavar="DIR", help="go on with the run in this folder")
    server.add_argument("--labels", metavar="FILE", help=".csv, .parquet or .npz with the labels")
    server.add_argument("--key", metavar="COLUMN", help="the column that all files share")
    server.add_argument("--label", metavar="COLUMN", help="the column to predict")
    server.add_argument(
        "--task", choices=("classification", "regression"), default="classification"
    )
    server.add_argument("--classes", type=count(2), default=0, metavar="N")
    server.add_argument("--reference", metavar="DIR", help="SC-DN's run that rivals follow")
    server.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1")
    server.add_argument("--port", type=count(1), default=PORT, help=f"default: {PORT}")
    server.add_argument("--keys", metavar="FOLDER", help="made by scdn federate keys")
    server.add_argument("--insecure", action="store_true", help="no keys; on 127.0.0.1 only")
    server.add_argument("--check", action="store_true", help="check everything, start nothing")
    _waiting(server)


def _declare_device(ours: Commands) -> None:
    device = command(
        ours,
        "device",
        _device,
        "Take part with the features in a file; they are never sent.",
        "scdn data new -o sample\n"
        "scdn federate keys -o keys --device sky\n"
        "scdn federate device --features sample/weather.csv --key home --server 127.0.0.1:9092 "
        "--ca keys/ca.crt --private-key keys/devices/sky.key --check",
    )
    device.add_argument("--features", required=True, metavar="FILE", help=".csv, .parquet or .npz")
    device.add_argument("--key", metavar="COLUMN", help="the column that all files share")
    device.add_argument("--server", metavar="HOST:PORT", help="where the server is")
    device.add_argument("--socket", metavar="FILE", help="for a SuperNode of Flower's instead")
    device.add_argument("--name", metavar="NAME", help="default: that of the key, or the file")
    device.add_argument("--ca", metavar="FILE", help="the authority's certificate, ca.crt")
    device.add_argument("--private-key", metavar="FILE", help="the device's own key")
    device.add_argument("--insecure", action="store_true", help="no keys; on 127.0.0.1 only")
    device.add_argument("--check", action="store_true", help="check everything, connect nowhere")
    device.add_argument("--state", metavar="FILE", help="where its model outlives the process")
    device.add_argument("--position", metavar="X,Y,Z", help="in metres, for the server's plan")
    device.add_argument(
        "--patience",
        type=number(0, 1e9, "a number of seconds"),
        default=600.0,
        metavar="S",
        help="without a server before it gives up; default: 600",
    )


def _declare_local(ours: Commands) -> None:
    local = command(
        ours,
        "local",
        _local,
        "Share a stored data set out to devices on this machine, and train with them.",
        "scdn data fetch digits\n"
        "scdn federate local examples/quick.toml --devices 2 --set learning.rounds=2 "
        "--out federated",
    )
    local.add_argument("scenario", nargs="?", metavar="FILE", help="TOML or JSON")
    settings_options(local)
    local.add_argument(
        "--devices", type=count(1), metavar="N", help="default: as the scenario's network has"
    )
    local.add_argument("--out", metavar="DIR", help="a new folder; default: runs/NAME-federated")
    local.add_argument("--resume", metavar="DIR", help="go on with the run in this folder")
    local.add_argument("--with-keys", action="store_true", help="with TLS and keys, as elsewhere")
    _waiting(local)


def _waiting(parser: argparse.ArgumentParser) -> None:
    seconds = number(1e-3, 1e9, "a number of seconds > 0")
    parser.add_argument(
        "--wait", type=seconds, default=120.0, metavar="S", help="for devices; default: 120"
    )
    parser.add_argument(
        "--timeout", type=seconds, default=30.0, metavar="S", help="for an answer; default: 30"
    )
    if not any(action.dest == "devices" for action in parser._actions):
        parser.add_argument(
            "--devices", type=count(1), metavar="N", help="to begin with; default: the scenario's"
        )


def _need_flower() -> None:
    from scdn.federation.flower import check_installed

    check_installed()


# --- keys -----------------------------------------------------------------------------------------


def _keys(options: argparse.Namespace) -> int:
    _need_flower()
    from scdn.federation.keys import make_keys
    from scdn.federation.messages import check_name

    names = [check_name(name) for name in options.device]
    made = make_keys(Path(options.out), names, options.host, options.days)
    for path in made:
        print(f"wrote {path}")
    if not made:
        print(f"{options.out}: nothing is missing")
    return 0


# --- a device -------------------------------------------------------------------------------------


def _device(options: argparse.Namespace) -> int:
    _need_flower()
    from scdn.federation.device import Device, warm_up
    from scdn.federation.features import read_features
    from scdn.federation.flower.node import RefusedByServerError
    from scdn.federation.hub import end_with_parent
    from scdn.federation.relay import relay

    end_with_parent()
    if (options.server is None) == (options.socket is None):
        raise input_error("scdn", "device", "needs one of --server and --socket", "see --help")
    features = read_features(Path(options.features), options.key)
    device = Device(_device_name(options), features, log=_say, position_m=_position(options))
    device.state = Path(options.state) if options.state else None
    connection = None if options.server is None else _connection(options)
    _say(f"{device.name}: {len(features.keys)} rows of {features.values.shape[1]} features")
    for line in features.left_out:
        _say(line)
    if options.check:
        return 0
    warm_up()
    stopping: list[int] = []
    for told in (signal.SIGTERM, signal.SIGINT):
        signal.signal(told, lambda number, _: stopping.append(number))

    def stop() -> bool:
        return bool(stopping) or device.stopped is not None

    if connection is None:
        relay(Path(options.socket), device.answer, stop)
    else:
        try:
            connection.serve(device.answer, stop)
        except RefusedByServerError as error:
            raise OutputError(str(error)) from None
    _say(f"{device.name}: " + (device.stopped or "stopped, and has said good-bye"))
    return 0


def _connection(options: argparse.Namespace) -> Any:
    from scdn.federation import flower
    from scdn.federation.flower.node import Connection
    from scdn.federation.keys import read_certificate, read_private_key

    host, colon, port = options.server.rpartition(":")
    if not (host and colon and port.isdecimal()):
        raise input_error("scdn", "--server", f"got {options.server!r}", "must be HOST:PORT")
    if options.insecure:
        if not flower.is_loopback(host):
            found = f"{host} is not this machine"
            raise input_error("scdn", "--insecure", found, "give --ca and --private-key")
        return Connection(options.server, None, None, options.patience, log=_say)
    for option in ("ca", "private_key"):
        if getattr(options, option) is None:
            name = f"--{option.replace('_', '-')}"
            raise input_error("scdn", name, "is missing", "must be a file of scdn federate keys")
    authority, private = Path(options.ca), Path(options.private_key)
    read_certificate(authority)
    read_private_key(private)
    return Connection(options.server, authority, private, options.patience, log=_say)


def _device_name(options: argparse.Namespace) -> str:
    from scdn.federation.messages import check_name

    return check_name(options.name or Path(options.private_key or options.features).stem)


def _position(options: argparse.Namespace) -> tuple[float, float, float] | None:
    if options.position is None:
        return None
    try:
        x, y, z = (float(part) for part in options.position.split(","))
    except ValueError:
        raise input_error(
            "scdn", "--position", f"got {options.position!r}", "must be X,Y,Z"
        ) from None
    return x, y, z


def _say(line: str) -> None:
    print(printable(f"{time.strftime('%H:%M:%S')} {line}"), file=sys.stderr, flush=True)


# --- a server -------------------------------------------------------------------------------------


def _server(options: argparse.Namespace) -> int:
    _need_flower()
    from scdn.federation.hub import Address, superlink
    from scdn.federation.launch import labels_of

    if options.keys is None and not options.insecure:
        allowed = "must be the folder of scdn federate keys, or --insecure on this machine"
        raise input_error("scdn", "--keys", "is missing", allowed)
    if options.labels is None:
        raise input_error("scdn", "--labels", "is missing", "must be the labels' file")
    keys = None if options.keys is None else Path(options.keys).resolve()
    address = Address(options.host, options.port, keys)
    with _run(options) as (out, scenario):
        settings = _settings(options, out, scenario, Path(options.labels))
        labels = labels_of(settings)  # what is wrong with them is said before anything starts
        devices = address.devices()
        print(f"{settings.labels}: {len(labels.keys)} rows with a label", file=sys.stderr)
        for name, wrong in devices:
            print(f"{name}: {wrong or 'may take part'}", file=sys.stderr)
        if options.check:
            return 0
        _put_down(scenario, out)
        with _stoppable(), superlink(address, out) as control:
            print(f"devices connect to port {address.port}", file=sys.stderr)
            return _watch(control, settings, out)


@contextmanager
def _run(options: argparse.Namespace) -> Iterator[tuple[Path, Scenario | None]]:
    """The run's folder, and the scenario of a new run."""
    from scdn.federation.server import federated
    from scdn.record.read import read_run
    from scdn.record.write import refuse_used

    if (options.resume is None) == (options.scenario is None):
        raise input_error("scdn", "federate", "needs one of FILE and --resume", "see --help")
    if options.resume is not None:
        for name in ("out", "settings"):
            if getattr(options, name):
                option = "--set" if name == "settings" else f"--{name}"
                raise input_error("scdn", option, "a run goes on as it began", "leave it out")
        read_run(options.resume)  # which must be there
        yield Path(options.resume).resolve(), None
        return
    scenario = read_scenario(options.scenario, options.settings, strict=options.strict)
    warn(warnings_of(scenario))
    scenario = federated(scenario)
    if options.out is None:
        options.out = str(Path("runs") / f"{scenario.name}-federated")
    out = Path(options.out).resolve()
    refuse_used(out)
    yield out, scenario


def _settings(
    options: argparse.Namespace, out: Path, scenario: Scenario | None, labels: Path
) -> Settings:
    from scdn.federation.launch import Settings

    told = {name: getattr(options, name, None) or "" for name in ("key", "label", "reference")}
    return Settings(
        out=str(out),
        scenario="" if scenario is None else str(out / SCENARIO),
        labels=str(labels.resolve()),
        task=getattr(options, "task", "classification"),
        classes=getattr(options, "classes", 0),
        devices=options.devices or 0,
        wait_s=options.wait,
        timeout_s=options.timeout,
        resume=scenario is None,
        **told,
    )


def _put_down(scenario: Scenario | None, out: Path) -> None:
    """The scenario with all its settings, for the server's process."""
    if scenario is None:
        return
    out.mkdir(parents=True, exist_ok=True)
    table = scenario.model_dump(mode="json", by_alias=True)
    if scenario.churn.trace is not None:
        table["churn"]["trace"] = str(Path(scenario.churn.trace).resolve())
    write_atomic(out / SCENARIO, to_json(table) + "\n")


def _watch(control: Any, settings: Settings, out: Path) -> int:
    """One view of the run until it is over."""
    from scdn.federation.hub import follow, start
    from scdn.record.read import read_run

    began = time.monotonic()
    bars: list[Progress] = []

    def tell(name: str, line: str) -> None:
        if name.endswith(".log"):
            lead = "\r\033[K" if sys.stderr.isatty() else ""
            print(lead + printable(line), file=sys.stderr, flush=True)
            return
        event = json.loads(line)
        if event["event"] == "round":
            rounds = read_run(out).scenario["learning"]["rounds"]
            if not bars:
                bars.append(Progress(rounds, lines=rounds, began=began))
            missed = event["federation"]["missed"]
            words = f"{score(event['metrics'])}, {len(event['active'])} active"
            words += f", no answer from {', '.join(missed)}" if missed else ""
            bars[0].show(event["round"] + 1, f"{words}, {event['seconds']:.1f} s")

    follow(control, start(control, settings), out, tell)
    end = read_run(out).end
    if end is None:
        raise OutputError(f"{out}: the run has not ended; see {out / 'superlink.log'}")
    print(f"{out}: {score(end['metrics'])} after {end['rounds']} rounds")
    return 1 if end["status"] == "diverged" else 0


@contextmanager
def _stoppable() -> Iterator[None]:
    """SIGTERM ends everything as Ctrl-C does."""

    def interrupt(_: int, __: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


# --- everything on this machine -------------------------------------------------------------------


def _local(options: argparse.Namespace) -> int:
    _need_flower()
    from scdn.federation.hub import Address, free_port, superlink
    from scdn.federation.local import Neighbours, prepare

    with _run(options) as (out, scenario):
        neighbours: Neighbours = prepare(out, scenario, options.devices, options.with_keys)
        settings = _settings(options, out, neighbours.scenario, neighbours.labels)
        address = Address("127.0.0.1", free_port(), neighbours.keys)
        _put_down(neighbours.scenario, out)
        with (
            _stoppable(),
            superlink(address, out) as control,
            neighbours.all(address),
        ):
            return _watch(control, settings, out)
