"""Tables of embeddings and gradients as the other side gets them: in so many bits per number.

Both sides of a federation and a simulation use the same draws, so that they agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from scdn.learning.number_coding import CodedTable, decode_table, encode_table, rounded_table
from scdn.learning.party_loss import GradientLoss, PartyLoss
from scdn.learning.round_protocol import FIGURE_BITS
from scdn.rng import generator

Round = tuple[int, int]  # the round and the arrival in it
GRADIENTS, SAMPLE_GRADIENTS = "gradients", "sample_gradients"  # tables that go down
DOWN = "down"
BEFORE = "before"  # the phase whose embeddings later tables of a round are compared with


def rounding_draw(seed: int, name: str, table: str, at: Round) -> np.random.Generator:
    """Return the generator that rounds one table of a party in a round."""
    return generator(seed, f"rounding:{name}:{table}", *at)


@dataclass
class TableSender:
    """Rounds what is sent.

    Where a table was sent at the beginning of the same round, only the difference to what the other
    side then received is rounded. It is smaller, and has the earlier rounding error in it.
    """

    number_bits: int
    seed: int
    _before: dict[tuple[str, str], Tensor] = field(default_factory=dict)  # by party and table

    @property
    def rounds(self) -> bool:
        """Return whether numbers are rounded at all."""
        return self.number_bits < FIGURE_BITS

    def send(
        self, embeddings: Mapping[str, Tensor], tables: Mapping[str, Tensor], phase: str, at: Round
    ) -> dict[str, Tensor]:
        """Return parties' embeddings of the rows in `tables`, one after another, as received."""
        if not self.rounds:
            return dict(embeddings)
        sizes = [len(rows) for rows in tables.values()]
        return {
            name: torch.cat(
                [
                    self._send_table(name, values, table, phase, at)
                    for table, values in zip(tables, party.split(sizes), strict=True)
                ]
            )
            for name, party in embeddings.items()
        }

    def code(self, name: str, table: str, values: Tensor, phase: str, at: Round) -> CodedTable:
        """Return a party's table in few bits, as a device sends it; it must be finite."""
        reference = self._reference(name, table, phase, len(values))
        difference = values.detach() if reference is None else values.detach() - reference
        draw = rounding_draw(self.seed, name, f"{table} {phase}", at)
        coded = encode_table(difference.to("cpu", torch.float64).numpy(), self.number_bits, draw)
        self.receive(name, table, coded, values, phase)
        return coded

    def receive(self, name: str, table: str, coded: CodedTable, like: Tensor, phase: str) -> Tensor:
        """Return the table that a party sent; `like` has its size, type and device."""
        decoded = decode_table(coded, len(like), self.number_bits, np.float64)
        reference = self._reference(name, table, phase, len(like))
        received = torch.from_numpy(decoded).to(like)
        received = received if reference is None else received + reference
        if phase == BEFORE:
            self._before[name, table] = received
        return received

    def _send_table(self, name: str, values: Tensor, table: str, phase: str, at: Round) -> Tensor:
        draw = rounding_draw(self.seed, name, f"{table} {phase}", at)
        reference = self._reference(name, table, phase, len(values))
        received = rounded_table(values, self.number_bits, draw, reference)
        if phase == BEFORE:
            self._before[name, table] = received
        return received

    def _reference(self, name: str, table: str, phase: str, rows: int) -> Tensor | None:
        """Return what was received of a table's first rows when the round began."""
        before = None if phase == BEFORE else self._before.get((name, table))
        return None if before is None or len(before) < rows else before[:rows]

    def send_gradients(
        self, loss: PartyLoss, names: Sequence[str], at: Round, *, of_sample: bool = False
    ) -> PartyLoss:
        """Return the loss with gradients as the parties receive them."""
        if not (self.rounds and isinstance(loss, GradientLoss)):
            return loss
        table = SAMPLE_GRADIENTS if of_sample else GRADIENTS
        received = [
            self._send_table(name, values.flatten(0, -2), table, DOWN, at).view_as(values)
            for name, values in zip(names, loss.gradients, strict=True)
        ]
        return GradientLoss(torch.stack(received))
