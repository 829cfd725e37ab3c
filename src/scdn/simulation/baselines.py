"""Scores of the same training without a network: the best party alone, and all data together."""

from __future__ import annotations

import math

import numpy as np

from scdn.learning.feature_split import FeatureView, row_shape
from scdn.learning.local_optimizers import LocalSteps, halved_rate
from scdn.learning.vertical_model import VerticalModel
from scdn.scenario import Scenario
from scdn.simulation.run_data import RunData
from scdn.world.churn import churn_trace

BaselineScores = dict[str, float]


def baselines(scenario: Scenario) -> dict[str, BaselineScores | None]:
    """Return the scores of the best of the first parties alone, and of one with every column."""
    data = RunData.from_scenario(scenario, churn_trace(scenario))
    single = [_train_and_score(data, {name: view}) for name, view in data.views.items()]
    return {"best_party": _best(single), "centralised": _centralised(data)}


def _centralised(data: RunData) -> BaselineScores | None:
    if len(data.dataset.train) > 1:  # one model cannot take several modalities
        return None
    ((modality, _),) = data.dataset.train.items()
    shape = row_shape(data.dataset, modality)
    first = next(iter(data.views.values()))
    columns = np.arange(math.prod(shape))
    view_shape = shape if len(first.shape) == 3 else columns.shape
    everything = FeatureView(modality, columns, np.ones(len(columns), bool), view_shape)
    return _train_and_score(data, {"everything": everything})


def _train_and_score(data: RunData, views: dict[str, FeatureView]) -> BaselineScores | None:
    """Return the scores after as many steps as a party may take in all rounds of the scenario.

    None: training has diverged.
    """
    scenario = data.scenario
    learning = scenario.learning
    model = VerticalModel.create(
        data.tensors, data.factory, views, learning, scenario.seed, measure_gradients=False
    )
    rates = [group.learning_rate for group in scenario.fleet if group.count]
    rates += [device.learning_rate for device in scenario.devices]
    steps = learning.steps_per_iteration * scenario.max_iterations
    for index in range(learning.rounds):
        factor = halved_rate(1.0, index, learning.halve_rate_every)
        party_steps = LocalSteps(steps, max(rates) * factor)
        server_steps = LocalSteps(steps, learning.server_rate * factor)
        model.train(index, dict.fromkeys(views, party_steps), server_steps)
    metrics = model.metrics()
    scores: BaselineScores = {k: metrics[k] for k in ("top1", "top3", "mse") if k in metrics}
    values = [*scores.values(), metrics["test_loss"]]
    return scores if all(math.isfinite(value) for value in values) else None


def _best(candidates: list[BaselineScores | None]) -> BaselineScores | None:
    finite = [scores for scores in candidates if scores is not None]
    if not finite:
        return None
    if "mse" in finite[0]:
        return min(finite, key=lambda scores: scores["mse"])
    return max(finite, key=lambda scores: scores["top3"])
