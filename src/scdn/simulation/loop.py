"""Algorithm 1 as one loop: devices report, the server plans, all train, the network changes."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from scdn.arrays import Array, Mask, floats
from scdn.control.plan import Plan
from scdn.control.problem import RoundProblem
from scdn.learning.local_optimizers import LocalSteps, halved_rate
from scdn.learning.radio_use import ReportUse
from scdn.learning.schedules import Schedule, schedule
from scdn.learning.step_rule import StepTaken
from scdn.learning.vertical_model import VerticalModel
from scdn.learning.virtual_clock import Arrival
from scdn.methods import Method, RoundContext, rival_iterations
from scdn.mission.flown_round import FlownRound
from scdn.mission.mission_control import MissionControl
from scdn.record.run_reader import Event
from scdn.rng import generator
from scdn.scenario import Scenario
from scdn.simulation.arrival_rounds import replay_arrivals, run_arrivals
from scdn.simulation.batteries import Batteries
from scdn.simulation.battery_rounds import pay, plan_round_within_batteries
from scdn.simulation.divergence import DivergedError, check_finite
from scdn.simulation.energy_ledger import Ledger
from scdn.simulation.events import round_event
from scdn.simulation.local_rates import local_rates
from scdn.simulation.measured_utilities import MeasuredUtilities
from scdn.simulation.mission_rounds import (
    begin_round,
    check_limits,
    flown_round,
    observe_round,
    round_costs,
)
from scdn.simulation.outcome import Outcome, RoundResult, channel_draws, realise
from scdn.simulation.problem_builder import DeviceReports, build_problem, reported
from scdn.simulation.radio_bill import add_electronics, report_uses
from scdn.simulation.round_options import chosen_bits, chosen_round_s
from scdn.simulation.run_data import RunData
from scdn.simulation.server_compute import ServerCompute, server_compute
from scdn.simulation.synchronous_rounds import run_together
from scdn.simulation.waited_reports import waits_for_all
from scdn.world.churn import ChurnTrace
from scdn.world.fleet import OPTIMIZERS, Fleet


@dataclass
class Simulation:
    """The state of a run between two rounds.

    `loop` runs the rounds that are left. In each round it calls the methods below in the order of
    the paper's Algorithm 1: `collect_reports`, `estimate_importance`, `plan`, `train` and
    `update_network`. A federated run overrides the three methods at "Observations of a real
    network". `state_dict` is called after each round, `load_state_dict` once when a run resumes.
    """

    scenario: Scenario
    method: Method
    data: RunData
    trace: ChurnTrace
    reference_iterations: tuple[float, ...]  # mean iterations of SC-DN per round, for rivals
    initial_loss: float
    model: VerticalModel
    server_m: Array
    round: int = 0
    ledger: Ledger = field(default_factory=Ledger)
    fallbacks: int = 0
    utilities: MeasuredUtilities = field(default_factory=MeasuredUtilities)
    mission: MissionControl | None = field(default=None, init=False)
    flown: FlownRound | None = field(default=None, init=False)  # the last round of a mission
    schedule: Schedule = field(init=False)
    batteries: Batteries = field(init=False)

    def __post_init__(self) -> None:
        self.schedule = schedule(self.method.schedule)(self.scenario.learning)
        replay_arrivals(self)
        self.batteries = Batteries(self.scenario.server.battery_j)
        if self.method.uses_progress:
            rows = len(self.model.server.sample)
            self.mission = MissionControl.create(self.scenario, self.initial_loss, rows)

    def loop(self) -> Iterator[Event]:
        """Run Algorithm 1 and yield one event per round."""
        while self.round < self.scenario.learning.rounds and self.ended is None:
            began = time.perf_counter()
            reports = self.collect_reports()  # line 3
            importance = self.estimate_importance()  # line 4
            problem = self.build_problem(reports, importance)
            plan, fallback = self.plan(problem)  # line 5
            movement = problem.movement_j(plan.server_m)
            self.server_m = plan.server_m
            result = self.train(plan, self.realise(plan))  # line 6
            compute = self.bill_server()
            work_s = result.latency_s + compute.seconds
            stay_s = self.time_in_place(plan, work_s)
            flight_s = float(problem.flight_s(plan.server_m))
            self.schedule.clock.advance(compute.seconds, stay_s - work_s, flight_s)
            latency_s = flight_s + stay_s
            if self.scenario.round_s is not None:
                movement = movement.staying_longer(stay_s / self.scenario.round_s)
            outcome = add_electronics(result.outcome, self.scenario.electronics, latency_s)
            outcome = pay(self, problem, outcome, movement, compute)
            scores = {} if self.mission is None else self.model.sample_scores()
            entered, exited = self.update_network()  # line 7
            metrics = self.evaluate()

            self.ledger.add(outcome, movement, compute, latency_s)
            result = replace(result, outcome=outcome)
            event = round_event(self.round, plan, result, movement, compute, fallback)
            self.utilities.observe(result.contributions(), self.round)
            if self.mission is not None:
                costs = round_costs(plan, result, movement, compute, latency_s, self.mission)
                event["forecast"] = observe_round(self, plan, result, costs, scores)
                self.flown = flown_round(self, self.mission, problem, plan, result, costs)
            event |= {"entered": entered, "exited": exited, "metrics": metrics}
            event |= {"latency_s": latency_s, "seconds": time.perf_counter() - began}
            self.batteries.add_to_event(event, reports.fleet)
            self.add_measurements(event)
            self.batteries.depart()
            self.round += 1
            yield event

    # --- Lines 3 and 4: reports and importance ----------------------------------------------------

    @property
    def present(self) -> Mask:
        """Which devices of the trace are there: batteries may have made some leave earlier."""
        return self.trace.present(self.round) & self.batteries.present(self.trace.fleet)

    @property
    def fleet(self) -> Fleet:
        """The devices that are present."""
        return self.trace.fleet.take(self.present)

    def collect_reports(self) -> DeviceReports:
        """Return what the devices that are present transmit to the server (line 3)."""
        model, fleet = self.model, self.fleet
        ids = fleet.id.tolist()
        smoothness, global_smoothness = model.smoothness()
        if not math.isfinite(global_smoothness):
            raise DivergedError(f"smoothness is no longer finite before round {self.round + 1}")
        connections = floats([model.connections[name] for name in ids])
        survival = self.trace.survival(self.round)[self.present]
        optimizer, optimizer_value = self.data.optimizers(fleet, self.round)
        bounds = {name: stats.bound_sq for name, stats in model.gradient_stats.items()}
        variances = {name: stats.variance for name, stats in model.gradient_stats.items()}
        return DeviceReports(
            fleet=fleet,
            survival=survival,
            payload_bits=self.data.payload_bits(connections, survival, self.method.uses_importance),
            connections=connections,
            learning_rate=local_rates(
                model.step_rule, self.round, self.most_steps, fleet, optimizer, optimizer_value
            ),
            optimizer=optimizer,
            optimizer_value=optimizer_value,
            smoothness=reported(smoothness, ids, "smoothness"),
            gradient_bound_sq=reported(bounds, ids, "gradient_bound_sq"),
            gradient_variance=reported(variances, ids, "gradient_variance"),
            global_smoothness=global_smoothness,
        )

    def estimate_importance(self) -> Array:
        """Return γ by Algorithm 2 (line 4); it is 1 in round 0 and for newcomers."""
        ids = self.fleet.id.tolist()
        importance: Mapping[str, float] = {}
        if self.round > 0:
            newcomers = set(self.trace.fleet.id[self.trace.entering(self.round - 1)])
            present = self.model.present
            importance = self.model.importance([n for n in present if n not in newcomers])
        return floats([importance.get(name, 1.0) for name in ids])

    def build_problem(self, reports: DeviceReports, importance: Array) -> RoundProblem:
        """Return the round's problem (P^r)."""
        return build_problem(self.scenario, reports, importance, self.server_m, self.initial_loss)

    # --- Line 5: the plan -------------------------------------------------------------------------

    @property
    def ended(self) -> str | None:
        """Return why the run is over before its last round; None as long as it is not."""
        return None if self.mission is None else self.mission.ended

    def plan(self, problem: RoundProblem) -> tuple[Plan, str | None]:
        """Return the round's plan, and the solver that replaced the method's plan, if one did."""
        seed, iterations = self.scenario.seed, self._rival_iterations(problem)
        mission, utilities = begin_round(self, problem), None
        if self.method.uses_utilities:
            utilities = self.utilities.for_round(problem.ids, self.round, seed)
        rng = generator(seed, "controller", self.round)
        context = RoundContext(self.server_m, iterations, mission, utilities, self.round, rng)
        plan, fallback = plan_round_within_batteries(self, problem, context)
        if self.mission is not None:
            check_limits(self, self.mission, problem, plan)
        self.fallbacks += fallback is not None
        return plan, fallback

    def _rival_iterations(self, problem: RoundProblem) -> Array | None:
        if not self.method.rival:
            return None
        draws = generator(self.scenario.seed, "rival", self.round).random(len(self.trace.fleet))
        mean = self.reference_iterations[self.round]
        return rival_iterations(mean, problem.most_iterations(), draws[self.present])

    # --- Line 6: training -------------------------------------------------------------------------

    def realise(self, plan: Plan) -> Outcome:
        """Return which devices report in time under this plan, and what everyone spends."""
        leaving = self.trace.leaving(self.round)[self.present]
        draws = channel_draws(self.scenario, self.round, self.present)
        return realise(plan, leaving, self.scenario.fading, draws)

    def train(self, plan: Plan, outcome: Outcome) -> RoundResult:
        """Train parties and server under this plan, of which `outcome` is what devices do."""
        return (run_together if waits_for_all(self, plan) else run_arrivals)(self, plan, outcome)

    def train_together(self, plan: Plan, outcome: Outcome) -> StepTaken:
        """Train on the reports of a round in which the server waits for all of them."""
        self.model.parties.number_bits = chosen_bits(self.scenario, plan)
        step = self.model.train(**self.training_request(plan, outcome))
        self._retry_rates(plan)
        return step

    def training_request(self, plan: Plan, outcome: Outcome) -> dict[str, Any]:
        """Return the arguments of `VerticalModel.train` in a round that waits for all reports."""
        return {
            "round_index": self.round,
            "local_steps": self.local_steps(plan, outcome),
            "server_steps": self.server_steps(),
            "batches": self.most_steps,
            "training_parties": int((outcome.active & (self.step_counts(plan) > 0)).sum()),
            "heard": plan.problem.selected_ids(outcome.trains),
            "table_senders": plan.problem.selected_ids(self.sends_tables(plan.problem)),
        }

    def train_arrivals(self, plan: Plan, _: Outcome, arrivals: list[Arrival]) -> list[StepTaken]:
        """Train on the reports that the schedule has collected."""
        self.model.parties.number_bits = chosen_bits(self.scenario, plan)
        return self.schedule.train(
            self.model, self.round, self.server_steps(), arrivals, self.most_steps
        )

    def report_uses(self, plan: Plan, outcome: Outcome) -> list[ReportUse]:
        """Return what the messages of each device's report take in this round."""
        learning, fusion = self.scenario.learning, self.model.server.fusion
        bits = chosen_bits(self.scenario, plan)
        protocol = self.data.round_protocol(self.method.uses_importance, bits)
        trains, tables = self.step_counts(plan) > 0, self.sends_tables(plan.problem)
        parts = [
            protocol.parts(
                len(fusion.members), fusion.connections, with_table=tables[n], trains=trains[n]
            )
            if learning.payload == "protocol"
            else []
            for n in range(len(trains))
        ]
        transmit_w = self.scenario.server.transmit_w
        return report_uses(plan, outcome, parts, protocol.sample_bits, transmit_w)

    def sends_tables(self, problem: RoundProblem) -> Mask:
        """Return which devices add a part of their whole table to a report."""
        protocol = self.data.round_protocol(self.method.uses_importance)
        return np.array([protocol.sends_table(survival) for survival in problem.survival], bool)

    def _retry_rates(self, plan: Plan) -> None:
        """Try other rates if training was worth its cost nowhere, or nobody would train again."""
        rates_matter = self.most_steps > 0 and not plan.decision.active.any()
        if self.method.uses_progress:  # which does not depend on a bound with rates in it
            return
        if not rates_matter or "not_worth_it" not in plan.reasons():
            return
        largest = float(plan.problem.learning_rate.max())  # against ε in Theorem 1's denominator
        too_small = largest * self.most_steps < self.scenario.learning.epsilon
        self.model.step_rule.retry_rates(too_small=too_small)

    @property
    def most_steps(self) -> int:
        """The mini-batch steps of a party that takes all iterations; so many batches are drawn."""
        return self.scenario.learning.steps_per_iteration * self.scenario.max_iterations

    def server_steps(self) -> LocalSteps:
        """Return the server's steps in this round; in the paper, as many as a party may take."""
        learning = self.scenario.learning
        if learning.server_optimizer == "adam":
            return LocalSteps(learning.server_steps, 0.0)
        rate = halved_rate(learning.server_rate, self.round, learning.halve_rate_every)
        return LocalSteps(self.most_steps, rate)

    def bill_server(self) -> ServerCompute:
        """Return what the server's training took in this round."""
        server = self.model.server
        return server_compute(server.take_work(), server.fusion.connections, self.scenario.server)

    def time_in_place(self, plan: Plan, work_s: float) -> float:
        """Return how long the server stays at its position: for `round_s`, or longer for the work.

        With a schedule that does not wait for all reports, a round lasts as long as its work.
        """
        round_s = chosen_round_s(self.scenario, plan)
        if not self.schedule.waits_for_all and self.mission is None:
            return work_s
        return work_s if round_s is None else max(round_s, work_s)

    def step_counts(self, plan: Plan) -> Array:
        """Return the mini-batch steps that each device is to take."""
        per_iteration = self.scenario.learning.steps_per_iteration
        return np.asarray(per_iteration * np.rint(plan.decision.iterations))

    def local_steps(self, plan: Plan, outcome: Outcome) -> dict[str, LocalSteps]:
        """Return the steps of devices that train and report in time."""
        problem, counts = plan.problem, self.step_counts(plan)
        custom = self.trace.fleet.custom_optimizer[self.present]
        of_all = self.scenario.learning.local_optimizer
        return {
            problem.ids[n]: LocalSteps(
                int(counts[n]),
                float(problem.learning_rate[n]),
                custom[n] or OPTIMIZERS[problem.optimizer[n]] if of_all == "own" else of_all,
                float(problem.optimizer_value[n]),
            )
            for n in np.flatnonzero(outcome.trains)
        }

    # --- Line 7: exits and entries ----------------------------------------------------------------

    def update_network(self) -> tuple[list[str], list[str]]:
        """Process entries and exits of this round; both take effect in the next one."""
        self.admit_newcomers()
        exited = self.leaving()
        entered = self.trace.fleet.id[self.trace.entering(self.round)].tolist()
        if exited:
            self.model.remove_parties(exited)
        if entered:
            self.model.add_parties({name: self.data.newcomer_view(name) for name in entered})
        return entered, exited

    def leaving(self) -> list[str]:
        """Return the devices that leave in this round: by the trace, or with batteries used up."""
        by_trace = self.trace.leaving(self.round) & self.present
        return [*self.trace.fleet.id[by_trace].tolist(), *self.batteries.exits]

    def evaluate(self) -> Event:
        """Return the model's metrics; raise DivergedError if training has diverged."""
        for name, stats in self.model.gradient_stats.items():
            if not stats.is_finite:
                raise DivergedError(f"gradients of {name} are not finite in round {self.round + 1}")
        metrics = self.model.metrics()
        own = {metric.name for metric in self.model.server.further_metrics}
        check_finite(metrics, self.initial_loss, own, self.round)
        return metrics

    # --- Observations of a real network; a simulation has none ------------------------------------

    def apply_missing_reports(self, _: Plan, outcome: Outcome) -> Outcome:
        """Return the outcome with devices that failed to reply or left; called after training."""
        return outcome

    def admit_newcomers(self) -> None:
        """Add devices that joined to the trace; called before entries are processed."""

    def add_measurements(self, event: Event) -> None:
        """Add measured times and bytes to a round's event; called last in a round."""

    # --- Checkpoints ------------------------------------------------------------------------------

    def state_dict(self) -> Event:
        """Return the state of the run beside that of the model."""
        return {
            "round": self.round,
            "server_m": self.server_m.tolist(),
            "ledger": asdict(self.ledger),
            "schedule": self.schedule.state_dict(),
            "fallbacks": self.fallbacks,
            "mission": None if self.mission is None else self.mission.state_dict(),
            "utilities": self.utilities.state_dict(),
            "batteries": self.batteries.state_dict(),
            "initial_loss": self.initial_loss,
            "reference_iterations": list(self.reference_iterations),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        self.round = state["round"]
        self.server_m = np.array(state["server_m"])
        self.ledger = Ledger(**state["ledger"])
        self.schedule.load_state_dict(state["schedule"])
        self.fallbacks = state["fallbacks"]
        if self.mission is not None:
            self.mission.load_state_dict(state["mission"])
        self.utilities = MeasuredUtilities.from_state_dict(state["utilities"])
        self.batteries = Batteries.from_state_dict(state["batteries"])
        self.initial_loss = state["initial_loss"]
