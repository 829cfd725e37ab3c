"""The problem of a scenario's round as a plan request, before anything is learned."""

from __future__ import annotations

from scdn.control.plan_request import PlanRequest, request_for_round
from scdn.scenario import AnyOptimizer, CustomOptimizer, Momentum, Proximal, Scenario, Sgd
from scdn.world.churn import churn_trace
from scdn.world.geometry import server_start


def round_request(scenario: Scenario, round_index: int = 0) -> PlanRequest:
    """Return the request for the devices present in a round, with the server at its start."""
    trace = churn_trace(scenario)
    present = trace.present(round_index)
    listed = trace.fleet.take(present).to_devices()
    survival = trace.survival(round_index)[present].tolist()
    devices = [
        device.model_copy(
            update={"survival": probability, "optimizer": _bounded_as(device.optimizer)}
        )
        for device, probability in zip(listed, survival, strict=True)
    ]
    return request_for_round(scenario, devices, server_start(scenario).tolist())


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
