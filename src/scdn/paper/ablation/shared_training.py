"""Training that the cases of an ablation have in common is done once.

What is learned in a round depends only on what was learned before, on the devices that come and go,
and on who trains for how many steps. Cases with the same scenario and seed therefore learn the same
until a plan lets somebody train longer or shorter. Holding the power, for instance, changes what is
spent and no model. All randomness comes from generators named by their purpose, so a result that is
remembered is the one that would be computed again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from tempfile import TemporaryFile
from typing import IO, Any, TypeVar
from weakref import finalize

import numpy as np

from scdn.arrays import Array
from scdn.control.plan import Plan
from scdn.learning.step_rule import StepTaken
from scdn.learning.tensors import StateDict
from scdn.scenario import Scenario
from scdn.simulation.divergence import DivergedError
from scdn.simulation.loop import Simulation
from scdn.simulation.outcome import Outcome
from scdn.simulation.problem_builder import DeviceReports
from scdn.simulation.run_environment import RunEnvironment, simulated_environment
from scdn.simulation.runner import create_simulation
from scdn.simulation.server_compute import ServerCompute

Result = TypeVar("Result")


class KeptState:
    """The state of a simulation's models, in a file that is gone when this process ends."""

    def __init__(self, state: StateDict) -> None:
        self._values = deepcopy(state.values)
        self._file: IO[bytes] = TemporaryFile()  # noqa: SIM115  closed with this object
        finalize(self, self._file.close)
        np.savez(self._file, **state.arrays)  # type: ignore[arg-type]

    def read(self) -> StateDict:
        """Return the state as it was."""
        self._file.seek(0)
        with np.load(self._file, allow_pickle=False) as arrays:
            return StateDict(dict(arrays), deepcopy(self._values))


@dataclass(eq=False)
class LearningStep:
    """What one step of learning returned or raised, and the steps that have followed it so far.

    Attributes
    ----------
    following
        By the step's name and arguments: what was done next with the models as they are now.
    state
        The state of the models after this step, if different steps may follow.
    """

    result: Any = None
    error: DivergedError | None = None
    following: dict[str, LearningStep] = field(default_factory=dict)
    state: KeptState | None = None


@dataclass(eq=False)
class SharedTraining:
    """The steps of all simulations that begin with the same models, as a tree."""

    start: LearningStep = field(default_factory=LearningStep)
    initial_loss: float | None = None  # None: no simulation has begun yet


class SharingSimulation(Simulation):
    """A simulation that computes a step of learning only if no other one has done so before."""

    last_step: LearningStep
    has_models: bool  # as they are after the last step; otherwise they can be restored

    def share(self, training: SharedTraining) -> None:
        """Begin at the start of a tree; the first simulation to do so has models already."""
        self.last_step = training.start
        self.has_models = training.initial_loss is None
        if training.initial_loss is None:
            training.initial_loss = self.initial_loss
        self.initial_loss = training.initial_loss

    def collect_reports(self) -> DeviceReports:
        """Return what the devices report."""
        return self._remembered("reports", self.fleet.id.tolist(), super().collect_reports)

    def estimate_importance(self) -> Array:
        """Return the importance of the devices that are present."""
        return self._remembered("importance", None, super().estimate_importance)

    def train_together(self, plan: Plan, outcome: Outcome) -> StepTaken:
        """Train, unless the same parties have been trained for as many steps before."""

        def train() -> StepTaken:
            if self.last_step.state is None:  # another simulation may go on from here
                self.last_step.state = KeptState(self.model.state_dict())
            return super(SharingSimulation, self).train_together(plan, outcome)

        retries = not plan.decision.active.any() and "not_worth_it" in plan.reasons()
        return self._remembered("train", (self.training_request(plan, outcome), retries), train)

    def bill_server(self) -> ServerCompute:
        """Return what the server's training took."""
        return self._remembered("bill", None, super().bill_server)

    def update_network(self) -> tuple[list[str], list[str]]:
        """Process entries and exits."""
        return self._remembered("network", self.leaving(), super().update_network)

    def evaluate(self) -> dict[str, Any]:
        """Return the metrics of the models."""
        return self._remembered("evaluate", None, super().evaluate)

    def _remembered(self, name: str, arguments: object, compute: Callable[[], Result]) -> Result:
        """Return what this step returned after the same steps before, or compute it."""
        before, key = self.last_step, f"{name} {arguments!r}"
        if key not in before.following:
            self._restore_models()
            try:
                step = LearningStep(compute())
            except DivergedError as error:
                step = LearningStep(error=error)
            before.following[key] = step
        else:
            self.has_models = False
        self.last_step = step = before.following[key]
        if step.error is not None:
            raise step.error
        return deepcopy(step.result)

    def _restore_models(self) -> None:
        if not self.has_models:
            assert self.last_step.state is not None  # noqa: S101  only training varies
            self.model.load_state_dict(self.last_step.state.read())
            self.has_models = True


def create_sharing_simulation(scenario: Scenario, iterations: tuple[float, ...]) -> Simulation:
    """Return a simulation that shares its training with others that differ in weights or plans.

    Where the messages of a round are billed, or the server has a battery, plans depend on models at
    other points than those that are remembered; such a simulation shares nothing.
    """
    if scenario.learning.payload != "model" or scenario.server.battery_j is not None:
        return create_simulation(scenario, iterations)
    table = scenario.model_dump(mode="json", by_alias=True, exclude={"weights"})
    training = _shared_training(json.dumps(table, sort_keys=True))
    state = None if training.initial_loss is None else dict[str, Any]()  # then it has no models yet
    simulation = create_simulation(scenario, iterations, state, _sharing_environment)
    assert isinstance(simulation, SharingSimulation)  # noqa: S101
    simulation.share(training)
    return simulation


def _sharing_environment(scenario: Scenario, state: Mapping[str, Any] | None) -> RunEnvironment:
    environment = simulated_environment(scenario, state)
    return replace(environment, simulation_class=SharingSimulation)


@lru_cache(maxsize=1)
def _shared_training(_: str) -> SharedTraining:
    """Return the tree of this scenario; that of the last one is forgotten, with its states."""
    return SharedTraining()
