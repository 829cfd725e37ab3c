"""Federations of real processes on this machine: what a round costs, many devices, bad networks.

    python benchmarks/federation.py overhead   four devices, messages of 2 MB (needs mnist)
    python benchmarks/federation.py many       twenty devices, ten rounds (needs digits)
    python benchmarks/federation.py network    200 ms delay, 5 % loss, a partition of 20 s

Every run is with TLS and keys. Where the kernel has no `netem`, the bad network is a proxy on
loopback: each piece of a stream is held back by the delay, and by a retransmission (one round trip,
or 0.6 s for a short piece) where a segment of 1,448 bytes would have been lost; in the partition
nothing passes.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from scdn.federation.federated_server import ServerSettings, federated_scenario
from scdn.federation.processes import (
    LocalDevices,
    ServerAddress,
    free_port,
    run_at_superlink,
    running_superlink,
)
from scdn.file_io import to_json
from scdn.record.run_reader import Run, read_run
from scdn.scenario import Scenario, read_scenario

QUICK = Path(__file__).parent.parent / "examples" / "quick.toml"
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Usage:
    """Of one process: the most memory it had, and processor seconds."""

    memory_mb: float = 0.0
    private_mb: float = 0.0
    cpu_s: float = 0.0

    def look(self, pid: int) -> None:
        """Reads what the kernel has counted so far."""
        try:
            status = Path(f"/proc/{pid}/status").read_text()
            peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            own = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except (OSError, StopIteration):
            return
        self.memory_mb = int(peak.split()[1]) / 1024
        private = sum(int(line.split()[1]) for line in own if line.startswith("Private_"))
        self.private_mb = max(self.private_mb, private / 1024)
        self.cpu_s = (int(fields[11]) + int(fields[12])) / _TICKS


@dataclass
class Watched:
    """A finished run, and what its devices used."""

    run: Run
    seconds: float
    devices: dict[str, Usage] = field(default_factory=dict)


def federate(
    scenario: Scenario,
    out: Path,
    devices: int,
    timeout_s: float = 30.0,
    route: dict[str, int] | None = None,
    during: object = None,
) -> Watched:
    """Runs a scenario with devices of this machine; `route` has proxies' ports by device."""
    began = time.monotonic()
    local = LocalDevices.prepare(out, federated_scenario(scenario), devices, with_keys=True)
    told = local.scenario.model_dump(mode="json", by_alias=True)
    (out / "scenario.json").write_text(to_json(told))
    settings = ServerSettings(
        out=str(out),
        scenario=str(out / "scenario.json"),
        labels=str(local.labels),
        wait_s=300.0,
        timeout_s=timeout_s,
    )
    address = ServerAddress("127.0.0.1", free_port(), local.keys)
    usage = {name: Usage() for name in local.names}
    over = threading.Event()
    with running_superlink(address, out) as control, ExitStack() as stack:
        proxies = {} if route is None else stack.enter_context(route(address.port, local.names))
        children = {
            name: stack.enter_context(
                local.start(name, replace(address, port=proxies.get(name, address.port)))
            )
            for name in local.names
        }

        def look() -> None:
            while not over.wait(0.5):
                for name, child in children.items():
                    usage[name].look(child.pid)

        watcher = threading.Thread(target=look, daemon=True)
        watcher.start()

        def tell(name: str, line: str) -> None:
            if name.endswith(".log"):
                print(f"  {line}", flush=True)
            elif during is not None:
                during(json.loads(line))

        run_at_superlink(control, settings, tell)
        over.set()
        for child in children.values():
            child.terminate()
    return Watched(read_run(out), time.monotonic() - began, usage)


def table(rows: list[tuple[object, ...]], head: tuple[str, ...]) -> None:
    """Prints a table."""
    texts = [head, *[tuple(str(cell) for cell in row) for row in rows]]
    widths = [max(len(row[n]) for row in texts) for n in range(len(head))]
    for row in texts:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


def spread(values: list[float]) -> str:
    """Median and largest."""
    return f"{statistics.median(values):.2f} ({max(values):.2f})" if values else "-"


# --- what a round costs ---------------------------------------------------------------------------


def overhead(folder: Path) -> None:
    """Rounds of four devices on MNIST: seconds beside computing."""
    wishes = (
        *("learning.dataset=mnist", "learning.rounds=6", "churn.exits=false"),
        *("max_delay_s=0.06", "fleet.0.flops_per_cycle=[0.0032, 0.0074]"),
    )
    scenario = read_scenario(QUICK, wishes)
    found = federate(scenario, folder / "overhead", 4)
    rows = []
    for event in found.run.rounds:
        measured = [d["measured"] for d in event["devices"] if d["iterations"]]
        busy = max(m["seconds"] for m in measured)
        up = max(m["bytes_up"] for m in measured) / 1e6
        rows.append(
            (event["round"], f"{up:.2f}", f"{busy:.2f}", f"{event['seconds']:.2f}",
             f"{event['seconds'] - busy:.2f}")
        )  # fmt: skip
    table(rows, ("round", "MB up each", "slowest device s", "round s", "the rest s"))


