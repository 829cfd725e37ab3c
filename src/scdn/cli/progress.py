"""How far a long command is: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

_WIDTH = 24


class Progress:
    """Counts to `total` and says how long it will take."""

    def __init__(self, total: int, lines: int = 10, began: float | None = None) -> None:
        self.total = total
        self.began = time.monotonic() if began is None else began
        self.live = sys.stderr.isatty()
        self._every = max(1, total // lines)
        self._first: int | None = None

    def show(self, count: int, words: str) -> None:
        """`count` of the total is done."""
        if self._first is None:
            self._first = count - 1  # a resumed run does not begin at 0
        left = self._left(count)
        if self.live:
            filled = round(_WIDTH * count / self.total)
            bar = "█" * filled + "░" * (_WIDTH - filled)
            end = "\n" if count == self.total else ""
            sys.stderr.write(f"\r\033[K{bar} {count}/{self.total}  {words}  {left}{end}")
        elif count % self._every == 0 or count == self.total:
            sys.stderr.write(f"{count}/{self.total}  {words}  {left}\n")
        sys.stderr.flush()

    def _left(self, count: int) -> str:
        spent = time.monotonic() - self.began
        done = count - (self._first or 0)
        if count == self.total:
            return f"{spent:.0f} s in all"
        return f"{spent / max(done, 1) * (self.total - count):.0f} s left"


def score(metrics: dict[str, Any] | None) -> str:
    """The score that people look at."""
    if not metrics:
        return "no score"
    return f"top-3 {metrics['top3']:.1f} %" if "top3" in metrics else f"mse {metrics['mse']:.4f}"
