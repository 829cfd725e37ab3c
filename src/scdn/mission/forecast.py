"""A forecast of progress: how much loss each party's update is expected to take off.

The gain of a party is amount·(iterations/most)^exponent: concave, with one exponent for all. The
amount follows what was measured, and falls from round to round as the model improves. A party that
is not heard keeps its amount, and grows more promising the longer it rests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from scdn.arrays import Array

FIRST_SHARE = 0.3  # of the initial loss, that all parties together may take off in a round
SMOOTHING = 0.5  # weight of the latest measurement
OPTIMISM = 0.15  # by which a resting party's amount grows per round


@dataclass
class PartyProgress:
    """What is known of one party: its gain with the most iterations, and when it was measured."""

    amount: float
    round: int


@dataclass
class ProgressForecast:
    """Forecasts of all parties; `observe` adds a round, `gains` forecasts the next."""

    first_loss: float
    exponent: float = 0.5
    parties: dict[str, PartyProgress] = field(default_factory=dict)

    def amounts(self, names: Sequence[str], round_index: int) -> Array:
        """Return each party's gain with the most iterations in a round."""
        known = [party.amount for name, party in self.parties.items() if name in names]
        fresh = max(known, default=FIRST_SHARE * self.first_loss / max(1, len(names)))
        result = []
        for name in names:
            party = self.parties.get(name)
            if party is None:
                result.append(fresh)
            else:
                rested = max(0, round_index - party.round - 1)
                result.append(
                    min(party.amount * (1 + OPTIMISM) ** rested, max(fresh, party.amount))
                )
        return np.array(result)

    def gains(self, names: Sequence[str], round_index: int, most: int) -> Array:
        """Return gains (parties, most + 1) by the number of iterations."""
        share = (np.arange(most + 1) / max(1, most)) ** self.exponent
        share[0] = 0.0
        return self.amounts(names, round_index)[:, None] * share

    def observe(
        self,
        contributions: Mapping[str, float],
        iterations: Mapping[str, float],
        round_index: int,
        most: int,
    ) -> None:
        """Take a round's measured contributions into account."""
        for name, gain in contributions.items():
            share = (max(iterations[name], 1e-9) / max(1, most)) ** self.exponent
            amount = max(gain, 0.0) / share
            before = self.parties.get(name)
            if before is not None:
                amount = SMOOTHING * amount + (1 - SMOOTHING) * before.amount
            self.parties[name] = PartyProgress(max(amount, 1e-9), round_index)

    def state_dict(self) -> dict[str, Any]:
        """Return the whole state, for a checkpoint."""
        return asdict(self)

    @classmethod
    def from_state_dict(cls, state: dict[str, Any]) -> ProgressForecast:
        """Return the forecast with this state."""
        parties = {name: PartyProgress(**party) for name, party in state["parties"].items()}
        return cls(state["first_loss"], state["exponent"], parties)