# --- many devices ---------------------------------------------------------------------------------


def many(folder: Path) -> None:
    """Twenty devices, ten rounds."""
    wishes = ("learning.rounds=10", "churn.exits=false")
    found = federate(read_scenario(QUICK, wishes), folder / "many", 20, timeout_s=60.0)
    print(f"20 devices, 10 rounds: {found.seconds:.0f} s in all; load {os.getloadavg()[0]:.1f}")
    used = list(found.devices.values())
    measured = [d["measured"] for e in found.run.rounds for d in e["devices"] if d["iterations"]]
    table(
        [
            ("round s", spread([e["seconds"] for e in found.run.rounds])),
            ("a device's computing in a round s", spread([m["seconds"] for m in measured])),
            ("a device's bytes up in a round kB", spread([m["bytes_up"] / 1e3 for m in measured])),
            ("a device's processor time in all s", spread([u.cpu_s for u in used])),
            ("a device's memory, peak MB", spread([u.memory_mb for u in used])),
            ("of it its own MB", spread([u.private_mb for u in used])),
        ],
        ("median (largest)", ""),
    )
    missed = sum(len(e["federation"]["missed"]) for e in found.run.rounds)
    print(f"answers missed: {missed}; top-3 {found.run.rounds[-1]['metrics']['top3']:.1f} %")


# --- a bad network --------------------------------------------------------------------------------


class BadNetwork:
    """Proxies on loopback, one for each device, with delay, loss, and a partition of one."""

    def __init__(self, delay_s: float = 0.2, loss: float = 0.05) -> None:
        self.delay_s, self.loss = delay_s, loss
        self.cut_until = 0.0
        self.cut: str | None = None
        self.retransmissions = 0
        self._draw = random.Random(0)  # noqa: S311

    def __call__(self, port: int, names: list[str]) -> BadNetwork:
        """For the devices `names` of the server at `port`."""
        self.port, self.names = port, names
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
        await asyncio.sleep(self.delay_s)  # the handshake's first half
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self.port)
        await asyncio.gather(
            self._carry(name, reader, there_writer), self._carry(name, there_reader, writer)
        )

    async def _carry(
        self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(16)  # 256 kB in flight

        async def read() -> None:
            last, raw = 0.0, b" "
            while raw:
                try:
                    raw = await reader.read(1 << 14)
                except OSError:
                    raw = b""
                last = max(last, time.monotonic() + self.delay_s + self._lost(len(raw)))
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
        return name == self.cut and now < self.cut_until

    def _lost(self, size: int) -> float:
        """Seconds that retransmissions take."""
        segments = math.ceil(size / 1448)
        lost = sum(self._draw.random() < self.loss for _ in range(segments))
        if not lost:
            return 0.0
        self.retransmissions += lost
        return 2 * self.delay_s if segments >= 4 else 0.6


def network(folder: Path) -> None:
    """Four devices behind a bad network; one is cut off for twenty seconds."""
    if os.system("tc qdisc add dev lo root netem delay 0ms 2>/dev/null") == 0:  # noqa: S605, S607
        os.system("tc qdisc del dev lo root")  # noqa: S605, S607
        print("this kernel has netem; the proxy is used all the same, so that figures compare")
    wishes = ("learning.rounds=10", "churn.exits=false")
    bad = BadNetwork()
    cut = []

    def during(event: dict[str, object]) -> None:
        if event.get("event") == "round" and event["round"] == 2 and not cut:
            cut.append(True)
            bad.cut, bad.cut_until = "device-2", time.monotonic() + 20.0
            print("  device-2 is cut off for 20 s", flush=True)

    found = federate(read_scenario(QUICK, wishes), folder / "network", 4, 15.0, bad, during)
    table(
        [
            (
                e["round"],
                f"{e['seconds']:.1f}",
                ", ".join(e["federation"]["missed"]) or "-",
                ", ".join(e["link_failed"]) or "-",
                ", ".join(e["exited"]) or "-",
                f"{e['metrics']['top3']:.1f}",
            )
            for e in found.run.rounds
        ],
        ("round", "s", "no answer", "link failed", "left", "top-3 %"),
    )
    late = found.run.rounds[-1]["federation"]["late"]
    print(f"late answers dropped: {late or 'none'}; segments sent again: {bad.retransmissions}")


def main() -> None:
    """Runs one of the three."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    parts = {"overhead": overhead, "many": many, "network": network}
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="scdn-") as folder:
        parts[sys.argv[1]](Path(folder))


if __name__ == "__main__":
    main()
