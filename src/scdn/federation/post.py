"""Asks devices and waits for their answers: in time, of the right form, from the right one.

A device that does not answer in time has failed for this round. An answer that comes later is
dropped, counted and named; one of the wrong form counts as none, and a device that sends three
of them is no longer listened to.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from scdn.federation.messages import ANSWERED, Message, Refused, read
from scdn.federation.wire import LIMIT, Arrays, Frame, WireError, decode, encode

STRIKES = 3  # wrong answers after which a device is dropped
POLL_S = 0.1  # between two looks for answers, at first
SLOWEST_POLL_S = 0.5
_LOOK_S = 1.0  # between two looks at who is connected


class Node(NamedTuple):
    """A connected device, as the network knows it."""

    id: int
    key_name: str  # the name its key was registered with; empty where there are no keys
    until: float  # when the network would give it up, if it falls silent


class Reply(NamedTuple):
    """What came for a message; `raw` is None where the network says that nothing will."""

    message: str
    node: int
    raw: bytes | None
    error: str = ""


class Line(Protocol):
    """The network, as far as this program needs it."""

    def nodes(self) -> list[Node]:
        """Who is connected."""
        ...

    def push(self, node: int, raw: bytes, lasts_s: float) -> str:
        """Sends a message; its id."""
        ...

    def pull(self, ids: Iterable[str]) -> list[Reply]:
        """Answers that have come to these messages."""
        ...


class Ask(NamedTuple):
    """A message to one device."""

    kind: str
    words: dict[str, Any]
    arrays: Arrays = {}  # noqa: RUF012
    sizes: Mapping[str, int] = {}


class Answer(NamedTuple):
    """A checked answer, and how long it was on its way."""

    words: Any
    arrays: Arrays
    seconds: float


class RefusedError(Exception):
    """A device said, in good form, that it will not."""


@dataclass
class Meter:
    """What a device's messages cost in a round."""

    seconds: float = 0.0  # of computing, as it says
    waited_s: float = 0.0  # from asking to the answer
    bytes_down: int = 0
    bytes_up: int = 0


class _Open(NamedTuple):
    node: int
    name: str
    ask: Ask
    nonce: str
    asked_at: float


