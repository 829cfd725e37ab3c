"""Reach a device through a Unix socket: for a SuperNode that Flower itself runs.

The socket's file belongs to the device's user alone, so only that user can send it requests.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

from scdn.errors import input_error
from scdn.federation.wire_format import MAX_BYTES, WireError

_SIZE_BYTES = 8  # the length that precedes each message


def ask_socket(path: Path, raw: bytes) -> bytes:
    """Send a request to the device behind a socket and return its reply."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(600.0)
        connection.connect(str(path))
        _send(connection, raw)
        return _receive(connection)


def serve_socket(path: Path, answer: Callable[[bytes], bytes], stop: Callable[[], bool]) -> None:
    """Answer the requests that arrive at a socket, one after another, until `stop()` is true."""
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        umask = os.umask(0o077)
        try:
            listener.bind(str(path))
        except OSError as error:
            raise input_error(
                str(path), "socket", f"{error.strerror}", "must be a new file"
            ) from None
        finally:
            os.umask(umask)
        listener.listen()
        listener.settimeout(0.2)
        try:
            while not stop():
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                with connection:
                    connection.settimeout(60.0)
                    try:
                        _send(connection, answer(_receive(connection)))
                    except (OSError, WireError):
                        continue  # the other side is gone; the next one may ask
        finally:
            path.unlink(missing_ok=True)


def _send(connection: socket.socket, raw: bytes) -> None:
    connection.sendall(len(raw).to_bytes(_SIZE_BYTES, "big") + raw)


def _receive(connection: socket.socket) -> bytes:
    size = int.from_bytes(_receive_exactly(connection, _SIZE_BYTES), "big")
    if size > MAX_BYTES:
        raise WireError(f"message has {size} bytes, at most {MAX_BYTES} are read")
    return _receive_exactly(connection, size)


def _receive_exactly(connection: socket.socket, size: int) -> bytes:
    pieces, left = [], size
    while left:
        piece = connection.recv(min(left, 1 << 20))
        if not piece:
            raise WireError("message is cut off")
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)
