"""The environment of a run: its network, data and parties; all simulated by default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scdn.learning.party_backend import PartyBackend
from scdn.scenario import Scenario
from scdn.simulation.loop import Simulation
from scdn.simulation.run_data import RunData
from scdn.world.churn import ChurnTrace, churn_trace
from scdn.world.link_models import link_model


@dataclass(frozen=True, eq=False)
class RunEnvironment:
    """What a run is created with."""

    trace: ChurnTrace
    data: RunData
    parties: PartyBackend | None = None  # None: parties in this process
    simulation_class: Callable[..., Simulation] = Simulation


# Called with the scenario and, when a run resumes, the state in its checkpoint.
EnvironmentFactory = Callable[[Scenario, Mapping[str, Any] | None], RunEnvironment]


def simulated_environment(scenario: Scenario, _: Mapping[str, Any] | None = None) -> RunEnvironment:
    """Return an environment that is simulated in this process."""
    link_model(scenario.radio)  # an unknown one is refused here
    trace = churn_trace(scenario)
    return RunEnvironment(trace, RunData.from_scenario(scenario, trace))
