"""Create the models that the benchmarks of learning train, and their settings."""

from __future__ import annotations

from typing import Any

from scdn.data import Dataset
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.feature_split import FeatureView, split_features
from scdn.learning.party_factory import PartyFactory
from scdn.learning.vertical_model import VerticalModel
from scdn.paper.artefact import artefact_defaults
from scdn.scenario import LearningSettings


def paper_learning(**changes: Any) -> LearningSettings:
    """Return settings that do not follow the product's defaults: those of the paper's artefacts."""
    return LearningSettings.model_validate(artefact_defaults()["learning"] | changes)


def split_among_parties(
    dataset: Dataset, kind: str, parties: int, seed: int
) -> dict[str, FeatureView]:
    """Return the features of party-1, party-2, …, drawn with `seed`."""
    if not parties:
        return {}
    views = split_features(dataset, kind, parties, seed)
    return {f"party-{number}": view for number, view in enumerate(views, 1)}


def create_model(
    dataset: Dataset,
    tensors: DatasetTensors,
    learning: LearningSettings,
    parties: int,
    seed: int,
    memory: str = "keep",
) -> VerticalModel:
    """Return a model before round 0 that measures no gradients."""
    views = split_among_parties(dataset, learning.split, parties, seed)
    factory = PartyFactory.from_dataset(dataset, learning)
    return VerticalModel.create(
        tensors, factory, views, learning, seed, memory, measure_gradients=False
    )
