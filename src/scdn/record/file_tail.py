"""Reads files that grow, line by line, and the first and last line of long ones."""

from __future__ import annotations

import os
from pathlib import Path

_CHUNK = 1 << 20  # bytes read at a time
_BLOCK = 1 << 16  # bytes read at a time from the end of a file
_LONGEST_LINE = 64 << 20


class FileTail:
    """Returns the lines of a growing file once each, as soon as their newline is written.

    Call `replaced()` before `lines()`: when it returns True, the file is another one, or was cut
    back, and its lines start again from the first.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._inode, self._offset = -1, 0

    def replaced(self) -> bool:
        """Return whether the file was replaced or cut since it was last read."""
        state = self.path.stat()
        if state.st_ino == self._inode and state.st_size >= self._offset:
            return False
        first_look = self._inode == -1
        self._inode, self._offset = state.st_ino, 0
        return not first_look

    def lines(self) -> list[bytes]:
        """Return the new complete lines, about a megabyte of them at most."""
        with self.path.open("rb") as file:
            if os.fstat(file.fileno()).st_ino != self._inode:
                return []
            file.seek(self._offset)
            chunk = file.read(_CHUNK)
            while chunk and b"\n" not in chunk:
                more = file.read(_CHUNK)
                if not more:
                    return []
                chunk += more
        complete = chunk[: chunk.rfind(b"\n") + 1]
        self._offset += len(complete)
        return complete.split(b"\n")[:-1]


def first_line(path: Path, limit: int = 8 << 20) -> bytes:
    """Return the first line of a file."""
    with path.open("rb") as file:
        return file.readline(limit)


def last_line(path: Path) -> bytes:
    """Return the last complete line of a file, searched from its end; empty if there is none."""
    with path.open("rb") as file:
        unread = size = file.seek(0, os.SEEK_END)
        tail = b""
        while unread > 0 and size - unread <= _LONGEST_LINE:
            begin = max(0, unread - _BLOCK)
            file.seek(begin)
            tail = file.read(unread - begin) + tail
            unread = begin
            end = tail.rfind(b"\n")
            start = tail.rfind(b"\n", 0, end) if end > 0 else -1
            if end >= 0 and (start >= 0 or begin == 0):
                return tail[start + 1 : end]
    return b""
