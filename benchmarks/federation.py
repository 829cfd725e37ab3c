"""Measure federations of processes on this machine: overhead, many devices, a bad network.

    python benchmarks/federation.py overhead   four devices, messages of 2 MB (needs mnist)
    python benchmarks/federation.py many       twenty devices, ten rounds (needs digits)
    python benchmarks/federation.py network    200 ms delay, 5 % loss, a partition of 20 s
    python benchmarks/federation.py traffic    bytes that pass, against what the ledger bills
    python benchmarks/federation.py churn      that network, 20 devices, 20 rounds, stops and kills
    python benchmarks/federation.py fifty      50 devices, 20 rounds: stops, kills, joins, links cut

Every run uses TLS and keys. The bad network is a proxy on loopback, so that it needs no `netem` in
the kernel. It delays each piece of a stream, and adds the time of a retransmission (one round trip,
or 0.6 s for a short piece) where a segment of 1,448 bytes would have been lost. In the partition
nothing passes.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from scdn.federation.processes import (
    LocalDevices,
    ServerAddress,
    child_process,
    free_port,
    run_at_superlink,
    running_superlink,
)
from scdn.federation.server_settings import ServerSettings, federated_scenario
from scdn.file_io import to_json
from scdn.record.run_reader import Run, read_run
from scdn.scenario import Scenario, read_scenario

QUICK = Path(__file__).parent.parent / "examples" / "quick.toml"
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass
class Usage:
    """Resources that a process has used: memory (largest values) and processor time.

    The proportional set size counts a page that several processes share once in all.
    """

    memory_mb: float = 0.0
    private_mb: float = 0.0
    proportional_mb: float = 0.0
    cpu_s: float = 0.0

    def update(self, pid: int) -> None:
        """Read the kernel's counters of the process."""
        try:
            status = Path(f"/proc/{pid}/status").read_text()
            peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            maps = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except (OSError, StopIteration):
            return
        self.memory_mb = max(self.memory_mb, int(peak.split()[1]) / 1024)
        private, shared = (
            sum(int(line.split()[1]) for line in maps if line.startswith(name)) / 1024
            for name in ("Private_", "Pss:")
        )
        self.private_mb = max(self.private_mb, private)
        self.proportional_mb = max(self.proportional_mb, shared)
        self.cpu_s = (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


@dataclass
class MeasuredRun:
    """A finished run and the resources that its devices used."""

    run: Run
    seconds: float
    devices: dict[str, Usage] = field(default_factory=dict)
    superlink: Usage = field(default_factory=Usage)
    still_running: list[str] = field(default_factory=list)  # devices, 30 s after the end


@dataclass
class Devices:
    """The processes of devices, which share their memory and can be stopped and started."""

    parent: subprocess.Popen[bytes]
    file: Path  # that lists those to start
    listed: list[dict[str, Any]]  # all of them

    def running(self) -> dict[str, int]:
        """Return the process of each device that runs."""
        children = Path(f"/proc/{self.parent.pid}/task/{self.parent.pid}/children").read_text()
        found = {}
        for pid in map(int, children.split()):
            with suppress(OSError):  # it has ended
                found[Path(os.readlink(f"/proc/{pid}/fd/1")).stem] = pid
        return {name: pid for name, pid in found.items() if name != "devices"}

    def stop(self, name: str, how: int = signal.SIGTERM) -> None:
        """Ask a device to leave, or kill it."""
        if name in self.running():
            pid = self.running()[name]
            os.kill(pid, how)
            while how == signal.SIGKILL and Path(f"/proc/{pid}").exists():
                time.sleep(0.01)  # a device whose end the parent has not noticed is not replaced

    def start(self, *names: str) -> None:
        """Start devices again, or for the first time."""
        deadline = time.monotonic() + 20.0
        while set(names) & self.running().keys() and time.monotonic() < deadline:
            time.sleep(0.1)
        wanted_names = {*names, *self.running()}  # whoever has ended otherwise does not come back
        wanted = [d for d in self.listed if Path(d["log"]).stem in wanted_names]
        self.file.write_text(json.dumps(wanted))
        self.parent.send_signal(signal.SIGHUP)


def federate(
    scenario: Scenario,
    out: Path,
    devices: int,
    timeout_s: float = 30.0,
    network: BadNetwork | None = None,
    on_event: Callable[[dict[str, object]], None] | None = None,
    on_round: Callable[[int, Devices], None] | None = None,
    later: int = 0,
    names: Sequence[str] = (),
    instead: Mapping[str, Sequence[str]] | None = None,
) -> MeasuredRun:
    """Run a scenario with devices on this machine, behind the proxies of `network` if given.

    `on_round` gets the round's number and the devices. The last `later` of them are not there when
    the run begins; with `names`, only these are. `instead` has, by device, a program to run in
    place of `scdn`.
    """
    start = time.monotonic()
    scenario = federated_scenario(scenario)
    local = LocalDevices.prepare(out, scenario, devices + later, with_keys=True)
    document = local.scenario.model_dump(mode="json", by_alias=True)
    (out / "scenario.json").write_text(to_json(document))
    settings = ServerSettings(
        out=str(out),
        scenario=str(out / "scenario.json"),
        labels=str(local.labels),
        devices=len(names) or devices,
        wait_s=300.0,
        timeout_s=timeout_s,
    )
    address = ServerAddress("127.0.0.1", free_port(), local.keys)
    usage, superlink = {name: Usage() for name in local.names}, Usage()
    ended = threading.Event()
    with running_superlink(address, out) as control, ExitStack() as stack:
        ports = {}
        if network is not None:
            ports = stack.enter_context(network.between(address.port, local.names))
        others = dict(instead or {})
        own = [name for name in names or local.names[:devices] if name not in others]
        parent = stack.enter_context(replace(local, names=own).running(address, ports))
        for name, program in others.items():
            command = [*program, *local.arguments(name, address)]
            stack.enter_context(child_process(command, out / f"{name}.log", out / name))
        everybody = Devices(parent, local.list_of_devices, local.listed(address, ports))

        def watch() -> None:
            while not ended.wait(2.0):
                superlink.update(control.process)
                for name, pid in everybody.running().items():
                    usage[name].update(pid)

        threading.Thread(target=watch, daemon=True).start()

        def show(name: str, line: str) -> None:
            if name.endswith(".log"):
                print(f"  {line}", flush=True)
                return
            event = json.loads(line)
            if on_event is not None:
                on_event(event)
            if on_round is not None and event["event"] == "round":
                on_round(event["round"], everybody)

        run_at_superlink(control, settings, show)
        deadline = time.monotonic() + 30.0  # devices were told to stop
        while everybody.running() and time.monotonic() < deadline:
            time.sleep(0.2)
        ended.set()
        still_running = sorted(everybody.running())
    return MeasuredRun(read_run(out), time.monotonic() - start, usage, superlink, still_running)


def print_table(rows: list[tuple[object, ...]], head: tuple[str, ...]) -> None:
    """Print a table with right-aligned columns."""
    cells = [head, *[tuple(str(cell) for cell in row) for row in rows]]
    widths = [max(len(row[n]) for row in cells) for n in range(len(head))]
    for row in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


def median_and_max(values: list[float]) -> str:
    """Return the median and, in brackets, the largest value."""
    return f"{statistics.median(values):.2f} ({max(values):.2f})" if values else "-"


# --- overhead of a round --------------------------------------------------------------------------


def overhead(folder: Path) -> None:
    """Measure the time that a round of four devices on MNIST takes besides computing."""
    settings = (
        *("learning.dataset=mnist", "learning.rounds=6", "churn.exits=false"),
        *("max_delay_s=0.06", "fleet.0.flops_per_cycle=[0.0032, 0.0074]"),
    )
    scenario = read_scenario(QUICK, settings)
    result = federate(scenario, folder / "overhead", 4)
    rows = []
    for event in result.run.rounds:
        measured = [d["measured"] for d in event["devices"] if d["iterations"]]
        slowest = max(m["seconds"] for m in measured)
        up = max(m["bytes_up"] for m in measured) / 1e6
        rows.append(
            (event["round"], f"{up:.2f}", f"{slowest:.2f}", f"{event['seconds']:.2f}",
             f"{event['seconds'] - slowest:.2f}")
        )  # fmt: skip
    print_table(rows, ("round", "MB up each", "slowest device s", "round s", "the rest s"))


# --- many devices ---------------------------------------------------------------------------------


def many(folder: Path) -> None:
    """Measure the resources of twenty devices over ten rounds."""
    settings = ("learning.rounds=10", "churn.exits=false")
    result = federate(read_scenario(QUICK, settings), folder / "many", 20, timeout_s=60.0)
    print(f"20 devices, 10 rounds: {result.seconds:.0f} s in all; load {os.getloadavg()[0]:.1f}")
    usage = list(result.devices.values())
    measured = [d["measured"] for e in result.run.rounds for d in e["devices"] if d["iterations"]]
    print_table(
        [
            ("round s", median_and_max([e["seconds"] for e in result.run.rounds])),
            ("a device's computing in a round s", median_and_max([m["seconds"] for m in measured])),
            (
                "a device's bytes up in a round kB",
                median_and_max([m["bytes_up"] / 1e3 for m in measured]),
            ),
            ("a device's processor time in all s", median_and_max([u.cpu_s for u in usage])),
            ("a device's memory, peak MB", median_and_max([u.memory_mb for u in usage])),
            ("of it its own MB", median_and_max([u.private_mb for u in usage])),
        ],
        ("median (largest)", ""),
    )
    missed = sum(len(e["federation"]["missed"]) for e in result.run.rounds)
    print(f"answers missed: {missed}; top-3 {result.run.rounds[-1]['metrics']['top3']:.1f} %")


# --- a bad network --------------------------------------------------------------------------------


class BadNetwork:
    """Proxies on loopback, one for each device, with delay, loss and a partition of one device."""

    def __init__(
        self, delay_s: float = 0.2, loss: float = 0.05, only: list[str] | None = None
    ) -> None:
        self.delay_s, self.loss, self.only = delay_s, loss, only
        self.cut_until = 0.0
        self.cut: set[str] = set()
        self.retransmissions = 0
        self.passed: Counter[tuple[str, str]] = Counter()  # bytes by device and direction
        self._rng = random.Random(0)  # noqa: S311

    def between(self, port: int, names: list[str]) -> BadNetwork:
        """Return the proxies between the server at `port` and these devices."""
        self.port, self.names = port, names if self.only is None else self.only
        return self

    def __enter__(self) -> dict[str, int]:
        self.ports: dict[str, int] = {}
        ready = threading.Event()
        self._loop = asyncio.new_event_loop()

        async def open_all() -> None:
            for name in self.names:
                handler = lambda r, w, name=name: self._connect(name, r, w)  # noqa: E731
                server = await asyncio.start_server(handler, "127.0.0.1", 0)
                self.ports[name] = server.sockets[0].getsockname()[1]
            ready.set()

        def serve() -> None:
            self._loop.create_task(open_all())
            self._loop.run_forever()

        threading.Thread(target=serve, daemon=True).start()
        ready.wait()
        return self.ports

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _connect(
        self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await asyncio.sleep(self.delay_s)  # first half of the handshake
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self.port)
        await asyncio.gather(
            self._forward(name, "up", reader, server_writer),
            self._forward(name, "down", server_reader, writer),
        )

    async def _forward(
        self,
        name: str,
        direction: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(16)  # 256 kB in flight

        async def read() -> None:
            last, raw = 0.0, b" "
            while raw:
                try:
                    raw = await reader.read(1 << 14)
                except OSError:
                    raw = b""
                self.passed[name, direction] += len(raw)
                last = max(last, time.monotonic() + self.delay_s + self._retransmission_s(len(raw)))
                await pieces.put((last, raw))

        async def write() -> None:
            raw = b" "
            while raw:
                due, raw = await pieces.get()
                while (now := time.monotonic()) < due or self._is_cut(name, now):
                    await asyncio.sleep(0.02)
                try:
                    writer.write(raw)
                    await writer.drain()
                except OSError:
                    pass
            writer.close()

        await asyncio.gather(read(), write())

    def _is_cut(self, name: str, now: float) -> bool:
        return name in self.cut and now < self.cut_until

    def _retransmission_s(self, size: int) -> float:
        """Return the time that retransmissions of lost segments take."""
        segments = math.ceil(size / 1448)
        lost = sum(self._rng.random() < self.loss for _ in range(segments))
        if not lost:
            return 0.0
        self.retransmissions += lost
        return 2 * self.delay_s if segments >= 4 else 0.6


def bad_network(folder: Path) -> None:
    """Run four devices behind a bad network; one is cut off for twenty seconds."""
    settings = ("learning.rounds=10", "churn.exits=false")
    network = BadNetwork()

    def cut_off_in_round_2(event: dict[str, object]) -> None:
        if event.get("event") == "round" and event["round"] == 2:
            network.cut, network.cut_until = {"device-2"}, time.monotonic() + 20.0
            print("  device-2 is cut off for 20 s", flush=True)

    result = federate(
        read_scenario(QUICK, settings), folder / "network", 4, 15.0, network, cut_off_in_round_2
    )
    print_table(
        [
            (
                e["round"],
                f"{e['seconds']:.1f}",
                ", ".join(e["federation"]["missed"]) or "-",
                ", ".join(e["link_failed"]) or "-",
                ", ".join(e["exited"]) or "-",
                f"{e['metrics']['top3']:.1f}",
            )
            for e in result.run.rounds
        ],
        ("round", "s", "no answer", "link failed", "left", "top-3 %"),
    )
    late = result.run.rounds[-1]["federation"]["late"]
    print(f"late answers dropped: {late or 'none'}; segments sent again: {network.retransmissions}")


# --- churn behind a bad network -------------------------------------------------------------------


def churn(folder: Path) -> None:
    """Run twenty devices for twenty rounds behind a bad network; some stop, die and come back."""
    settings = ("learning.rounds=20", "churn.exits=false", "churn.entry_rate=0")
    network, done = BadNetwork(), []
    plan = {  # after a round: what happens to a device
        1: [("stop", "device-5"), ("kill and start", "device-6")],
        4: [("start", "device-5"), ("kill", "device-7")],
        7: [("cut", "device-8")],
        9: [("stop", "device-9"), ("kill and start", "device-10")],
        12: [("start", "device-9"), ("kill and start", "device-11")],
        15: [("stop", "device-12"), ("kill and start", "device-6")],
    }

    def act(round_: int, processes: Devices) -> None:
        for what, name in plan.get(round_, []):
            done.append((round_, what, name))
            print(f"  after round {round_ + 1}: {what} {name}", flush=True)
            if what == "cut":
                network.cut, network.cut_until = {name}, time.monotonic() + 20.0
            if "stop" in what:
                processes.stop(name)
            if "kill" in what:
                processes.stop(name, signal.SIGKILL)
            if "start" in what:
                processes.start(name)

    scenario = read_scenario(QUICK, settings)
    result = federate(scenario, folder / "churn", 20, 90.0, network, on_round=act)
    print_table(
        [
            (
                e["round"] + 1,
                f"{e['seconds']:.1f}",
                len(e["devices"]),
                ", ".join(e["federation"]["missed"]) or "-",
                ", ".join(e["exited"]) or "-",
                ", ".join(e["entered"]) or "-",
                f"{e['metrics']['top1']:.1f}",
            )
            for e in result.run.rounds
        ],
        ("round", "s", "devices", "no answer", "left", "joined", "top-1 %"),
    )
    last = result.run.rounds[-1]["federation"]
    status = "not ended" if result.run.end is None else result.run.end["status"]
    print(f"{result.seconds:.0f} s in all; load {os.getloadavg()[0]:.1f}; run {status}")
    print(f"late: {last['late'] or 'none'}; wrong: {last['wrong'] or 'none'}")
    print(f"segments sent again: {network.retransmissions}")
    print(f"devices that did not end: {result.still_running or 'none'}")


# --- fifty devices --------------------------------------------------------------------------------


def fifty(folder: Path) -> None:
    """Run fifty devices for twenty rounds; some stop, die, come back, join or lose their link."""
    settings = ("learning.rounds=20", "churn.exits=false", "churn.entry_rate=0", "max_delay_s=0.2")
    behind = [f"device-{n}" for n in (20, 21, 22, 23)]  # of a proxy, which can cut them off
    network, joining = BadNetwork(0.0, 0.0, behind), [f"device-{n}" for n in (51, 52, 53, 54)]
    plan = {  # after a round: what happens to devices
        2: [("stop", ["device-1", "device-2", "device-3"]), ("kill and start", ["device-4"])],
        4: [("cut off for 10 s", behind[:2])],
        5: [("start", ["device-1", "device-2"])],
        7: [("start", joining), ("kill", ["device-5", "device-6"])],
        10: [("stop", ["device-7", "device-8"]), ("kill and start", ["device-9", "device-10"])],
        12: [("cut off for 10 s", behind[2:])],
        14: [("start", ["device-7", "device-5"]), ("kill and start", ["device-4"])],
    }

    def act(round_: int, processes: Devices) -> None:
        for what, names in plan.get(round_, []):
            print(f"  after round {round_ + 1}: {what} {', '.join(names)}", flush=True)
            if "cut" in what:
                network.cut, network.cut_until = set(names), time.monotonic() + 10.0
            for name in names:
                if "stop" in what or "kill" in what:
                    processes.stop(name, signal.SIGKILL if "kill" in what else signal.SIGTERM)
            if "start" in what:
                processes.start(*names)

    scenario = read_scenario(QUICK, settings)
    result = federate(scenario, folder / "fifty", 50, 60.0, network, None, act, later=4)
    print_table(
        [
            (
                e["round"] + 1,
                f"{e['seconds']:.1f}",
                len(e["devices"]),
                sum(d["iterations"] > 0 for d in e["devices"]),
                ", ".join(e["federation"]["missed"]) or "-",
                ", ".join(e["exited"]) or "-",
                ", ".join(e["entered"]) or "-",
                f"{e['metrics']['top1']:.1f}",
            )
            for e in result.run.rounds
        ],
        ("round", "s", "devices", "train", "no answer", "left", "joined", "top-1 %"),
    )
    usage = [u for u in result.devices.values() if u.proportional_mb]
    print_table(
        [
            ("round s", median_and_max([e["seconds"] for e in result.run.rounds])),
            (
                "a device's share of memory (PSS) MB",
                median_and_max([u.proportional_mb for u in usage]),
            ),
            ("of it its own MB", median_and_max([u.private_mb for u in usage])),
            ("a device's processor time in all s", median_and_max([u.cpu_s for u in usage])),
        ],
        ("median (largest)", ""),
    )
    last = result.run.rounds[-1]["federation"]
    status = "not ended" if result.run.end is None else result.run.end["status"]
    print(f"{result.seconds:.0f} s in all; load {os.getloadavg()[0]:.1f}; run {status}")
    print(f"late: {last['late'] or 'none'}; wrong: {last['wrong'] or 'none'}")
    print(f"SuperLink: {result.superlink.cpu_s:.0f} s of processor time, "
          f"{result.superlink.memory_mb:.0f} MB at its peak")  # fmt: skip
    print(f"devices that did not end: {result.still_running or 'none'}")


# --- what passes, and what is billed --------------------------------------------------------------


def traffic(folder: Path) -> None:
    """Count the bytes that pass a proxy, and compare them with the ledger, with 32 and 4 bits."""
    for bits in (32, 4):
        settings = ("learning.rounds=5", "churn.exits=false", f"learning.number_bits={bits}")
        network, rounds = BadNetwork(delay_s=0.0, loss=0.0), []

        def keep(event: dict[str, object], network=network, rounds=rounds) -> None:
            if event.get("event") == "round":
                rounds.append(Counter(network.passed))

        scenario = read_scenario(QUICK, settings)
        result = federate(scenario, folder / f"traffic-{bits}", 4, 60.0, network, keep)
        rows = []
        for index, event in enumerate(result.run.rounds[1:], 1):  # the first one has joining in it
            for device in event["devices"]:
                rows += _compared(device, event["round"], rounds[index] - rounds[index - 1])
        print(f"{bits} bits per number")
        head = ("round", "device", "", "ledger B", "payload B", "difference", "measurement B",
                "overhead B", "through the proxy B")  # fmt: skip
        print_table(rows, head)


def _compared(
    device: dict[str, Any], round_: int, passed: Counter[tuple[str, str]]
) -> Iterator[tuple[object, ...]]:
    """Yield a device's bytes in one round, by direction."""
    name, measured = device["id"], device.get("measured")
    for direction, billed in (("up", "bits_sent"), ("down", "bits_received")):
        if measured is None or not device[billed]:
            continue
        ledger, payload = device[billed] / 8, measured[f"payload_{direction}"]
        kinds = (payload, measured[f"measurement_{direction}"])
        overhead_bytes = measured[f"bytes_{direction}"] - sum(kinds)
        yield (
            *(round_, name, direction, f"{ledger:.0f}", payload),
            f"{100 * (payload / ledger - 1):+.2f} %",
            *(kinds[1], overhead_bytes, passed[name, direction]),
        )


def main() -> None:
    """Run one of the six benchmarks."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    parts = {"overhead": overhead, "many": many, "network": bad_network, "traffic": traffic}
    parts |= {"churn": churn, "fifty": fifty}
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="scdn-") as folder:
        parts[sys.argv[1]](Path(folder))


if __name__ == "__main__":
    main()
