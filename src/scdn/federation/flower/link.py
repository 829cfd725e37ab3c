"""Flower's SuperLink behind a guard, and how runs are started and watched at it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scdn.federation.flower import is_loopback, quiet
from scdn.federation.wire import LIMIT

_OVERHEAD = 1 << 16  # of a message around its frame


def superlink(arguments: list[str]) -> None:
    """Flower's SuperLink behind a guard: from elsewhere only devices are heard, within limits.

    Flower offers runs, registrations and devices at one port, and asks for keys of devices alone.
    """
    quiet()
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
        app=guarded(app, LIMIT + _OVERHEAD),
        host=config.host,
        port=config.port,
        access_log=False,
        log_level="warning",
        proxy_headers=False,
        ssl_keyfile=config.ssl_keyfile,
        ssl_certfile=config.ssl_certfile,
        workers=1,
    )


def guarded(app: Any, limit: int) -> Any:
    """An app of which other machines reach the devices' part alone, with bodies within `limit`."""

    async def guard(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        host = (scope.get("client") or ("",))[0]
        sizes = [value for name, value in scope["headers"] if name == b"content-length"]
        if not scope["path"].startswith("/v1/fleet/") and not is_loopback(host):
            await _say(send, 403)
        elif not (len(sizes) == 1 and sizes[0].isdigit() and int(sizes[0]) <= limit):
            await _say(send, 413)
        else:
            await app(scope, receive, send)

    return guard


async def _say(send: Any, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@dataclass
class Control:
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
        """Whether the SuperLink answers."""
        from flwr.proto.control_pb2 import ListRunsRequest

        try:
            with self._client() as client:
                client.ListRuns(ListRunsRequest())
            return True
        except Exception:  # not yet, for whatever reason
            return False

    def register(self, public_key: bytes, name: str) -> None:
        """Lets the device with this key in."""
        from flwr.proto.control_pb2 import RegisterNodeRequest

        with self._client() as client:
            client.RegisterNode(RegisterNodeRequest(public_key=public_key, name=name))

    def start(self, app: Path, settings: dict[str, Any]) -> int:
        """Starts the app in a folder; the run's number."""
        import hashlib

        from flwr.cli.build import build_fab_from_disk
        from flwr.common.serde import fab_to_proto, user_config_to_proto
        from flwr.proto.control_pb2 import StartRunRequest
        from flwr.supercore.fab import Fab

        raw = build_fab_from_disk(app)
        fab = fab_to_proto(Fab(hashlib.sha256(raw).hexdigest(), raw, {}))
        request = StartRunRequest(fab=fab, override_config=user_config_to_proto(settings))
        with self._client() as client:
            return int(client.StartRun(request).run_id)

    def status(self, run: int) -> tuple[str, str]:
        """A run's status, and what Flower says about it."""
        from flwr.proto.control_pb2 import ListRunsRequest

        with self._client() as client:
            found = client.ListRuns(ListRunsRequest(run_id=run)).run_dict[run]
        return found.status.status, found.status.details
