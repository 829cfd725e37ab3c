"""Track which devices are connected, which party each one is, and which have left.

When a device's process is told to stop, it disconnects from the network and has left at once. When
it dies without that, or its link is cut, it gives no replies: its link has failed in each round
in which it is asked. Silence is not a departure: such a device has left once it has missed three
rounds in a row and has been silent for `patience_s`, or for a shorter time if it is connected. A
device that sends invalid replies has left too, and one whose replies were out of line in three
rounds is dismissed. One that reconnects in time with the model it had continues as the same party;
otherwise it joins as a new party (`NAME-2`).
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scdn.federation.incoming_messages import Reply
from scdn.federation.messages import DIGEST_BYTES, VERSION
from scdn.federation.messenger import Messenger, Node, Request

MAX_SILENT_ROUNDS = 3  # in a row, after which a device may have left
# Seconds after which a device has left that is connected and says nothing. The network takes 20 s
# to notice that one has died.
MAX_SILENT_S = 30.0
PATIENCE_S = 300.0  # after which one has left that is no longer connected, by default
MAX_SILENT_DEPARTURES = (
    3  # after which a device may not join again: each one slows down three rounds
)
# A device may have so many times as many rows as the server has labels, and always this number: its
# hello has 16 bytes for each, and the server keeps them.
ROWS_PER_LABEL, _ALWAYS_ROWS = 16, 1 << 16
_HELLO_BYTES = 1 << 16  # of a hello, besides its keys
_GOODBYE_S = 5.0
_ASK_AGAIN_S = 20.0  # after which a node that did not give its name is asked again; then twice it
MAX_PARTIES = 10  # of one device in a run, which may leave and join again: each one's tables stay
MAX_REFUSALS = 3  # of a device that cannot take part, or does not join, until it is dismissed

Position = tuple[float, float, float]


class Member(NamedTuple):
    """A connected device that has given its name."""

    node: int
    keys: NDArray[np.uint8]
    position_m: Position | None


@dataclass
class Membership:
    """The connected devices, by the name of their party."""

    messenger: Messenger
    salt: str
    labels: int = 1 << 16  # rows of the server, which bound those of devices
    patience_s: float = PATIENCE_S  # after which a device has left that is not connected
    members: dict[str, Member] = field(default_factory=dict)
    device_of: dict[str, str] = field(default_factory=dict)  # by party, departed ones included
    took_part: set[str] = field(default_factory=set)  # parties whose names nobody can have again
    silent_rounds: Counter[str] = field(default_factory=Counter)
    _silent_since: dict[str, float] = field(default_factory=dict)  # by party
    _back_at: dict[str, float] = field(default_factory=dict)  # by party that was silent
    _answered: set[str] = field(default_factory=set)  # parties, in one round at least
    silent_departures: Counter[str] = field(default_factory=Counter)  # by device
    refusals: Counter[str] = field(default_factory=Counter)  # by device
    dismissed: set[str] = field(default_factory=set)  # devices
    _ask_after: dict[int, float] = field(default_factory=dict)  # by node
    _unnamed: Counter[int] = field(default_factory=Counter)  # times that a node gave no name
    _sent_away: set[int] = field(default_factory=set)  # nodes, until they have disconnected

    def discover(self, known_state: Callable[[str], int | None]) -> tuple[list[str], list[str]]:
        """Ask unknown nodes for their names; return the parties that are new and those back again.

        `known_state` gives the model state that the server has of a party that is present.
        """
        nodes = self.messenger.connected_nodes()
        self._sent_away &= nodes.keys()
        in_use = self.messenger.banned_nodes | set(self.messenger.node_of.values())
        in_use |= self._sent_away
        hello = self.hello()
        requests = {
            f"node {node}": (node, hello)
            for node in nodes
            if node not in in_use and time.time() >= self._ask_after.get(node, 0)
        }
        replies = self.messenger.ask_nodes(requests)
        for key in requests.keys() - replies.keys():
            self._ask_later(requests[key][0])
        new: list[str] = []
        back: list[str] = []
        for key, reply in sorted(replies.items()):
            node = nodes[requests[key][0]]
            if self._admits(node, reply.fields.name, nodes):
                party, known = self._party_of(reply.fields, known_state)
                self._add(party, node.id, reply)
                (back if known else new).append(party)
        return new, back

    def hello(self) -> Request:
        """Return the request for a device's name, its rows and the states that it has."""
        most_rows = max(_ALWAYS_ROWS, ROWS_PER_LABEL * self.labels)
        max_bytes = DIGEST_BYTES * most_rows + _HELLO_BYTES
        return Request("hello", {"version": VERSION, "salt": self.salt}, max_bytes=max_bytes)

    def find_departed(
        self, present: Collection[str], asked: Collection[str], missed: Collection[str]
    ) -> set[str]:
        """Return the parties that have left, after a round in which `missed` did not reply.

        A round in which a party was not asked for anything does not count as silent or as heard.
        """
        now = self.messenger.clock()
        for name in set(present) & set(asked):
            self.silent_rounds[name] = self.silent_rounds[name] + 1 if name in missed else 0
            if name in missed:
                self._silent_since.setdefault(name, now)
            else:
                self._answered.add(name)
                self._silent_since.pop(name, None)
                self._back_at.pop(name, None)
        connected = self.messenger.connected_nodes()  # notes devices that have disconnected
        departed = set()
        for name in present:
            node = self.messenger.node_of.get(name)
            stopped = node in self.messenger.disconnected
            banned = node in self.messenger.banned_nodes or self.device_of[name] in self.dismissed
            silent = self.silent_rounds[name] >= MAX_SILENT_ROUNDS and (
                self._is_overdue(name, now, node in connected)
            )
            replaced = self._is_replaced(name, present)
            never_heard = replaced and name not in self._answered
            if (silent or never_heard) and not (stopped or banned):
                self._count_silent_departure(name)
            if stopped or banned or silent or replaced:
                departed.add(name)
        return departed

    def _is_replaced(self, name: str, present: Collection[str]) -> bool:
        """Return whether a party's device has come back as another one: it has lost its model."""
        parties = [p for p, device in self.device_of.items() if device == self.device_of[name]]
        later = parties[parties.index(name) + 1 :]
        return any(party in present or party in self.messenger.node_of for party in later)

    def _is_overdue(self, name: str, now: float, is_connected: bool) -> bool:
        """Return whether a silent party has been given enough time to say something."""
        since = self._silent_since.get(name, now)
        waited_s = now - max(since, self._back_at.get(name, since))
        return now - since >= self.patience_s or (is_connected and waited_s >= MAX_SILENT_S)

    def note_return(self, name: str) -> None:
        """Give a party time to reply that has connected again, with the model that it had."""
        self._back_at[name] = self.messenger.clock()

    def connected(self, names: Iterable[str]) -> set[str]:
        """Return those of some parties whose nodes are connected."""
        nodes = {node.id for node in self.messenger.transport.nodes()}
        return {name for name in names if self.messenger.node_of.get(name) in nodes}

    def _count_silent_departure(self, name: str) -> None:
        device = self.device_of[name]
        rounds = self.silent_rounds[name]
        self.messenger.log(f"{name}: has left, without an answer in {rounds} rounds")
        self.silent_departures[device] += 1
        if self.silent_departures[device] >= MAX_SILENT_DEPARTURES:
            # It may be connected again, as another party.
            again = [p for p in self.messenger.node_of if self.device_of.get(p) == device]
            self.dismiss(again or [name], f"it left so {MAX_SILENT_DEPARTURES} times")

    def dismiss(self, names: Collection[str], reason: str) -> None:
        """Send devices away for good; the parties have left."""
        self.say_goodbye(names, reason)
        for name in names:
            self.messenger.log(f"{name}: dismissed ({reason})")
            self.dismissed.add(self.device_of[name])
            if (node := self.messenger.node_of.get(name)) is not None:
                self.messenger.banned_nodes.add(node)

    def refuse(self, name: str, reason: str, *, ends: bool) -> None:
        """Go on without a device that cannot take part; it may come back, a few times.

        If its process `ends`, it may be started again with other rows; else it is asked again.
        """
        self.messenger.log(f"{name}: {reason}; refused")
        device, node = self.device_of[name], self.members[name].node
        self.refusals[device] += 1
        if self.refusals[device] >= MAX_REFUSALS:
            self.dismiss([name], f"refused {MAX_REFUSALS} times")
        elif ends:
            self.say_goodbye([name], reason)
            self._sent_away.add(node)
        self.forget([name])

    def forget(self, names: Iterable[str]) -> None:
        """Remove parties from the connected ones."""
        for name in names:
            self.messenger.node_of.pop(name, None)
            self.members.pop(name, None)
            self._silent_since.pop(name, None)
            self._back_at.pop(name, None)

    def say_goodbye(self, names: Collection[str], reason: str) -> None:
        """Tell devices that they no longer take part."""
        requests = {name: Request("goodbye", {"reason": reason}) for name in names}
        self.messenger.ask(requests, min(_GOODBYE_S, self.messenger.timeout_s))

    def state_dict(self) -> dict[str, Any]:
        """Return what a resumed server needs to know of its devices."""
        return {
            "run": self.messenger.run,
            "salt": self.salt,
            "devices": {p: device for p, device in self.device_of.items() if p in self.took_part},
            "silent": dict(self.silent_rounds),
            "silent_departures": dict(self.silent_departures),
            "refusals": dict(self.refusals),
            "dismissed": sorted(self.dismissed),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        self.messenger.run, self.salt = state["run"], state["salt"]
        self.device_of |= state["devices"]
        self.took_part |= state["devices"].keys()
        self._answered |= self.took_part  # it is not known of which ones that is wrong
        self.silent_rounds.update(state["silent"])
        self.silent_departures.update(state.get("silent_departures", {}))
        self.refusals.update(state.get("refusals", {}))
        self.dismissed |= set(state.get("dismissed", ()))

    # --- inside ---------------------------------------------------------------------------------

    def _admits(self, node: Node, name: str, connected: Collection[int]) -> bool:
        """Return whether a node may be the device `name` now; ban it where it never may."""
        reason = f"calls itself {name}, which was dismissed" if name in self.dismissed else None
        if node.key_name and node.key_name != name:
            reason = f"calls itself {name}, but its key belongs to {node.key_name}"
        if sum(self.device_of[party] == name for party in self.took_part) >= MAX_PARTIES:
            reason = reason or f"calls itself {name}, which has joined {MAX_PARTIES} times"
        if reason is not None:
            self.messenger.banned_nodes.add(node.id)
            self.messenger.log(f"node {node.id}: {reason}; refused")
            return False
        for party, other in self.messenger.node_of.items():
            if self.device_of.get(party) == name and other != node.id and other in connected:
                # It may have been killed and started again, and is connected until Flower notices.
                problem = f"calls itself {name}, which is connected already"
                self.messenger.log(f"node {node.id}: {problem}")
                self._ask_later(node.id)
                return False
        return True

    def _ask_later(self, node: int) -> None:
        """Ask a node again for its name after a while, which doubles each time."""
        self._ask_after[node] = time.time() + _ASK_AGAIN_S * 2 ** self._unnamed[node]
        self._unnamed[node] += 1

    def _add(self, party: str, node: int, reply: Reply) -> None:
        position = reply.fields.position_m
        self.members[party] = Member(
            node, reply.arrays["keys"], None if position is None else tuple(position)
        )
        self.device_of[party] = reply.fields.name
        self.messenger.node_of[party] = node

    def _party_of(self, hello: Any, known_state: Callable[[str], int | None]) -> tuple[str, bool]:
        """Return the party that a device is, and whether it continues with the model it had."""
        device = hello.name
        parties = [party for party, owner in self.device_of.items() if owner == device]
        state = known_state(hello.party) if hello.party in parties else None
        if hello.party and self.device_of.get(hello.party, device) != device:
            self.messenger.log(f"{device}: says that it is {hello.party}, which it is not")
        if state is not None and state in hello.states:
            return hello.party, True
        owner = self.device_of.get(device)  # it may be the name of another device's party
        if owner is None or (owner == device and device not in self.took_part):
            return device, False
        names = (f"{device}-{number}" for number in itertools.count(2))
        # Another device may be called so: `sensor` that joins again is not `sensor-2`.
        return next(name for name in names if name not in self.device_of), False
