"""A round's problem from the fleet's arrays equals the one from a plan request, to the last bit."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pytest
from conftest import ROOT

from scdn.control.plan_request import problem_of, request_for_round
from scdn.control.problem import RoundProblem
from scdn.data import fetch
from scdn.learning.local_optimizers import halved_rate
from scdn.rng import generator
from scdn.scenario import Momentum, Proximal, Sgd, read_scenario
from scdn.simulation.runner import create_simulation

EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.toml"))
SMALL = [
    "method=max-vfl",
    "learning.dataset=digits",
    "learning.model=mlp",
    "learning.hidden=8",
    "learning.split=random",
    "learning.augment_flip=false",
    "learning.augment_shift=0",
    "learning.rounds=12",
    "learning.sample_rows=32",
    "learning.batch_size=8",
    "learning.steps_per_iteration=1",
    "learning.precision=float32",
    "learning.device=cpu",
]
ROUNDS = 4


def device_settings(simulation):
    """The devices of the round as settings, each with what it reports."""
    scenario, model, data = simulation.scenario, simulation.model, simulation.data
    round_index = simulation.round
    present = simulation.trace.present(round_index)
    devices = simulation.trace.fleet.take(present).to_devices()
    survival = simulation.trace.survival(round_index)[present].tolist()
    smoothness, _ = model.smoothness()
    importance = dict(zip([d.id for d in devices], simulation.estimate_importance(), strict=True))
    for device, probability in zip(devices, survival, strict=True):
        connections = float(model.connections[device.id])
        uses_importance = simulation.method.uses_importance
        (payload_bits,) = data.payload_bits(
            np.array([connections]), np.array([probability]), uses_importance
        ).tolist()
        reports = {
            "survival": probability,
            "importance": float(importance[device.id]),
            "smoothness": smoothness.get(device.id, device.smoothness),
            "connections": connections,
            "payload_bits": payload_bits,
            "optimizer": redrawn_optimizer(scenario, device, round_index),
        }
        reports["learning_rate"] = local_rate(simulation, device, reports["optimizer"])
        stats = model.gradient_stats.get(device.id)
        if stats is not None:
            reports["gradient_bound_sq"] = stats.bound_sq
            reports["gradient_variance"] = stats.variance
        yield device.model_copy(update=reports)


def local_rate(simulation, device, optimizer):
    """Return the rate of the last searched step, for proximal SGD within Theorem 1's condition."""
    scenario, rate = simulation.scenario, device.learning_rate
    learning = scenario.learning
    if learning.step != "searched":
        return halved_rate(rate, simulation.round, learning.halve_rate_every)
    rate *= simulation.model.step_rule.rate_scale
    if isinstance(optimizer, Proximal):
        steps = learning.steps_per_iteration * scenario.max_iterations
        rate = min(rate, math.nextafter(1 / (2 * steps * optimizer.mu), 0))
    return rate


def redrawn_optimizer(scenario, device, round_index):
    groups = [group for group in scenario.fleet if group.kind == device.kind]
    if not scenario.learning.redraw_optimizers or not groups:
        return device.optimizer
    group = groups[0]
    draw = generator(scenario.seed, f"optimizer:{device.id}", round_index)
    kind = group.optimizers[int(draw.integers(len(group.optimizers)))]
    mu, rho = float(draw.uniform(*group.mu)), float(draw.uniform(*group.rho))
    choices = {
        "sgd": Sgd(),
        "proximal": Proximal(kind="proximal", mu=mu),
        "momentum": Momentum(kind="momentum", rho=rho),
    }
    return choices[kind]


def problem_through_request(simulation):
    _, global_smoothness = simulation.model.smoothness()
    measured = {
        "initial_loss": simulation.initial_loss,
        "global_smoothness": global_smoothness,
    }
    learning = simulation.scenario.learning.model_copy(update=measured)
    scenario = simulation.scenario.model_copy(update={"learning": learning})
    devices = list(device_settings(simulation))
    return problem_of(request_for_round(scenario, devices, simulation.server_m.tolist()))


def assert_equal_problems(problem, expected):
    for field in fields(RoundProblem):
        value, other = getattr(problem, field.name), getattr(expected, field.name)
        if isinstance(other, np.ndarray):
            assert value.dtype == other.dtype, field.name
            assert value.shape == other.shape, field.name
            assert value.tobytes() == other.tobytes(), field.name
        else:
            assert type(value) is type(other), field.name
            assert value == other, field.name


@pytest.mark.parametrize(
    "settings",
    [(), ("learning.redraw_optimizers=true",), ("learning.step=fitted", "learning.damping=none")],
    ids=["", "redraw", "fitted"],
)
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_problem_from_arrays_equals_the_one_from_a_request(name, settings):
    fetch("digits")
    simulation = create_simulation(read_scenario(ROOT / "examples" / name, [*SMALL, *settings]), ())
    rounds = simulation.loop()
    for _ in range(ROUNDS):
        problem = simulation.build_problem(
            simulation.collect_reports(), simulation.estimate_importance()
        )
        assert_equal_problems(problem, problem_through_request(simulation))
        next(rounds)
