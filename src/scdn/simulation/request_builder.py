"""The problem of a scenario's round as a plan request, before anything is learned."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from scdn.control.plan_request import PlanRequest, request_for_round
from scdn.data import load
from scdn.errors import InputError
from scdn.methods import method
from scdn.scenario import AnyOptimizer, CustomOptimizer, Momentum, Proximal, Scenario, Sgd
from scdn.world.churn import churn_trace
from scdn.world.geometry import server_start


def round_request(
    scenario: Scenario, round_index: int = 0, warn: Callable[[str], None] = lambda _: None
) -> PlanRequest:
    """Return the request for the devices present in a round, with the server at its start.

    Reports have the bits of the scenario's protocol, if that is what they are billed as. For this
    the data set must be in the local store: `warn` is called where it is not, and devices then keep
    their own payload.
    """
    trace = churn_trace(scenario)
    present = trace.present(round_index)
    listed = trace.fleet.take(present).to_devices()
    survival = trace.survival(round_index)[present].tolist()
    payload_bits = _report_bits(scenario, survival, warn)
    payload_bits = payload_bits or [device.payload_bits for device in listed]
    devices = [
        device.model_copy(
            update={
                "survival": probability,
                "payload_bits": bits,
                "optimizer": _bounded_as(device.optimizer),
            }
        )
        for device, probability, bits in zip(listed, survival, payload_bits, strict=True)
    ]
    return request_for_round(scenario, devices, server_start(scenario).tolist())


def with_report_bits(scenario: Scenario, warn: Callable[[str], None]) -> Scenario:
    """Return the scenario with the protocol's bits as payload, if reports are billed as that.

    They are those of a device that sends no part of its whole table; `warn` as above.
    """
    bits = _report_bits(scenario, [math.inf], warn)
    if not bits:
        return scenario
    payload = {"payload_bits": bits[0]}
    fleet = tuple(group.model_copy(update=payload) for group in scenario.fleet)
    devices = tuple(device.model_copy(update=payload) for device in scenario.devices)
    return scenario.model_copy(update={"fleet": fleet, "devices": devices})


def _report_bits(
    scenario: Scenario, survival: Sequence[float], warn: Callable[[str], None]
) -> list[float]:
    """Return the protocol's bits of each report; none if they are billed as models.

    None as well, and a warning, without the data set.
    """
    learning, uses_importance = scenario.learning, method(scenario.method).uses_importance
    if learning.payload == "model":
        return []
    try:
        dataset = load(learning.dataset)
    except InputError as error:
        warn(f"payload_bits are those of the devices, not the protocol's: {error}")
        return []
    from scdn.learning.party_factory import PartyFactory  # imports PyTorch
    from scdn.simulation.run_data import scenario_protocol

    if learning.holdout:
        dataset = dataset.with_holdout(learning.holdout, scenario.seed)
    width = PartyFactory.from_dataset(dataset, learning).width
    protocol = scenario_protocol(scenario, width, len(dataset.train_y), uses_importance)
    return [float(protocol.report_bits(probability)) for probability in survival]


def _bounded_as(optimizer: AnyOptimizer) -> Sgd | Proximal | Momentum:
    """Return the optimizer of the paper that the round's problem takes a custom one for."""
    if not isinstance(optimizer, CustomOptimizer):
        return optimizer
    from scdn.learning.local_optimizers import local_optimizer  # imports PyTorch

    custom = local_optimizer(optimizer.name)
    if custom.bound_as == "proximal":
        return Proximal(kind="proximal", mu=custom.bound_value)
    if custom.bound_as == "momentum":
        return Momentum(kind="momentum", rho=custom.bound_value)
    return Sgd()
