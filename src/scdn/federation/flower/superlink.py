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

from scdn.federation.flower import disable_internet_calls, is_loopback
from scdn.federation.wire_format import MAX_BYTES

_OVERHEAD_BYTES = 1 << 16  # of a Flower message around its frame


def serve_superlink(arguments: list[str]) -> None:
    """Run Flower's SuperLink; other machines reach the part for devices alone.

    Flower offers runs, registrations and devices at one port, and asks for keys of devices alone.
    """
    disable_internet_calls()
    import uvicorn
    from flwr.superlink.cli.flower_superlink import (
        SuperLinkLifespan,
        _parse_superlink_lifespan_config,
    )
    from flwr.superlink.main import create_app

    sys.argv = ["flower-superlink", *arguments]
    config = _parse_superlink_lifespan_config()
    app = create_app(config, SuperLinkLifespan)
    uvicorn.run(
        app=with_access_check(app, MAX_BYTES + _OVERHEAD_BYTES),
        host=config.host,
        port=config.port,
        access_log=False,
        log_level="warning",
        proxy_headers=False,
        ssl_keyfile=config.ssl_keyfile,
        ssl_certfile=config.ssl_certfile,
        workers=1,
    )


def with_access_check(app: Any, max_bytes: int) -> Any:
    """Return an ASGI app that hears other machines' devices only, and reads no large bodies."""

    async def checked(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        host = (scope.get("client") or ("",))[0]
        sizes = [value for name, value in scope["headers"] if name == b"content-length"]
        if not scope["path"].startswith("/v1/fleet/") and not is_loopback(host):
            await _send_status(send, 403)
        elif not (len(sizes) == 1 and sizes[0].isdigit() and int(sizes[0]) <= max_bytes):
            await _send_status(send, 413)
        else:
            await app(scope, receive, send)

    return checked


async def _send_status(send: Any, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@dataclass
class SuperLinkControl:
    """Starts and watches runs at a SuperLink on this machine."""

    address: str
    root_certificate: Path | None

    @contextmanager
    def _client(self) -> Iterator[Any]:
        from flwr.supercore.control import ControlHttpClient
        from flwr.supercore.interceptors import RuntimeVersionHttpInterceptor

        root = None if self.root_certificate is None else self.root_certificate.read_bytes()
        client = ControlHttpClient.from_server_address(
            self.address, root is None, root, [RuntimeVersionHttpInterceptor("flwr CLI")]
        )
        try:
            yield client
        finally:
            client.close()

    def ready(self) -> bool:
        """Return whether the SuperLink answers."""
        from flwr.proto.control_pb2 import ListRunsRequest

        try:
            with self._client() as client:
                client.ListRuns(ListRunsRequest())
            return True
        except Exception:  # not yet, for whatever reason
            return False

    def register(self, public_key: bytes, name: str) -> None:
        """Admit the device with this key."""
        from flwr.proto.control_pb2 import RegisterNodeRequest

        with self._client() as client:
            client.RegisterNode(RegisterNodeRequest(public_key=public_key, name=name))

    def start(self, app: Path, config: dict[str, Any]) -> int:
        """Start the app in a folder and return the run's id."""
        from flwr.cli.build import build_fab_from_disk
        from flwr.common.serde import fab_to_proto, user_config_to_proto
        from flwr.proto.control_pb2 import StartRunRequest
        from flwr.supercore.fab import Fab

        raw = build_fab_from_disk(app)
        fab = fab_to_proto(Fab(hashlib.sha256(raw).hexdigest(), raw, {}))
        request = StartRunRequest(fab=fab, override_config=user_config_to_proto(config))
        with self._client() as client:
            return int(client.StartRun(request).run_id)

    def status(self, run_id: int) -> tuple[str, str]:
        """Return a run's status, and Flower's details about it."""
        from flwr.proto.control_pb2 import ListRunsRequest

        with self._client() as client:
            run = client.ListRuns(ListRunsRequest(run_id=run_id)).run_dict[run_id]
        return run.status.status, run.status.details


if __name__ == "__main__":
    from scdn.federation.processes import end_with_parent

    end_with_parent()
    serve_superlink(sys.argv[1:])
