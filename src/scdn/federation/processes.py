"""Start and stop processes: the SuperLink with the server's run, and devices on this machine.

All processes that this program starts end with it, however it ends.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scdn.errors import describe_error, input_error
from scdn.federation import flower
from scdn.federation.certificates import (
    DeviceCertificate,
    check_server_certificate,
    device_certificates,
    make_keys,
)
from scdn.federation.flower.superlink import SuperLinkControl
from scdn.file_io import OutputError, write_atomic
from scdn.record.file_tail import FileTail
from scdn.record.run_reader import EVENTS
from scdn.scenario import Scenario
from scdn.world.churn import churn_trace

if TYPE_CHECKING:  # these load PyTorch, which the SuperLink's process does not need
    from scdn.federation.server_settings import ServerSettings

_FLOWER_APP = Path(__file__).parent / "flower_app"
_FLOWER_HOME = "flower"  # folder of Flower's own files
_SUPERLINK_START_S = 60.0
_SUPERLINK_BUSY_S = 120.0  # without an answer, on a busy machine
PARENT = "SCDN_PARENT"  # environment variable: the process that a started process ends with
_ANCESTORS = (
    "SCDN_ANCESTORS"  # the same for processes that Flower starts: the command, the SuperLink
)
_PARTIES, _KEYS = "shares", "keys"  # folders of a local federation, inside the run's folder
_DEVICES = "devices.json"  # arguments of the processes of a local federation
_STATES = "states"  # where its devices keep their models, beside their features


@dataclass(frozen=True)
class ServerAddress:
    """Where a server listens, and its folder of keys; without keys it must be this machine."""

    host: str
    port: int
    keys: Path | None

    def __post_init__(self) -> None:
        if self.keys is None and not flower.is_loopback(self.host):
            problem = f"{self.host} can be reached from other machines"
            raise input_error("scdn", "--insecure", problem, "give --keys, or listen on 127.0.0.1")

    @property
    def local(self) -> str:
        """Return the address for processes of this machine."""
        return f"127.0.0.1:{self.port}"

    def device_certificates(self) -> list[DeviceCertificate]:
        """Check the server's certificate and return those of devices, valid or not."""
        if self.keys is None:
            return []
        check_server_certificate(self.keys)
        return list(device_certificates(self.keys))

    def superlink_arguments(self) -> list[str]:
        """Return the SuperLink's command-line arguments."""
        arguments = ["--host", self.host, "--port", str(self.port)]
        if self.keys is None:
            return [*arguments, "--insecure"]
        return [
            *arguments,
            *("--ssl-certfile", str(self.keys / "server.crt")),
            *("--ssl-keyfile", str(self.keys / "server.key")),
            *("--ssl-ca-certfile", str(self.keys / "ca.crt")),
            "--enable-supernode-auth",
        ]


def free_port() -> int:
    """Return a port of this machine that no process listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


# --- any process ----------------------------------------------------------------------------------


@contextmanager
def child_process(command: list[str], log: Path, home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process of this program with its own log; stop it and its children at the end."""
    home.mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ,
        PARENT: str(os.getpid()),
        **flower.ENVIRONMENT,
        "FLWR_HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
    }
    with log.open("ab") as output:
        child = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            start_new_session=True,
        )
    try:
        yield child
    finally:
        _stop(child)


def _stop(child: subprocess.Popen[bytes]) -> None:
    """Ask a process and its children to end; kill them where they do not."""
    if child.poll() is not None:
        return
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, signal_number)
        except ProcessLookupError:
            return
        with suppress(subprocess.TimeoutExpired):
            child.wait(5.0)


def end_with_parent() -> None:
    """End this process when the one that started it has ended, even if that was killed."""
    parent = os.environ.pop(PARENT, None)
    if parent is None:
        return

    os.environ[_ANCESTORS] = f"{parent} {os.getpid()}"
    _end_unless(lambda: os.getppid() == int(parent))


def end_with_ancestors() -> None:
    """End this process, which Flower has started, with the command or the SuperLink behind it.

    Flower's own process in between may outlive both, and would keep the run locked.
    """
    ancestors = [int(number) for number in os.environ.get(_ANCESTORS, "").split()]
    if ancestors:
        _end_unless(lambda: all(map(_is_running, ancestors)))


def _end_unless(goes_on: Callable[[], bool]) -> None:
    def watch() -> None:
        while goes_on():
            time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


# --- the server -----------------------------------------------------------------------------------


@contextmanager
def running_superlink(address: ServerAddress, out: Path) -> Iterator[SuperLinkControl]:
    """Start a SuperLink that admits the devices with valid certificates."""
    flower.check_installed()
    certificates = address.device_certificates()
    out.mkdir(parents=True, exist_ok=True)
    module = "scdn.federation.flower.superlink"
    command = [sys.executable, "-m", module, *address.superlink_arguments()]
    log = out / "superlink.log"
    with child_process(command, log, out / _FLOWER_HOME) as child:
        authority = None if address.keys is None else address.keys / "ca.crt"
        control = SuperLinkControl(address.local, authority, child.pid)
        deadline = time.monotonic() + _SUPERLINK_START_S
        while not control.ready():
            if child.poll() is not None or time.monotonic() > deadline:
                raise OutputError(f"the SuperLink did not start; see {log}")
            time.sleep(0.2)
        for certificate in certificates:
            if not certificate.problem:
                control.register(certificate.public_key, certificate.name)
        yield control


