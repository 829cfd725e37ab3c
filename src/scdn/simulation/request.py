"""A round of a scenario as a plan request."""

from __future__ import annotations

from scdn.control.request import PlanRequest, request_of
from scdn.scenario.model import Scenario
from scdn.world.churn import churn_trace
from scdn.world.geometry import server_start


def round_request(scenario: Scenario, round_: int = 0) -> PlanRequest:
    """Who is there when the round begins, and how likely to survive; the server at its start."""
    trace = churn_trace(scenario)
    present = trace.present(round_)
    chances = trace.survival(round_)[present].tolist()
    devices = [
        device.model_copy(update={"survival": chance})
        for device, chance in zip(trace.fleet.take(present).listed(), chances, strict=True)
    ]
    return request_of(scenario, devices, server_start(scenario).tolist())
