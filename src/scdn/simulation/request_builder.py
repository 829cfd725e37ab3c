"""The problem of a scenario's round as a plan request, before anything is learned."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scdn.arrays import Array, floats
from scdn.control.plan_request import PlanRequest, request_for_round
from scdn.data import Dataset, load
from scdn.errors import InputError
from scdn.methods import method, with_validation_rows
from scdn.scenario import AnyOptimizer, CustomOptimizer, Momentum, Proximal, Scenario, Sgd
from scdn.world.churn import ChurnTrace, churn_trace
from scdn.world.geometry import server_start

if TYPE_CHECKING:
    from scdn.learning.party_factory import PartyFactory
    from scdn.learning.round_protocol import RoundProtocol


def round_request(
    scenario: Scenario, round_index: int = 0, warn: Callable[[str], None] = lambda _: None
) -> PlanRequest:
    """Return the request for the devices present in a round, with the server at its start.

    Reports have the bits of the scenario's protocol, if that is what they are billed as, and models
    their connections. For this the data set must be in the local store: `warn` is called where it
    is not, and devices then keep the numbers of the scenario.
    """
    trace = churn_trace(scenario)
    present = trace.present(round_index)
    survival = trace.survival(round_index)[present]
    fleet = trace.fleet.take(present)
    sizes = _billed_sizes(scenario, trace, warn)
    if sizes is not None:
        bits = floats([sizes.protocol.report_bits(probability) for probability in survival])
        fleet = replace(fleet, payload_bits=bits, connections=sizes.connections[present])
    of_all = scenario.learning.local_optimizer
    devices = [
        device.model_copy(
            update={"survival": probability, "optimizer": _bounded_as(device.optimizer, of_all)}
        )
        for device, probability in zip(fleet.to_devices(), survival.tolist(), strict=True)
    ]
    return request_for_round(scenario, devices, server_start(scenario).tolist())


def trace_with_run_sizes(scenario: Scenario, warn: Callable[[str], None]) -> ChurnTrace:
    """Return the devices of all rounds, with reports and models as large as in a run.

    Reports are those of a device that sends no part of its whole table; `warn` as above.
    """
    trace = churn_trace(scenario)
    sizes = _billed_sizes(scenario, trace, warn)
    if sizes is None:
        return trace
    bits = np.full(len(trace.fleet), float(sizes.protocol.report_bits(math.inf)))
    fleet = replace(trace.fleet, payload_bits=bits, connections=sizes.connections)
    return replace(trace, fleet=fleet)


class RunSizes(NamedTuple):
    """The sizes of a run's data and models."""

    dataset: Dataset
    factory: PartyFactory
    protocol: RoundProtocol
    connections: Array  # of the model of every device that is ever in the network


def run_sizes(scenario: Scenario, trace: ChurnTrace) -> RunSizes:
    """Return the sizes in a run; an InputError is raised if the data set is not in the store."""
    from scdn.learning.party_factory import PartyFactory  # imports PyTorch
    from scdn.simulation.run_data import scenario_protocol

    scenario = with_validation_rows(scenario)
    learning, uses_importance = scenario.learning, method(scenario.method).uses_importance
    dataset = load(learning.dataset)
    if learning.holdout:
        dataset = dataset.with_holdout(learning.holdout, scenario.seed)
    factory = PartyFactory.from_dataset(dataset, learning)
    protocol = scenario_protocol(scenario, factory.width, len(dataset.train_y), uses_importance)
    return RunSizes(dataset, factory, protocol, _connections(scenario, trace, dataset, factory))


def _billed_sizes(
    scenario: Scenario, trace: ChurnTrace, warn: Callable[[str], None]
) -> RunSizes | None:
    """Return the sizes in a run; none if reports are billed as models, or without the data set."""
    method(scenario.method)  # an unknown one is refused, with the data set or without
    if scenario.learning.payload == "model":
        return None
    try:
        return run_sizes(scenario, trace)
    except InputError as error:
        warn(f"payload_bits and connections are those of the scenario, not a run's: {error}")
        return None


def _connections(
    scenario: Scenario, trace: ChurnTrace, dataset: Dataset, factory: PartyFactory
) -> Array:
    from scdn.learning.feature_split import newcomer_view, split_features

    split, seed = scenario.learning.split, scenario.seed
    first = trace.fleet.id[trace.present(0)].tolist()
    views = dict(zip(first, split_features(dataset, split, len(first), seed, first), strict=True))
    by_shape: dict[Hashable, int] = {}
    connections = []
    for name in trace.fleet.id.tolist():
        view = views.get(name) or newcomer_view(dataset, split, len(first), seed, name)
        key = view.modality, view.shape
        if key not in by_shape:
            by_shape[key] = factory.create(name, view, seed).connections
        connections.append(by_shape[key])
    return floats(connections)


def _bounded_as(optimizer: AnyOptimizer, of_all: str) -> Sgd | Proximal | Momentum:
    """Return the optimizer of the paper that the round's problem takes a device's for."""
    if of_all != "own":
        optimizer = CustomOptimizer(kind="custom", name=of_all)
    if not isinstance(optimizer, CustomOptimizer):
        return optimizer
    from scdn.learning.local_optimizers import local_optimizer  # imports PyTorch

    custom = local_optimizer(optimizer.name)
    if custom.bound_as == "proximal":
        return Proximal(kind="proximal", mu=custom.bound_value)
    if custom.bound_as == "momentum":
        return Momentum(kind="momentum", rho=custom.bound_value)
    return Sgd()
