"""Let devices wait at the SuperLink for their next message, in place of asking again and again.

Flower answers a device that looks for messages at once, also where there are none, and each such
answer costs the SuperLink as much as one with a message. With 50 devices most of its time went into
those. Here a device's request is kept until the server has pushed a message for that device, or a
few seconds have passed. The server pushes a message first and its contents after it; a device that
looks in between would wait for a second, so it is told when all contents are there.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import DecodeError

from scdn.federation.flower import private_parts

HOLD_S = 2.0  # a device that is told to stop, or whose link has gone, is held for no longer
PULL, PUSH = "/v1/fleet/pull-messages", "/v1/runtime/push-messages"
PUSH_CONTENT = "/v1/runtime/push-object"
_MAX_PULL_BYTES = 1 << 10  # of a device's request, which names its node and nothing else
_HEAD, _BODY, _END = "http.response.start", "http.response.body", "http.disconnect"


@dataclass
class LongPolling:
    """An ASGI app in front of the SuperLink's that keeps requests for messages that do not exist.

    Attributes
    ----------
    news
        Nodes for which the server has pushed a message since they last found none.
    arriving
        Nodes for which it has pushed one of which `missing` contents are still to come.
    """

    app: Any
    hold_s: float = HOLD_S
    news: set[int] = field(default_factory=set)
    arriving: set[int] = field(default_factory=set)
    missing: int = 0
    _waiting: defaultdict[int, set[asyncio.Event]] = field(
        default_factory=lambda: defaultdict(set), repr=False
    )

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, if it is for messages, once there is one."""
        path = scope.get("path") if scope["type"] == "http" else None
        if path == PULL and _size(scope) <= _MAX_PULL_BYTES:
            await self._pull(scope, receive, send)
        elif path == PUSH:
            await self._push(scope, receive, send)
        elif path == PUSH_CONTENT:
            await self.app(scope, receive, send)
            self._tell(self.missing - 1)
        else:
            await self.app(scope, receive, send)

    async def _pull(self, scope: Any, receive: Any, send: Any) -> None:
        body = await _read(receive)
        if body is None:
            return
        node = _node_of(body)
        gone = asyncio.ensure_future(_wait_for_end(receive))
        try:
            if node is not None and node not in self.news:
                await self._wait_for_news(node, gone)
            if gone.done():  # a message that nobody takes any more would be lost
                return
            answer, had_news = _Answer(send), node in self.news
            self.news.discard(node or 0)
            await self.app(scope, _Repeated(body, gone).receive, answer.send)
            if node is not None and (answer.body or (had_news and not answer.is_good)):
                self.news.add(node)  # there may be another one, or it is still there
        finally:
            gone.cancel()

    async def _wait_for_news(self, node: int, gone: asyncio.Future[None]) -> None:
        event = asyncio.Event()
        self._waiting[node].add(event)
        news = asyncio.ensure_future(event.wait())
        try:
            await asyncio.wait(
                (news, gone), timeout=self.hold_s, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            news.cancel()
            self._waiting[node].discard(event)
            if not self._waiting[node]:
                del self._waiting[node]

    async def _push(self, scope: Any, receive: Any, send: Any) -> None:
        body = await _read(receive)
        if body is None:
            return
        gone = asyncio.ensure_future(_wait_for_end(receive))
        answer = _Answer(send)
        try:
            await self.app(scope, _Repeated(body, gone).receive, answer.send)
        finally:
            gone.cancel()
            self.arriving |= _destinations(body)
            self._tell(_count_missing(bytes(answer.body)))

    def _tell(self, missing: int) -> None:
        """Let the devices look whose messages are complete; one message is pushed at a time."""
        self.missing = max(0, missing)
        if self.missing:
            return
        self.news |= self.arriving
        for node in self.arriving:
            for event in self._waiting.get(node, ()):
                event.set()
        self.arriving.clear()


@dataclass
class _Answer:
    """Passes an answer on, and keeps the body of a good one: an empty list has no bytes."""

    to: Any
    body: bytearray = field(default_factory=bytearray)
    is_good: bool = False

    async def send(self, message: Any) -> None:
        if message["type"] == _HEAD:
            self.is_good = message["status"] == 200
        elif message["type"] == _BODY:
            self.body += message.get("body", b"") if self.is_good else b""
        await self.to(message)


@dataclass
class _Repeated:
    """Gives the app a body that has been read already."""

    body: bytes | None
    gone: asyncio.Future[None]

    async def receive(self) -> Any:
        if self.body is None:
            await asyncio.shield(self.gone)
            return {"type": _END}
        body, self.body = self.body, None
        return {"type": "http.request", "body": body, "more_body": False}


async def _read(receive: Any) -> bytes | None:
    """Return a request's body; None where the sender has gone."""
    pieces = []
    while True:
        message = await receive()
        if message["type"] == _END:
            return None
        pieces.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(pieces)


async def _wait_for_end(receive: Any) -> None:
    while (await receive())["type"] != _END:
        pass


def _size(scope: Any) -> int:
    sizes = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(sizes[0]) if len(sizes) == 1 and sizes[0].isdigit() else _MAX_PULL_BYTES + 1


def _node_of(body: bytes) -> int | None:
    try:
        return int(private_parts.PullMessagesRequest.FromString(body).node.node_id)
    except DecodeError:  # Flower says what is wrong with it
        return None


def _destinations(body: bytes) -> set[int]:
    try:
        pushed = private_parts.PushAppMessagesRequest.FromString(body)
    except DecodeError:
        return set()
    return {int(message.metadata.dst_node_id) for message in pushed.messages_list}


def _count_missing(answer: bytes) -> int:
    """Return how many contents the SuperLink asks for in its answer to pushed messages."""
    try:
        return len(private_parts.PushAppMessagesResponse.FromString(answer).objects_to_push)
    except DecodeError:
        return 0
