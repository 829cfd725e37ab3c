"""Send requests to devices and collect their replies: in time, well-formed, from the right device.

A device that does not reply in time has failed for this round. A reply that arrives later is
dropped, counted and logged. A malformed reply counts as none, and a device that sends three of
them is ignored from then on.
"""

from __future__ import annotations

import math
import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from scdn.errors import printable
from scdn.federation.incoming_messages import RefusedError, Reply, read_reply
from scdn.federation.messages import ROUND_MESSAGES
from scdn.federation.table_format import table_of
from scdn.federation.wire_format import MAX_BYTES, Arrays, Frame, WireError, encode

MAX_WRONG_REPLIES = 3  # after which a device is ignored
_POLL_S, _SLOWEST_POLL_S = 0.1, 0.5  # between two looks for replies: at first, and at most
# A device that missed a request is given so many seconds after the others have answered, or twice
# as long as they took: one that is dead does not stretch every round to the timeout.
_DOUBTFUL_S, _DOUBTFUL_RATIO = 2.0, 2.0
_WORK_RATIO = 20.0  # times the timeout for replies, that work may take which nobody waits for
_DOUBT = 4  # replies in time until it is waited for again: more than a device sends in a round
_GRACE_S = 1.0  # the clocks of network and server may differ by so much
_CLOCK_S = 1.0  # by which a device's clock may be off while it computes
_CONNECTED_S = 1.0  # between two looks at which nodes are connected


class Node(NamedTuple):
    """A connected device, as the network knows it."""

    id: int
    key_name: str  # the name its key was registered with; empty where there are no keys
    online_until: float  # when the network would give it up, if it falls silent


class RawReply(NamedTuple):
    """The bytes that came back for a message; `raw` is None where the network reports an error."""

    message_id: str
    node: int
    raw: bytes | None
    error: str = ""


class Transport(Protocol):
    """Carries bytes between the server and devices: Flower's grid, or a stand-in for tests."""

    def nodes(self) -> list[Node]:
        """Return the nodes that are connected."""
        ...

    def push(self, node: int, raw: bytes, lasts_s: float) -> str:
        """Send a message, which expires after `lasts_s`, and return its id."""
        ...

    def pull(self, message_ids: Iterable[str]) -> list[RawReply]:
        """Return the replies to these messages that have arrived."""
        ...


class Request(NamedTuple):
    """A message to one device.

    `sizes` are array sizes that its reply must have, `max_bytes` is how large the reply may be.
    Without `wait`, the reply may take as long as the device's work.
    """

    kind: str
    fields: dict[str, Any]
    arrays: Arrays = {}  # noqa: RUF012
    sizes: Mapping[str, int] = {}
    max_bytes: int = MAX_BYTES
    wait: bool = True


@dataclass
class Traffic:
    """What a party's messages cost in a round.

    Payload is what the ledger bills: the tables of a round. Measurement is tables that nobody but
    the reader of a report needs, such as embeddings of test rows. The rest of the bytes is
    overhead: names, numbers and shapes of each message, and everything about joining.
    """

    seconds: float = 0.0  # of computing, as the device reports it
    waited_s: float = 0.0  # from request to reply
    bytes_down: int = 0
    bytes_up: int = 0
    payload_down: int = 0
    payload_up: int = 0
    measurement_down: int = 0
    measurement_up: int = 0


class _Pending(NamedTuple):
    node: int
    name: str
    request: Request
    nonce: str
    sent_at: float


