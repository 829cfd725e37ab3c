"""Server-sent events: a run's events as they are written, and the curves of a comparison."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from threading import Lock
from typing import Any

import anyio
from anyio.to_thread import run_sync

from scdn.record.file_tail import FileTail
from scdn.record.round_totals import round_totals
from scdn.record.run_reader import EVENTS, Event
from scdn.record.run_tables import round_row
from scdn.studio.planner import compact_json
from scdn.studio.run_folders import RunsFolder

_POLL_S = 0.25
_HEARTBEAT_S = 15.0
_HEARTBEAT = b": still here\n\n"  # a comment, so that a lost connection is noticed
_POINT_FIELDS = (
    *("round", "top1", "top3", "macro_f1", "mse", "test_loss"),
    *("iterations", "executed_iterations", "active", "present"),
)
_MAX_CACHED_RUNS = 512
_END = re.compile(rb'"event": ?"end"')


def server_sent_event(event: str, data: bytes) -> bytes:
    """Return one server-sent event."""
    return b"event: " + event.encode() + b"\ndata: " + data + b"\n\n"


async def stream_events(folder: Path, follow: bool) -> AsyncIterator[bytes]:
    """Yield the lines of a run's events file, and new ones as they are written until it ends.

    `begin` says that the lines start again from the first: once at the beginning, and whenever a
    resumed run was cut back to its checkpoint. `over` says that nothing will follow.
    """
    tail = FileTail(folder / EVENTS)
    yield server_sent_event("begin", b"{}")

    def poll() -> tuple[bool, list[bytes]]:
        return tail.replaced(), tail.lines()

    async for restarted, lines in _poll_repeatedly(poll, any, follow):
        if restarted:
            yield server_sent_event("begin", b"{}")
        yield b"".join(server_sent_event("line", line) for line in lines) or _HEARTBEAT
        if lines and _END.search(lines[-1][:40]):
            break
    yield server_sent_event("over", b"{}")


async def _poll_repeatedly(
    poll: Callable[[], Any], has_news: Callable[[Any], bool], follow: bool
) -> AsyncIterator[Any]:
    """Yield what `poll` returns when it has news, and now and then when it has none."""
    last = time.monotonic()
    while True:
        try:
            result = await run_sync(poll)
        except OSError:  # the run was removed
            return
        news = has_news(result)
        if news or time.monotonic() - last > _HEARTBEAT_S:
            last = time.monotonic()
            yield result
        elif not follow:
            return
        if not news:
            await anyio.sleep(_POLL_S)


class RoundPoints:
    """The rounds of a run as a few numbers each, read once for all viewers."""

    def __init__(self, folder: Path) -> None:
        self._tail, self._lock = FileTail(folder / EVENTS), Lock()
        self.generation = 0  # how often the file was replaced
        self.head: dict[str, Any] = {}
        self.points: list[dict[str, Any]] = []
        self.over = False

    def refresh(self) -> None:
        """Read the lines that are new."""
        with self._lock:
            if self._tail.replaced():
                self.points, self.over = [], False
                self.generation += 1
            while lines := self._tail.lines():
                for line in lines:
                    self._add(line)

    def _add(self, line: bytes) -> None:
        try:
            event = json.loads(line)
            match event["event"]:
                case "start":
                    self.head = _head(event)
                case "round":
                    self.points.append(self._point(event))
                case "end":
                    self.over = True
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return  # the list of runs names the file that cannot be read

    def _point(self, event: Event) -> dict[str, Any]:
        row = round_row(event)
        fields = dict.fromkeys((*_POINT_FIELDS, self.head.get("score", {}).get("metric")))
        joules = round_totals(event).joules
        joules += self.points[-1]["joules"] if self.points else 0.0
        numbers = {key: row[key] for key in fields if key in row} | {"joules": joules}
        return {key: v if math.isfinite(v) else None for key, v in numbers.items()}


def _head(start: Event) -> dict[str, Any]:
    rounds = start["scenario"]["learning"]["rounds"]
    head = {"method": start["method"], "seed": start["seed"], "rounds": rounds}
    score = start.get("score")
    return head if score is None else {**head, "score": score}


class LiveCurves:
    """The points of the runs below a folder, shared by all viewers."""

    def __init__(self, runs: RunsFolder) -> None:
        self._runs = runs
        self._cache: dict[Path, RoundPoints] = {}
        self._lock = Lock()

    def _refreshed(self, folder: Path) -> dict[str, RoundPoints]:
        """Return the runs of a study or below a folder by name, read up to now."""
        runs = {}
        for path in self._runs.run_folders_of(folder):
            with self._lock:
                run = self._cache.setdefault(path, RoundPoints(path))
                if len(self._cache) > _MAX_CACHED_RUNS:
                    self._cache.pop(next(iter(self._cache)))
            try:
                run.refresh()
            except OSError:
                continue
            runs[self._runs.name(path)] = run
        return runs

    async def stream(self, folder: Path, follow: bool) -> AsyncIterator[bytes]:
        """Yield the points of all runs below a folder as they are written."""
        sent: dict[str, tuple[int, int, bool]] = {}  # generation, points and end that were sent

        def poll() -> list[dict[str, Any]]:
            news = []
            for name, run in self._refreshed(folder).items():
                generation, count, over = sent.get(name, (-1, 0, False))
                first = generation != run.generation
                points, ended = run.points[0 if first else count :], run.over
                if points or first or ended != over:
                    news.append({"run": name, **run.head, "first": first, "points": points,
                                 "over": ended})  # fmt: skip
                    count = 0 if first else count
                    sent[name] = (run.generation, count + len(points), ended)
            return news

        async for news in _poll_repeatedly(poll, bool, follow):
            messages = [server_sent_event("points", compact_json(entry)) for entry in news]
            yield b"".join(messages) or _HEARTBEAT
        yield server_sent_event("over", b"{}")
