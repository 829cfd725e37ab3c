"""What a run is made of and does not change: data, who holds which features, optimisers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from scdn.data import Dataset, load
from scdn.data.scaling import How
from scdn.errors import input_error
from scdn.learning.features import Rows
from scdn.learning.parties import Maker
from scdn.learning.split import View, entering, split
from scdn.learning.tensors import Place
from scdn.rng import generator
from scdn.scenario.model import ListedDevice, Momentum, Proximal, Scenario, Sgd
from scdn.world.churn import ChurnTrace

_BITS = 32  # of a weight, or of a number in an embedding


@lru_cache(maxsize=2)
def _prepared(
    name: str, scaling: How, place: Place, holdout: float, seed: int
) -> tuple[Dataset, Rows]:
    """A data set, scaled, and as tensors: the same for all runs in this process."""
    dataset = load(name)
    if holdout:
        dataset = dataset.held_out(holdout, seed)
    scaled = dataset.scaled(scaling, "float64" if place.precision == "float64" else "float32")
    return scaled, Rows.of(scaled, place)


@dataclass(frozen=True, eq=False)
class Material:
    """The run's data and its split."""

    scenario: Scenario
    dataset: Dataset
    rows: Rows
    maker: Maker
    views: dict[str, View]  # of the first parties

    @classmethod
    def of(cls, scenario: Scenario, trace: ChurnTrace) -> Material:
        """For a scenario and the network it has."""
        learning = scenario.learning
        names = trace.fleet.id[trace.present(0)].tolist()
        if not names:
            raise input_error(scenario.name, "devices", "none at the start", "needs at least one")
        place = Place(learning.device, learning.precision)
        held = (learning.holdout, scenario.seed if learning.holdout else 0)
        dataset, rows = _prepared(learning.dataset, learning.scaling, place, *held)
        views = split(dataset, learning.split, len(names), scenario.seed, names)
        maker = Maker.of(dataset, learning)
        return cls(scenario, dataset, rows, maker, dict(zip(names, views, strict=True)))

    def entering(self, name: str) -> View:
        """The features of one who comes later."""
        learning = self.scenario.learning
        count = len(self.views)
        return entering(self.dataset, learning.split, count, self.scenario.seed, name)

    def payload_bits(self, connections: int) -> float:
        """What a device sends in a round: its model, or embeddings of the rows that are asked."""
        learning = self.scenario.learning
        if learning.payload == "model":
            return float(_BITS * connections)
        steps = learning.steps_per_iteration * self.scenario.max_iterations
        there = self.rows.count("train")
        batch, sample = min(learning.batch_size, there), min(learning.sample_rows, there)
        rows = steps * batch + sample
        return float(_BITS * rows * self.maker.width)

    def optimizer(self, device: ListedDevice, round_: int) -> Sgd | Proximal | Momentum:
        """A device's own, or one of its group's drawn anew each round."""
        groups = [group for group in self.scenario.fleet if group.kind == device.kind]
        if not self.scenario.learning.redraw_optimizers or not groups:
            return device.optimizer
        group = groups[0]
        draw = generator(self.scenario.seed, f"optimizer:{device.id}", round_)
        kind = group.optimizers[int(draw.integers(len(group.optimizers)))]
        table: dict[str, Any] = {
            "sgd": Sgd(),
            "proximal": Proximal(kind="proximal", mu=float(draw.uniform(*group.mu))),
            "momentum": Momentum(kind="momentum", rho=float(draw.uniform(*group.rho))),
        }
        return table[kind]
