"""Measure the studio: plans while dragging, many devices, replay, scrubbing, load by many users.

    python benchmarks/studio.py [drag] [what-if] [many] [crowd] [replay] [scrub] [load]

Uses a real server and a real Chromium. 3-D is drawn on the processor, so a machine with a graphics
card is faster. `load` needs no browser.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from studio_browser import open_browser, screen_position, until  # noqa: E402

REQUEST = json.loads((ROOT / "examples" / "request.json").read_text())
SECONDS = 10.0


@contextmanager
def studio(runs: Path) -> Iterator[tuple[str, int]]:
    """Start the studio; yield its address and process id."""
    command = [sys.executable, "-m", "scdn.cli", "studio", str(runs), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603
    assert process.stdout is not None
    address = process.stdout.readline().split()[-1].rstrip("/")
    try:
        while True:
            try:
                httpx.get(f"{address}/api/about", timeout=30)
                break
            except httpx.ConnectError:
                time.sleep(0.1)
        yield address, process.pid
    finally:
        process.terminate()
        process.wait(20)


def cpu_s(pid: int) -> float:
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid: int) -> float:
    """Return the resident memory of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def show(title: str, rows: list[tuple[str, str]]) -> None:
    """Print a table with a title."""
    load_average = os.getloadavg()[0]
    print(f"\n{title} (load average {load_average:.1f} on {os.cpu_count()} cores)")
    for name, value in rows:
        print(f"  {name:<38} {value}")


# --- dragging -----------------------------------------------------------------------------------


_CIRCLES = """async ([x, y, ms]) => {
    const { canvas } = studio.plan.viewport, begin = performance.now();
    let moves = 0;
    while (performance.now() - begin < ms) {
        await new Promise(requestAnimationFrame);
        const clientX = x + 70 * Math.cos(0.05 * moves) - 70;
        const clientY = y + 30 * Math.sin(0.05 * moves);
        const options = { clientX, clientY, pointerType: "mouse", buttons: 1, bubbles: true };
        canvas.dispatchEvent(new PointerEvent("pointermove", options));
        moves++;
    }
    return [(performance.now() - begin) / 1000, moves];
}"""


def drag(page: Any, key: str, seconds: float) -> dict[str, Any]:
    """Move a device or server in circles at the frame rate; return what the page measured."""
    x, y = screen_position(page, key)
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(
        "studio.plan.replanner.answers.length = 0; studio.plan.viewport.frames.length = 0;"
        "studio.plan.whatIf.answers.length = 0"
    )
    elapsed_s, moves = page.evaluate(_CIRCLES, [x, y, 1000 * seconds])
    measured = page.evaluate(
        "({answers: [...studio.plan.replanner.answers, ...studio.plan.whatIf.answers],"
        " frames: studio.plan.viewport.frames})"
    )
    page.mouse.up()
    trips = [answer["roundTrip"] for answer in measured["answers"]]
    frames = np.diff(measured["frames"])
    return {"plans": len(trips) / elapsed_s, "trip": median(trips), "moves": moves / elapsed_s,
            "frames": frames}  # fmt: skip


def dragging(title: str, request: dict[str, Any], key: str | None = None) -> None:
    """Measure plans per second while a device, or what has this key, is dragged."""
    key = key or f"device:{request['devices'][2]['id']}"
    with (
        tempfile.TemporaryDirectory() as folder,
        studio(Path(folder)) as (address, pid),
        open_browser() as browser,
    ):
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(120_000)
        page.goto(f"{address}/#plan")
        page.wait_for_selector('.plan[data-status="optimal"]')
        page.evaluate(
            "([name, text]) => studio.plan.open(name, text)", ["it.json", json.dumps(request)]
        )
        until(page, f"studio.plan.model.plan?.devices.length === {len(request['devices'])}")
        page.wait_for_timeout(1500)
        drag(page, key, 2.0)
        before = cpu_s(pid)
        measured = drag(page, key, SECONDS)
        server = cpu_s(pid) - before
        answer = page.evaluate(
            "({gap: studio.plan.model.plan.gap, s: studio.plan.model.plan.solve_seconds})"
        )
    count = measured["plans"] * SECONDS
    show(title, [
        ("plans a second, end to end", f"{measured['plans']:.1f}"),
        ("there and back, median", f"{measured['trip']:.1f} ms"),
        ("pointer moves a second", f"{measured['moves']:.1f}"),
        ("frames a second", f"{1000 / np.mean(measured['frames']):.1f}"),
        ("last plan: solver, proven gap", f"{1e3 * answer['s']:.1f} ms, {answer['gap']:.1e}"),
        ("server's processor time per plan", f"{1e3 * server / max(count, 1):.1f} ms"),
    ])  # fmt: skip


