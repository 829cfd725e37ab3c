"""Name devices whose replies are odd although they do no harm: in the log, and nothing follows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from statistics import median

import torch
from torch import Tensor

# Embeddings, or updates, that are so many times as large as any other's are named, and embeddings
# or figures that are this part of any other's. Honest embeddings were 1.3 times as large at most.
LARGE_SIZE, _LARGE_UPDATE = 3.0, 30.0
SMALL_SIZE, _SMALL_FIGURE = 1 / 6, 1e-4
# Models have so many times as many connections as those of others in the median, or this part.
_CONNECTIONS = 1000.0
# Embeddings of the same rows with such a correlation, before and after a step, have been reversed.
_REVERSED = -0.5
_KEPT_DIGESTS = 32  # of a party's reports
# Embeddings with such a correlation are copies.
_COPY = 0.9999
# After so many rounds a device is named that lowers the loss by less than this part of it.
USELESS_ROUNDS, _USELESS = 5, 0.01


@dataclass
class OddReplies:
    """Says each kind of oddity of a device once."""

    log: Callable[[str], None] = lambda _: None
    _useless_rounds: Counter[str] = field(default_factory=Counter)  # in a row, by party
    _digests: defaultdict[str, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    _noted: set[tuple[str, str]] = field(default_factory=set)

    def note(self, name: str, kind: str, text: str) -> None:
        """Say something odd about a party, unless the same kind of thing was said before."""
        if (name, kind) not in self._noted:
            self._noted.add((name, kind))
            self.log(f"{name}: {text}")

    def note_useless(self, gains: Mapping[str, float]) -> None:
        """Name devices whose embeddings lower no loss, while those of others do."""
        for name, gain in gains.items():
            useless = gain < _USELESS < median_without(gains, name)
            self._useless_rounds[name] = self._useless_rounds[name] + 1 if useless else 0
            if self._useless_rounds[name] >= USELESS_ROUNDS:
                text = f"its embeddings have lowered no loss for {USELESS_ROUNDS} rounds"
                self.note(name, "useless", text)

    def note_copies(self, tables: Mapping[str, Tensor]) -> None:
        """Name devices whose embeddings are those of another one, up to a factor."""
        flat = torch.stack([(t - t.mean(0)).flatten().double() for t in tables.values()])
        flat = torch.nn.functional.normalize(flat)
        for first, second in (flat @ flat.T).abs().triu(1).gt(_COPY).nonzero().tolist():
            one, other = list(tables)[first], list(tables)[second]
            self.note(other, "copy", f"its embeddings are those of {one}, or the other way round")

    def note_large_updates(self, changes: Mapping[str, float]) -> None:
        """Name devices whose updates are far larger than any other's."""
        for name, size in changes.items():
            others = max((other for n, other in changes.items() if n != name), default=0.0)
            if others and size > _LARGE_UPDATE * others:
                text = f"its update is {size / others:.2g} times as large as any other's"
                self.note(name, "large update", text)

    def note_small_figures(self, kind: str, values: Mapping[str, float]) -> None:
        """Name devices that measure far less than any other."""
        for name, value in values.items():
            others = [other for n, other in values.items() if n != name]
            if len(others) > 1 and value < _SMALL_FIGURE * min(others):
                part = f"{value / min(others):.2g} times those of any other"
                self.note(name, f"small {kind}", f"its {kind.replace('_', ' ')} is {part}")

    def note_connections(self, connections: Mapping[str, int]) -> None:
        """Name devices whose models cannot be like those of others."""
        for name, count in connections.items():
            usual = median_without(connections, name)
            if usual and not usual / _CONNECTIONS <= count <= usual * _CONNECTIONS:
                text = f"its model has {count} connections, those of others {usual:g}"
                self.note(name, "connections", text)

    def note_reversed(self, name: str, before: Tensor, after: Tensor) -> None:
        """Name a device whose embeddings are the opposite after its step."""
        one, other = (table.double() - table.double().mean(0) for table in (before, after))
        size = float(one.norm() * other.norm())
        if size and float((one * other).sum()) / size < _REVERSED:
            self.note(name, "reversed", "its embeddings are the opposite of those before its step")

    def note_repeated(self, name: str, table: Tensor) -> None:
        """Name a device that reports what it has reported before its last report."""
        digest = blake2b(table.cpu().contiguous().numpy().tobytes(), digest_size=16).digest()
        known = self._digests[name]
        if digest in known[:-1] and digest != known[-1]:
            self.note(name, "repeated", "its report is one of those before its last one")
        self._digests[name] = [*known, digest][-_KEPT_DIGESTS:]


def median_without(values: Mapping[str, float], name: str) -> float:
    """Return the median of the other parties' values; zero if there are none."""
    return median([value for other, value in values.items() if other != name] or [0.0])
