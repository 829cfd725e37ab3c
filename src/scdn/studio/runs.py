"""The list of runs, read from the first and the last line of each."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from scdn.record.read import EVENTS
from scdn.studio.forms import RunForm, Status
from scdn.studio.places import found_below, name_of, study_of
from scdn.studio.settings import MAX_RUNS
from scdn.studio.tail import first_line, last_line

_FRESH_S = 20.0  # a file written this lately belongs to a run that goes on
_KEPT_S = 0.5  # several viewers share one look at the disk


@dataclass(frozen=True)
class _Glance:
    stamp: tuple[int, int, int]  # inode, size, time: what a file must keep to be the same
    form: RunForm


class RunIndex:
    """What is below the runs directory, looked at again when files have changed."""

    def __init__(self, runs: Path) -> None:
        self._runs = runs.resolve()
        self._seen: dict[Path, _Glance] = {}
        self._listed: tuple[float, list[RunForm]] = (-1.0, [])
        self._lock = Lock()

    def forms(self) -> list[RunForm]:
        """Every run, the latest first."""
        with self._lock:
            if time.monotonic() - self._listed[0] > _KEPT_S:
                self._listed = (time.monotonic(), self._look())
            return self._listed[1]

    def _look(self) -> list[RunForm]:
        forms, seen = [], {}
        for folder in found_below(self._runs, self._runs):
            path = folder / EVENTS
            try:
                state = path.stat()
                stamp = (state.st_ino, state.st_size, state.st_mtime_ns)
                known = self._seen.get(folder)
                if known is None or known.stamp != stamp:
                    known = _Glance(stamp, glance(self._runs, folder, state.st_mtime))
            except OSError:
                continue
            seen[folder] = known
            forms.append(_aged(known.form))
        self._seen = seen
        return sorted(forms, key=lambda form: (-form.updated, form.run))


def shown(forms: list[RunForm]) -> tuple[list[RunForm], int]:
    """As many as a page takes, and how many are left out."""
    return forms[:MAX_RUNS], max(0, len(forms) - MAX_RUNS)


def _aged(form: RunForm) -> RunForm:
    if form.status == "running" and time.time() - form.updated > _FRESH_S:
        return form.model_copy(update={"status": "unfinished"})
    return form


def glance(runs: Path, folder: Path, updated: float) -> RunForm:
    """A run by its first and last line; a fault where they cannot be read."""
    name = name_of(runs, folder)
    common: dict[str, Any] = {"run": name, "study": study_of(name), "job": None, "updated": updated}
    try:
        start = _table(first_line(folder / EVENTS))
        last = _table(last_line(folder / EVENTS))
        scenario = start["scenario"]
        status: Status = "running"
        if last["event"] == "end":
            status = "diverged" if last.get("status") == "diverged" else "done"
        done = last["rounds"] if last["event"] == "end" else last.get("round", -1) + 1
        return RunForm(
            name=str(scenario.get("name") or name),
            method=start["method"],
            seed=start["seed"],
            status=status,
            rounds=scenario["learning"]["rounds"],
            done=done,
            dataset=scenario["learning"].get("dataset"),
            score=_score(last.get("metrics")),
            fault=None,
            **common,
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return RunForm(name=name, method="", seed=0, status="unfinished", rounds=0, done=0,
                       dataset=None, score=None, fault="events.jsonl cannot be read",
                       **common)  # fmt: skip


def _table(line: bytes) -> dict[str, Any]:
    found = json.loads(line)
    if not isinstance(found, dict):
        raise TypeError
    return found


def _score(metrics: Any) -> str | None:
    """The metric that counts, in words."""
    if not isinstance(metrics, dict):
        return None
    for key, words in (
        ("top3", "{:.1f} % top-3"),
        ("top1", "{:.1f} % top-1"),
        ("mse", "MSE {:.4f}"),
    ):
        if isinstance(metrics.get(key), int | float):
            return words.format(metrics[key])
    return None
