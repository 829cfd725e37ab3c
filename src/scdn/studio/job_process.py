"""The process of a job: recognised by a lock that it holds, even by another studio.

The process inherits a lock on a file of the job's folder, and the operating system frees it when
the process and its workers have ended. While the lock is held, the recorded number is that of their
process group and of no other: a studio that finds the lock held may signal that group.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Literal

from scdn.errors import input_error
from scdn.file_io import writing

LOG, LOCK = "studio.log", "studio.lock"
_STOP_TIMEOUT_S = 10.0  # a job that has not stopped by then is killed
_POLL_S = 0.05
_ATTEMPTS = 5  # a studio that looks whether the lock is held holds it for a moment


class JobProcess:
    """A process of the `scdn` command, with its workers, in a process group of its own."""

    def __init__(self, folder: Path, pid: int, child: subprocess.Popen[bytes] | None) -> None:
        self._folder, self.pid, self._child = folder, pid, child

    @classmethod
    def launch(cls, folder: Path, arguments: Sequence[str]) -> JobProcess:
        """Start `scdn` with these arguments; what it prints goes to the job's log."""
        single_threaded = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        with writing(folder / LOCK), (folder / LOCK).open("ab") as lock:
            _take(lock, folder)
            with (folder / LOG).open("ab") as log:
                child = subprocess.Popen(  # noqa: S603
                    [sys.executable, "-m", "scdn.cli", *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env={**os.environ, **single_threaded},
                    start_new_session=True,
                    pass_fds=[lock.fileno()],
                )
        return cls(folder, child.pid, child)

    @property
    def is_child(self) -> bool:
        """Whether this studio started it."""
        return self._child is not None

    @property
    def alive(self) -> bool:
        """Whether it is running or paused."""
        if self._child is not None:
            return self._child.poll() is None
        return _is_locked(self._folder / LOCK)

    def outcome(self) -> Literal["done", "failed"] | None:
        """Return how a process that this studio started has ended; None where it is not known."""
        if self._child is None or self._child.returncode is None:
            return None
        return "done" if self._child.returncode == 0 else "failed"

    def send(self, *signals: signal.Signals) -> None:
        """Send signals to the process and its workers, unless they have ended."""
        for kind in signals:
            if self.alive:
                with suppress(ProcessLookupError):
                    os.killpg(self.pid, kind)

    def wait_or_kill(self) -> None:
        """Wait until an interrupted process has ended; kill it if that takes too long."""
        end = time.monotonic() + _STOP_TIMEOUT_S
        while self.alive:
            if time.monotonic() > end:
                self.send(signal.SIGKILL)
            time.sleep(_POLL_S)


def _take(lock: BinaryIO, folder: Path) -> None:
    """Take the lock; refuse a job whose process goes on."""
    for attempt in range(_ATTEMPTS):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if attempt < _ATTEMPTS - 1:
                time.sleep(_POLL_S)
                continue
            fault = "is being written by another process"
            raise input_error(str(folder), "run", fault, "wait until it ends, or stop it") from None
        except OSError:  # a file system without locks
            return
        return


def _is_locked(path: Path) -> bool:
    """Return whether a process holds the lock."""
    try:
        with path.open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # no lock was made, or the file system has none
        return False
    return False
