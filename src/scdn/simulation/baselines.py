"""What the same training gives without a network: the best party alone, and all in one place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from scdn.learning.local import Order, halved
from scdn.learning.split import View, whole_shape
from scdn.learning.vertical import VerticalModel
from scdn.scenario.model import Scenario
from scdn.simulation.material import Material
from scdn.world.churn import churn_trace

Scores = dict[str, float]


def baselines(scenario: Scenario) -> dict[str, Scores | None]:
    """Scores of the best of the first parties alone, and of one that holds every column."""
    material = Material.of(scenario, churn_trace(scenario))
    alone = [_trained(material, {name: view}) for name, view in material.views.items()]
    return {"best_party": _best(alone), "centralised": _centralised(material)}


def _centralised(material: Material) -> Scores | None:
    if len(material.dataset.train) > 1:  # a model takes one kind of rows
        return None
    ((modality, _),) = material.dataset.train.items()
    shape = whole_shape(material.dataset, modality)
    first = next(iter(material.views.values()))
    columns = np.arange(int(np.prod(shape)))
    everything = View(
        modality,
        columns,
        np.ones(len(columns), bool),
        shape if len(first.shape) == 3 else columns.shape,
    )
    return _trained(material, {"everything": everything})


def _trained(material: Material, views: dict[str, View]) -> Scores | None:
    """Scores after as many steps as the scenario's busiest party may take."""
    scenario = material.scenario
    learning = scenario.learning
    model = VerticalModel.start(
        material.rows, material.maker, views, learning, scenario.seed, measure=False
    )
    rates = [group.learning_rate for group in scenario.fleet if group.count]
    rates += [device.learning_rate for device in scenario.devices]
    steps = learning.steps_per_iteration * scenario.max_iterations
    for round_ in range(learning.rounds):
        own = halved(max(rates), round_, learning.halve_rate_every)
        server = halved(learning.server_rate, round_, learning.halve_rate_every)
        model.train(round_, dict.fromkeys(views, Order(steps, own)), Order(steps, server))
    return _scores(model.metrics())


def _scores(found: dict[str, Any]) -> Scores | None:
    """None where the training ran away."""
    scores: Scores = {key: found[key] for key in ("top1", "top3", "mse") if key in found}
    finite = [*scores.values(), found["test_loss"]]
    return scores if all(math.isfinite(value) for value in finite) else None


def _best(all_scores: list[Scores | None]) -> Scores | None:
    known = [scores for scores in all_scores if scores is not None]
    if not known:
        return None
    if "mse" in known[0]:
        return min(known, key=lambda found: found["mse"])
    return max(known, key=lambda found: found["top3"])
