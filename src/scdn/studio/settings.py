"""The studio's settings and limits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scdn.file_io import MEBIBYTE

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]", "::1"})

MAX_BODY = 8 * MEBIBYTE
MAX_DEVICES = 5_000  # in a plan request; `scdn plan` has no such limit
MAX_PAPER_DEVICES = 40  # Algorithm 3 takes a fifth of a second for each
MAX_SHELLS = 200
MAX_RESTING = 50  # devices that rest for which changes are computed
MAX_SECONDS = 60.0  # for one plan
MAX_VIEWERS = 64
MAX_JOBS = 4
MAX_RUNS = 1_000  # in the list
MAX_METHODS, MAX_SEEDS = 12, 50
MAX_NOTE = 4_000  # characters
MAX_DIFFERENCES = 500  # settings in which two runs differ
MAX_DEPTH = 20  # of the keys of a setting


@dataclass(frozen=True)
class StudioSettings:
    """The runs directory, the access token, and the host names that requests may use."""

    runs: Path
    token: str | None = None
    hosts: frozenset[str] = LOOPBACK  # empty: any, where a token is required
