"""Wall times of importance, the round's solvers and smoothness, on one thread.

Imports, compilation of kernels and the reading of data do not count. Importance is Algorithm 2 as
the package has it (the first layer's sums taken once, all exclusions in one batched pass) and as
printed (a party's embeddings set to zero and a full pass of the fusion model, one party after the
other). Algorithm 3 takes all its iterations, with one compiled program and with one that is rebuilt
in each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from scdn.control.solve import solve, warm_up
from scdn.learning.feature_split import split_features
from scdn.learning.fusion_server import FusionServer
from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.losses import row_losses
from scdn.learning.tensors import TensorOptions, single_threaded
from scdn.learning.vertical_model import VerticalModel
from scdn.paper.single_round import first_round_problem, run_algorithm3
from scdn.scenario import Scenario, make_scenario
from scdn.simulation.run_data import RunData
from scdn.world.churn import churn_trace

_REPEATS = 15
_REPEAT_FOR_S = 20.0  # no further repeats after this time


def time_importance(arguments: dict[str, Any]) -> dict[str, Any]:
    """Time Algorithm 2 and count its passes of the fusion model, for each number of parties."""
    scenario = make_scenario(arguments["scenario"])
    times: dict[str, list[float]] = {"seconds": [], "one_by_one": [], "passes": []}
    for parties in arguments["importance"]:
        model = _create_model(scenario, parties)
        server, options = model.server, model.factory.options
        with single_threaded():
            for stack in model.stacks:
                inputs = stack.views.gather(model.data, "train", server.sample)
                embeddings = stack.embed(inputs)
                server.sample_embeddings |= dict(zip(stack.names, embeddings, strict=True))
            batched = partial(server.exclusion_losses, model.present)
            times["seconds"].append(_median_seconds(batched, options))
            one_by_one = partial(_losses_one_by_one, server)
            times["one_by_one"].append(_median_seconds(one_by_one, options))
        times["passes"].append(len(_losses_one_by_one(server)))
    return times


def _losses_one_by_one(server: FusionServer) -> list[float]:
    """Return the loss without each member, each from a separate pass."""
    embeddings = torch.stack([server.sample_embeddings[name] for name in server.fusion.members])
    targets = server.targets[server.sample]
    losses = []
    with torch.no_grad():
        for member in range(len(embeddings)):
            without = embeddings.clone()
            without[member] = 0
            outputs = server.fusion.outputs(without)
            losses.append(float(row_losses(outputs, targets, server.task).double().mean()))
    return losses


def time_smoothness(arguments: dict[str, Any]) -> dict[str, Any]:
    """Time, per device, the estimation of L_n and one training step."""
    scenario, parties = make_scenario(arguments["scenario"]), arguments["smoothness"]
    model = _create_model(scenario, parties)
    learning = scenario.learning
    steps = learning.steps_per_iteration * scenario.max_iterations
    local_steps = dict.fromkeys(model.present, LocalSteps(steps, learning.server_rate))
    train = partial(model.train, 0, local_steps, LocalSteps(0, 0.0))
    training = _median_seconds(train, model.factory.options)
    estimate = _median_seconds(model.smoothness, model.factory.options)
    rows = model.data.count("train")
    return {
        "estimate_s": estimate / parties,
        "step_s": training / parties / steps,
        "steps_round": steps,
        "steps_epoch": -(-rows // min(learning.batch_size, rows)),
        "iterations": scenario.max_iterations,
    }


def time_solvers(arguments: dict[str, Any]) -> dict[str, float]:
    """Time the exact solver, and Algorithm 3 compiled once or rebuilt, on one drawn network."""
    problem = first_round_problem(make_scenario(arguments["scenario"]))
    warm_up()
    run_algorithm3(problem, iterations=1)  # loads CVXPY
    times = {"exact": _median_seconds(partial(solve, problem))}
    for name, rebuild in (("parametrised", False), ("rebuilt", True)):
        settings = {"iterations": arguments["iterations"], "tolerance": 0.0, "rebuild": rebuild}
        times[name] = _median_seconds(partial(run_algorithm3, problem, **settings))
    return times


def _create_model(scenario: Scenario, parties: int) -> VerticalModel:
    data = RunData.from_scenario(scenario, churn_trace(scenario))
    names = [f"party-{n + 1}" for n in range(parties)]
    learning = scenario.learning
    views = split_features(data.dataset, learning.split, parties, scenario.seed)
    return VerticalModel.create(
        data.tensors,
        data.factory,
        dict(zip(names, views, strict=True)),
        learning,
        scenario.seed,
        measure_gradients=False,
    )


def _median_seconds(function: Callable[[], object], options: TensorOptions | None = None) -> float:
    """Return the median time of several calls, after one that does not count."""
    on_gpu = options is not None and options.device.startswith("cuda")
    wait = torch.cuda.synchronize if on_gpu else None
    _seconds(function, wait)
    times = [_seconds(function, wait)]
    while len(times) < _REPEATS and sum(times) < _REPEAT_FOR_S:
        times.append(_seconds(function, wait))
    return float(np.median(times))


def _seconds(function: Callable[[], object], wait: Callable[[], object] | None = None) -> float:
    """Return the time of a call; `wait` returns when a GPU has finished."""
    began = time.perf_counter()
    function()
    if wait is not None:
        wait()
    return round(time.perf_counter() - began, 7)
