"""Decide from a request's headers alone whether Flower's SuperLink gets to read it.

Flower offers runs, registrations and devices at one port, reads every body whole, and only then
asks for a device's key. Here other machines reach the part for devices alone, whoever has no valid
key is refused before a byte of the body is read, and the bodies of those who have one are read as
long as all of them together stay below a limit; the others wait.
"""

from __future__ import annotations

import asyncio
import binascii
import datetime as dt
import time
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scdn.federation.certificates import device_certificates
from scdn.federation.flower import is_loopback
from scdn.federation.flower.private_parts import (
    CLOCK_AHEAD_S,
    PUBLIC_KEY_HEADER,
    SIGNATURE_HEADER,
    SIGNED_FOR_S,
    TIMESTAMP_HEADER,
    signature_is_valid,
)

MAX_CONNECTIONS = 512  # with at most 64 KiB each that nobody has asked for yet
MAX_STRANGERS = 256  # of them, without a request with a valid key so far; the oldest one goes first
MAX_PER_KEY = 16  # with requests of one device, which uses two; the oldest one goes first
MAX_BYTES_IN_FLIGHT = 1 << 30  # of bodies that are read at once: four messages of the largest size
BODY_TIMEOUT_S = 120.0  # for each piece of a body; a sender that stops in the middle is given up
_READ_AGAIN_S = 5.0  # between two looks at the certificates
_DEVICES = "/v1/fleet/"  # the part of Flower's interface that devices use


@dataclass
class DeviceKeys:
    """The public keys of devices with a valid certificate, read again as time goes by.

    So a certificate that expires, or is taken away, ends at the device's next request.
    """

    folder: Path
    _keys: frozenset[bytes] = frozenset()
    _read_at: float = -_READ_AGAIN_S

    def admits(self, headers: Mapping[bytes, bytes]) -> bool:
        """Return whether headers are signed, now, with the key of such a device."""
        try:
            public_key = b64decode(headers[PUBLIC_KEY_HEADER], validate=True)
            signature = b64decode(headers[SIGNATURE_HEADER], validate=True)
            timestamp = headers[TIMESTAMP_HEADER]
            signed_at = dt.datetime.fromisoformat(timestamp.decode("ascii"))
            age = (dt.datetime.now(dt.UTC) - signed_at).total_seconds()
        except (KeyError, ValueError, TypeError, binascii.Error):
            return False
        if not -CLOCK_AHEAD_S < age < SIGNED_FOR_S or public_key not in self._valid_keys():
            return False
        return signature_is_valid(public_key, timestamp, signature)

    def _valid_keys(self) -> frozenset[bytes]:
        if time.monotonic() - self._read_at > _READ_AGAIN_S:
            certificates = device_certificates(self.folder)
            self._keys = frozenset(c.public_key for c in certificates if not c.problem)
            self._read_at = time.monotonic()
        return self._keys


@dataclass
class Connections:
    """Connections without a valid request so far, by address, and those of each device's key.

    Whoever opens many of them would otherwise keep devices, or the server, out.
    """

    strangers: dict[Any, Any] = field(default_factory=dict)  # with `transport`, the oldest first
    of_key: dict[bytes, dict[Any, Any]] = field(default_factory=dict)  # the same
    _key_of: dict[Any, bytes] = field(default_factory=dict)  # by address

    def add(self, address: Any, connection: Any) -> None:
        """Add a new connection; close the oldest one if there are too many."""
        self.strangers[address] = connection
        if len(self.strangers) > MAX_STRANGERS:
            oldest = next(iter(self.strangers))
            self.strangers.pop(oldest).transport.abort()

    def admit(self, address: Any, key: bytes) -> None:
        """Note a valid request, with a device's key or none; close its oldest connection then."""
        connection = self.strangers.pop(address, None)
        if connection is None or not key:
            return
        known = self.of_key.setdefault(key, {})
        known[address], self._key_of[address] = connection, key
        if len(known) > MAX_PER_KEY:
            oldest, connection = next(iter(known.items()))
            self.remove(oldest)
            connection.transport.abort()

    def remove(self, address: Any) -> None:
        """Remove a connection that has ended."""
        self.strangers.pop(address, None)
        key = self._key_of.pop(address, b"")
        if key:
            del self.of_key[key][address]
            if not self.of_key[key]:
                del self.of_key[key]


@dataclass
class AccessCheck:
    """An ASGI app in front of the SuperLink's; `keys` is None on one machine without keys."""

    app: Any
    max_bytes: int  # of a body
    keys: DeviceKeys | None = None
    connections: Connections = field(default_factory=Connections)
    in_flight: int = 0
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, or answer it with a status alone."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sizes = [value for name, value in scope["headers"] if name == b"content-length"]
        is_known_size = len(sizes) == 1 and sizes[0].isdigit() and len(sizes[0]) < 20
        if not self._may_ask(scope):
            await _send_status(send, 403)
        elif not (is_known_size and int(sizes[0]) <= self.max_bytes):
            await _send_status(send, 413)
        else:
            self.connections.admit(scope.get("client"), self._key_of(scope))
            await self._pass_on(int(sizes[0]), scope, receive, send)

    def _may_ask(self, scope: Any) -> bool:
        host = (scope.get("client") or ("",))[0]
        if not scope["path"].startswith(_DEVICES):
            return is_loopback(host)
        return self.keys is None or self.keys.admits(dict(scope["headers"]))

    def _key_of(self, scope: Any) -> bytes:
        """Return the key of a device's request; nothing where there are no keys."""
        is_of_device = self.keys is not None and scope["path"].startswith(_DEVICES)
        # Decoded, as it was to be admitted: several texts say the same.
        return b64decode(dict(scope["headers"])[PUBLIC_KEY_HEADER]) if is_of_device else b""

    async def _pass_on(self, size: int, scope: Any, receive: Any, send: Any) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self.in_flight + size <= self._limit)
            self.in_flight += size

        async def receive_in_time() -> Any:
            return await asyncio.wait_for(receive(), BODY_TIMEOUT_S)

        try:
            await self.app(scope, receive_in_time, send)
        finally:
            async with self._changed:
                self.in_flight -= size
                self._changed.notify_all()

    @property
    def _limit(self) -> int:
        return max(MAX_BYTES_IN_FLIGHT, self.max_bytes)


async def _send_status(send: Any, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b""})
