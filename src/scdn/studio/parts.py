"""What the studio's routes share: its parts, and the forms of answers that go wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from anyio import CapacityLimiter

from scdn.studio.forms import Faults
from scdn.studio.jobs import BusyError, Jobs
from scdn.studio.planning import Planner
from scdn.studio.runs import RunIndex
from scdn.studio.settings import MAX_VIEWERS, Settings
from scdn.studio.streams import Curves

Responses = dict[int | str, dict[str, Any]]

WRONG: Responses = {422: {"model": Faults}}
MISSING: Responses = {**WRONG, 404: {"model": Faults}}
BUSY: Responses = {**MISSING, 429: {"model": Faults}}

_QUICK_AT_ONCE = 4  # plans that say they take a moment …
_SLOW_AT_ONCE = 2  # … do not wait for those that may take long


class Viewers:
    """Counts open streams, so that they cannot be opened without end."""

    def __init__(self) -> None:
        self._open = 0

    def counted(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The same stream, counted while it is open."""
        if self._open >= MAX_VIEWERS:
            raise BusyError(f"{MAX_VIEWERS} views are open already")
        return self._counted(stream)

    async def _counted(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        self._open += 1
        try:
            async for piece in stream:
                yield piece
        finally:
            self._open -= 1


@dataclass(frozen=True)
class Parts:
    """What a studio is made of."""

    settings: Settings
    planner: Planner
    jobs: Jobs
    index: RunIndex
    curves: Curves
    viewers: Viewers = field(default_factory=Viewers)
    quick: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(_QUICK_AT_ONCE))
    slow: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(_SLOW_AT_ONCE))

    @classmethod
    def of(cls, settings: Settings) -> Parts:
        """The parts of a studio with these settings."""
        runs = settings.runs
        return cls(settings, Planner(), Jobs(runs), RunIndex(runs), Curves(runs))
