"""Find the party that alone makes the server take back the steps of all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from scdn.federation.embedding_harm import HarmMeasure
from scdn.federation.incoming_messages import Tables
from scdn.learning.round_training import TOLERATED_RISE

# Rounds whose step is taken back because of one party, more than those in which its step stands. It
# happens to honest ones where a step is too long, but the rates fall each time.
MAX_BLOCKED_ROUNDS = 3


@dataclass
class BlockedRounds:
    """Counts the rounds that one and the same party has blocked, less those in which it did not."""

    name: str | None = None
    count: int = 0

    def add(self, blocking: Sequence[str]) -> str | None:
        """Count a round; return the party that has blocked too many."""
        name = blocking[0] if len(blocking) == 1 else None
        self.count = 1 if name != self.name else self.count + 1
        self.name = name
        return name if self.count >= MAX_BLOCKED_ROUNDS else None

    def note_step_kept(self, names: Collection[str]) -> None:
        """Count a round in which the step of these parties was not taken back."""
        if self.name in names:
            self.count = max(0, self.count - 1)


def blocking_parties(
    harm: HarmMeasure,
    updated: Mapping[str, Tables],
    before: Mapping[str, Tables],
    table: str,
    rows: Tensor,
) -> list[str]:
    """Return the parties without whose update the shortest step would stand."""
    fresh = {name: tables[table] for name, tables in updated.items() if table in tables}
    if not fresh:
        return []
    others = harm.known_of_others(fresh, rows)
    stale = {name: before[name][table] for name in fresh}
    limit = TOLERATED_RISE * harm.loss(others | stale, rows)
    losses = {name: harm.loss({**others, **fresh, name: stale[name]}, rows) for name in fresh}
    return [name for name, loss in losses.items() if loss <= limit]


def judged_table(tables: Mapping[str, Tensor]) -> str:
    """Return the table that parties are judged by: of rows held out, where there are any."""
    known = [name for name in ("held_out", "drawn", "sample") if len(tables.get(name, ()))]
    return known[0] if known else next(iter(tables))
