"""The objects that the studio's routes share, and the error responses that they declare."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from anyio import CapacityLimiter

from scdn.studio.api_models import Faults
from scdn.studio.event_streams import LiveCurves
from scdn.studio.planner import Planner
from scdn.studio.run_folders import RunsFolder
from scdn.studio.run_index import RunIndex
from scdn.studio.run_jobs import RunJobs, TooManyError
from scdn.studio.settings import MAX_VIEWERS, StudioSettings

Responses = dict[int | str, dict[str, Any]]

INVALID: Responses = {422: {"model": Faults}}
NOT_FOUND: Responses = {**INVALID, 404: {"model": Faults}}
TOO_MANY: Responses = {**NOT_FOUND, 429: {"model": Faults}}

_QUICK_AT_ONCE = 4  # plans with a short time limit do not wait …
_SLOW_AT_ONCE = 2  # … for those that may take long


class StreamLimit:
    """Limits how many event streams are open at once."""

    def __init__(self) -> None:
        self._open = 0

    def counted(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Return the same stream, counted while it is open; refuse one too many."""
        if self._open >= MAX_VIEWERS:
            raise TooManyError(f"{MAX_VIEWERS} live views are already open")
        return self._counted(stream)

    async def _counted(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        self._open += 1
        try:
            async for chunk in stream:
                yield chunk
        finally:
            self._open -= 1


@dataclass(frozen=True)
class Services:
    """What the routes of one studio work with."""

    settings: StudioSettings
    runs: RunsFolder
    jobs: RunJobs
    index: RunIndex
    curves: LiveCurves
    planner: Planner = field(default_factory=Planner)
    streams: StreamLimit = field(default_factory=StreamLimit)
    quick: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(_QUICK_AT_ONCE))
    slow: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(_SLOW_AT_ONCE))

    @classmethod
    def from_settings(cls, settings: StudioSettings) -> Services:
        """Create the services of a studio with these settings."""
        runs = RunsFolder.at(settings.runs)
        return cls(settings, runs, RunJobs(runs), RunIndex(runs), LiveCurves(runs))
