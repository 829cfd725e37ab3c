"""Who is connected, who they are, and who has gone.

A device that says good-bye (its process was told to stop) has left, and so has one that was silent
for three rounds in a row, or that was not listened to any more. One that comes back in time, with
what it had learned, goes on as the party it was; else it is a newcomer.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scdn.federation.messages import VERSION
from scdn.federation.post import Answer, Ask, Post

PATIENCE = 3  # rounds in a row without an answer, after which a device has left
_GRACE_S = 1.0
_BYE_S = 5.0
_AGAIN_S = 20.0  # after which a node that did not say who it is is asked again


class Guest(NamedTuple):
    """A device that said who it is."""

    node: int
    device: str
    keys: NDArray[np.uint8]
    states: tuple[int, ...]
    position_m: tuple[float, float, float] | None


@dataclass
class Roster:
    """Devices by the name of their party."""

    post: Post
    salt: str
    guests: dict[str, Guest] = field(default_factory=dict)
    devices: dict[str, str] = field(default_factory=dict)  # every party's device, also departed
    silent: Counter[str] = field(default_factory=Counter)
    now: Callable[[], float] = time.time
    _until: dict[int, float] = field(default_factory=dict)
    _quiet: dict[int, float] = field(default_factory=dict)  # until when nodes are left alone

    def look(self, holding: Callable[[str], int | None]) -> tuple[list[str], list[str]]:
        """Asks unknown nodes who they are: newcomers, and parties that are back.

        `holding` gives the state that the server has of a party that is present.
        """
        nodes = self._connected()
        seated = set(self.post.seats.values())
        asks = {
            f"node {node.id}": (node.id, Ask("hello", {"version": VERSION, "salt": self.salt}))
            for node in nodes.values()
            if node.id not in seated | self.post.banned
            and self.now() >= self._quiet.get(node.id, 0)
        }
        answers = self.post.ask_nodes(asks)
        for key in asks.keys() - answers.keys():
            self._quiet[asks[key][0]] = self.now() + _AGAIN_S
        new: list[str] = []
        back: list[str] = []
        for key, answer in sorted(answers.items()):
            node = asks[key][0]
            if not self._welcome(node, nodes[node].key_name, answer, nodes):
                continue
            told = answer.words
            party, known = self._party(told, holding)
            place = None if told.position_m is None else tuple(told.position_m)
            self.guests[party] = Guest(
                node, told.name, answer.arrays["keys"], tuple(told.states), place
            )
            self.devices[party] = told.name
            self.post.seats[party] = node
            self.silent[party] = 0
            (back if known else new).append(party)
        return new, back

    def gone(self, present: Collection[str], missed: Collection[str]) -> set[str]:
        """Who has left, of those present; `missed` did not answer in this round."""
        for name in present:
            self.silent[name] = self.silent[name] + 1 if name in missed else 0
        nodes = self._connected()
        left = set()
        for name in present:
            node = self.post.seats.get(name)
            parted = node is not None and node not in nodes and self._parted(node)
            if parted or node in self.post.banned or self.silent[name] >= PATIENCE:
                left.add(name)
        return left

    def dismiss(self, names: Iterable[str]) -> None:
        """Forgets where these were."""
        for name in names:
            self.post.seats.pop(name, None)
            self.guests.pop(name, None)

    def bye(self, names: Collection[str], reason: str) -> None:
        """Tells devices that it is over for them."""
        asks = {name: Ask("bye", {"reason": reason}) for name in names}
        self.post.ask(asks, min(_BYE_S, self.post.timeout_s))

    # --- inside ---------------------------------------------------------------------------------

    def _connected(self) -> dict[int, Any]:
        nodes = {node.id: node for node in self.post.line.nodes()}
        self._until |= {node.id: node.until for node in nodes.values()}
        return nodes

    def _parted(self, node: int) -> bool:
        """Gone before the network would have given it up: it said good-bye."""
        return self.now() < self._until.get(node, 0.0) - _GRACE_S

    def _welcome(
        self, node: int, key_name: str, answer: Answer, connected: Collection[int]
    ) -> bool:
        name = answer.words.name
        if key_name and key_name != name:
            return self._ban(node, f"calls itself {name}, but its key is of {key_name}")
        for party, seat in self.post.seats.items():
            if self.devices.get(party) == name and seat != node and seat in connected:
                return self._ban(node, f"calls itself {name}, who is here already")
        return True

    def _ban(self, node: int, reason: str) -> bool:
        self.post.banned.add(node)
        self.post.note(f"node {node}: {reason}; not let in")
        return False

    def _party(self, told: Any, holding: Callable[[str], int | None]) -> tuple[str, bool]:
        """The party that a device is, and whether it goes on with what it had."""
        device = told.name
        mine = [party for party, owner in self.devices.items() if owner == device]
        state = holding(told.party) if told.party in mine else None
        if state is not None and state in told.states:
            return told.party, True
        if device not in self.devices:
            return device, False
        form = re.compile(rf"{re.escape(device)}-(\d+)")
        numbers = [int(found[1]) for party in mine if (found := form.fullmatch(party))]
        return f"{device}-{max([1, *numbers]) + 1}", False
