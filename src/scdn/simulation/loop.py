"""Algorithm 1 as one loop: report, weigh, plan, move, train, change, record."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from scdn.arrays import Array, Mask
from scdn.control.plan import Plan, make_plan
from scdn.control.problem import RoundProblem
from scdn.control.request import problem_of, request_of
from scdn.control.solve import Solver, solve
from scdn.errors import input_error
from scdn.learning.asynchronous import Arrival, Cycle, VirtualClock, train_as_they_arrive
from scdn.learning.local import REST, Order, halved
from scdn.learning.vertical import VerticalModel
from scdn.methods import GAP, Method, Notes, exact, rival_iterations
from scdn.rng import generator
from scdn.scenario.model import ListedDevice, Scenario
from scdn.simulation.events import round_event
from scdn.simulation.ledger import Ledger
from scdn.simulation.material import Material
from scdn.simulation.outcome import Outcome, carry_out
from scdn.theory import MOMENTUM, PROXIMAL
from scdn.world.channel import draw_channel
from scdn.world.churn import ChurnTrace

Event = dict[str, Any]

EXPLODED = 1e6  # a loss beyond so many times the first is no longer training
FALLBACKS: tuple[Solver, ...] = ("greedy-matched", "exact")  # in place of a plan that breaks limits


class DivergedError(Exception):
    """Training ran away; what was recorded before stands."""


@dataclass
class Simulation:
    """A run between two rounds. `loop` goes on with it; the fields below `model` change."""

    scenario: Scenario
    method: Method
    material: Material
    trace: ChurnTrace
    reference: tuple[float, ...]  # SC-DN's mean iterations, for rivals
    initial_loss: float
    model: VerticalModel
    server_m: Array
    round: int = 0
    ledger: Ledger = field(default_factory=Ledger)
    clock: VirtualClock = field(default_factory=VirtualClock)
    fallbacks: int = 0

    def loop(self) -> Iterator[Event]:
        """One event per round, to the scenario's last."""
        while self.round < self.scenario.learning.rounds:
            began = time.perf_counter()
            problem = self.problem()
            plan, fallback = self.plan(problem)
            movement = problem.movement_j(plan.server_m)
            self.server_m = plan.server_m
            outcome = self.met(plan)
            outcome, arrivals, latency = self._train(plan, outcome)
            entered, exited = self._change()
            event = round_event(self.round, plan, outcome, movement, problem, arrivals, fallback)
            event |= {"entered": entered, "exited": exited, "metrics": self._metrics()}
            self.ledger.add(outcome, movement, latency)
            event |= {"latency_s": latency, "seconds": time.perf_counter() - began}
            self.witnessed(event)
            self.round += 1
            yield event

    def problem(self) -> RoundProblem:
        """The coming round's problem: devices report, their importance is weighed."""
        devices, whole = self._report()
        if not math.isfinite(whole):
            raise DivergedError(f"smoothness is no longer finite before round {self.round}")
        told = {"initial_loss": self.initial_loss, "global_smoothness": whole}
        learning = self.scenario.learning.model_copy(update=told)
        scenario = self.scenario.model_copy(update={"learning": learning})
        return problem_of(request_of(scenario, devices, self.server_m.tolist()))

    # --- report and weigh -----------------------------------------------------------------------

    @property
    def _present(self) -> Mask:
        return self.trace.present(self.round)

    def _leaving(self) -> Mask:
        return self.trace.leaving(self.round)[self._present]

    def _report(self) -> tuple[list[ListedDevice], float]:
        """What devices tell the server: chances, models, rates, smoothness, gradients; and L."""
        learning, model = self.scenario.learning, self.model
        chances = self.trace.survival(self.round)[self._present].tolist()
        listed = self.trace.fleet.take(self._present).listed()
        smooth, whole = model.smoothness()
        weights = self._importance(model.present)
        reports = []
        for device, survival in zip(listed, chances, strict=True):
            name = device.id
            size = model.sizes.get(name)
            told = {
                "survival": survival,
                "importance": weights[name],
                "smoothness": smooth.get(name, device.smoothness),
                "connections": float(model.connections[name]),
                "payload_bits": self.material.payload_bits(model.connections[name]),
                "learning_rate": halved(
                    device.learning_rate, self.round, learning.halve_rate_every
                ),
                "optimizer": self.material.optimizer(device, self.round),
            }
            if size is not None:
                told["gradient_bound_sq"] = size.bound_sq
                told["gradient_variance"] = size.variance
            reports.append(device.model_copy(update=told))
        return reports, whole

    def _importance(self, present: Sequence[str]) -> dict[str, float]:
        """γ; 1 in round 0 and for newcomers, who have shown nothing yet."""
        if self.round == 0:
            return dict.fromkeys(present, 1.0)
        new = set(self.trace.fleet.id[self.trace.coming(self.round - 1)])
        known = [name for name in present if name not in new]
        return dict.fromkeys(present, 1.0) | self.model.importance(known)

    # --- plan -----------------------------------------------------------------------------------

    def plan(self, problem: RoundProblem) -> tuple[Plan, str | None]:
        """The method's plan; if it breaks a limit, a plain one in its place."""
        iterations = None
        if self.method.rival:
            draw = generator(self.scenario.seed, "rival", self.round)
            luck = draw.random(len(self.trace.fleet))[self._present]
            mean = self.reference[self.round]
            iterations = rival_iterations(mean, problem.most_iterations(), luck)
        began = time.perf_counter()
        try:
            plan = self.method.controller(problem, Notes(self.server_m, iterations))
            if not problem.integer_iterations:
                plan = _in_whole_iterations(plan)
            if _sound(plan):
                return replace(plan, solve_seconds=time.perf_counter() - began), None
        except Exception as error:  # whatever a controller or its solver raises
            if self.method.controller is exact:
                raise
            warnings.warn(f"{self.method.name}: {error}", stacklevel=2)
        self.fallbacks += 1
        for solver in FALLBACKS:
            plan = solve(problem, solver, gap=GAP)
            if _sound(plan):
                return plan, solver
        broken = plan.evaluation.violations[0]
        raise input_error(
            "plan", broken.constraint, "no plan keeps it", "check region and keep-outs"
        )

    def met(self, plan: Plan) -> Outcome:
        """What a plan meets in this round."""
        return carry_out(plan, self._leaving(), self.scenario.fading, self._luck())

    def _luck(self) -> Any:
        if self.scenario.fading.mode == "none":
            return None
        draw = generator(self.scenario.seed, "fading", self.round)
        luck = draw_channel(draw, len(self.trace.fleet))
        return type(luck)(*(part[self._present] for part in luck))

    # --- train ----------------------------------------------------------------------------------

    def _train(self, plan: Plan, outcome: Outcome) -> tuple[Outcome, list[Arrival] | None, float]:
        """Parties and server train; what was spent, who arrived, and how long it took."""
        scenario = self.scenario
        rate = halved(scenario.learning.server_rate, self.round, scenario.learning.halve_rate_every)
        if self.method.schedule == "synchronous":
            most = scenario.learning.steps_per_iteration * scenario.max_iterations
            moving = int((outcome.active & (self._steps(plan) > 0)).sum())
            orders = self._orders(plan, outcome)
            self.model.train(self.round, orders, Order(most, rate), moving=moving)
            outcome = self.as_it_went(plan, outcome)
            return outcome, None, outcome.latency_s
        began = self.clock.now_s
        arrivals = self.clock.round(self.cycles(plan, outcome), len(plan.problem))
        train_as_they_arrive(self.model, self.round, rate, arrivals)
        return outcome.of_arrivals(plan.problem.ids, arrivals), arrivals, self.clock.now_s - began

    def _steps(self, plan: Plan) -> Array:
        steps = self.scenario.learning.steps_per_iteration
        return np.asarray(steps * np.rint(plan.decision.iterations))

    def _orders(self, plan: Plan, outcome: Outcome) -> dict[str, Order]:
        """Of those whose training will count."""
        problem = plan.problem
        return {
            name: Order(int(count), rate, *_numbers(kind, value))
            for name, count, rate, kind, value, works in zip(
                problem.ids,
                self._steps(plan),
                problem.learning_rate.tolist(),
                problem.optimizer.tolist(),
                problem.optimizer_value.tolist(),
                outcome.trains,
                strict=True,
            )
            if works
        }

    def cycles(self, plan: Plan, outcome: Outcome) -> dict[str, Cycle]:
        """What each party would begin now, where nobody waits for the others."""
        orders = self._orders(plan, outcome)
        at_work = outcome.active & ~outcome.leaving & (self._steps(plan) > 0)
        return {
            name: Cycle(
                orders.get(name, REST),
                float(outcome.compute_s[n] + outcome.delay_s[n]),
                bool(outcome.failed[n]),
                float(outcome.transmission_j[n]),
                float(outcome.processing_j[n]),
                float(outcome.bits[n]),
            )
            for n, name in enumerate(plan.problem.ids)
            if at_work[n]
        }

    # --- change and record ----------------------------------------------------------------------

    def _change(self) -> tuple[list[str], list[str]]:
        """Who left leaves what the memory keeps; who came gets a model. Both take effect next."""
        self.arrivals()
        ids = self.trace.fleet.id
        exited = ids[self.trace.leaving(self.round) & self._present].tolist()
        entered = ids[self.trace.coming(self.round)].tolist()
        if exited:
            self.model.leave(exited)
        if entered:
            self.model.enter({name: self.material.entering(name) for name in entered})
        return entered, exited

    def _metrics(self) -> Event:
        for name, size in self.model.sizes.items():
            if not size.finite:
                raise DivergedError(f"gradients of {name} are not finite in round {self.round}")
        found = self.model.metrics()
        limit = EXPLODED * max(1.0, self.initial_loss)
        for table in (found, found.get("future", {}), *found.get("future_by", {}).values()):
            for name, value in table.items():
                if isinstance(value, float) and not abs(value) <= limit:
                    raise DivergedError(f"{name} is {value:g} after round {self.round}")
        return found

    # --- what only a real network does: nothing here --------------------------------------------

    def as_it_went(self, _: Plan, outcome: Outcome) -> Outcome:
        """Who did not answer after all; simulated, a round goes as foreseen."""
        return outcome

    def arrivals(self) -> None:
        """Puts newcomers whom nobody foresaw into the trace."""

    def witnessed(self, event: Event) -> None:
        """Adds what was measured to a round's event."""

    # --- to go on later -------------------------------------------------------------------------

    def words(self) -> Event:
        """What a checkpoint holds beside the model."""
        return {
            "round": self.round,
            "server_m": self.server_m.tolist(),
            "ledger": asdict(self.ledger),
            "clock": self.clock.words(),
            "fallbacks": self.fallbacks,
            "initial_loss": self.initial_loss,
            "reference": list(self.reference),
        }

    def take_up(self, words: Mapping[str, Any]) -> None:
        """Goes back to where a checkpoint was made."""
        self.round = words["round"]
        self.server_m = np.array(words["server_m"])
        self.ledger = Ledger(**words["ledger"])
        self.clock = VirtualClock.of(words["clock"])
        self.fallbacks = words["fallbacks"]
        self.initial_loss = words["initial_loss"]


def _sound(plan: Plan) -> bool:
    """Nothing is broken but delays: a late report fails, and that is recorded."""
    return all(broken.constraint == "max_delay_s" for broken in plan.evaluation.violations)


def _in_whole_iterations(plan: Plan) -> Plan:
    """Devices run whole iterations, whatever a relaxed plan says; the clock carries them."""
    problem, decision = plan.problem, plan.decision
    whole = np.minimum(np.rint(decision.iterations), np.floor(problem.most_iterations()))
    clock = np.maximum(decision.cpu_hz, problem.least_cpu_hz(whole))
    rounded = decision._replace(iterations=whole, cpu_hz=clock)
    return make_plan(problem, plan.solver, "heuristic", rounded, 0.0)


def _numbers(kind: int, value: float) -> tuple[float, float]:
    """Μ and ρ of an optimiser, as `Order` takes them."""
    return (value if kind == PROXIMAL else 0.0, value if kind == MOMENTUM else 0.0)
