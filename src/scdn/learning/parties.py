"""Makes parties as a scenario asks for, and puts those of one structure into teams."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from torch import nn

from scdn.data import Dataset
from scdn.data.dataset import Task
from scdn.learning.models import Mlp, architecture, build, connections, load_head, structure
from scdn.learning.smoothness import check_layers
from scdn.learning.split import Shape, View, whole_shape
from scdn.learning.team import Team
from scdn.learning.tensors import Place, seeded
from scdn.rng import generator
from scdn.scenario.model import Learning

_STEP = 8  # flat inputs are made this much longer at most, so that unequal shares stack


@dataclass(frozen=True)
class Party:
    """One party before it joins a team."""

    name: str
    view: View
    module: nn.Module
    connections: int


@dataclass(frozen=True)
class Maker:
    """Knows the scenario's wishes and the data set's shapes."""

    learning: Learning
    task: Task
    width: int  # of an embedding: the number of classes, or 1
    shapes: dict[str, Shape]
    place: Place

    @classmethod
    def of(cls, dataset: Dataset, learning: Learning) -> Maker:
        """For the parties of one data set."""
        width = len(dataset.classes) if dataset.task == "classification" else 1
        shapes = {modality: whole_shape(dataset, modality) for modality in dataset.train}
        place = Place(learning.device, learning.precision)
        return cls(learning, dataset.task, width, shapes, place)

    @classmethod
    def elsewhere(
        cls, learning: Learning, task: Task, width: int, view: View, whole: Shape
    ) -> Maker:
        """For a party that knows of the data what it holds itself."""
        place = Place(learning.device, learning.precision)
        return cls(learning, task, width, {view.modality: whole}, place)

    def party(self, name: str, view: View, seed: int) -> Party:
        """A new party; its first weights hang on its name and the seed alone."""
        wish = self.learning
        whole = self.shapes[view.modality]
        chosen = architecture(wish.model, view, self.task)
        columns = None
        if wish.input == "masked":
            if chosen.name == "mlp":
                columns = len(view.masked(whole).columns)
            else:
                view = view.masked(whole)
        view = view.padded(chosen.least_size)
        module = build(
            chosen.name,
            view,
            self.width,
            task=self.task,
            masked_columns=columns,
            hidden=wish.hidden,
            initialisation=wish.initialisation,
            seed=int(generator(seed, f"weights:{name}").integers(2**63)),
        )
        if wish.smoothness == "norms":
            check_layers(module)
        count = connections(module)
        if isinstance(module, Mlp):
            view = view.longer(-(-len(view.columns) // _STEP) * _STEP)
            module = module.widened(len(view.columns))
        return Party(name, view, module, count)

    def head(self, seed: int) -> nn.Module | None:
        """The fusion model's head, if it is a user's own."""
        if self.learning.fusion_head == "mlp":
            return None
        with seeded(seed, "fusion-head"):
            return load_head(self.learning.fusion_head, self.learning.fusion_hidden, self.width)


def teamed(parties: Sequence[Party], place: Place) -> list[Team]:
    """Teams of equal structure, in the order in which each first occurs."""
    found: dict[Hashable, list[Party]] = {}
    for party in parties:
        key = structure(party.module, party.view.shape), party.view.modality
        found.setdefault(key, []).append(party)
    return [
        Team.of(
            [party.name for party in group],
            [party.module for party in group],
            [party.view for party in group],
            place,
        )
        for group in found.values()
    ]
