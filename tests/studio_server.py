"""A studio that listens on a port, for tests and screenshots."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from scdn.studio.app import create_app
from scdn.studio.settings import StudioSettings


@contextmanager
def serving(settings: StudioSettings) -> Iterator[str]:
    """Serve a studio with these settings from a thread; yield its address."""
    config = uvicorn.Config(
        create_app(settings), port=0, log_level="error", timeout_graceful_shutdown=1, ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.02)
            assert thread.is_alive()
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
    assert not thread.is_alive()
