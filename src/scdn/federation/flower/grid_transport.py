"""The server's transport to devices: the grid that Flower gives a ServerApp."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from scdn.federation.flower import FIELD, RECORD
from scdn.federation.messenger import Node, RawReply


class GridTransport:
    """A ServerApp's grid as a `Transport`; a message that Flower cannot read fails alone."""

    def __init__(self, grid: Any) -> None:
        self._grid = grid
        self._pool = ThreadPoolExecutor(4)
        self._node_of_message: dict[str, int] = {}
        self._pulls: dict[str, Future[list[Any]]] = {}
        self._one_by_one = False  # set once pulling several messages at a time has failed

    def nodes(self) -> list[Node]:
        """Return the nodes that are connected."""
        return [Node(n.node_id, n.name, n.online_until) for n in self._grid.get_nodes()]

    def push(self, node: int, raw: bytes, lasts_s: float) -> str:
        """Send a message and return its id."""
        from flwr.app import ConfigRecord, Message, RecordDict

        content = RecordDict({RECORD: ConfigRecord({FIELD: raw})})
        (message_id,) = self._grid.push_messages([Message(content, node, "query", ttl=lasts_s)])
        if not message_id:
            return f"unsent-{time.monotonic_ns()}"  # never gets a reply
        self._node_of_message[message_id] = node
        return str(message_id)

    def pull(self, message_ids: Iterable[str]) -> list[RawReply]:
        """Return the replies to these messages that have arrived."""
        pending = [message_id for message_id in message_ids if message_id in self._node_of_message]
        if not pending:
            return []
        if not self._one_by_one:
            try:
                return [self._reply(message) for message in self._grid.pull_messages(pending)]
            except Exception:  # an unreadable message can make Flower raise anything
                self._one_by_one = True
        return list(self._pull_one_by_one(pending))

    def _pull_one_by_one(self, pending: list[str]) -> Iterator[RawReply]:
        for message_id in pending:
            if message_id not in self._pulls:
                self._pulls[message_id] = self._pool.submit(self._pull_one, message_id)
        for message_id, pull in list(self._pulls.items()):
            if not pull.done():
                continue
            del self._pulls[message_id]
            error = pull.exception()
            if error is not None:
                node = self._node_of_message.pop(message_id, 0)
                yield RawReply(message_id, node, b"", type(error).__name__)
            else:
                yield from (self._reply(message) for message in pull.result())

    def _pull_one(self, message_id: str) -> list[Any]:
        return list(self._grid.pull_messages([message_id]))

    def _reply(self, message: Any) -> RawReply:
        message_id = str(message.metadata.reply_to_message_id)
        node = self._node_of_message.pop(message_id, 0)
        if message.has_error():
            return RawReply(message_id, node, None, str(message.error.reason)[:200])
        try:
            raw = message.content[RECORD][FIELD]
        except KeyError:
            raw = b""
        source = int(message.metadata.src_node_id)
        return RawReply(message_id, source, raw if isinstance(raw, bytes) else b"")
