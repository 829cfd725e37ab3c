"""Where a run takes place: its network, its data and its parties; all simulated by default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scdn.learning.crew import Parties
from scdn.scenario.model import Scenario
from scdn.simulation.loop import Simulation
from scdn.simulation.material import Material
from scdn.world.churn import ChurnTrace, churn_trace


@dataclass(frozen=True, eq=False)
class Stage:
    """What a run is set up with."""

    trace: ChurnTrace
    material: Material
    parties: Parties | None = None  # elsewhere; None: in this process
    driver: Callable[..., Simulation] = Simulation


Staging = Callable[[Scenario, Mapping[str, Any] | None], Stage]  # takes a checkpoint's words


def simulated(scenario: Scenario, _: Mapping[str, Any] | None = None) -> Stage:
    """Everything in this process."""
    trace = churn_trace(scenario)
    return Stage(trace, Material.of(scenario, trace))
