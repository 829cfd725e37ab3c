"""A run whose rounds are planned and billed like any other, but in which nobody trains.

Devices, churn, channels, plans, batteries and the bill are those of a simulation. What only
training would tell has its value before round 0: importance 1, smoothness and statistics of
gradients as in a plan request. A mission's forecast keeps its first values, and every round brings
what it forecasts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scdn.arrays import Array, IntArray, floats
from scdn.control.plan import Plan
from scdn.learning.local_optimizers import LocalSteps, halved_rate
from scdn.learning.round_protocol import RoundProtocol
from scdn.learning.server_adam import CHECK_EVERY
from scdn.learning.server_work import ServerWork
from scdn.learning.step_rule import StepTaken
from scdn.learning.virtual_clock import Arrival
from scdn.mission.forecast import ProgressForecast
from scdn.mission.learning_curve import USUAL_SLOPE, loss_at
from scdn.mission.mission_control import perfect_score
from scdn.mission.option_worth import gain_share
from scdn.record.run_reader import Event
from scdn.scenario import LearningSettings, Scenario
from scdn.simulation.loop import Simulation
from scdn.simulation.outcome import Outcome
from scdn.simulation.problem_builder import DeviceReports, reported
from scdn.simulation.run_data import round_optimizers
from scdn.simulation.server_compute import ServerCompute, server_compute
from scdn.world.fleet import Fleet

if TYPE_CHECKING:
    from scdn.simulation.request_builder import RunSizes

_BITS = 32  # of a weight

SLOPES = {"top3": 2.0}  # of the logarithm of a score's error, on MNIST; of others, the usual one


@dataclass(frozen=True, eq=False)
class EstimatedData:
    """What plans and bills take from a run's data: the sizes of messages and models.

    `sizes` is None where the data set is not in the store: then reports are billed by the numbers
    of the scenario.
    """

    scenario: Scenario
    fleet: Fleet  # of all rounds
    sizes: RunSizes | None

    def round_protocol(self, _: bool, number_bits: int | None = None) -> RoundProtocol:
        """Return the protocol of the run's rounds, or of one with other bits per number."""
        if self.sizes is not None:
            protocol = self.sizes.protocol
            bits = protocol.learning.number_bits if number_bits is None else number_bits
            learning = protocol.learning.model_copy(update={"number_bits": bits})
            return replace(protocol, learning=learning)
        # Reports are then billed as models, and this is only asked for the rows held out.
        return RoundProtocol.create(self.scenario.learning, 1, 1, 1, uses_importance=False)

    def connections(self) -> dict[str, float]:
        """Return the size of every device's model, by id."""
        sizes = self.fleet.connections if self.sizes is None else self.sizes.connections
        return dict(zip(self.fleet.id.tolist(), sizes.tolist(), strict=True))

    def payload_bits(
        self, connections: Array, survival: Array, uses_importance: bool, number_bits: int
    ) -> Array:
        """Return what the report of each device is planned and billed as, if sizes are known."""
        if self.scenario.learning.payload == "model":
            return _BITS * connections
        protocol = self.round_protocol(uses_importance, number_bits)
        return floats([protocol.report_bits(p) for p in survival.tolist()])

    def optimizers(self, fleet: Fleet, round_index: int) -> tuple[IntArray, Array]:
        """Return each device's optimiser in the round's problem, and its μ or ρ."""
        return round_optimizers(self.scenario, fleet, round_index)


@dataclass(frozen=True)
class FusionSize:
    """The members of a fusion model, and the numbers of weights per member and beside them."""

    members: tuple[str, ...]
    per_member: int = 0
    others: int = 0

    @property
    def connections(self) -> int:
        """Return the number of weights."""
        return self.per_member * len(self.members) + self.others


@dataclass
class EstimatedServer:
    """The sizes of the server's model and sample."""

    fusion: FusionSize
    sample: range
    held_out: int = 0  # rows held out in the rounds that it trains on

    def heard_held_out_rows(self) -> int:
        """Return the rows held out in the rounds that it trains on."""
        return self.held_out


@dataclass
class EstimatedParties:
    """The bits per number of what the devices send."""

    number_bits: int


@dataclass
class EstimatedModel:
    """Stands for the model of a run: its sizes, and the loss that is expected.

    `errors` are the errors of scores before round 0, by metric: they fall as a power of the loss.
    """

    server: EstimatedServer
    learning: LearningSettings
    first_loss: float
    errors: Mapping[str, float]
    loss: float = field(init=False)

    parties: EstimatedParties = field(init=False)

    def __post_init__(self) -> None:
        self.loss = self.first_loss
        self.parties = EstimatedParties(self.learning.number_bits)

    def begin_cycles(
        self, round_index: int, local_steps: Mapping[str, LocalSteps], batches: int
    ) -> None:
        """Do nothing: no device trains."""

    def sample_scores(self) -> dict[str, float]:
        """Return the expected loss and scores, as if measured on validation rows."""
        share, scores = self.loss / self.first_loss, {"loss": self.loss}
        for name, error in self.errors.items():
            perfect = perfect_score(name, self.learning)
            expected = error * share ** (1.0 if perfect == 0 else SLOPES.get(name, USUAL_SLOPE))
            scores[name] = perfect - math.copysign(expected, perfect - 0.5)
        return scores


