"""The base class of memories."""
# ruff: noqa: ARG002 - the defaults ignore what subclasses may use

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from torch import Tensor

from scdn.arrays import Array
from scdn.learning.fusion_model import FusionModel
from scdn.learning.tensors import Arrays, StateDict, TensorOptions, strip_prefix, to_arrays
from scdn.scenario import LearningSettings


class PartyEmbeddings(NamedTuple):
    """A party's embeddings, (rows, width), as it last sent them."""

    training: Tensor | None  # of all training rows, imputed where not heard; None: not asked for
    sample: Tensor  # of the training rows that losses and importance are measured on
    test: Tensor


class Memory:
    """What the server keeps of devices that have left.

    To add a memory, subclass this and name the class in a method:
    `Method("mine", controller, memory="package.module:NAME")`; or register it under a name.

    Life cycle: a run creates one object from the scenario's `[learning]` settings. When devices
    leave, `add` is called for each of them, then `shrink` once; both take effect in the next round.
    In every round `training_mask` is called before the parties train. Whenever the fusion model is
    evaluated or trained, it gets the embeddings of the parties present and of `embeddings`, zeros
    for its other members, times `evaluation_mask`. `state_dict` is called after each round,
    `load_state_dict` once, on a new object, when a run resumes.

    Attributes
    ----------
    departed
        The names of all devices that have left, in order.
    embeddings
        By name of a departed member: the embeddings that the fusion model goes on using. An entry
        must not change once it is there, since a checkpoint writes it only once.
    """

    name: ClassVar[str] = ""
    needs_training_embeddings: ClassVar[bool] = False  # of leaving devices, of all training rows
    keeps_heard_rows: ClassVar[bool] = False  # whether rows stay as heard, and others are imputed

    def __init__(self, learning: LearningSettings) -> None:
        self.learning = learning
        self.departed: list[str] = []
        self.embeddings: dict[str, PartyEmbeddings] = {}

    def add(self, name: str, embeddings: PartyEmbeddings) -> None:
        """Record a departure and what the device last sent."""
        self.departed.append(name)

    def shrink(self, fusion: FusionModel, names: Sequence[str]) -> FusionModel:
        """Return the fusion model after these members have left; unchanged by default."""
        return fusion

    def evaluation_mask(self, members: Sequence[str]) -> Array | None:
        """Return ones and zeros, (members,): whose embeddings count; None: everybody's."""
        return None

    def training_mask(
        self, members: Sequence[str], steps: int, draw: np.random.Generator
    ) -> Array | None:
        """Return ones and zeros, (steps, members), for a round's steps; None: everybody counts.

        `draw` is a generator that belongs to the round, so that a resumed run draws the same.
        """
        return None

    def state_dict(self) -> StateDict:
        """Return the names of the departed and the embeddings that are kept."""
        arrays: Arrays = {}
        for index, kept in enumerate(self.embeddings.values()):
            tables = {key: table for key, table in kept._asdict().items() if table is not None}
            arrays |= to_arrays(tables, f"departed/{index}")
        return StateDict(arrays, {"departed": self.departed, "kept": list(self.embeddings)})

    def load_state_dict(self, state: StateDict, options: TensorOptions) -> None:
        """Restore what `state_dict` returned."""
        self.departed = list(state.values["departed"])
        for index, name in enumerate(state.values["kept"]):
            saved = strip_prefix(state.arrays, f"departed/{index}/")
            tables = {key: options.tensor(array) for key, array in saved.items()}
            self.embeddings[name] = PartyEmbeddings(
                tables.get("training"), tables["sample"], tables["test"]
            )
