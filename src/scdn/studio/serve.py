"""Starts the studio: finds a port, says where it is, opens the browser."""

from __future__ import annotations

import secrets
import socket
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path

import uvicorn

from scdn.errors import input_error
from scdn.file_io import OutputError
from scdn.studio.app import PAGE, make_app
from scdn.studio.settings import LOOPBACK, Settings

PORT = 8645
_TRIES = 20  # ports after the usual one


def serve(
    runs: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    browser: bool = True,
) -> int:
    """Serves the page until it is stopped."""
    if not (PAGE / "index.html").is_file():
        raise input_error(
            "studio", "page", "is not built", "run make web, or install a released wheel"
        )
    folder = Path(runs)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise input_error(str(folder), "folder", f"cannot be used ({error.strerror})",
                     "must be a folder for runs") from None  # fmt: skip
    local = host in LOOPBACK
    if not local and token is None:
        token = secrets.token_urlsafe(24)
    if token is not None and len(token) < 16:
        raise input_error("studio", "--token", "is short", "must have at least 16 characters")
    settings = Settings(folder, token, LOOPBACK if local else frozenset())
    listener = _listener(host, port)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}/"
    if token is not None:
        address += f"?token={token}"
    print(f"scdn studio: {address}\nruns in {folder.resolve()}; Ctrl-C ends it", flush=True)
    if browser:
        threading.Timer(0.8, webbrowser.open, [address]).start()
    _run(settings, listener)
    return 0


def _run(settings: Settings, listener: socket.socket) -> None:
    config = uvicorn.Config(
        make_app(settings),
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=2,  # live views never end by themselves
        server_header=False,
        ws="none",  # live views are server-sent events
    )
    with suppress(KeyboardInterrupt):  # Ctrl-C is how it ends
        uvicorn.Server(config).run([listener])


def _listener(host: str, port: int | None) -> socket.socket:
    """A socket at the port, or at the first free one from the usual on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in [PORT + n for n in range(_TRIES)] if port is None else [port]:
        # asyncio only sends small answers at once on sockets that say that they are TCP's
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, number))
            listener.listen(128)  # who comes before everything is loaded waits
            return listener
        except OSError as error:
            listener.close()
            reason = error.strerror or str(error)
    raise OutputError(f"studio: cannot listen on {host} ({reason})")
