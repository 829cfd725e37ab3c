"""Creates parties with the models that a scenario asks for, and stacks those of one structure."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from torch import nn

from scdn.data import Dataset
from scdn.data.dataset import TaskKind
from scdn.data.input_format import InputFormat
from scdn.learning.feature_split import FeatureView, Shape, model_shape, row_shape
from scdn.learning.models import (
    FlatModel,
    architecture,
    build_model,
    count_connections,
    structure_key,
)
from scdn.learning.party_stack import PartyStack
from scdn.learning.smoothness import check_layers
from scdn.learning.tensors import TensorOptions, seeded_init
from scdn.learning.user_models import build_user_model
from scdn.scenario import LearningSettings

_COLUMN_MULTIPLE = 8  # flat inputs are padded to a multiple, so that almost equal ones stack


@dataclass(frozen=True)
class Party:
    """A new party: its features and its model with initial weights."""

    name: str
    view: FeatureView
    module: nn.Module
    connections: int


@dataclass(frozen=True)
class PartyFactory:
    """Creates parties from a scenario's settings and the shapes of a data set's rows."""

    learning: LearningSettings
    task: TaskKind
    width: int  # of an embedding: the number of classes, or 1
    row_shapes: dict[str, Shape]  # by modality; a device knows that of its own features only

    @classmethod
    def from_dataset(cls, dataset: Dataset, learning: LearningSettings) -> PartyFactory:
        """Return a factory for the parties of a data set."""
        width = len(dataset.classes) if dataset.task == "classification" else 1
        shapes = {modality: row_shape(dataset, modality) for modality in dataset.train}
        return cls(learning, dataset.task, width, shapes)

    @classmethod
    def from_input_format(cls, form: InputFormat, learning: LearningSettings) -> PartyFactory:
        """Return a factory for the parties of a data set that is not at hand."""
        width = len(form.classes) if form.task == "classification" else 1
        shapes = {name: model_shape(shape) for name, shape in form.shapes.items()}
        return cls(learning, form.task, width, shapes)

    @cached_property
    def options(self) -> TensorOptions:
        """Return the device and the precision of tensors."""
        return TensorOptions(self.learning.device, self.learning.precision)

    def create(self, name: str, view: FeatureView, seed: int) -> Party:
        """Create a party; its initial weights depend only on its name and the seed."""
        learning = self.learning
        shape = self.row_shapes[view.modality]
        chosen = architecture(learning.model, view, self.task)
        masked_columns = None
        if learning.input == "masked":
            if chosen.name == "mlp":
                masked_columns = prod(shape)
            else:
                view = view.masked(shape)
        view = view.padded_image(chosen.least_size)
        with seeded_init(seed, f"weights:{name}"):
            module = build_model(
                chosen,
                view,
                self.width,
                masked_columns=masked_columns,
                hidden=learning.hidden,
                initialisation=learning.initialisation,
            )
        if learning.smoothness == "norms":
            check_layers(module)
        connections = count_connections(module)
        if isinstance(module, FlatModel):
            padded = -(-len(view.columns) // _COLUMN_MULTIPLE) * _COLUMN_MULTIPLE
            view = view.padded_columns(padded)
            module = module.widened(padded)
        return Party(name, view, module, connections)

    @property
    def fusion_hidden(self) -> int:
        """Return the number of results of the fusion model's first layer."""
        is_linear = self.learning.fusion_head == "linear"
        return self.width if is_linear else self.learning.fusion_hidden

    def create_head(self, seed: int) -> nn.Module | None:
        """Create the fusion model's head, unless it is the paper's."""
        if self.learning.fusion_head == "mlp":
            return None
        if self.learning.fusion_head == "linear":
            return nn.Sequential()  # the first layer's results are the outputs
        with seeded_init(seed, "fusion-head"):
            hidden = (self.learning.fusion_hidden,)
            return build_user_model(self.learning.fusion_head, hidden, self.width)


def stack_parties(parties: Sequence[Party], options: TensorOptions) -> list[PartyStack]:
    """Stack parties of equal structure, in the order in which each structure first occurs."""
    groups: dict[Hashable, list[Party]] = {}
    for party in parties:
        key = structure_key(party.module, party.view.shape), party.view.modality
        groups.setdefault(key, []).append(party)
    return [
        PartyStack.from_modules(
            [party.name for party in group],
            [party.module for party in group],
            [party.view for party in group],
            options,
        )
        for group in groups.values()
    ]
