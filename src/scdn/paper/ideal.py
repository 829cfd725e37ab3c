"""Proposition 1: the loss of the real network against that of an ideal one.

In the ideal network everybody who ever comes is there from the start, nobody leaves, and all take
the most iterations in every round; features, parties' first weights, batches, rates and optimisers
are the same. The bound takes the gradients of the parties that are present: those that left have
no model to take one of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scdn.learning.local import Order, halved
from scdn.learning.vertical import VerticalModel
from scdn.paper.control import scenario_of
from scdn.paper.counting import mean_std
from scdn.paper.digits import short
from scdn.paper.theorem import Run, norms
from scdn.scenario import Scenario
from scdn.simulation.loop import DivergedError, Simulation
from scdn.simulation.material import Material
from scdn.simulation.run import begin
from scdn.theory import proposition_1_log, step_weights
from scdn.world.churn import churn_trace

SEEN = ("most_steps", "smoothness", "gradient_bound_sq", "gradient_variance")  # the largest of all


def losses(arguments: dict[str, Any], _: object) -> dict[str, Any]:
    """The real network's and the ideal one's loss before round 0 and after each, and the bound."""
    scenario = scenario_of(arguments)
    return {**_real(scenario), "ideal": short(_ideal(scenario))}


def _real(scenario: Scenario) -> dict[str, Any]:
    """The run as it is, and Proposition 1's bound (its logarithm) from what was seen on the way."""
    simulation = begin(scenario, ())
    loss, squares, whole = [simulation.initial_loss], [_squares(simulation)], [_whole(simulation)]
    seen = dict.fromkeys(SEEN, 0.0)
    each = scenario.learning.steps_per_iteration
    status = "done"
    try:
        for event in simulation.loop():
            loss.append(event["metrics"]["train_loss"])
            squares.append(_squares(simulation))
            whole.append(_whole(simulation))
            devices, sizes = event["devices"], simulation.model.sizes.values()
            found = (
                [each * device["iterations"] for device in devices],
                [device["smoothness"] for device in devices],
                [size.bound_sq for size in sizes],
                [size.variance for size in sizes],
            )
            for key, values in zip(SEEN, found, strict=True):
                seen[key] = max([seen[key], *values])
    except DivergedError as error:
        status = f"diverged: {error}"
    trace, rounds = simulation.trace, len(loss) - 1
    rate = float(trace.fleet.learning_rate.max())
    weight = step_weights(
        trace.fleet.optimizer, seen["most_steps"], rate, trace.fleet.optimizer_value
    )
    counts = [int((trace.entered < round_).sum()) for round_ in range(rounds)]
    bound = proposition_1_log(
        squares[:rounds],
        counts,
        whole[:rounds],
        max_iterations=float(each * scenario.max_iterations),
        learning_rate=rate,
        largest_weight=float(weight.largest.max()),
        **seen,
    )
    return {"status": status, "real": short(loss), "bound_log": short(bound), "parties": counts}


def _squares(simulation: Simulation) -> float:
    """Σ_n ‖∇_n F‖² of the parties that are present."""
    model = simulation.model
    return sum(float((norms(model.sample_gradients(team)) ** 2).sum()) for team in model.teams)


def _whole(simulation: Simulation) -> float:
    return simulation.model.smoothness()[1]


def _ideal(scenario: Scenario) -> list[float]:
    """Losses with everybody from the start, to the limit; it ends where they are not finite."""
    trace = churn_trace(scenario)
    material = Material.of(scenario, trace)
    learning, devices = scenario.learning, trace.fleet.listed()
    views = {
        device.id: material.views.get(device.id) or material.entering(device.id)
        for device in devices
    }
    model = VerticalModel.start(
        material.rows, material.maker, views, learning, scenario.seed, measure=False
    )
    steps = learning.steps_per_iteration * scenario.max_iterations
    found = [float(model.metrics()["train_loss"])]
    for round_ in range(learning.rounds):
        orders = {
            device.id: Order.of(
                steps,
                halved(device.learning_rate, round_, learning.halve_rate_every),
                material.optimizer(device, round_),
            )
            for device in devices
        }
        own = halved(learning.server_rate, round_, learning.halve_rate_every)
        model.train(round_, orders, Order(steps, own))
        loss = float(model.metrics()["train_loss"])
        if not np.isfinite(loss):
            break
        found.append(loss)
    return found


def averaged(runs: Sequence[Run]) -> dict[str, Any]:
    """Losses before each round, the gap summed so far, and the logarithm of its bound."""
    rounds = min(min(len(run["bound_log"]), len(run["ideal"]) - 1) for run in runs)
    real, ideal = ([run[name][: rounds + 1] for run in runs] for name in ("real", "ideal"))
    gaps = np.subtract(real, ideal)[:, :rounds]  # real less ideal
    logs = np.array([run["bound_log"][:rounds] for run in runs])
    with np.errstate(over="ignore"):
        broken = int((-gaps.cumsum(axis=1) > np.exp(logs)).sum())
    third = max(1, rounds // 3)
    found: dict[str, Any] = {"diverged": sum(run["status"] != "done" for run in runs)}
    for name, rows in (("real", real), ("ideal", ideal), ("gap_so_far", gaps.cumsum(axis=1))):
        found[name], found[f"{name}_std"] = mean_std(rows)
    return found | {
        "bound_log10": mean_std(logs / np.log(10))[0],
        "parties": runs[0]["parties"][:rounds],
        "broken": broken,
        "early": short(gaps[:, :third].mean(axis=1)),
        "late": short(gaps[:, -third:].mean(axis=1)),
    }
