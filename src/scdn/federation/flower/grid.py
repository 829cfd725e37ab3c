"""A server's line to devices: the grid that Flower gives a ServerApp."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from scdn.federation.flower import FIELD, RECORD
from scdn.federation.post import Node, Reply


class GridLine:
    """A ServerApp's grid as a `Line`. A message that cannot be read fails alone."""

    def __init__(self, grid: Any) -> None:
        self._grid = grid
        self._pool = ThreadPoolExecutor(4)
        self._sent: dict[str, int] = {}
        self._waiting: dict[str, Future[list[Any]]] = {}
        self._apart = False  # once something was wrong, messages are pulled one by one

    def nodes(self) -> list[Node]:
        """Who is connected."""
        return [Node(n.node_id, n.name, n.online_until) for n in self._grid.get_nodes()]

    def push(self, node: int, raw: bytes, lasts_s: float) -> str:
        """Sends a message; its id."""
        from flwr.app import ConfigRecord, Message, RecordDict

        content = RecordDict({RECORD: ConfigRecord({FIELD: raw})})
        (sent,) = self._grid.push_messages([Message(content, node, "query", ttl=lasts_s)])
        if not sent:
            return f"unsent-{time.monotonic_ns()}"  # nobody will answer it
        self._sent[sent] = node
        return str(sent)

    def pull(self, ids: Iterable[str]) -> list[Reply]:
        """Answers that have come to these messages."""
        wanted = [id_ for id_ in ids if id_ in self._sent]
        if not wanted:
            return []
        if not self._apart:
            try:
                return [self._reply(message) for message in self._grid.pull_messages(wanted)]
            except Exception:  # whatever a strange message makes Flower raise
                self._apart = True
        return list(self._one_by_one(wanted))

    def _one_by_one(self, wanted: list[str]) -> Iterator[Reply]:
        for id_ in wanted:
            if id_ not in self._waiting:
                self._waiting[id_] = self._pool.submit(self._pull_one, id_)
        for id_, future in list(self._waiting.items()):
            if not future.done():
                continue
            del self._waiting[id_]
            error = future.exception()
            if error is not None:
                yield Reply(id_, self._sent.pop(id_, 0), b"", type(error).__name__)
            else:
                yield from (self._reply(message) for message in future.result())

    def _pull_one(self, id_: str) -> list[Any]:
        return list(self._grid.pull_messages([id_]))

    def _reply(self, message: Any) -> Reply:
        told = message.metadata
        id_ = str(told.reply_to_message_id)
        node = self._sent.pop(id_, 0)
        if message.has_error():
            return Reply(id_, node, None, str(message.error.reason)[:200])
        try:
            frame = message.content[RECORD][FIELD]
        except KeyError:
            frame = b""
        return Reply(id_, int(told.src_node_id), frame if isinstance(frame, bytes) else b"")
