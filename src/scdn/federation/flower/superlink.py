"""Flower's SuperLink behind an access check, and a client that starts and watches runs at it.

`python -m scdn.federation.flower.superlink` is the SuperLink's process.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scdn.federation.flower import disable_internet_calls, private_parts
from scdn.federation.flower.access_check import (
    MAX_CONNECTIONS,
    AccessCheck,
    Connections,
    DeviceKeys,
)
from scdn.federation.flower.long_polling import LongPolling
from scdn.federation.wire_format import MAX_BYTES

_OVERHEAD_BYTES = 1 << 16  # of a Flower message around its frame
# Longer than devices keep a connection without a request (5 s): if the server closed it, a request
# that has been sent meanwhile would be lost.
_KEEP_ALIVE_S = 60


def serve_superlink(arguments: list[str]) -> None:
    """Run Flower's SuperLink behind the access check; with TLS, devices need a valid certificate.

    Certificates are those in the folder of the server's own one.
    """
    disable_internet_calls()
    import uvicorn
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    connections = Connections()

    class Protocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        """Counts connections over which nothing valid has come, and those of each device."""

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            connections.add(self.client, self)

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            connections.remove(self.client)

    sys.argv = ["flower-superlink", *arguments]
    config = private_parts._parse_superlink_lifespan_config()
    app = private_parts.create_app(config, private_parts.SuperLinkLifespan)
    certificate = config.ssl_certfile
    keys = None if certificate is None else DeviceKeys(Path(certificate).parent)
    uvicorn.run(
        app=AccessCheck(LongPolling(app), MAX_BYTES + _OVERHEAD_BYTES, keys, connections),
        http=Protocol,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=_KEEP_ALIVE_S,
        host=config.host,
        port=config.port,
        access_log=False,
        log_level="warning",
        proxy_headers=False,
        ssl_keyfile=config.ssl_keyfile,
        ssl_certfile=config.ssl_certfile,
        workers=1,
    )


@dataclass
class SuperLinkControl:
    """Starts and watches runs at a SuperLink on this machine."""

    address: str
    root_certificate: Path | None
    process: int = 0  # the SuperLink's, where this program has started it

    @contextmanager
    def _client(self) -> Iterator[Any]:

        root = None if self.root_certificate is None else self.root_certificate.read_bytes()
        client = private_parts.ControlHttpClient.from_server_address(
            self.address,
            root is None,
            root,
            [private_parts.RuntimeVersionHttpInterceptor("flwr CLI")],
        )
        try:
            yield client
        finally:
            client.close()

    def ready(self) -> bool:
        """Return whether the SuperLink answers."""
        try:
            with self._client() as client:
                client.ListRuns(private_parts.ListRunsRequest())
            return True
        except Exception:  # not yet, for whatever reason
            return False

    def is_busy(self, error: Exception) -> bool:
        """Return whether an error says that the SuperLink is there, but has no time to answer."""
        import httpx

        if isinstance(error, httpx.HTTPStatusError):  # 503: it has too many connections
            return error.response.is_server_error
        return isinstance(error, httpx.TimeoutException)

    def register(self, public_key: bytes, name: str) -> None:
        """Admit the device with this key."""
        with self._client() as client:
            client.RegisterNode(private_parts.RegisterNodeRequest(public_key=public_key, name=name))

    def start(self, app: Path, config: dict[str, Any]) -> int:
        """Start the app in a folder and return the run's id."""
        raw = private_parts.build_fab_from_disk(app)
        fab = private_parts.fab_to_proto(
            private_parts.Fab(hashlib.sha256(raw).hexdigest(), raw, {})
        )
        request = private_parts.StartRunRequest(
            fab=fab, override_config=private_parts.user_config_to_proto(config)
        )
        with self._client() as client:
            return int(client.StartRun(request).run_id)

    def status(self, run_id: int) -> tuple[str, str]:
        """Return a run's status, and Flower's details about it."""
        with self._client() as client:
            run = client.ListRuns(private_parts.ListRunsRequest(run_id=run_id)).run_dict[run_id]
        return run.status.status, run.status.details


if __name__ == "__main__":
    from scdn.federation.processes import end_with_parent

    end_with_parent()
    serve_superlink(sys.argv[1:])
