"""A server's processes: a SuperLink, and the run it starts. All of them end together."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scdn.errors import input_error
from scdn.federation import flower
from scdn.federation.flower.link import Control
from scdn.federation.keys import admitted, check_server
from scdn.federation.launch import LOG, Settings
from scdn.file_io import OutputError
from scdn.record.read import EVENTS

APP = Path(__file__).parent / "flower_app"
_HOME = "flower"  # Flower's own files, inside the run's folder
_START_S = 60.0
PARENT = "SCDN_PARENT"  # whose end is also that of the processes it started


@dataclass(frozen=True)
class Address:
    """Where a server listens, and with which keys; without keys on this machine alone."""

    host: str
    port: int
    keys: Path | None

    def __post_init__(self) -> None:
        if self.keys is None and not flower.is_loopback(self.host):
            found = f"{self.host} can be reached from elsewhere"
            raise input_error("scdn", "--insecure", found, "give --keys, or listen on 127.0.0.1")

    @property
    def local(self) -> str:
        """For processes of this machine."""
        return f"127.0.0.1:{self.port}"

    @property
    def authority(self) -> Path | None:
        """The certificate that the server's is checked against."""
        return None if self.keys is None else self.keys / "ca.crt"

    def devices(self) -> list[tuple[str, str]]:
        """Whose certificates there are, and what is wrong with them."""
        if self.keys is None:
            return []
        check_server(self.keys)
        return [(key.name, key.wrong) for key in admitted(self.keys)]

    def arguments(self) -> list[str]:
        """For the SuperLink."""
        shared = ["--host", self.host, "--port", str(self.port)]
        if self.keys is None:
            return [*shared, "--insecure"]
        return [
            *shared,
            *("--ssl-certfile", str(self.keys / "server.crt")),
            *("--ssl-keyfile", str(self.keys / "server.key")),
            *("--ssl-ca-certfile", str(self.keys / "ca.crt")),
            "--enable-supernode-auth",
        ]


def free_port() -> int:
    """One that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def process(command: list[str], log: Path, home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process of this program with a log of its own, ended with its children on the way out."""
    home.mkdir(parents=True, exist_ok=True)
    beside = str(Path(sys.executable).parent)
    environment = {
        **os.environ,
        PARENT: str(os.getpid()),
        **flower.environment(),
        "FLWR_HOME": str(home),
        "PATH": f"{beside}{os.pathsep}{os.environ.get('PATH', '')}",
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
        stop(child)


def end_with_parent() -> None:
    """A process that another started does not outlive it, however that ended."""
    parent = os.environ.pop(PARENT, None)
    if parent is None:
        return

    def watch() -> None:
        while os.getppid() == int(parent):
            time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def stop(child: subprocess.Popen[bytes], patience_s: float = 5.0) -> None:
    """Asks a process and those it started to end; then insists."""
    if child.poll() is not None:
        return
    for how, wait_s in ((signal.SIGTERM, patience_s), (signal.SIGKILL, 5.0)):
        try:
            os.killpg(child.pid, how)
        except ProcessLookupError:
            return
        try:
            child.wait(wait_s)
        except subprocess.TimeoutExpired:
            continue


@contextmanager
def superlink(address: Address, out: Path) -> Iterator[Control]:
    """A SuperLink that lets the devices with good certificates in."""
    flower.check_installed()
    keys = [] if address.keys is None else [k for k in admitted(address.keys) if not k.wrong]
    out.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "scdn.federation.superlink", *address.arguments()]
    log = out / "superlink.log"
    with process(command, log, out / _HOME) as child:
        control = Control(address.local, address.authority)
        deadline = time.monotonic() + _START_S
        while not control.ready():
            if child.poll() is not None or time.monotonic() > deadline:
                raise OutputError(f"the SuperLink did not start; see {log}")
            time.sleep(0.2)
        for key in keys:
            control.register(key.public, key.name)
        yield control


def start(control: Control, settings: Settings) -> int:
    """Starts the run at a SuperLink."""
    return control.start(APP, settings.table())


def follow(
    control: Control,
    number: int,
    out: Path,
    tell: Callable[[str, str], None],
    alive: Callable[[], bool] = lambda: True,
) -> None:
    """Passes on new lines of the run's log and events until the run is over."""
    places = {out / LOG: 0, out / EVENTS: 0}
    for path in places:
        places[path] = path.stat().st_size if path.exists() else 0
    looked = time.monotonic()
    status = ("", "")
    while True:
        for path, place in places.items():
            places[path] = _pass_on(path, place, tell)
        if status[0] == "finished":
            break
        if not alive():
            raise OutputError("a process of the run has ended")
        if time.monotonic() - looked > 1.0:
            looked = time.monotonic()
            status = control.status(number)
            continue
        time.sleep(0.2)
    if status[1]:
        raise OutputError(f"the run failed: {status[1]}")


def _pass_on(path: Path, place: int, tell: Callable[[str, str], None]) -> int:
    if not path.exists():
        return place
    if path.stat().st_size < place:  # begun anew
        place = 0
    with path.open("rb") as file:
        file.seek(place)
        raw = file.read()
    whole = raw[: raw.rfind(b"\n") + 1]
    for line in whole.decode(errors="replace").splitlines():
        tell(path.name, line)
    return place + len(whole)