@dataclass
class Post:
    """Knows which device is at which node, and what is open."""

    line: Line
    run: str
    timeout_s: float = 30.0
    limit: int = LIMIT
    note: Callable[[str], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    seats: dict[str, int] = field(default_factory=dict)  # nodes by device name
    meters: dict[str, Meter] = field(default_factory=dict)
    late: Counter[str] = field(default_factory=Counter)
    strikes: Counter[str] = field(default_factory=Counter)
    banned: set[int] = field(default_factory=set)
    _open: dict[str, _Open] = field(default_factory=dict)
    _overdue: dict[str, _Open] = field(default_factory=dict)

    def ask(self, asks: Mapping[str, Ask], timeout_s: float | None = None) -> dict[str, Answer]:
        """The answers that come in time; whoever is missing did not answer as it should."""
        nodes = {name: self.seats[name] for name in asks if name in self.seats}
        return self.ask_nodes({name: (nodes[name], asks[name]) for name in nodes}, timeout_s)

    def ask_nodes(
        self, asks: Mapping[str, tuple[int, Ask]], timeout_s: float | None = None
    ) -> dict[str, Answer]:
        """The same of devices at given nodes, whatever their names."""
        found: dict[str, Answer] = {}
        patience = self.timeout_s if timeout_s is None else timeout_s
        for name, (node, ask) in asks.items():
            if node not in self.banned:
                self._send(name, node, ask, 3 * patience)
        deadline, poll = self.clock() + patience, POLL_S
        looked = self.clock()
        while self._open and self.clock() < deadline:
            heard = self._listen(found)
            if not self._open:
                break
            if self.clock() - looked > _LOOK_S:
                looked = self.clock()
                self._give_up_on_absent()
            poll = POLL_S if heard else min(SLOWEST_POLL_S, poll * 1.2)
            self.sleep(poll)
        for message, open_ in self._open.items():
            self._overdue[message] = open_
            self.note(f"{open_.name}: no answer to {open_.ask.kind} in {patience:g} s")
        self._open.clear()
        return found

    def listen(self) -> None:
        """Looks for late answers, to count them."""
        self._listen({})

    # --- inside ---------------------------------------------------------------------------------

    def _send(self, name: str, node: int, ask: Ask, lasts_s: float) -> None:
        nonce = secrets.token_hex(8)
        words = {**ask.words, "run": self.run, "nonce": nonce}
        raw = encode(Frame(ask.kind, words, dict(ask.arrays)))
        if len(raw) > self.limit:
            raise WireError(f"{ask.kind} for {name} has {len(raw)} bytes, at most {self.limit}")
        message = self.line.push(node, raw, lasts_s)
        self._open[message] = _Open(node, name, ask, nonce, self.clock())
        self._meter(name).bytes_down += len(raw)

    def _listen(self, found: dict[str, Answer]) -> bool:
        replies = self.line.pull([*self._open, *self._overdue])
        for reply in replies:
            if reply.message in self._overdue:
                name = self._overdue.pop(reply.message).name
                if reply.raw is not None:
                    self.late[name] += 1
                    self.note(f"{name}: its answer came too late and is dropped")
                continue
            open_ = self._open.get(reply.message)
            if open_ is None:
                self.note(f"node {reply.node}: an answer to nothing that is open, dropped")
                continue
            del self._open[reply.message]
            self._take(open_, reply, found)
        return bool(replies)

    def _take(self, open_: _Open, reply: Reply, found: dict[str, Answer]) -> None:
        name, meter = open_.name, self._meter(open_.name)
        if reply.raw is None:
            if open_.ask.kind != "bye":  # who was told to go may be gone already
                self.note(f"{name}: {reply.error or 'no answer will come'}")
            return
        meter.bytes_up += len(reply.raw)
        try:
            if reply.node != open_.node:
                raise WireError("an answer from another node")
            answer = self._checked(open_, reply.raw)
        except RefusedError as error:  # it may have started anew: it is asked again who it is
            self.note(f"{name}: refused {open_.ask.kind} ({error})")
            self.seats.pop(name, None)
            return
        except WireError as error:
            self._strike(name, open_.node, str(error))
            return
        spent = self.clock() - open_.asked_at
        meter.waited_s += spent
        meter.seconds += getattr(answer[0], "seconds", 0.0)
        found[name] = Answer(*answer, spent)

    def _checked(self, open_: _Open, raw: bytes) -> tuple[Message, Arrays]:
        frame = decode(raw, self.limit)
        if frame.kind == "refused":
            raise RefusedError(read(Refused, frame).reason)
        if frame.kind != open_.ask.kind:
            raise WireError(f"answered {frame.kind[:40]} to {open_.ask.kind}")
        words = read(ANSWERED[open_.ask.kind], frame, open_.ask.sizes)
        if words.nonce != open_.nonce or words.run != self.run:
            raise WireError("an answer to another question")
        return words, frame.arrays

    def _strike(self, name: str, node: int, reason: str) -> None:
        self.strikes[name] += 1
        self.note(f"{name}: a wrong answer ({reason}), dropped")
        if self.strikes[name] >= STRIKES:
            self.banned.add(node)
            self.note(f"{name}: {STRIKES} wrong answers, no longer listened to")

    def _give_up_on_absent(self) -> None:
        """Nobody waits for those who have said good-bye."""
        here = {node.id for node in self.line.nodes()}
        for message, open_ in list(self._open.items()):
            if open_.node not in here:
                self.note(f"{open_.name}: is no longer connected")
                del self._open[message]

    def _meter(self, name: str) -> Meter:
        return self.meters.setdefault(name, Meter())
