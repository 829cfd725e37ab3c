"""Starts the studio's server on a free port, prints its address and opens the browser."""

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
from scdn.studio.app import PAGE, create_app
from scdn.studio.run_folders import RunsFolder
from scdn.studio.settings import LOOPBACK, StudioSettings

PORT = 8645
_PORTS_TRIED = 20  # from the usual one on


def serve(
    runs: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    browser: bool = True,
) -> int:
    """Serve the page until Ctrl-C."""
    if not (PAGE / "index.html").is_file():
        raise input_error(
            "studio", "page", "is not built", "run `make web`, or install a released wheel"
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
        raise input_error("studio", "--token", "is too short", "must have at least 16 characters")
    settings = StudioSettings(folder, token, LOOPBACK if local else frozenset())
    listener = _listener(host, port)
    url_host = f"[{host}]" if ":" in host else host
    address = f"http://{url_host}:{listener.getsockname()[1]}/"
    if token is not None:
        address += f"?token={token}"
    new = RunsFolder.at(folder).new
    print(f"scdn studio: {address}\nnew runs in {new}; press Ctrl-C to stop", flush=True)
    if browser:
        threading.Timer(0.8, webbrowser.open, [address]).start()
    _run(settings, listener)
    return 0


def _run(settings: StudioSettings, listener: socket.socket) -> None:
    config = uvicorn.Config(
        create_app(settings),
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=2,  # live views stay open until they are cut
        server_header=False,
        ws="none",  # live views are server-sent events
    )
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run([listener])


def _listener(host: str, port: int | None) -> socket.socket:
    """Return a socket on the given port, or on the first free one from the usual port on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in [PORT + n for n in range(_PORTS_TRIED)] if port is None else [port]:
        # asyncio sets TCP_NODELAY only where the protocol is given; else small answers wait
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, number))
            listener.listen(128)  # requests wait here until the application is loaded
            return listener
        except OSError as error:
            listener.close()
            reason = error.strerror or str(error)
    raise OutputError(f"studio: cannot listen on {host} ({reason})")