@dataclass
class EstimatedRun(Simulation):
    """A simulation in which nobody trains, and rounds are billed for what training would take."""

    data: Any  # EstimatedData, in place of a run's data
    model: Any  # EstimatedModel, in place of a run's model
    prior: ProgressForecast | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mission is not None:
            self.prior = deepcopy(self.mission.forecast)
        self._connections = self.data.connections()

    def collect_reports(self) -> DeviceReports:
        """Return reports in which whatever needs training has its value before round 0."""
        if self.mission is not None and self.prior is not None:
            self.mission.forecast = deepcopy(self.prior)  # nothing was measured
        fleet, learning = self.fleet, self.scenario.learning
        ids = fleet.id.tolist()
        survival = self.trace.survival(self.round)[self.present]
        connections = floats([self._connections[name] for name in ids])
        optimizer, optimizer_value = self.data.optimizers(fleet, self.round)
        factor = 1.0
        if learning.step != "searched":
            factor = halved_rate(1.0, self.round, learning.halve_rate_every)
        return DeviceReports(
            fleet=fleet,
            survival=survival,
            payload_bits=fleet.payload_bits
            if self.data.sizes is None
            else self.data.payload_bits(
                connections, survival, self.method.uses_importance, learning.number_bits
            ),
            connections=connections,
            learning_rate=fleet.learning_rate * factor,
            optimizer=optimizer,
            optimizer_value=optimizer_value,
            smoothness=reported({}, ids, "smoothness"),
            gradient_bound_sq=reported({}, ids, "gradient_bound_sq"),
            gradient_variance=reported({}, ids, "gradient_variance"),
            global_smoothness=learning.global_smoothness,
        )

    def estimate_importance(self) -> Array:
        """Return 1 for every device, as in round 0."""
        return np.ones(len(self.fleet))

    def train_together(self, plan: Plan, outcome: Outcome) -> StepTaken:
        """Return the step of a round in which every step is taken as planned."""
        return self._expected_step(plan, outcome, {})

    def train_arrivals(
        self, plan: Plan, outcome: Outcome, arrivals: list[Arrival]
    ) -> list[StepTaken]:
        """Return the steps that these reports are expected to take, as planned."""
        staleness = {arrival.name: arrival.staleness for arrival in arrivals}
        step = self._expected_step(plan, outcome.with_arrivals(plan.problem, arrivals), staleness)
        if not self.schedule.trains_alone:
            return [step]
        return [step] * sum(arrival.trains(plan.problem.ids) for arrival in arrivals)

    def _expected_step(
        self, plan: Plan, outcome: Outcome, staleness: Mapping[str, int]
    ) -> StepTaken:
        """Return a step of full length, with what each device is expected to contribute."""
        trained, ids = np.rint(outcome.executed_iterations), plan.problem.ids
        gains = (trained > 0).astype(np.float64)
        mission = self.mission
        if mission is not None and mission.round is not None:
            share = gain_share(plan.problem.option)
            gains = share * mission.round.expected_gains(trained, ids, staleness)
            made = share * mission.round.base + float(gains.sum())
            self.model.loss = loss_at(mission.progress + made, mission.first_loss)
        return StepTaken(1.0, contributions=dict(zip(ids, gains.tolist(), strict=True)))

    def bill_server(self) -> ServerCompute:
        """Return what the server's training takes, by the number of its steps and rows."""
        learning, server = self.scenario.learning, self.scenario.server
        steps, held_out = self.server_steps().count, self.data.round_protocol(False).held_out
        checks = steps // CHECK_EVERY + 1 if learning.server_optimizer == "adam" else 0
        heard = min(self.round + 1, learning.server_rounds)
        self.model.server.held_out = heard * held_out
        work = ServerWork(steps * learning.batch_size, checks * heard * held_out, steps)
        return server_compute(work, self.model.server.fusion.connections, server)

    def update_network(self) -> tuple[list[str], list[str]]:
        """Process entries and exits of this round; the fusion model grows and shrinks with them."""
        exited = self.leaving()
        entered = self.trace.fleet.id[self.trace.entering(self.round)].tolist()
        fusion, forgets = self.model.server.fusion, self.method.memory == "zero-out"
        kept = [name for name in fusion.members if not (forgets and name in exited)]
        self.model.server.fusion = replace(fusion, members=(*kept, *entered))
        return entered, exited

    def evaluate(self) -> Event:
        """Return no metrics: nothing was trained."""
        return {}
