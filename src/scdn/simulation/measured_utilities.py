"""What the server measured of every party's updates, for methods that choose parties by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from scdn.arrays import floats
from scdn.control.oort import PartyUtilities
from scdn.rng import generator


@dataclass
class MeasuredUtilities:
    """Each party's latest contribution to the fall of the loss, and the round it was measured in.

    `observe` adds a round; `for_round` returns what a controller is given.
    """

    gains: dict[str, float] = field(default_factory=dict)
    rounds: dict[str, int] = field(default_factory=dict)

    def observe(self, contributions: Mapping[str, float], round_index: int) -> None:
        """Replace what is known of the parties that contributed to a round."""
        self.gains |= contributions
        self.rounds |= dict.fromkeys(contributions, round_index)

    def for_round(self, names: Sequence[str], round_index: int, seed: int) -> PartyUtilities:
        """Return what was measured of these parties before a round of the run with this seed."""
        return PartyUtilities(
            gains=floats([self.gains.get(name, np.nan) for name in names]),
            last_round=np.array([self.rounds.get(name, -1) for name in names], dtype=np.int64),
            round=round_index,
            draws=generator(seed, "oort", round_index).random(len(names)),
        )

    def state_dict(self) -> dict[str, Any]:
        """Return the whole state, for a checkpoint."""
        return asdict(self)

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> MeasuredUtilities:
        """Return the utilities with this state."""
        return cls(dict(state["gains"]), dict(state["rounds"]))
