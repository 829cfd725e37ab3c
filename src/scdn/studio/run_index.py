"""The list of runs, read from the first and the last line of each."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from threading import Lock
from typing import Any

from scdn.record.file_tail import first_line, last_line
from scdn.record.headline_metric import headline, metrics_of_run
from scdn.record.run_reader import EVENTS, Event
from scdn.studio.api_models import RunInfo, RunStatus, RunTarget
from scdn.studio.run_folders import RunsFolder, study_folder
from scdn.studio.run_notes import NOTES, read_note

_RUNNING_S = 20.0  # a run whose file was written this recently is still running
_CACHED_S = 0.5  # several viewers share one scan of the disk


_Stamp = tuple[int, ...]  # inode, size, time of events and note: unchanged as long as the files are


class RunIndex:
    """The runs below the runs directory; a run is read again when its file has changed."""

    def __init__(self, runs: RunsFolder) -> None:
        self._runs = runs
        self._cache: dict[Path, tuple[_Stamp, RunInfo]] = {}
        self._listed: tuple[float, list[RunInfo]] = (-1.0, [])
        self._lock = Lock()

    def runs(self) -> list[RunInfo]:
        """Return every run, the latest first."""
        with self._lock:
            if time.monotonic() - self._listed[0] > _CACHED_S:
                self._listed = (time.monotonic(), self._scan())
            return self._listed[1]

    def forget(self) -> None:
        """Scan the disk again at the next request."""
        with self._lock:
            self._listed = (-1.0, [])

    def _scan(self) -> list[RunInfo]:
        cache = {}
        for folder in self._runs.run_folders():
            try:
                state = (folder / EVENTS).stat()
                stamp = (*_stamp(state), *_note_stamp(folder))
                cached = self._cache.get(folder)
                if cached is None or cached[0] != stamp:
                    cached = stamp, _read_info(self._runs.name(folder), folder, state.st_mtime)
            except OSError:
                continue
            cache[folder] = cached
        self._cache = cache
        infos = [_with_age(info) for _, info in cache.values()]
        return sorted(infos, key=lambda info: (-info.updated, info.run))


def _stamp(state: os.stat_result) -> _Stamp:
    return state.st_ino, state.st_size, state.st_mtime_ns


def _note_stamp(folder: Path) -> _Stamp:
    try:
        return _stamp((folder / NOTES).lstat())
    except OSError:
        return ()


def _with_age(info: RunInfo) -> RunInfo:
    if info.status == "running" and time.time() - info.updated > _RUNNING_S:
        return info.model_copy(update={"status": "unfinished"})
    return info


def _read_info(name: str, folder: Path, updated: float) -> RunInfo:
    """Describe a run by its first and last line, or say that they cannot be read."""
    common: dict[str, Any] = {
        "run": name, "study": study_folder(name), "job": None, "updated": updated,
        "note": read_note(folder),
    }  # fmt: skip
    try:
        start = _parse_event(first_line(folder / EVENTS))
        last = _parse_event(last_line(folder / EVENTS))
        scenario = start["scenario"]
        status: RunStatus = "running"
        if last["event"] == "end":
            status = "diverged" if last.get("status") == "diverged" else "done"
        done = last["rounds"] if last["event"] == "end" else last.get("round", -1) + 1
        return RunInfo(
            name=str(scenario.get("name") or name),
            method=start["method"],
            seed=start["seed"],
            status=status,
            rounds=scenario["learning"]["rounds"],
            done=done,
            dataset=scenario["learning"].get("dataset"),
            score=_score(start, last.get("metrics")),
            targets=_targets(start, last.get("targets") or []),
            fault=None,
            **common,
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return RunInfo(name=name, method="", seed=0, status="unfinished", rounds=0, done=0,
                       dataset=None, score=None, targets=[], fault="events.jsonl cannot be read",
                       **common)  # fmt: skip


def _parse_event(line: bytes) -> Event:
    event = json.loads(line)
    if not isinstance(event, dict):
        raise TypeError
    return event


def _targets(start: Event, results: list[Event]) -> list[RunTarget]:
    metrics, targets = metrics_of_run(start), []
    for result in results:
        metric, value = result["metric"], result["value"]
        label = metrics[metric].format_target(value) if metric in metrics else f"{metric} {value}"
        targets.append(RunTarget(**result, label=label))
    return targets


def _score(start: Event, metrics: Any) -> str | None:
    if not isinstance(metrics, dict):
        return None
    shown = headline(start, metrics)
    value = metrics.get(shown.metric)
    return shown.format(value) if isinstance(value, int | float) else None
