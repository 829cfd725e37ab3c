"""Progress of a long command: a bar on a terminal, lines of text elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from scdn.record.headline_metric import headline

_WIDTH = 24


class Work(NamedTuple):
    """Units of work: done before the command began, done now, and in total."""

    before: int
    now: int
    total: int

    def seconds_left(self, elapsed_s: float) -> float:
        """Return how long the rest takes, at the speed since the command began."""
        return elapsed_s / max(self.now - self.before, 1) * (self.total - self.now)


class ProgressBar:
    """Shows how many steps are done and estimates the time left.

    Without a terminal it prints about `lines` lines in total, or one a step where that is None.
    What was done before the command began does not count as its speed: by default all but the
    first step that is shown, since a resumed run does not begin at 0.
    """

    def __init__(self, lines: int | None = None, began: float | None = None) -> None:
        self._lines = lines
        self._began = time.monotonic() if began is None else began
        self._live = sys.stderr.isatty()
        self._done_before: int | None = None

    def show(self, count: int, total: int, text: str, work: Work | None = None) -> None:
        """Show that `count` of `total` steps are done.

        `work` is the same in a finer unit, from which the time left is estimated.
        """
        if work is None:
            if self._done_before is None:
                self._done_before = count - 1
            work = Work(self._done_before, count, total)
        elapsed_s = time.monotonic() - self._began
        if count == total:
            time_text = f"{format_duration(elapsed_s)} in total"
        else:
            time_text = f"{format_duration(work.seconds_left(elapsed_s))} left"
        line = f"{count}/{total}  {text}  {time_text}"
        every = max(1, total // (self._lines or total))
        if self._live:
            filled = round(_WIDTH * count / total)
            bar = "█" * filled + "░" * (_WIDTH - filled)
            end = "\n" if count == total else ""
            sys.stderr.write(f"\r\033[K{bar} {line}{end}")
        elif count % every == 0 or count == total:
            sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def format_duration(seconds: float) -> str:
    """Return a duration in seconds, in minutes from 100 s on, in hours from 100 minutes on."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def format_score(start: Mapping[str, Any], metrics: Mapping[str, Any] | None) -> str:
    """Return the headline score of a run with this start event as text."""
    if not metrics:
        return "no score"
    shown = headline(start, metrics)
    return shown.format(metrics[shown.metric])
