"""The data of a run: the data set, the features of each party, payloads and optimisers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from scdn.arrays import Array, IntArray, floats
from scdn.data import Dataset, load
from scdn.data.input_format import InputFormat
from scdn.data.scaling import ScalingKind
from scdn.errors import input_error
from scdn.learning.augmentation import Augmentation
from scdn.learning.dataset_tensors import DatasetTensors
from scdn.learning.feature_split import FeatureView, newcomer_view, split_features
from scdn.learning.local_optimizers import local_optimizer
from scdn.learning.party_factory import PartyFactory
from scdn.learning.round_protocol import RoundProtocol
from scdn.learning.tensors import TensorOptions
from scdn.rng import generator
from scdn.scenario import DeviceGroup, Scenario
from scdn.world.churn import ChurnTrace
from scdn.world.fleet import OPTIMIZERS, Fleet

_BITS = 32  # of a weight


@lru_cache(maxsize=2)
def _prepared(
    name: str, scaling: ScalingKind, options: TensorOptions, holdout: float, seed: int
) -> tuple[Dataset, DatasetTensors, InputFormat]:
    """Return a scaled data set, its tensors and its form, which all runs of this process share."""
    dataset = load(name)
    if holdout:
        dataset = dataset.with_holdout(holdout, seed)
    scaled = dataset.scaled(scaling, options.array_type)
    form = InputFormat.from_dataset(dataset, scaling)
    return scaled, DatasetTensors.from_dataset(scaled, options), form


def prepared_data(scenario: Scenario) -> tuple[Dataset, DatasetTensors, InputFormat]:
    """Return a scenario's data set, scaled, its tensors, and the form of its rows."""
    learning = scenario.learning
    options = TensorOptions(learning.device, learning.precision)
    holdout = (learning.holdout, scenario.seed if learning.holdout else 0)
    return _prepared(learning.dataset, learning.scaling, options, *holdout)


def scenario_protocol(
    scenario: Scenario,
    width: int,
    train_rows: int,
    uses_importance: bool,
    number_bits: int | None = None,
) -> RoundProtocol:
    """Return the protocol of a scenario's rounds, for embeddings and data of this size.

    `number_bits` are those of a round that has others than the scenario.
    """
    learning = scenario.learning
    if number_bits is not None:
        learning = learning.model_copy(update={"number_bits": number_bits})
    steps = learning.steps_per_iteration * scenario.max_iterations
    return RoundProtocol.create(learning, width, train_rows, steps, uses_importance=uses_importance)


@dataclass(frozen=True, eq=False)
class RunData:
    """The data of a run, the features of each party, and what follows from both for a round."""

    scenario: Scenario
    dataset: Dataset
    tensors: DatasetTensors
    factory: PartyFactory
    views: dict[str, FeatureView]  # of the parties that are present at the start
    form: InputFormat  # of the data set's rows

    @classmethod
    def from_scenario(cls, scenario: Scenario, trace: ChurnTrace) -> RunData:
        """Load the scenario's data set and split its features among the first parties."""
        learning = scenario.learning
        names = trace.fleet.id[trace.present(0)].tolist()
        if not names:
            raise input_error(scenario.name, "devices", "none at the start", "needs at least one")
        dataset, tensors, form = prepared_data(scenario)
        views = split_features(dataset, learning.split, len(names), scenario.seed, names)
        factory = PartyFactory.from_dataset(dataset, learning)
        if learning.augment_flip or learning.augment_shift:
            width = factory.row_shapes["image"][-1]
            augmentation = Augmentation.create(
                tensors.count("train"), width, learning, factory.options
            )
            tensors = replace(tensors, augmentation=augmentation)
        return cls(scenario, dataset, tensors, factory, dict(zip(names, views, strict=True)), form)

    def newcomer_view(self, name: str) -> FeatureView:
        """Return the features of a party that enters later."""
        learning = self.scenario.learning
        count = len(self.views)
        return newcomer_view(self.dataset, learning.split, count, self.scenario.seed, name)

    def round_protocol(
        self, uses_importance: bool, number_bits: int | None = None
    ) -> RoundProtocol:
        """Return the protocol of the run's rounds, for a controller that uses importance or not."""
        rows, width = self.tensors.count("train"), self.factory.width
        return scenario_protocol(self.scenario, width, rows, uses_importance, number_bits)

    def payload_bits(
        self,
        connections: Array,
        survival: Array,
        uses_importance: bool,
        number_bits: int | None = None,
    ) -> Array:
        """Return what each device's report is planned and billed as."""
        if self.scenario.learning.payload == "model":
            return _BITS * connections
        protocol = self.round_protocol(uses_importance, number_bits)
        bits = {sends: protocol.bits_of_report(with_table=sends) for sends in (False, True)}
        return floats([bits[protocol.sends_table(probability)] for probability in survival])

    def optimizers(self, fleet: Fleet, round_index: int) -> tuple[IntArray, Array]:
        """Return each device's optimiser in the round's problem, and its μ or ρ."""
        return round_optimizers(self.scenario, fleet, round_index)


def round_optimizers(scenario: Scenario, fleet: Fleet, round_index: int) -> tuple[IntArray, Array]:
    """Return each device's optimiser in the round's problem, and its μ or ρ.

    It is the device's own, or drawn anew in each round. One that is not of the paper is represented
    by the optimiser that it names in `bound_as`.
    """
    if scenario.learning.local_optimizer != "own":
        optimizer = local_optimizer(scenario.learning.local_optimizer)
        kinds = np.full(len(fleet), OPTIMIZERS.index(optimizer.bound_as), dtype=np.int64)
        return kinds, np.full(len(fleet), optimizer.bound_value)
    kinds, values = fleet.optimizer.copy(), fleet.optimizer_value.copy()
    if scenario.learning.redraw_optimizers:
        groups = {group.kind: group for group in reversed(scenario.fleet)}
        for index, (name, kind) in enumerate(zip(fleet.id, fleet.kind, strict=True)):
            if kind in groups:  # listed devices keep theirs
                drawn = _draw_optimizer(scenario.seed, groups[kind], name, round_index)
                kinds[index], values[index] = drawn
    for custom in np.flatnonzero(fleet.custom_optimizer):
        optimizer = local_optimizer(fleet.custom_optimizer[custom])
        kinds[custom] = OPTIMIZERS.index(optimizer.bound_as)
        values[custom] = optimizer.bound_value
    return kinds, values


def _draw_optimizer(
    seed: int, group: DeviceGroup, name: str, round_index: int
) -> tuple[int, float]:
    draw = generator(seed, f"optimizer:{name}", round_index)
    kind = group.optimizers[int(draw.integers(len(group.optimizers)))]
    mu, rho = draw.uniform(*group.mu), draw.uniform(*group.rho)
    return OPTIMIZERS.index(kind), {"proximal": mu, "momentum": rho}.get(kind, 0.0)
