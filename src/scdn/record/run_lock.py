"""A lock on a run's folder, so that one process at a time writes it.

The lock is the operating system's, on an empty file that stays in the folder: it is free as soon as
its process ends, however that happens. On a file system without locks a run goes on without one.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from scdn.errors import input_error
from scdn.file_io import OutputError

LOCK = "lock"
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


@contextmanager
def lock_run_folder(folder: Path, wait_s: float = 0.0) -> Iterator[None]:
    """Create the folder if it is missing, and hold its lock; refuse it while another process does.

    `wait_s` is how long to wait for the other process to end.
    """
    lock = FileLock(folder / LOCK)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=wait_s)
    except Timeout:
        fault = "is being written by another process"
        allowed = "wait until it ends, or choose another folder"
        raise input_error(str(folder), "run", fault, allowed) from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise OutputError(f"{folder}: cannot be written ({error.strerror})") from None
    try:
        yield
    finally:
        lock.release()
