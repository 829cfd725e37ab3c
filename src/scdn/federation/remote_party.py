"""What the server has of one party on another machine."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from scdn.learning.tensors import StateDict, TensorOptions


@dataclass
class RemoteParty:
    """What a device last reported, and the number of the model state that it belongs to.

    Attributes
    ----------
    sample, test
        Embeddings (rows, width) of the sample and of the test rows; None before its first report.
    new
        Whether its last report has not been compared with others yet.
    """

    connections: int
    state: int
    smoothness: float = 0.0
    sample: Tensor | None = None
    test: Tensor | None = None
    new: bool = False
    _good: tuple[Tensor | None, Tensor | None] = (None, None)  # sample and test before the new ones

    def update(self, sample: Tensor, test: Tensor, smoothness: float | None) -> None:
        """Store a newer report."""
        if not self.new:
            self._good = self.sample, self.test
        self.sample, self.test, self.new = sample, test, True
        self.smoothness = math.inf if smoothness is None else smoothness

    def settle(self, *, good: bool) -> None:
        """Keep the new report, if there is one, or go back to the one before."""
        if not good and self.new:
            self.sample, self.test = self._good
        self.new, self._good = False, (None, None)

    def state_dict(self) -> StateDict:
        """Return everything the server has of the party."""
        tables = {"sample": self.sample, "test": self.test}
        arrays = {name: table.cpu().numpy() for name, table in tables.items() if table is not None}
        values = {
            "connections": self.connections,
            "state": self.state,
            "smoothness": self.smoothness if math.isfinite(self.smoothness) else None,
        }
        return StateDict(arrays, values)

    @classmethod
    def from_state_dict(cls, state: StateDict, options: TensorOptions) -> RemoteParty:
        """Create the party that `state_dict` was called on."""
        arrays, values = state
        smoothness = values["smoothness"]
        tables = {name: options.tensor(array) for name, array in arrays.items()}
        return cls(
            values["connections"],
            values["state"],
            math.inf if smoothness is None else smoothness,
            tables.get("sample"),
            tables.get("test"),
        )
