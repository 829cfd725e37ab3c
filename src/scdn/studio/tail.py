"""Following files that grow: whole lines only, and from the start again when they are replaced."""

from __future__ import annotations

import os
from pathlib import Path

_PIECE = 1 << 20  # bytes read at a time


class Tail:
    """Lines of a file that is being written, each once its newline is there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._inode, self._offset = -1, 0

    def replaced(self) -> bool:
        """Whether the file is another one, or shorter, than when it was last read."""
        state = self.path.stat()
        same = state.st_ino == self._inode and state.st_size >= self._offset
        if same:
            return False
        first = self._inode == -1
        self._inode, self._offset = state.st_ino, 0
        return not first

    def lines(self) -> list[bytes]:
        """Whole lines that are new, about a megabyte of them at most."""
        with self.path.open("rb") as file:
            if os.fstat(file.fileno()).st_ino != self._inode:
                return []
            file.seek(self._offset)
            piece = file.read(_PIECE)
            while piece and b"\n" not in piece:
                more = file.read(_PIECE)
                if not more:
                    return []
                piece += more
        whole = piece[: piece.rfind(b"\n") + 1]
        self._offset += len(whole)
        return whole.split(b"\n")[:-1]


def first_line(path: Path, limit: int = 8 << 20) -> bytes:
    """The first line of a file."""
    with path.open("rb") as file:
        return file.readline(limit)


def last_line(path: Path) -> bytes:
    """The last whole line of a file, found from its end."""
    with path.open("rb") as file:
        end = size = file.seek(0, os.SEEK_END)
        kept = b""
        while end > 0:
            begin = max(0, end - (1 << 16))
            file.seek(begin)
            kept = file.read(end - begin) + kept
            end = begin
            finish = kept.rfind(b"\n")
            start = kept.rfind(b"\n", 0, finish) if finish > 0 else -1
            if finish >= 0 and (start >= 0 or begin == 0):
                return kept[start + 1 : finish]
            if size - end > (64 << 20):
                break
    return b""
