"""Scores that need no network: the best party alone, and one model that holds all features.

Both are trained to the end, so that what is missing to the second is the price of learning with
features that never leave their parties.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping

import numpy as np

from scdn.learning.feature_split import FeatureView, row_shape
from scdn.learning.joint_training import MAX_PASSES, train_jointly
from scdn.learning.metrics import recorded_names
from scdn.learning.vertical_model import VerticalModel
from scdn.record.headline_metric import headline
from scdn.scenario import Scenario
from scdn.simulation.events import headline_score
from scdn.simulation.run_data import RunData
from scdn.world.churn import churn_trace

Scores = dict[str, float]
Announce = Callable[[str], None]
TRIAL_PASSES = 2  # over the rows, after which the best party is chosen
PROGRESS_S = 5.0  # between two lines on the training of one model


class _Announcer:
    """Says what is being trained and, while that lasts, how far it is."""

    def __init__(self, data: RunData, announce: Announce | None) -> None:
        self._shown = headline_score(data.scenario, data.dataset)
        self._announce = announce
        self._last = 0.0

    def say(self, text: str) -> None:
        """Announce one line."""
        self._last = time.monotonic()
        if self._announce is not None:
            self._announce(f"baselines: {text}")

    def train(self, data: RunData, views: Mapping[str, FeatureView], name: str) -> Scores | None:
        """Train a model of these features to the end, and return its scores."""
        self.say(f"training {name} to the end")
        began, model = time.monotonic(), new_model(data, views)

        def show_pass(passes: int, loss: float) -> None:
            if time.monotonic() - self._last > PROGRESS_S:
                self.say(f"{name}: {passes} passes, loss {loss:.4g} on rows held out")

        train_jointly(model, MAX_PASSES, show_pass)
        scores = _scores(model)
        text = "diverged"
        if scores is not None:
            shown = headline(self._shown, scores)
            text = shown.format(scores[shown.metric])
        self.say(f"{name}: {text}, after {time.monotonic() - began:.0f} s")
        return scores


def baselines(scenario: Scenario, announce: Announce | None = None) -> dict[str, Scores | None]:
    """Return the scores of the best of the first parties alone, and of all features together.

    `announce` is called with a line of text when something begins or ends, and every few seconds
    in between: training to the end may take minutes.
    """
    data = RunData.from_scenario(scenario, churn_trace(scenario))
    announcer = _Announcer(data, announce)
    return {
        "best_party": _best_party(data, announcer),
        "centralised": centralised(data, announcer),
    }


def _best_party(data: RunData, announcer: _Announcer) -> Scores | None:
    """Train each party for a few passes, and to the end the one that is then the best."""
    losses = {}
    for number, (name, view) in enumerate(data.views.items(), 1):
        announcer.say(f"trying party {number} of {len(data.views)} alone, {name}")
        losses[name] = train_jointly(new_model(data, {name: view}), TRIAL_PASSES)
    best = min(losses, key=lambda name: losses[name])
    return announcer.train(data, {best: data.views[best]}, f"the best party ({best})")


def centralised(data: RunData, announcer: _Announcer | None = None) -> Scores | None:
    """Return the scores of a model with the first parties' columns, or None if it diverged.

    It has the models of the parties, but only one for each kind of rows: images or a table.
    """
    modalities = dict.fromkeys(view.modality for view in data.views.values())
    views = {name: _every_column(data, name) for name in modalities}
    return (announcer or _Announcer(data, None)).train(data, views, "the centralised model")


def _every_column(data: RunData, modality: str) -> FeatureView:
    """Return a view of all columns that a party holds; the others, if any, are zero."""
    views = [view for view in data.views.values() if view.modality == modality]
    columns = np.unique(np.concatenate([view.held_columns for view in views]))
    like = FeatureView(modality, columns, np.ones(len(columns), bool), views[-1].shape)
    return like.masked(row_shape(data.dataset, modality))


def _scores(model: VerticalModel) -> Scores | None:
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
