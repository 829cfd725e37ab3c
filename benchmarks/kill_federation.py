"""Kill each process of a federation before, during and after a round, and go on.

    python benchmarks/kill_federation.py
    python benchmarks/kill_federation.py --only server,device

Processes are real, with TLS and keys: the command `scdn federate server`, the SuperLink and the
ServerApp that it starts, and two devices that keep their models. In each run one of them is killed
with SIGKILL: before the first round, in the middle of one, or as soon as one is recorded. A killed
device is started again; the table says whether it went on as itself, joined late as itself (if it
had not joined yet when it was killed), joined again as a new device, or was not back before the
end. Otherwise the command must end by itself with
a single line, no process may stay and the run's folder may not be locked; it is then resumed (or
started again, if no round had begun), and the devices must go on as themselves. In the end all
rounds must be recorded once, and every process must have ended with status 0.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from scdn.errors import InputError
from scdn.federation.certificates import make_keys
from scdn.federation.export_parties import LABELS_FILE, export_parties
from scdn.federation.processes import free_port
from scdn.federation.server_settings import federated_scenario
from scdn.record.run_lock import lock_run_folder
from scdn.record.run_reader import EVENTS, read_run
from scdn.scenario import read_scenario
from scdn.world.churn import churn_trace

QUICK = Path(__file__).parent.parent / "examples" / "quick.toml"
ROUNDS = 8
SETTINGS = (
    *("fleet.0.count=2", f"learning.rounds={ROUNDS}", "method=sc-dn-greedy", "max_delay_s=1"),
    *("churn.entry_rate=0", "churn.exits=false", "learning.steps_per_iteration=2"),
)
VICTIMS = ("device", "superlink", "serverapp", "server")
MOMENTS = ("during", "after", "before")
PATIENCE_S = 300.0  # until the next thing has happened
_MARK = "SCDN_KILL_MATRIX"  # environment variable of all processes of one run


class FailedError(Exception):
    """Something did not happen as it should."""


class Site:
    """A federation's files and processes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out, self.port = folder, folder / "run", free_port()
        self.mark = f"{os.getpid()}-{folder.name}"
        scenario = federated_scenario(read_scenario(QUICK, SETTINGS))
        trace = churn_trace(scenario)
        self.names = export_parties(scenario, trace.take(trace.present(0)), folder)
        make_keys(folder / "keys", self.names, [])

    def device(self, name: str) -> list[str]:
        """Return the command of a device."""
        keys = self.folder / "keys"
        return [
            *("device", "--features", f"{self.folder / name}.npz", "--name", name),
            *("--server", f"127.0.0.1:{self.port}", "--ca", str(keys / "ca.crt")),
            *("--private-key", str(keys / "devices" / f"{name}.key")),
            *("--state", str(self.folder / "states")),
        ]

    def server(self, *, resumes: bool) -> list[str]:
        """Return the command of the server."""
        start = [str(QUICK), "--out", str(self.out)]
        start += [word for setting in SETTINGS for word in ("--set", setting)]
        return [
            *("server", "--labels", str(self.folder / LABELS_FILE), "--port", str(self.port)),
            *("--keys", str(self.folder / "keys"), "--timeout", "20", "--wait", "240"),
            *(("--resume", str(self.out)) if resumes else start),
        ]

    @contextmanager
    def running(self, name: str, arguments: list[str]) -> Iterator[subprocess.Popen[bytes]]:
        """Start a process; end it if it is still there at the end."""
        command = [sys.executable, "-m", "scdn.cli", "federate", *arguments]
        environment = {**os.environ, _MARK: self.mark, "OMP_NUM_THREADS": "1"}
        with (self.folder / f"{name}.txt").open("ab") as output:
            process = subprocess.Popen(  # noqa: S603
                command, stdout=output, stderr=output, env=environment
            )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()

    def processes(self) -> dict[int, str]:
        """Return the command lines of all processes of this run, by process number."""
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if f"{_MARK}={self.mark}".encode() in (path / "environ").read_bytes():
                    found[int(path.name)] = (path / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
        return {number: line for number, line in found.items() if line}

    def process_of(self, victim: str) -> int | None:
        """Return the number of the SuperLink's or the ServerApp's process."""
        part = {"superlink": "flower.superlink", "serverapp": "flwr-serverapp"}[victim]
        numbers = [number for number, line in self.processes().items() if part in line]
        return max(numbers, default=None)

    def text(self, name: str) -> str:
        """Return what a process has printed."""
        path = self.folder / f"{name}.txt"
        return path.read_text() if path.exists() else ""

    def rounds(self) -> int:
        """Return the number of recorded rounds."""
        events = self.out / EVENTS
        return len(read_run(self.out).rounds) if events.exists() else 0


def wait_until(what: str, condition: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise FailedError(f"not within {seconds:.0f} s: {what}")
        time.sleep(0.05)


def wait_for_moment(site: Site, moment: str) -> None:
    """Wait until the run is before its first round, in the middle of one, or has recorded one."""
    log = site.out / "federation.log"
    if moment == "before":
        connected = "rows are shared"
        wait_until(connected, lambda: log.exists() and connected in log.read_text())
        return
    wait_until("two rounds", lambda: site.rounds() >= 2)
    if moment == "during":
        trains = site.text(site.names[0]).count("steps of")
        wait_until("training", lambda: site.text(site.names[0]).count("steps of") > trains)


def kill(site: Site, folder_of: ExitStack, victim: str, moment: str) -> tuple[float, str]:
    """Run a federation, kill a process, and go on; return the seconds until it went on."""
    devices = {n: folder_of.enter_context(site.running(n, site.device(n))) for n in site.names}
    server = folder_of.enter_context(site.running("server", site.server(resumes=False)))
    wait_for_moment(site, moment)
    recorded, killed_at = site.rounds(), time.monotonic()
    if victim == "device":
        last = site.names[-1]
        devices[last].kill()
        devices[last].wait()
        devices[last] = folder_of.enter_context(site.running(last, site.device(last)))
        said = ""
        wait_until("a further round", lambda: site.rounds() > recorded)
    else:
        number = server.pid if victim == "server" else site.process_of(victim)
        if number is None:
            raise FailedError(f"there is no process of the {victim}")
        os.kill(number, signal.SIGKILL)
        wait_until("the command ends", lambda: server.poll() is not None)
        said = check_end(site, server, victim, {device.pid for device in devices.values()})
        server = folder_of.enter_context(
            site.running("server", site.server(resumes=(site.out / EVENTS).exists()))
        )
        started = site.rounds
        wait_until("a further round", lambda: started() > recorded or server.poll() is not None)
    seconds = time.monotonic() - killed_at
    wait_until("the server ends", lambda: server.poll() is not None)
    if victim == "device" and site.text(site.names[-1]).count("the run is over") == 0:
        time.sleep(5.0)
        devices[site.names[-1]].terminate()  # it was not back in time, and waits for a server
    for name, process in {"server": server, **devices}.items():
        wait_until(f"{name} ends", lambda process=process: process.poll() is not None)
        if process.returncode:
            raise FailedError(f"{name} ended with {process.returncode}: {site.text(name)[-300:]}")
    back = check_run(site, victim)
    return seconds, said or back


def check_end(site: Site, server: subprocess.Popen[bytes], victim: str, devices: set[int]) -> str:
    """Check that nothing but the devices is left, and return what the command said last."""
    wait_until(
        f"no process stays: {list(site.processes().values())}",
        lambda: set(site.processes()) <= devices,
        30.0,
    )
    wait_until("the folder is free", lambda: not is_locked(site.out), 30.0)
    text = site.text("server")
    if "Traceback" in text:
        raise FailedError(text[-500:])
    if victim == "server":
        return "killed"
    if server.returncode != 1:
        raise FailedError(f"exit code {server.returncode}")
    return text.splitlines()[-1]


def is_locked(folder: Path) -> bool:
    """Return whether a process holds the lock of a run's folder."""
    try:
        with lock_run_folder(folder):
            return False
    except InputError:
        return True


def check_run(site: Site, victim: str) -> str:
    """Check that all rounds are recorded once and nothing is left; return how a device was back."""
    run = read_run(site.out)
    if [event["round"] for event in run.rounds] != list(range(ROUNDS)) or run.end is None:
        raise FailedError(f"{len(run.rounds)} rounds, end {run.end}")
    wait_until("no process stays", lambda: not site.processes(), 30.0)
    parties = {device["id"] for event in run.rounds for device in event["devices"]}
    last = site.names[-1]
    if victim != "device" and parties != set(site.names):
        raise FailedError(f"parties: {', '.join(sorted(parties))}")
    if f"{last}: is back" in (site.out / "federation.log").read_text():
        return "went on as itself"
    if parties - set(site.names):
        return "joined again"
    trained = any(d["id"] == last and d["executed_iterations"] for d in run.rounds[-1]["devices"])
    return "joined late, as itself" if trained else "was not back before the end"


def main() -> int:
    """Kill each process at each moment; return 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="some of " + ",".join(VICTIMS))
    parser.add_argument("--moments", default="", help="some of " + ",".join(MOMENTS))
    options = parser.parse_args()
    victims = options.only.split(",") if options.only else VICTIMS
    moments = options.moments.split(",") if options.moments else MOMENTS
    failed = 0
    print(f"{'killed':>10}  {'when':>7}  {'goes on after':>13}  it said")
    for moment in moments:
        for victim in victims:
            with tempfile.TemporaryDirectory(prefix="scdn-") as temporary, ExitStack() as stack:
                site = Site(Path(temporary))
                try:
                    seconds, said = kill(site, stack, victim, moment)
                    result = f"{seconds:11.0f} s  {said}"
                except FailedError as error:
                    failed += 1
                    result = f"{'FAILED':>13}  {error}"
            print(f"{victim:>10}  {moment:>7}  {result}", flush=True)
    print(f"{len(victims) * len(moments) - failed} of {len(victims) * len(moments)} passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
