"""A run's folder belongs to one process at a time.

The lock is the operating system's, on an empty file that stays: however its process ends, it is
free again at once. Where a file system has no locks, nothing is held and nothing is refused.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scdn.documents import OutputError
from scdn.faults import refuse

LOCK = "lock"


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Makes the folder if need be and holds it; refuses it while another process does."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = _hold(folder / LOCK)
    except BlockingIOError:
        found = "is being written by another process"
        allowed = "wait until it ends, or choose another folder"
        raise refuse(str(folder), "run", found, allowed) from None
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror})") from None
    try:
        yield
    finally:
        os.close(handle)


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
