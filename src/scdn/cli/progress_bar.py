"""Progress of a long command: a bar on a terminal, lines of text elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

from scdn.record.headline_metric import headline

_WIDTH = 24


class ProgressBar:
    """Shows how many steps are done and estimates the time left.

    Without a terminal it prints about `lines` lines in total, or one a step where that is None.
    """

    def __init__(self, lines: int | None = None, began: float | None = None) -> None:
        self._lines = lines
        self._began = time.monotonic() if began is None else began
        self._live = sys.stderr.isatty()
        self._done_before: int | None = None

    def show(self, count: int, total: int, text: str) -> None:
        """Show that `count` of `total` steps are done."""
        if self._done_before is None:
            self._done_before = count - 1  # a resumed run does not begin at 0
        line = f"{count}/{total}  {text}  {self._time_left(count, total)}"
        every = max(1, total // (self._lines or total))
        if self._live:
            filled = round(_WIDTH * count / total)
            bar = "█" * filled + "░" * (_WIDTH - filled)
            end = "\n" if count == total else ""
            sys.stderr.write(f"\r\033[K{bar} {line}{end}")
        elif count % every == 0 or count == total:
            sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    def _time_left(self, count: int, total: int) -> str:
        elapsed_s = time.monotonic() - self._began
        if count == total:
            return f"{elapsed_s:.0f} s in total"
        done = count - (self._done_before or 0)
        return f"{elapsed_s / max(done, 1) * (total - count):.0f} s left"


def format_score(start: Mapping[str, Any], metrics: Mapping[str, Any] | None) -> str:
    """Return the headline score of a run with this start event as text."""
    if not metrics:
        return "no score"
    shown = headline(start, metrics)
    return shown.format(metrics[shown.metric])
