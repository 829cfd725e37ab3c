"""Live views: a run's events as they are written, and curves of all runs of a comparison."""

from __future__ import annotations

import json
import math
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from threading import Lock
from typing import Any

import anyio
from anyio.to_thread import run_sync

from scdn.record.frames import TERMS, round_row
from scdn.record.read import EVENTS
from scdn.studio.places import found_below, name_of
from scdn.studio.planning import as_json
from scdn.studio.tail import Tail

_PAUSE_S = 0.25
_BEAT_S = 15.0
_STILL_HERE = b": still here\n\n"  # a comment, so that a lost connection is noticed


def message(event: str, data: bytes) -> bytes:
    """One server-sent event."""
    return b"event: " + event.encode() + b"\ndata: " + data + b"\n\n"


async def events(folder: Path, follow: bool) -> AsyncIterator[bytes]:
    """Every line of a run as it is, then what is added, until it ends.

    `begin` says that what follows starts from the first line: at first, and when a resumed run has
    been cut back to its checkpoint. `over` says that nothing will follow.
    """
    tail = Tail(folder / EVENTS)
    yield message("begin", b"{}")

    def look() -> tuple[bool, list[bytes]]:
        return tail.replaced(), tail.lines()

    async for again, lines in _following(look, any, follow):
        if again:
            yield message("begin", b"{}")
        yield b"".join(message("line", line) for line in lines) or _STILL_HERE
        if lines and _ends(lines[-1]):
            break
    yield message("over", b"{}")


def _ends(line: bytes) -> bool:
    return b'"event": "end"' in line[:40] or b'"event":"end"' in line[:40]


async def _following(
    look: Callable[[], Any], news: Callable[[Any], bool], follow: bool
) -> AsyncIterator[Any]:
    """What `look` finds, while there is news; then now and then, with a sign of life between."""
    last = time.monotonic()
    while True:
        try:
            found = await run_sync(look)
        except OSError:  # the run was removed
            return
        busy = news(found)
        if busy or time.monotonic() - last > _BEAT_S:
            last = time.monotonic()
            yield found
        elif not follow:
            return
        if not busy:
            await anyio.sleep(_PAUSE_S)


class PointLog:
    """A run's rounds in few numbers, read once for all viewers."""

    def __init__(self, folder: Path) -> None:
        self._tail, self._lock = Tail(folder / EVENTS), Lock()
        self.generation = 0
        self.head: dict[str, Any] = {}
        self.points: list[dict[str, Any]] = []
        self.over = False

    def refresh(self) -> None:
        """Takes in what is new."""
        with self._lock:
            if self._tail.replaced():
                self.points, self.over = [], False
                self.generation += 1
            while lines := self._tail.lines():
                for line in lines:
                    self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            event = json.loads(line)
            match event["event"]:
                case "start":
                    learning = event["scenario"]["learning"]
                    self.head = {"method": event["method"], "seed": event["seed"],
                                 "rounds": learning["rounds"]}  # fmt: skip
                case "round":
                    self.points.append(_point(event, self.points[-1:]))
                case "end":
                    self.over = True
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return  # the list of runs says which file cannot be read


def _point(event: dict[str, Any], before: list[dict[str, Any]]) -> dict[str, Any]:
    row = round_row(event)
    kept = ("round", "top1", "top3", "mse", "test_loss", "iterations", "active", "present")
    joules = sum(row[term] for term in TERMS) + (before[0]["joules"] if before else 0.0)
    numbers = {key: row[key] for key in kept if key in row} | {"joules": joules}
    return {key: v if math.isfinite(v) else None for key, v in numbers.items()}


class Curves:
    """The points of every run below a folder, shared by all who watch."""

    def __init__(self, runs: Path) -> None:
        self._runs = runs.resolve()
        self._logs: dict[Path, PointLog] = {}
        self._lock = Lock()

    def logs(self, folder: Path) -> dict[str, PointLog]:
        """The runs below a folder, read up to now."""
        found = {}
        for path in found_below(self._runs, folder):
            with self._lock:
                log = self._logs.setdefault(path, PointLog(path))
                if len(self._logs) > 512:  # the oldest are read again when they are asked for
                    self._logs.pop(next(iter(self._logs)))
            try:
                log.refresh()
            except OSError:
                continue
            found[name_of(self._runs, path)] = log
        return found

    async def watch(self, folder: Path, follow: bool) -> AsyncIterator[bytes]:
        """Points of all runs below a folder as they come."""
        sent: dict[str, tuple[int, int, bool]] = {}

        def look() -> list[dict[str, Any]]:
            news = []
            for name, log in self.logs(folder).items():
                generation, count, over = sent.get(name, (-1, 0, False))
                if generation != log.generation:
                    count = 0
                points, ended = log.points[count:], log.over
                if points or ended != over or generation != log.generation:
                    first = generation != log.generation
                    news.append({"run": name, **log.head, "first": first, "points": points,
                                 "over": ended})  # fmt: skip
                    sent[name] = (log.generation, count + len(points), ended)
            return news

        async for news in _following(look, bool, follow):
            yield b"".join(message("points", as_json(entry)) for entry in news) or _STILL_HERE
        yield message("over", b"{}")
