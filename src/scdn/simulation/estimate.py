"""An estimate of a run before anything is trained: joules, seconds and batteries by round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scdn.control.solve import warm_up
from scdn.errors import InputError, input_error, require_package
from scdn.learning.batches import sample_size
from scdn.learning.fusion_model import FusionModel
from scdn.learning.metrics import further_metrics, recorded_names, trivial_scores
from scdn.methods import algorithm3_controller, method, with_validation_rows
from scdn.mission.mission_control import MissionOverError, mission_target, perfect_score
from scdn.record.round_totals import cumulative_totals, energy_terms
from scdn.record.run_reader import Event
from scdn.record.target_results import check_targets
from scdn.scenario import Scenario
from scdn.simulation.estimated_run import (
    EstimatedData,
    EstimatedModel,
    EstimatedRun,
    EstimatedServer,
    FusionSize,
)
from scdn.simulation.plan_within_batteries import ServerBatteryError
from scdn.simulation.request_builder import RunSizes, run_sizes
from scdn.simulation.runner import REFERENCE_METHOD, mean_iterations
from scdn.targets import parse_targets
from scdn.world.churn import ChurnTrace, churn_trace
from scdn.world.geometry import server_start
from scdn.world.link_models import link_model

Warn = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Estimate:
    """A run as it is expected: its rounds as events without metrics, and why it ends early."""

    scenario: Scenario
    rounds: list[Event]
    ended: str | None
    batteries_j: dict[str, float]  # full, of all devices that have one and were ever present

    def energy(self) -> dict[str, float]:
        """Return the joules of all rounds by term."""
        terms = [energy_terms(event) for event in self.rounds]
        names = terms[0] if terms else energy_terms({})
        return {name: sum(term[name] for term in terms) for name in names}

    def battery_levels(self) -> list[Event]:
        """Return what is left in every battery when its device was last present."""
        left = {
            device["id"]: device["battery_j"]
            for event in self.rounds
            for device in event["devices"]
            if "battery_j" in device
        }
        levels: list[Event] = [
            {"id": name, "battery_j": self.batteries_j[name], "left_j": joules}
            for name, joules in left.items()
        ]
        full = self.scenario.server.battery_j
        if full is not None and self.rounds:
            left_j = self.rounds[-1]["server"]["battery_j"]
            levels.append({"id": None, "battery_j": full, "left_j": left_j})
        return levels

    def document(self) -> dict[str, Any]:
        """Return the estimate as plain values for JSON; the server's battery has no id."""
        totals = cumulative_totals(self.rounds)
        return {
            "schema": 1,
            "scenario": self.scenario.name,
            "method": self.scenario.method,
            "seed": self.scenario.seed,
            "rounds": len(self.rounds),
            "ended": self.ended,
            "energy": {**self.energy(), "total_j": totals[-1].joules if totals else 0.0},
            "seconds": totals[-1].seconds if totals else 0.0,
            "bits": totals[-1].bits if totals else 0.0,
            "batteries": self.battery_levels(),
            "by_round": [_round_row(event) for event in self.rounds],
        }


def _round_row(event: Event) -> Event:
    forecast = event.get("forecast") or {}
    row = {
        "round": event["round"],
        "present": len(event["devices"]),
        "active": len(event["active"]),
        "iterations": sum(device["executed_iterations"] for device in event["devices"]),
        **energy_terms(event),
        "seconds": event["latency_s"],
        "position_m": event["server"]["position_m"],
    }
    return row | ({"expected_loss": forecast["expected_loss"]} if forecast else {})


def estimate(scenario: Scenario, warn: Warn = lambda _: None) -> Estimate:
    """Plan and bill every round of a scenario ahead, and train nothing.

    The churn and the channels are those of the scenario's seed. Sizes of models and messages need
    the data set in the local store; `warn` is called where it is not, and the scenario's numbers
    are taken.
    """
    link_model(scenario.radio)  # an unknown one is refused here
    chosen = method(scenario.method)
    scenario = with_validation_rows(scenario)
    if chosen.controller is algorithm3_controller:
        require_package("cvxpy", "paper", f"method {chosen.name}")
    trace = churn_trace(scenario)
    if not trace.present(0).any():
        raise input_error(scenario.name, "devices", "none at the start", "needs at least one")
    try:
        sizes = run_sizes(scenario, trace)
    except InputError as error:
        warn(f"payload_bits and connections are those of the scenario, not a run's: {error}")
        sizes = None
        learning = scenario.learning.model_copy(update={"payload": "model"})
        scenario = scenario.model_copy(update={"learning": learning})
    warm_up()
    iterations: tuple[float, ...] = ()
    if chosen.rival:
        leader = _run(scenario.model_copy(update={"method": REFERENCE_METHOD}), trace, sizes, ())
        iterations = mean_iterations(leader.rounds, scenario.learning.rounds)
    return _run(scenario, trace, sizes, iterations)


def _run(
    scenario: Scenario, trace: ChurnTrace, sizes: RunSizes | None, iterations: tuple[float, ...]
) -> Estimate:
    first_loss = scenario.learning.initial_loss
    simulation = EstimatedRun(
        scenario=scenario,
        method=method(scenario.method),
        data=EstimatedData(scenario, trace.fleet, sizes),
        trace=trace,
        reference_iterations=iterations,
        initial_loss=first_loss,
        model=_model(scenario, trace, sizes, first_loss),
        server_m=server_start(scenario),
    )
    rounds: list[Event] = []
    ended = None
    try:
        rounds.extend(simulation.loop())
    except (MissionOverError, ServerBatteryError) as error:
        ended = str(error)
    full = trace.fleet.battery_j.tolist()
    batteries = {n: j for n, j in zip(trace.fleet.id.tolist(), full, strict=True) if j == j}
    return Estimate(scenario, rounds, ended or simulation.ended, batteries)


def _model(
    scenario: Scenario, trace: ChurnTrace, sizes: RunSizes | None, first_loss: float
) -> EstimatedModel:
    fusion = FusionSize(tuple(trace.fleet.id[trace.present(0)].tolist()))
    learning, seed, rows = scenario.learning, scenario.seed, scenario.learning.sample_rows
    if sizes is not None:
        factory, rows = sizes.factory, len(sizes.dataset.train_y)
        size = factory.width, factory.options, seed, factory.fusion_hidden
        empty = FusionModel.create((), *size, factory.create_head(seed))
        per_member = factory.width * factory.fusion_hidden
        fusion = replace(fusion, per_member=per_member, others=empty.connections)
    server = EstimatedServer(fusion, range(sample_size(rows, learning)))
    errors = _first_errors(scenario, sizes, first_loss)
    return EstimatedModel(server, learning, first_loss, errors)


def _first_errors(
    scenario: Scenario, sizes: RunSizes | None, first_loss: float
) -> dict[str, float]:
    """Return the error of the target's score before round 0: that of a constant prediction."""
    trivial: dict[str, float] = {}
    if sizes is not None:
        further = further_metrics(scenario.learning)
        recorded = recorded_names(sizes.dataset.task, further)
        check_targets(parse_targets(scenario.targets), recorded, scenario.name)
        trivial = trivial_scores(sizes.dataset, further)
    target = mission_target(scenario)
    if target is None:
        return {}
    perfect = perfect_score(target.metric, scenario.learning)
    unknown = first_loss if perfect == 0 else 0.0
    error = abs(perfect - trivial.get(target.metric, unknown))
    return {target.metric: error if np.isfinite(error) and error > 0 else first_loss}
