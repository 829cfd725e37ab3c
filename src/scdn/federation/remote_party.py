"""What the server has of one party on another machine."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

from scdn.federation.messenger import Reply
from scdn.learning.tensors import StateDict, TensorOptions


def _nothing() -> Tensor:
    return torch.zeros(0)


@dataclass
class RemoteParty:
    """The embeddings that a device sent last, and the number of the model state they belong to.

    Attributes
    ----------
    train, test
        Embeddings (rows, width) of the training and of the test rows.
    current
        Which embeddings of training rows belong to this state; the others are older.
    """

    connections: int
    state: int
    smoothness: float = 0.0
    train: Tensor = field(default_factory=_nothing)
    current: Tensor = field(default_factory=_nothing)
    test: Tensor = field(default_factory=_nothing)

    def update(self, rows: Tensor | None, reply: Reply, options: TensorOptions) -> None:
        """Store newer embeddings, of the training rows `rows` or of all of them."""
        train = options.tensor(reply.arrays["train"].copy())
        if rows is None:
            self.train = train
            self.current = torch.ones(len(train), dtype=torch.bool, device=train.device)
        else:
            self.train = self.train.index_copy(0, rows, train)
            self.current = torch.zeros_like(self.current).index_fill(0, rows, True)
        self.test = options.tensor(reply.arrays["test"].copy())
        smoothness = reply.fields.smoothness
        self.smoothness = math.inf if smoothness is None else smoothness

    def state_dict(self) -> StateDict:
        """Return everything the server has of the party."""
        tensors = {
            "train": self.train,
            "current": self.current.to(torch.int64),
            "test": self.test,
        }
        values = {
            "connections": self.connections,
            "state": self.state,
            "smoothness": self.smoothness if math.isfinite(self.smoothness) else None,
        }
        return StateDict({name: tensor.cpu().numpy() for name, tensor in tensors.items()}, values)

    @classmethod
    def from_state_dict(cls, state: StateDict, options: TensorOptions) -> RemoteParty:
        """Create the party that `state_dict` was called on."""
        arrays, values = state
        smoothness = values["smoothness"]
        return cls(
            values["connections"],
            values["state"],
            math.inf if smoothness is None else smoothness,
            options.tensor(arrays["train"]),
            torch.from_numpy(arrays["current"]).bool().to(options.device),
            options.tensor(arrays["test"]),
        )
