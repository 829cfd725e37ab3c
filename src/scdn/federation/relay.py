"""A device behind a socket of this machine: for a SuperNode that Flower itself runs.

Whoever may open the socket's file may ask; the file belongs to the device's user alone.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

from scdn.errors import input_error
from scdn.federation.wire import LIMIT, WireError

_SIZE = 8  # bytes that say how many follow


def exchange(path: Path, raw: bytes, timeout_s: float = 600.0) -> bytes:
    """Passes a message to the device at `path`; its answer."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(timeout_s)
        line.connect(str(path))
        _send(line, raw)
        return _receive(line)


def relay(path: Path, answer: Callable[[bytes], bytes], stop: Callable[[], bool]) -> None:
    """Answers whoever connects at `path`, one after another, until `stop` says so."""
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as door:
        before = os.umask(0o077)
        try:
            door.bind(str(path))
        except OSError as error:
            raise input_error(
                str(path), "socket", f"{error.strerror}", "must be a new file"
            ) from None
        finally:
            os.umask(before)
        door.listen()
        door.settimeout(0.2)
        try:
            while not stop():
                try:
                    line, _ = door.accept()
                except TimeoutError:
                    continue
                with line:
                    line.settimeout(60.0)
                    try:
                        _send(line, answer(_receive(line)))
                    except (OSError, WireError):
                        continue  # who asked is gone; the next may ask
        finally:
            path.unlink(missing_ok=True)


def _send(line: socket.socket, raw: bytes) -> None:
    line.sendall(len(raw).to_bytes(_SIZE, "big") + raw)


def _receive(line: socket.socket) -> bytes:
    size = int.from_bytes(_exactly(line, _SIZE), "big")
    if size > LIMIT:
        raise WireError(f"{size} bytes, at most {LIMIT} are read")
    return _exactly(line, size)


def _exactly(line: socket.socket, size: int) -> bytes:
    pieces, left = [], size
    while left:
        piece = line.recv(min(left, 1 << 20))
        if not piece:
            raise WireError("cut off")
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)
