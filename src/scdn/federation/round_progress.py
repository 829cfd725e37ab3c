"""How far a round with devices has got, and what they have sent in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from torch import Tensor

from scdn.federation.incoming_messages import Tables


class SentUpdate(NamedTuple):
    """What a device sends of its updated model, or of the one that it has."""

    tables: Tables  # of the round's rows, of a part of the table of all rows, and of the sample
    test: Tensor
    smoothness: float | None


@dataclass
class RoundProgress:
    """How far a round has got.

    Attributes
    ----------
    rows
        The rows of each table that devices send, as indices.
    bases
        By party: the state from which it trains.
    table_parts
        By party: the part of the table of all training rows that it is asked for.
    step_known
        Whether the length of the step was known before training; devices then apply their updates
        at once.
    step_length
        How far along their updates devices were last asked to go.
    reports
        Whether devices have trained ahead, and only apply their updates.
    updates
        The number of times that devices were asked to apply their updates.
    asked, missed
        Parties that were asked to take part, and those of whose update the server has not heard.
    left_out
        Parties whose replies were out of line, and in what way; they have missed the round.
    before, trained, updated
        By party: tables at the beginning; after training, on which the step is chosen; after the
        last update.
    not_finite
        Parties whose numbers were no longer finite after the last update.
    """

    rows: dict[str, Tensor] = field(default_factory=dict)
    bases: Mapping[str, int] = field(default_factory=dict)
    table_parts: Mapping[str, int] = field(default_factory=dict)
    step_known: bool = False
    step_length: float | None = None
    updates: int = 0
    reports: bool = False
    asked: set[str] = field(default_factory=set)
    missed: set[str] = field(default_factory=set)
    left_out: dict[str, str] = field(default_factory=dict)
    before: dict[str, Tables] = field(default_factory=dict)
    trained: dict[str, Tables] = field(default_factory=dict)
    updated: dict[str, Tables] = field(default_factory=dict)
    not_finite: set[str] = field(default_factory=set)

    @property
    def sizes(self) -> dict[str, int]:
        """Return the number of rows of each table that devices send."""
        return {table: len(rows) for table, rows in self.rows.items()}

    def state_after(self, name: str) -> int:
        """Return the number of a party's state after the last update."""
        return self.bases[name] + self.updates

    def leave_out(self, name: str, reason: str) -> None:
        """Go on without a party, as if it had not replied."""
        self.left_out[name] = reason
        self.missed.add(name)
        self.not_finite.discard(name)
        for tables in (self.before, self.trained, self.updated):
            tables.pop(name, None)
