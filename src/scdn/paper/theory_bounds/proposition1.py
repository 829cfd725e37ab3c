"""Proposition 1: the loss of the real network against that of an ideal one.

In the ideal network all devices that ever join are present from the start, none leaves, and all
take the most iterations in every round; features, initial weights, batches, learning rates and
optimisers are the same. The bound uses the gradients of the parties that are present: departed ones
have no model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scdn.learning.local_optimizers import LocalSteps, halved_rate
from scdn.learning.vertical_model import VerticalModel
from scdn.paper.summaries import mean_std, rounded_list
from scdn.paper.theory_bounds.theorem1 import Measurements, party_norms
from scdn.scenario import Scenario, make_scenario
from scdn.simulation.divergence import DivergedError
from scdn.simulation.loop import Simulation
from scdn.simulation.run_data import RunData
from scdn.simulation.runner import create_simulation
from scdn.theory import proposition_1_log, step_weights
from scdn.world.churn import churn_trace
from scdn.world.fleet import OPTIMIZERS

_MAXIMA = ("most_steps", "smoothness", "gradient_bound_sq", "gradient_variance")


def measure_losses(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return both networks' losses before round 0 and after each round, and the bound."""
    scenario = make_scenario(arguments["scenario"])
    return {**_real_network(scenario), "ideal": rounded_list(_ideal_losses(scenario))}


def _real_network(scenario: Scenario) -> dict[str, Any]:
    """Run the scenario; return losses and the logarithm of Proposition 1's bound."""
    simulation = create_simulation(scenario, ())
    losses, squares = [simulation.initial_loss], [_squared_gradients(simulation)]
    smoothness = [simulation.model.smoothness()[1]]
    maxima = dict.fromkeys(_MAXIMA, 0.0)
    steps_per_iteration = scenario.learning.steps_per_iteration
    status = "done"
    try:
        for event in simulation.loop():
            losses.append(event["metrics"]["train_loss"])
            squares.append(_squared_gradients(simulation))
            smoothness.append(simulation.model.smoothness()[1])
            devices, stats = event["devices"], simulation.model.gradient_stats.values()
            values = (
                [steps_per_iteration * device["iterations"] for device in devices],
                [device["smoothness"] for device in devices],
                [gradient.bound_sq for gradient in stats],
                [gradient.variance for gradient in stats],
            )
            for key, of_devices in zip(_MAXIMA, values, strict=True):
                maxima[key] = max([maxima[key], *of_devices])
    except DivergedError as error:
        status = f"diverged: {error}"
    trace, rounds = simulation.trace, len(losses) - 1
    rate = float(trace.fleet.learning_rate.max())
    weight = step_weights(
        trace.fleet.optimizer, maxima["most_steps"], rate, trace.fleet.optimizer_value
    )
    counts = [int((trace.entered < index).sum()) for index in range(rounds)]
    bound = proposition_1_log(
        squares[:rounds],
        counts,
        smoothness[:rounds],
        max_iterations=float(steps_per_iteration * scenario.max_iterations),
        learning_rate=rate,
        largest_weight=float(weight.largest.max()),
        **maxima,
    )
    return {
        "status": status,
        "real": rounded_list(losses),
        "bound_log": rounded_list(bound),
        "parties": counts,
    }


def _squared_gradients(simulation: Simulation) -> float:
    """Return Σ_n ‖∇_n F‖² of the parties that are present."""
    model = simulation.model
    norms = [party_norms(model.sample_gradients(stack)) for stack in model.stacks]
    return sum(float((norm**2).sum()) for norm in norms)


def _ideal_losses(scenario: Scenario) -> list[float]:
    """Return the ideal network's losses, up to the first one that is not finite."""
    trace = churn_trace(scenario)
    data = RunData.from_scenario(scenario, trace)
    learning, fleet = scenario.learning, trace.fleet
    names = fleet.id.tolist()
    views = {name: data.views.get(name) or data.newcomer_view(name) for name in names}
    model = VerticalModel.create(
        data.tensors, data.factory, views, learning, scenario.seed, measure_gradients=False
    )
    steps = learning.steps_per_iteration * scenario.max_iterations
    losses = [float(model.metrics()["train_loss"])]
    for index in range(learning.rounds):
        rates = fleet.learning_rate * halved_rate(1.0, index, learning.halve_rate_every)
        kinds, values = data.optimizers(fleet, index)
        local_steps = {
            name: LocalSteps(steps, rate, OPTIMIZERS[kind], value)
            for name, rate, kind, value in zip(
                names, rates.tolist(), kinds, values.tolist(), strict=True
            )
        }
        server_rate = halved_rate(learning.server_rate, index, learning.halve_rate_every)
        model.train(index, local_steps, LocalSteps(steps, server_rate))
        loss = float(model.metrics()["train_loss"])
        if not np.isfinite(loss):
            break
        losses.append(loss)
    return losses


def averaged(runs: Sequence[Measurements]) -> dict[str, Any]:
    """Return losses before each round, the summed gap, and the logarithm of its bound."""
    rounds = min(min(len(run["bound_log"]), len(run["ideal"]) - 1) for run in runs)
    real, ideal = ([run[name][: rounds + 1] for run in runs] for name in ("real", "ideal"))
    gaps = np.subtract(real, ideal)[:, :rounds]  # real less ideal
    logs = np.array([run["bound_log"][:rounds] for run in runs])
    with np.errstate(over="ignore"):
        broken = int((-gaps.cumsum(axis=1) > np.exp(logs)).sum())
    third = max(1, rounds // 3)
    averages: dict[str, Any] = {"diverged": sum(run["status"] != "done" for run in runs)}
    for name, rows in (("real", real), ("ideal", ideal), ("gap_so_far", gaps.cumsum(axis=1))):
        curve = mean_std(rows)
        averages |= {name: curve["mean"], f"{name}_std": curve["std"]}
    return averages | {
        "bound_log10": mean_std(logs / np.log(10))["mean"],
        "parties": runs[0]["parties"][:rounds],
        "broken": broken,
        "early": rounded_list(gaps[:, :third].mean(axis=1)),
        "late": rounded_list(gaps[:, -third:].mean(axis=1)),
    }
