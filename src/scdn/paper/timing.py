"""How long importance, the solver and smoothness take.

Times are wall-clock on one thread; imports, compilation of kernels and the reading of data do not
count. Importance is Algorithm 2 as the package has it (the first layer's sums taken once, all
exclusions in one batched pass) and word by word (a party's embeddings zeroed and a whole pass of
the fusion model, one party after the other). Algorithm 3 takes all its iterations, with one
compiled program and with one that is rebuilt in each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from scdn.control.solve import solve, warm_up
from scdn.learning.local import Order
from scdn.learning.losses import row_losses
from scdn.learning.server import Server
from scdn.learning.split import split
from scdn.learning.tensors import Place, one_thread
from scdn.learning.vertical import VerticalModel
from scdn.paper.control import algorithm_3, drawn_problem, scenario_of
from scdn.scenario import Scenario
from scdn.simulation.material import Material
from scdn.world.churn import churn_trace

REPEATS = 15
PATIENCE_S = 20.0  # after which there are no more of them


def importance(arguments: dict[str, Any], _: object) -> dict[str, Any]:
    """Seconds of Algorithm 2, and its passes of the fusion model, for each number of parties."""
    scenario = scenario_of(arguments)
    found: dict[str, list[float]] = {"seconds": [], "one_by_one": [], "passes": []}
    for parties in arguments["importance"]:
        model = _model(scenario, parties)
        server, place = model.server, model.place
        with one_thread():
            for team in model.teams:
                inputs = team.sight.take(model.rows, "train", server.sample)
                server.seen |= dict(zip(team.names, team.embed(inputs), strict=True))
            batched = _seconds(place, partial(server.importance_losses, model.present))
            found["seconds"].append(batched)
            found["one_by_one"].append(_seconds(place, partial(_one_by_one, server)))
        found["passes"].append(len(_one_by_one(server)))
    return found


def _one_by_one(server: Server) -> list[float]:
    """The loss without each member, each in a pass of its own."""
    table = torch.stack([server.seen[name] for name in server.fusion.members])
    targets = server.targets[server.sample]
    losses = []
    with torch.no_grad():
        for place in range(len(table)):
            without = table.clone()
            without[place] = 0
            outputs = server.fusion.outputs(without)
            losses.append(float(row_losses(outputs, targets, server.task).double().mean()))
    return losses


def smoothness(arguments: dict[str, Any], _: object) -> dict[str, Any]:
    """Seconds per device: to estimate L_n, and to train one step; and steps per round and epoch."""
    scenario, parties = scenario_of(arguments), arguments["smoothness"]
    model = _model(scenario, parties)
    learning = scenario.learning
    steps = learning.steps_per_iteration * scenario.max_iterations
    order = Order(steps, learning.server_rate)
    orders = dict.fromkeys(model.present, order)
    training = _seconds(model.place, lambda: model.train(0, orders, Order(0, 0.0)))
    estimate = _seconds(model.place, model.smoothness)
    rows = model.rows.count("train")
    return {
        "estimate_s": estimate / parties,
        "step_s": training / parties / steps,
        "steps_round": steps,
        "steps_epoch": -(-rows // min(learning.batch_size, rows)),
        "iterations": scenario.max_iterations,
    }


def solvers(arguments: dict[str, Any], _: object) -> dict[str, float]:
    """Seconds of Algorithm 3 in both ways, and of the exact solver, on one drawn network."""
    problem = drawn_problem(scenario_of(arguments))
    count = arguments["iterations"]
    warm_up()
    algorithm_3(problem, iterations=1)  # loads what CVXPY needs
    found = {"exact": _once(partial(solve, problem))}
    for name, rebuild in (("parametrised", False), ("rebuilt", True)):
        how = {"iterations": count, "tolerance": 0.0, "rebuild": rebuild}
        found[name] = _once(partial(algorithm_3, problem, **how))
    return found


def _model(scenario: Scenario, parties: int) -> VerticalModel:
    """A fresh model of so many parties on the scenario's data."""
    trace = churn_trace(scenario)
    material = Material.of(scenario, trace)
    names = [f"party-{n + 1}" for n in range(parties)]
    learning = scenario.learning
    views = split(material.dataset, learning.split, parties, scenario.seed)
    return VerticalModel.start(
        material.rows,
        material.maker,
        dict(zip(names, views, strict=True)),
        learning,
        scenario.seed,
        measure=False,
    )


def _seconds(place: Place, work: Callable[[], object]) -> float:
    """The median time of some repeats, at least one, after one that does not count."""
    wait = torch.cuda.synchronize if place.device.startswith("cuda") else None
    _once(work, wait)
    found = [_once(work, wait)]
    while len(found) < REPEATS and sum(found) < PATIENCE_S:
        found.append(_once(work, wait))
    return float(np.median(found))


def _once(work: Callable[[], object], wait: Callable[[], object] | None = None) -> float:
    """The time it takes; `wait` is until a GPU has done what it was given."""
    began = time.perf_counter()
    work()
    if wait is not None:
        wait()
    return round(time.perf_counter() - began, 7)
