"""The base class of local optimisers, and the steps that it is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from scdn.learning.tensors import TensorOptions, Tensors, select_rows
from scdn.scenario import OptimizerKind


@dataclass(frozen=True)
class LocalSteps:
    """How many mini-batch steps a party takes in a round, at which rate, with which optimiser."""

    count: int
    rate: float
    optimizer: str = "sgd"  # a registered name, or package.module:NAME
    optimizer_value: float = 0.0  # μ of proximal SGD, ρ of momentum, 0 for others


NO_STEPS = LocalSteps(0, 0.0)


def halved_rate(rate: float, round_index: int, every: int) -> float:
    """Return the learning rate in a round: it halves after each `every` rounds; 0: never."""
    return rate * 0.5 ** (round_index // every) if every else rate


class LocalOptimizer(ABC):
    """The steps that parties with stacked parameters take within one round.

    To add an optimiser, subclass this, define `step`, and name the class in a scenario's device as
    `optimizer = {kind = "custom", name = "package.module:NAME"}`; or register it under a name.

    Life cycle: training creates one object per round and stack of parties, from the parameters
    that the round begins with; nothing survives the round. `step` is called once per mini-batch
    and replaces the entries of `parameters`. When some parties have taken all of their steps,
    training continues with `select` of the others, and `merge` writes the result back. At the end
    training reads `parameters`.

    All tensors have a first dimension of parties, because parties of one structure train in the
    same batched products; a lone device is a stack of one. Keep everything that a step leaves for
    the next one in `state`; other attributes must not change.

    Attributes
    ----------
    start
        The parameters at the beginning of the round.
    parameters
        The parameters now.
    settings
        Numbers per party, (parties,), by name; `rate` is the learning rate.
    state
        What the optimiser carries from step to step, by name and then by parameter; empty when the
        round begins, and zero for parties that have not taken a step.
    """

    name: ClassVar[str] = ""
    bound_as: ClassVar[OptimizerKind] = "sgd"  # as which the round's problem bounds its progress,
    bound_value: ClassVar[float] = 0.0  # and with which μ or ρ

    def __init__(
        self, start: Tensors, local_steps: Sequence[LocalSteps], options: TensorOptions
    ) -> None:
        self.start = start
        self.parameters = dict(start)
        self.settings: Tensors = {}
        self.state: dict[str, Tensors] = {}
        self.options = options
        self.add_setting("rate", [steps.rate for steps in local_steps])

    @abstractmethod
    def step(self, gradients: Tensors, index: int) -> None:
        """Replace `parameters` by those after one step; `index` counts the round's steps from 0."""

    def add_setting(self, name: str, values: Sequence[float]) -> None:
        """Store one number per party under a name."""
        self.settings[name] = torch.tensor(
            list(values), dtype=self.options.dtype, device=self.options.device
        )

    def setting(self, name: str, like: Tensor) -> Tensor:
        """Return a setting in a shape that multiplies `like` party by party."""
        return self.settings[name].view(-1, *[1] * (like.dim() - 1))

    def select(self, parties: Tensor) -> LocalOptimizer:
        """Return an optimiser of the parties with these indices only."""
        selected = copy(self)
        selected.start = select_rows(self.start, parties)
        selected.parameters = select_rows(self.parameters, parties)
        selected.settings = select_rows(self.settings, parties)
        selected.state = {name: select_rows(values, parties) for name, values in self.state.items()}
        return selected

    def merge(self, parties: Tensor, selected: LocalOptimizer) -> None:
        """Take over what `selected`, the optimiser of these parties, has come to."""
        _write_rows(self.parameters, parties, selected.parameters)
        for name, values in selected.state.items():
            own = self.state.setdefault(name, {})
            for key, value in values.items():
                own.setdefault(key, value.new_zeros(len(self.settings["rate"]), *value.shape[1:]))
            _write_rows(own, parties, values)


def _write_rows(target: Tensors, indices: Tensor, values: Tensors) -> None:
    for name, value in values.items():
        target[name] = target[name].index_copy(0, indices, value)
