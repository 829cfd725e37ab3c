"""The problem of a scenario's round as a plan request, before anything is learned."""

from __future__ import annotations

from scdn.control.plan_request import PlanRequest, request_for_round
from scdn.scenario import Scenario
from scdn.world.churn import churn_trace
from scdn.world.geometry import server_start


def round_request(scenario: Scenario, round_index: int = 0) -> PlanRequest:
    """Return the request for the devices present in a round, with the server at its start."""
    trace = churn_trace(scenario)
    present = trace.present(round_index)
    listed = trace.fleet.take(present).to_devices()
    survival = trace.survival(round_index)[present].tolist()
    devices = [
        device.model_copy(update={"survival": probability})
        for device, probability in zip(listed, survival, strict=True)
    ]
    return request_for_round(scenario, devices, server_start(scenario).tolist())