def run_at_superlink(
    control: SuperLinkControl,
    settings: ServerSettings,
    show: Callable[[str, str], None],
    enough: Callable[[], bool] = lambda: False,
) -> None:
    """Start a run and wait for its end; `show(file name, line)` gets new log lines and events.

    If `enough()` is true, the caller has what it needs and does not wait for the end.
    """
    tails = [FileTail(settings.log_file), FileTail(Path(settings.out) / EVENTS)]
    for tail in tails:  # skip what an earlier part of the run wrote
        _show_new_lines(tail, lambda *_: None)
    run_id = control.start(_FLOWER_APP, settings.to_run_config())
    checked = answered = time.monotonic()
    status, details = "", ""  # none until the end
    while True:
        for tail in tails:
            _show_new_lines(tail, show)
        if status == "finished" or enough():
            break
        if time.monotonic() - checked > 1.0:
            checked = time.monotonic()
            try:
                status, details = control.status(run_id)
                answered = time.monotonic()
            except Exception as error:  # whatever an HTTP client raises
                if control.is_busy(error) and time.monotonic() - answered < _SUPERLINK_BUSY_S:
                    continue  # one that has ended would refuse the connection at once
                reason = describe_error(error)
                has_begun = (Path(settings.out) / EVENTS).exists()
                advice = "use --resume" if has_begun else "no round has begun: start it again"
                raise OutputError(f"the SuperLink has ended ({reason}); {advice}") from None
        else:
            time.sleep(0.2)
    if details:
        raise OutputError(f"the run failed: {details}")


def _show_new_lines(tail: FileTail, show: Callable[[str, str], None]) -> None:
    if not tail.path.exists():
        return
    if tail.replaced():  # a resumed run cuts its events back; the rounds left were shown before
        while tail.lines():
            pass
    while lines := tail.lines():
        for line in lines:
            show(tail.path.name, line.decode(errors="replace"))


# --- devices on this machine ----------------------------------------------------------------------


@dataclass(frozen=True)
class LocalDevices:
    """Devices on this machine, with the files that they and the server read."""

    out: Path
    scenario: Scenario | None  # None: an earlier run is resumed
    names: list[str]
    keys: Path | None

    @classmethod
    def prepare(
        cls, out: Path, scenario: Scenario | None, devices: int | None, with_keys: bool
    ) -> LocalDevices:
        """Export the scenario's data to files, or find the files of the run to resume."""
        from scdn.federation.export_parties import LABELS_FILE, export_parties

        keys = out / _KEYS if with_keys or (out / _KEYS).exists() else None
        if scenario is None:
            files = (out / _PARTIES).glob("*.npz")
            names = sorted(path.stem for path in files if path.name != LABELS_FILE)
            if not names:
                raise input_error(
                    str(out), "folder", "has no local devices", "must be of scdn federate local"
                )
            return cls(out, None, names, keys)
        if devices is not None:
            scenario = _with_devices(scenario, devices)
        trace = churn_trace(scenario)
        if scenario.churn.trace is None:
            trace = trace.take(trace.present(0))
        names = export_parties(scenario, trace, out / _PARTIES)
        if keys is not None:
            make_keys(keys, names, [])
        return cls(out, scenario, names, keys)

    @property
    def labels(self) -> Path:
        """Return the path of the server's labels."""
        from scdn.federation.export_parties import LABELS_FILE

        return self.out / _PARTIES / LABELS_FILE

    @contextmanager
    def running(
        self, address: ServerAddress, ports: Mapping[str, int] | None = None
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Start a process for every device; stop them together at the end.

        One process loads the program, and the devices' own are forked from it. `ports` are those
        of devices that reach the server through another port of this machine.
        """
        folder = self.out / _PARTIES
        write_atomic(self.list_of_devices, json.dumps(self.listed(address, ports or {})))
        module = "scdn.cli.device_processes"
        command = [sys.executable, "-m", module, str(self.list_of_devices)]
        with child_process(command, folder / "devices.log", folder / _FLOWER_HOME) as child:
            yield child

    @property
    def list_of_devices(self) -> Path:
        """Return the path of the file that lists the processes of devices."""
        return self.out / _PARTIES / _DEVICES

    def listed(self, address: ServerAddress, ports: Mapping[str, int]) -> list[dict[str, Any]]:
        """Return the log and the arguments of `scdn` of each device."""
        return [
            {
                "log": str(self.out / _PARTIES / f"{name}.log"),
                "arguments": self.arguments(
                    name, replace(address, port=ports.get(name, address.port))
                ),
            }
            for name in self.names
        ]

    def arguments(self, name: str, address: ServerAddress) -> list[str]:
        """Return a device's arguments of `scdn`."""
        folder = self.out / _PARTIES
        arguments = [
            *("federate", "device", "--name", name),
            *("--features", str(folder / f"{name}.npz")),
            *("--server", address.local, "--state", str(folder / _STATES)),
            "--weights-from-seed",  # as in a simulation; this machine has all features anyway
        ]
        if self.keys is None:
            return [*arguments, "--insecure"]
        private_key = self.keys / "devices" / f"{name}.key"
        return [*arguments, "--ca", str(self.keys / "ca.crt"), "--private-key", str(private_key)]


def _with_devices(scenario: Scenario, count: int) -> Scenario:
    """Return a scenario whose network has this many devices, all of the first group."""
    if not scenario.fleet or scenario.devices or scenario.churn.trace is not None:
        problem = "the scenario lists its devices"
        raise input_error("scdn", "--devices", problem, "works with a [[fleet]] alone")
    first, *others = scenario.fleet
    groups = [first.model_copy(update={"count": count})]
    groups += [group.model_copy(update={"count": 0}) for group in others]
    return scenario.model_copy(update={"fleet": tuple(groups)})
