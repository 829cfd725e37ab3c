"""One simulated training run as a job, and what is kept of it.

A record has, per round, the score (top-3 in percent, or the mean squared error) on samples that the
departed devices had embedded (`score`) and on later ones (`later`), joules and seconds; and per
device and round (`each`) planned and executed iterations, whether it was active, processing joules,
importance and distance to the server. For a method that has a matched twin (Max VFL, GSP, VAFL) it
also has the joules the twin would spend.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from scdn.control.plan import Plan
from scdn.control.problem import RoundProblem
from scdn.data.dataset import trivial_score
from scdn.learning.schedules import schedule
from scdn.methods import RoundContext, method, methods
from scdn.paper.summaries import rounded
from scdn.paper.sweep import ArtefactJob
from scdn.scenario import Scenario, make_scenario
from scdn.simulation.arrival_rounds import party_cycles
from scdn.simulation.divergence import DivergedError
from scdn.simulation.loop import Simulation
from scdn.simulation.runner import create_simulation

TrainingRecord = dict[str, Any]


def training_job(
    key: str, scenario: Scenario, method_name: str, seed: int, leader: str | None = None
) -> ArtefactJob:
    """Return the job of one run; a rival takes the mean iterations of the job `leader`."""
    seeded = scenario.model_copy(update={"method": method_name, "seed": seed})
    arguments = {"scenario": seeded.model_dump(mode="json", by_alias=True)}
    return ArtefactJob(key, simulate, arguments, leader if method(method_name).rival else None)


def simulate(
    arguments: dict[str, Any],
    leader: TrainingRecord | None = None,
    create: Callable[[Scenario, tuple[float, ...]], Simulation] = create_simulation,
) -> TrainingRecord:
    """Run a scenario from its first round to its last, or until it diverges."""
    scenario = make_scenario(arguments["scenario"])
    means = tuple(mean_per_round(leader, "planned")) if leader is not None else ()
    missing = scenario.learning.rounds - len(means)  # the leader may have diverged
    simulation = create(scenario, means + (means[-1:] or (0.0,)) * missing)
    matched_j = _add_matched_twin(simulation)
    events, status = [], "done"
    try:
        for event in simulation.loop():
            events.append(event)  # noqa: PERF402  the events before an error are kept
    except DivergedError as error:
        status = f"diverged: {error}"
    trivial = trivial_score(simulation.data.dataset)
    record = {"status": status, "trivial": _score(trivial), **_summary(events)}
    if matched_j is not None:
        record["each"]["matched_j"] = matched_j[: len(events)]
    return record


def _add_matched_twin(simulation: Simulation) -> list[list[float]] | None:
    """Let the method's matched twin plan the same rounds.

    Return its processing joules, a list that grows with the rounds; None if there is no twin.
    """
    chosen = simulation.method
    name = f"{chosen.name}-matched"
    if name not in {known.name for known in methods()}:
        return None
    twin, joules = method(name), list[list[float]]()
    times = schedule(twin.schedule)(simulation.scenario.learning)

    def plan_both(problem: RoundProblem, context: RoundContext) -> Plan:
        plan = twin.controller(problem, context)
        outcome = simulation.realise(plan)
        if not times.waits_for_all:
            cycles = party_cycles(simulation, plan, outcome)
            arrivals = times.collect(cycles, len(problem), {})
            outcome = outcome.with_arrivals(problem, arrivals)
        joules.append([rounded(value) for value in outcome.processing_j.tolist()])
        return chosen.controller(problem, context)

    simulation.method = replace(chosen, controller=plan_both)
    return joules


def mean_per_round(record: TrainingRecord, quantity: str) -> list[float]:
    """Return a quantity's mean over the devices present, for each round."""
    return [float(np.mean(values)) if values else 0.0 for values in record["each"][quantity]]


def _summary(events: Sequence[dict[str, Any]]) -> TrainingRecord:
    metrics = [event["metrics"] for event in events]
    fleets = [event["devices"] for event in events]
    return {
        "score": [_score(values) for values in metrics],
        "later": [_score(values.get("future") or values) for values in metrics],
        "train_loss": [rounded(values["train_loss"]) for values in metrics],
        "server_j": [rounded(event["server"]["movement_j"]) for event in events],
        "server_m": [[rounded(x) for x in event["server"]["position_m"]] for event in events],
        "transmission_j": [_total(fleet, "transmission_j") for fleet in fleets],
        "processing_j": [_total(fleet, "processing_j") for fleet in fleets],
        "clock_hz": [_total([d for d in fleet if d["active"]], "cpu_hz") for fleet in fleets],
        "latency_s": [rounded(event["latency_s"]) for event in events],
        "active": [len(event["active"]) for event in events],
        "present": [len(fleet) for fleet in fleets],
        "failed": [len(event["link_failed"]) for event in events],
        "solve_s": [rounded(event["plan"]["solve_seconds"]) for event in events],
        "fallbacks": sum(event["plan"]["fallback"] is not None for event in events),
        "smoothness": [_mean_smoothness(fleet) for fleet in fleets],
        "each": {
            "iterations": [[device["executed_iterations"] for device in f] for f in fleets],
            "planned": [[device["iterations"] for device in fleet] for fleet in fleets],
            "active": [[bool(device["active"]) for device in fleet] for fleet in fleets],
            "processing_j": _each(fleets, "processing_j"),
            "importance": _each(fleets, "importance"),
            "distance_m": [
                [
                    rounded(math.dist(device["position_m"], event["server"]["position_m"]))
                    for device in event["devices"]
                ]
                for event in events
            ],
        },
    }


def _each(fleets: Sequence[Sequence[dict[str, Any]]], key: str) -> list[list[float]]:
    return [[rounded(device[key]) for device in fleet] for fleet in fleets]


def _score(metrics: dict[str, Any]) -> float:
    """Return top-3 in percent, or the mean squared error."""
    return rounded(metrics["top3"] if "top3" in metrics else metrics["mse"])


def _total(devices: Iterable[dict[str, Any]], key: str) -> float:
    return rounded(sum(device[key] for device in devices))


def _mean_smoothness(devices: Sequence[dict[str, Any]]) -> float | None:
    if not devices:
        return None
    return rounded(float(np.mean([device["smoothness"] for device in devices])))
