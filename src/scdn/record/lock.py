"""A run's folder belongs to one process at a time.

The lock is the operating system's, on an empty file that stays: however its process ends, it is
free again at once. Where a file system has no locks, nothing is held and nothing is refused.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scdn.errors import input_error
from scdn.file_io import OutputError

LOCK = "lock"
_PAUSE_S = 0.1


@contextmanager
def alone(folder: Path, patience_s: float = 0.0) -> Iterator[None]:
    """Makes the folder if need be and holds it; refuses it while another process does.

    `patience_s`: how long to wait for one that is about to end.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = _wait(folder / LOCK, time.monotonic() + patience_s)
    except BlockingIOError:
        found = "is being written by another process"
        allowed = "wait until it ends, or choose another folder"
        raise input_error(str(folder), "run", found, allowed) from None
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror})") from None
    try:
        yield
    finally:
        os.close(handle)


def _wait(path: Path, deadline: float) -> int:
    while True:
        try:
            return _hold(path)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_PAUSE_S)


def _hold(path: Path) -> int:
    """A handle that holds the file; BlockingIOError while another process does."""
    handle = -1
    for access in (os.O_RDONLY, os.O_RDWR):  # over a network, only the second can be locked
        if handle >= 0:
            os.close(handle)
        handle = os.open(path, access | os.O_CREAT, 0o666)
        try:
            _lock(handle)
            break
        except BlockingIOError:
            os.close(handle)
            raise
        except OSError:  # there may be no locks at all
            continue
    return handle


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(error.errno, error.strerror) from None

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