def large_request(count: int) -> dict[str, Any]:
    """Return a request with many devices in a wide region."""
    rng = np.random.default_rng(3)
    positions = rng.uniform(0, 1, (count, 3)) * [300, 300, 60]
    positions[: count // 2, 2] = 0
    devices = [
        {"id": f"d{n}", "position_m": [round(c, 1) for c in position]}
        for n, position in enumerate(positions.tolist())
    ]
    return {"region_m": [300, 300, 100], "server": {"position_m": [150, 150, 50]},
            "devices": devices}  # fmt: skip


# --- replay -------------------------------------------------------------------------------------


def write_run(folder: Path, rounds: int, count: int) -> None:
    """Write the events of a long run whose devices leave and enter."""
    rng = np.random.default_rng(5)
    folder.mkdir(parents=True)
    scenario = {"name": "long", "region_m": [100, 100, 100], "max_delay_s": 0.06,
                "learning": {"rounds": rounds, "dataset": "none"}}  # fmt: skip
    lines = [{"event": "start", "schema": 1, "scenario": scenario, "method": "sc-dn", "seed": 0,
              "versions": {}}]  # fmt: skip
    present = {f"d{n}": rng.uniform(0, 100, 3).tolist() for n in range(count)}
    next_id, server = count, np.array([50.0, 50.0, 50.0])
    for number in range(rounds):
        server = np.clip(server + rng.normal(0, 5, 3), 1, 99)
        exited = [name for name in present if rng.uniform() < 0.01]
        devices = [
            {"id": name, "position_m": spot, "active": True, "reason": None, "iterations": 3,
             "power_w": float(rng.uniform(0, 0.3)), "cpu_hz": 1e9, "delay_s": 0.06,
             "transmission_j": 0.01, "processing_j": 0.5, "bits_sent": 1e6, "importance": 1.0,
             "smoothness": 0.5, "survival": 0.99}
            for name, spot in present.items()
        ]  # fmt: skip
        entered = [f"d{next_id + n}" for n in range(len(exited))]
        lines.append({"event": "round", "round": number, "active": list(present),
                      "entered": entered, "exited": exited, "link_failed": [], "devices": devices,
                      "server": {"position_m": server.tolist(), "movement_j": 1.0},
                      "metrics": {"train_loss": 1.0, "test_loss": 1.0,
                                  "top3": 100 * (1 - math.exp(-number / 60))},
                      "plan": {"objective": 1.0, "gap": 1e-3, "solve_seconds": 0.01},
                      "seconds": 0.1})  # fmt: skip
        for name in exited:
            del present[name]
        for name in entered:
            present[name] = rng.uniform(0, 100, 3).tolist()
        next_id += len(exited)
    lines.append({"event": "end", "status": "done", "rounds": rounds, "metrics": None,
                  "energy": {}})  # fmt: skip
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "events.jsonl").write_text(text)


@contextmanager
def long_run() -> Iterator[tuple[Any, float, float]]:
    """Open a run of 300 rounds with 50 devices; yield the page, MiB of events, seconds to load."""
    with tempfile.TemporaryDirectory() as folder:
        write_run(Path(folder) / "long", 300, 50)
        size = (Path(folder) / "long" / "events.jsonl").stat().st_size / 2**20
        with studio(Path(folder)) as (address, _), open_browser() as browser:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(120_000)
            begin = time.perf_counter()
            page.goto(f"{address}/#run")
            page.wait_for_selector('.runs[data-over="true"][data-rounds="300"]')
            yield page, size, time.perf_counter() - begin


_SCRUB = """async ms => {
    const strip = document.querySelector(".strip"), box = strip.getBoundingClientRect();
    const point = (kind, part) => strip.dispatchEvent(new PointerEvent(kind, { pointerId: 1,
        pointerType: "mouse", buttons: 1, bubbles: true, clientY: box.top + 5,
        clientX: box.left + box.width * part }));
    strip.setPointerCapture = () => {};
    strip.hasPointerCapture = () => true;
    const times = [], rounds = new Set(), begin = performance.now();
    point("pointerdown", 0);
    while (performance.now() - begin < ms) {
        times.push(await new Promise(requestAnimationFrame));
        const turn = (performance.now() - begin) / 5000;  // the strip once in five seconds
        point("pointermove", Math.abs((2 * turn + 1) % 2 - 1));
        rounds.add(studio.run.time);
    }
    return [times, rounds.size];
}"""


def scrub() -> None:
    """Measure frame times while the timeline of 300 rounds with 50 devices is dragged."""
    with long_run() as (page, _, _):
        page.wait_for_timeout(1000)
        page.evaluate("studio.run.viewport.frames.length = 0")
        times, rounds = page.evaluate(_SCRUB, 1000 * SECONDS)
        drawn = np.diff(page.evaluate("studio.run.viewport.frames"))
    frames = np.diff(times)
    show("Scrubbing 300 rounds of 50 devices", [
        ("frames of the page a second", f"{1000 / frames.mean():.1f}"),
        ("95 of 100 within", f"{np.quantile(frames, 0.95):.1f} ms"),
        ("3-D pictures a second", f"{1000 / drawn.mean():.1f}"),
        ("95 of 100 within", f"{np.quantile(drawn, 0.95):.1f} ms"),
        ("rounds that were shown", str(rounds)),
    ])  # fmt: skip


