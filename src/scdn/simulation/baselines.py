"""Scores that need no network: the best party alone, and one model that holds all features.

Both are trained to the end, so that what is missing to the second is the price of learning with
features that never leave their parties.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from scdn.learning.feature_split import FeatureView, row_shape
from scdn.learning.joint_training import train_jointly
from scdn.learning.metrics import recorded_names
from scdn.learning.vertical_model import VerticalModel
from scdn.scenario import Scenario
from scdn.simulation.run_data import RunData
from scdn.world.churn import churn_trace

BaselineScores = dict[str, float]
TRIAL_PASSES = 2  # over the rows, after which the best party is chosen


def baselines(scenario: Scenario) -> dict[str, BaselineScores | None]:
    """Return the scores of the best of the first parties alone, and of all features together."""
    data = RunData.from_scenario(scenario, churn_trace(scenario))
    return {"best_party": _best_party(data), "centralised": centralised(data)}


def _best_party(data: RunData) -> BaselineScores | None:
    """Train each party for a few passes, and to the end the one that is then the best."""
    losses = {
        name: train_jointly(new_model(data, {name: view}), TRIAL_PASSES)
        for name, view in data.views.items()
    }
    best = min(losses, key=lambda name: losses[name])
    return _train_and_score(data, {best: data.views[best]})


def centralised(data: RunData) -> BaselineScores | None:
    """Return the scores of a model with the first parties' columns, or None if it diverged.

    It has the models of the parties, but only one for each kind of rows: images or a table.
    """
    modalities = dict.fromkeys(view.modality for view in data.views.values())
    return _train_and_score(data, {name: _every_column(data, name) for name in modalities})


def _every_column(data: RunData, modality: str) -> FeatureView:
    """Return a view of all columns that a party holds; the others, if any, are zero."""
    views = [view for view in data.views.values() if view.modality == modality]
    columns = np.unique(np.concatenate([view.held_columns for view in views]))
    like = FeatureView(modality, columns, np.ones(len(columns), bool), views[-1].shape)
    return like.masked(row_shape(data.dataset, modality))


def _train_and_score(data: RunData, views: Mapping[str, FeatureView]) -> BaselineScores | None:
    model = new_model(data, views)
    train_jointly(model)
    metrics = model.metrics()
    names = recorded_names(model.server.task, model.server.further_metrics)
    scores = {k: metrics[k] for k in names if k in metrics and k not in ("test_loss", "train_loss")}
    values = [*scores.values(), metrics["test_loss"]]
    return scores if all(math.isfinite(value) for value in values) else None


def new_model(data: RunData, views: Mapping[str, FeatureView]) -> VerticalModel:
    """Return a model of these features before its training."""
    learning, seed = data.scenario.learning, data.scenario.seed
    return VerticalModel.create(
        data.tensors, data.factory, views, learning, seed, measure_gradients=False
    )