@dataclass
class Messenger:
    """Knows which party is at which node, and which requests have no reply yet."""

    transport: Transport
    run: str
    timeout_s: float = 30.0
    log: Callable[[str], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    measurement: frozenset[str] = frozenset({"test"})  # tables that are not billed
    probe: Callable[[], Request] | None = None  # what an idle device answers at once
    node_of: dict[str, int] = field(default_factory=dict)  # by party
    traffic: defaultdict[str, Traffic] = field(default_factory=lambda: defaultdict(Traffic))
    late_replies: Counter[str] = field(default_factory=Counter)
    wrong_replies: Counter[str] = field(default_factory=Counter)
    banned_nodes: set[int] = field(default_factory=set)
    doubt: Counter[str] = field(default_factory=Counter)  # by party: replies until it is trusted
    disconnected: set[int] = field(default_factory=set)  # nodes that have left by themselves
    _online_until: dict[int, float] = field(default_factory=dict)  # by connected node
    _pending: dict[str, _Pending] = field(default_factory=dict)
    _overdue: dict[str, _Pending] = field(default_factory=dict)
    _working: dict[str, _Pending] = field(default_factory=dict)  # on requests without `wait`
    _looked_at: float = field(default=-math.inf, init=False)  # at the devices that work
    _probes: dict[str, str] = field(default_factory=dict)  # the message that each one asks about
    _finished: dict[str, Reply | None] = field(default_factory=dict)  # their replies, by party
    _impossible: set[str] = field(default_factory=set)  # parties, by what they say of their time
    _absent: set[str] = field(default_factory=set)  # parties whose absence the log has named

    def ask(
        self, requests: Mapping[str, Request], timeout_s: float | None = None
    ) -> dict[str, Reply]:
        """Send requests to parties and return the valid replies that arrive in time."""
        at_nodes = {
            name: (self.node_of[name], request)
            for name, request in requests.items()
            if name in self.node_of
        }
        return self.ask_nodes(at_nodes, timeout_s)

    def ask_nodes(
        self, requests: Mapping[str, tuple[int, Request]], timeout_s: float | None = None
    ) -> dict[str, Reply]:
        """Send requests to nodes whose party is not known yet; otherwise as `ask`."""
        replies: dict[str, Reply] = {}
        timeout = self.timeout_s if timeout_s is None else timeout_s
        for name, (node, request) in requests.items():
            if node not in self.banned_nodes:
                self._send(name, node, request, 3 * timeout)
        began, poll_s = self.clock(), _POLL_S
        deadline, looked = began + timeout, began
        only_doubtful = False
        while self._pending and self.clock() < deadline:
            arrived = self._collect(replies)
            if not self._pending:
                break
            if not only_doubtful and all(self.doubt[p.name] for p in self._pending.values()):
                only_doubtful = bool(replies)
                if only_doubtful:
                    took = max(_DOUBTFUL_S, _DOUBTFUL_RATIO * (self.clock() - began))
                    deadline = min(deadline, self.clock() + took)
            if self.clock() - looked > _CONNECTED_S:
                looked = self.clock()
                self._give_up_on_disconnected()
            poll_s = _POLL_S if arrived else min(_SLOWEST_POLL_S, poll_s * 1.2)
            self.sleep(poll_s)
        for message_id, pending in self._pending.items():
            self._overdue[message_id] = pending
            self.doubt[pending.name] = _DOUBT
            waited = f"{self.clock() - began:.3g} s"
            self.log(f"{pending.name}: no reply to {pending.request.kind} within {waited}")
        self._pending.clear()
        return replies

    # --- work that nobody waits for -------------------------------------------------------------

    def begin(self, requests: Mapping[str, Request]) -> None:
        """Send requests and return at once; `next_finished` has the replies as they come."""
        for name, request in requests.items():
            self.give_up(name)
            node = self.node_of.get(name)
            if node is not None and node not in self.banned_nodes:
                message_id = self._send(name, node, request, self.longest_work_s)
                self._working[message_id] = self._pending.pop(message_id)

    def next_finished(self, names: Collection[str]) -> tuple[str, Reply | None]:
        """Wait until one of these parties is ready; return it with its reply.

        The reply is None where none will come: the device has disconnected, has never begun, has
        sent something else, has been started again, or works for longer than `longest_work_s`.
        """
        poll_s = _POLL_S
        while True:
            for name in self._finished:
                if name in names:
                    return name, self._finished.pop(name)
            gone = set(names) - {pending.name for pending in self._working.values()}
            if gone:
                return min(gone), None
            has_arrived = self._collect({})
            if self.clock() - self._looked_at > _CONNECTED_S:  # since any call: others may be fast
                self._looked_at = self.clock()
                self._give_up_on_disconnected()
                self._give_up_on_endless()
                self._ask_whether_working()
            elif has_arrived:
                poll_s = _POLL_S
            else:
                self.sleep(poll_s)
                poll_s = min(_SLOWEST_POLL_S, poll_s * 1.2)

    def give_up(self, name: str) -> None:
        """Expect nothing more of the work that a party may have begun."""
        self._finished.pop(name, None)
        for message_id in [id_ for id_, p in self._working.items() if p.name == name]:
            self._overdue[message_id] = self._working.pop(message_id)

    @property
    def longest_work_s(self) -> float:
        """The longest time that a device may work until it is ready to report."""
        return _WORK_RATIO * self.timeout_s

    def connected_nodes(self) -> dict[int, Node]:
        """Return the nodes that are connected; note those that have disconnected by themselves.

        They are gone before the network would have given them up.
        """
        nodes, now = {node.id: node for node in self.transport.nodes()}, time.time()
        for node in self._online_until.keys() - nodes.keys():
            if now < self._online_until.pop(node) - _GRACE_S:
                self.disconnected.add(node)
        self.disconnected -= nodes.keys()
        self._online_until |= {node.id: node.online_until for node in nodes.values()}
        return nodes

    def reject(self, name: str, reason: str) -> None:
        """Count a party's last reply as invalid: what it has cannot be used."""
        node = self.node_of.get(name)
        if node is not None:
            self._count_wrong_reply(name, node, reason)

    # --- inside ---------------------------------------------------------------------------------

    def _send(self, name: str, node: int, request: Request, lasts_s: float) -> str:
        nonce = secrets.token_hex(8)
        fields = {**request.fields, "run": self.run, "nonce": nonce}
        raw = encode(Frame(request.kind, fields, dict(request.arrays)))
        if len(raw) > MAX_BYTES:
            raise WireError(f"{request.kind} for {name} has {len(raw)} bytes, at most {MAX_BYTES}")
        message_id = self.transport.push(node, raw, lasts_s)
        self._pending[message_id] = _Pending(node, name, request, nonce, self.clock())
        traffic = self.traffic[name]
        traffic.bytes_down += len(raw)
        payload, measured = self._split_bytes(request.kind, request.arrays)
        traffic.payload_down += payload
        traffic.measurement_down += measured
        return message_id

    def _collect(self, replies: dict[str, Reply]) -> bool:
        """Add the replies that have arrived to `replies`; return whether anything arrived."""
        asked = [*self._pending, *self._overdue, *self._working, *self._probes]
        arrived = self.transport.pull(asked)
        idle = set()
        for raw_reply in arrived:
            message_id = raw_reply.message_id
            if message_id in self._probes:
                work = self._probes.pop(message_id)
                if raw_reply.raw is not None:
                    idle.add(work)
            elif message_id in self._overdue:
                name = self._overdue.pop(message_id).name
                if raw_reply.raw is not None:
                    self.late_replies[name] += 1
                    self.log(f"{name}: reply arrived too late, dropped")
            elif message_id in self._pending:
                self._accept(self._pending.pop(message_id), raw_reply, replies)
            elif message_id in self._working:
                pending, reply = self._working.pop(message_id), dict[str, Reply]()
                self._accept(pending, raw_reply, reply)
                self._finished[pending.name] = reply.get(pending.name)
            else:
                self.log(f"node {raw_reply.node}: reply to no pending request, dropped")
        for work in idle & self._working.keys():
            name = self._working[work].name
            self.log(f"{name}: no longer works on what it was asked")
            self.give_up(name)
        return bool(arrived)

    def _accept(self, pending: _Pending, raw_reply: RawReply, replies: dict[str, Reply]) -> None:
        name, traffic, kind = pending.name, self.traffic[pending.name], pending.request.kind
        if raw_reply.raw is None:
            if kind != "goodbye":  # a device that was told to stop may have stopped already
                self._log_absence(name, printable(raw_reply.error) or "no reply will arrive")
            return
        self._absent.discard(name)
        traffic.bytes_up += len(raw_reply.raw)
        self.doubt[name] = max(0, self.doubt[name] - 1)
        try:
            if raw_reply.node != pending.node:
                raise WireError("sent by another node")
            request = pending.request
            reply = read_reply(
                raw_reply.raw, kind, self.run, pending.nonce, request.sizes, request.max_bytes
            )
        except RefusedError as error:  # it may have restarted: ask for its name again
            self.log(f"{name}: refused {kind} ({error})")
            self.node_of.pop(name, None)
            return
        except WireError as error:
            self._count_wrong_reply(name, pending.node, str(error))
            return
        payload, measured = self._split_bytes(kind, reply.arrays)
        traffic.payload_up += payload
        traffic.measurement_up += measured
        waited_s = self.clock() - pending.sent_at
        if request.wait:
            traffic.waited_s += waited_s
        traffic.seconds += self._computed_s(name, getattr(reply.fields, "seconds", 0.0), waited_s)
        if kind == "train" and reply.fields.seconds == 0:
            self._say_once(name, "says that training took no time")
        replies[name] = reply

    def _computed_s(self, name: str, seconds: float, waited_s: float) -> float:
        """Return how long a device says it computed; it cannot be longer than it was waited for."""
        if seconds <= waited_s + _CLOCK_S:
            return seconds
        told = f"says it computed {seconds:.3g} s, but replied after {waited_s:.3g} s"
        self._say_once(name, told)
        return waited_s

    def _log_absence(self, name: str, reason: str) -> None:
        """Say once that a device is not there, until it is heard again."""
        if name not in self._absent:
            self.log(f"{name}: {reason}")
        self._absent.add(name)

    def _say_once(self, name: str, text: str) -> None:
        """Name a device that says something impossible of its time, once."""
        if name not in self._impossible:
            self._impossible.add(name)
            self.log(f"{name}: {text}")

    def _split_bytes(self, kind: str, arrays: Arrays) -> tuple[int, int]:
        """Return the bytes of a message's tables that are billed, and of those that are not."""
        if kind not in ROUND_MESSAGES:
            return 0, 0
        sizes = {name: array.nbytes for name, array in arrays.items()}
        measured = sum(size for name, size in sizes.items() if table_of(name) in self.measurement)
        return sum(sizes.values()) - measured, measured

    def _count_wrong_reply(self, name: str, node: int, reason: str) -> None:
        self.wrong_replies[name] += 1
        self.log(f"{name}: invalid reply dropped ({reason})")
        if self.wrong_replies[name] >= MAX_WRONG_REPLIES:
            self.banned_nodes.add(node)
            self.log(f"{name}: {MAX_WRONG_REPLIES} invalid replies, ignored from now on")

    def _give_up_on_disconnected(self) -> None:
        connected = self.connected_nodes()
        for pendings in (self._pending, self._working):
            for message_id, pending in list(pendings.items()):
                if pending.node not in connected:
                    self._log_absence(pending.name, "is no longer connected")
                    del pendings[message_id]

    def _give_up_on_endless(self) -> None:
        """Expect no report of devices that have worked for too long."""
        for pending in list(self._working.values()):
            if self.clock() - pending.sent_at > self.longest_work_s:
                self.log(f"{pending.name}: not ready after {self.longest_work_s:g} s")
                self.give_up(pending.name)

    def _ask_whether_working(self) -> None:
        """Ask devices that have worked for long for something that they answer when they are idle.

        A device answers one request after another. One that was killed and started again, or that
        lost the request, answers this one first: it is connected, but no report will come.
        """
        if self.probe is None:
            return
        self._probes = {
            probe: work for probe, work in self._probes.items() if work in self._working
        }
        asked = set(self._probes.values())
        for message_id, pending in list(self._working.items()):
            if message_id not in asked and self.clock() - pending.sent_at > self.timeout_s:
                probe = self._send(pending.name, pending.node, self.probe(), self.timeout_s)
                del self._pending[probe]
                self._probes[probe] = message_id