def replay() -> None:
    """Measure frame times while 300 rounds with 50 devices are replayed."""
    with long_run() as (page, size, loading_s):
        page.get_by_label("Speed").select_option("30")
        page.get_by_role("button", name="Play").click()
        page.wait_for_timeout(1000)
        page.evaluate("studio.run.viewport.frames.length = 0")
        page.wait_for_timeout(int(1000 * SECONDS * 0.8))
        frames = np.diff(page.evaluate("studio.run.viewport.frames"))
    show("Replay, 300 rounds of 50 devices at 30 rounds a second", [
        ("events", f"{size:.1f} MiB, on the page after {loading_s:.1f} s"),
        ("frames a second", f"{1000 / frames.mean():.1f}"),
        ("time between frames, median", f"{np.median(frames):.1f} ms"),
        ("95 of 100 within", f"{np.quantile(frames, 0.95):.1f} ms"),
    ])  # fmt: skip


# --- load ---------------------------------------------------------------------------------------


async def request_plans(address: str, per_second: int, seconds: float) -> tuple[list[float], int]:
    """Send plan requests at a steady rate; return the times of answers, and how many failed."""
    text, times, failed = json.dumps(REQUEST), list[float](), 0

    async def one(client: httpx.AsyncClient) -> None:
        nonlocal failed
        begin = time.perf_counter()
        try:
            answer = await client.post(f"{address}/api/plan?gap=1e-2", content=text)
            assert answer.json()["status"] == "optimal"
            times.append(time.perf_counter() - begin)
        except (httpx.HTTPError, AssertionError, KeyError):
            failed += 1

    async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=50)) as client:
        begin, sent = time.perf_counter(), set[asyncio.Task[None]]()
        for number in range(int(per_second * seconds)):
            await asyncio.sleep(max(0.0, begin + number / per_second - time.perf_counter()))
            sent.add(asyncio.create_task(one(client)))
        await asyncio.gather(*sent)
    return times, failed


async def follow_run(address: str, seen: list[int]) -> None:
    """Append the length of each line of a live run until it ends."""
    async with (
        httpx.AsyncClient(timeout=None) as client,  # noqa: S113
        client.stream("GET", f"{address}/api/events?run=live") as stream,
    ):
        async for line in stream.aiter_lines():
            seen += [len(line)] * (line.startswith("data: {") and '"event"' in line)


async def append_slowly(path: Path, lines: list[str], seconds: float) -> None:
    """Append the lines of a run to a file, spread over some seconds."""
    for line in lines:
        with path.open("a") as file:
            file.write(line + "\n")
        await asyncio.sleep(seconds / len(lines))


async def load_server(address: str, pid: int, runs: Path, seconds: float) -> None:
    """Send plan requests and follow a growing run with ten viewers, all at once."""
    write_run(runs / "made", 300, 50)
    lines = (runs / "made" / "events.jsonl").read_text().splitlines()
    (runs / "live").mkdir()
    path = runs / "live" / "events.jsonl"
    path.write_text(lines[0] + "\n")
    await request_plans(address, 20, 5)  # memory that is loaded once is no growth
    before, viewers = resident_mib(pid), [list[int]() for _ in range(10)]
    used = cpu_s(pid)
    watching = [asyncio.create_task(follow_run(address, seen)) for seen in viewers]
    growing = asyncio.create_task(append_slowly(path, lines[1:], seconds))
    half = await request_plans(address, 20, seconds / 2)
    middle = resident_mib(pid)
    rest = await request_plans(address, 20, seconds / 2)
    await growing
    await asyncio.gather(*watching)
    after = resident_mib(pid)
    times, failed = half[0] + rest[0], half[1] + rest[1]
    show(f"20 plans a second for {seconds:.0f} s, ten live viewers", [
        ("plans answered, failed", f"{len(times)}, {failed}"),
        ("time of an answer, median and 99 of 100",
         f"{1e3 * median(times):.0f} ms, {1e3 * float(np.quantile(times, 0.99)):.0f} ms"),
        ("lines each viewer saw of " + str(len(lines)),
         ", ".join(sorted({str(len(seen)) for seen in viewers}))),
        ("memory before, half-way, after",
         f"{before:.0f}, {middle:.0f}, {after:.0f} MiB"),
        ("server's share of one core", f"{(cpu_s(pid) - used) / seconds:.0%}"),
    ])  # fmt: skip


def load(seconds: float = 60.0) -> None:
    """Measure the server under the load of many users."""
    with tempfile.TemporaryDirectory() as folder, studio(Path(folder)) as (address, pid):
        asyncio.run(load_server(address, pid, Path(folder), seconds))


def main() -> None:
    """Run the named parts, or all."""
    parts = {
        "drag": lambda: dragging("Dragging one of 10 devices", REQUEST),
        "what-if": lambda: dragging(
            "Dragging the planned server of 10 devices", REQUEST, "planned"
        ),
        "many": lambda: dragging("Dragging one of 500 devices", large_request(500)),
        "crowd": lambda: dragging("Dragging one of 1,000 devices", large_request(1000)),
        "replay": replay,
        "scrub": scrub,
        "load": load,
    }
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
