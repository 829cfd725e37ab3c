"""One simulation as a job, and what is kept of it.

A record has, per round, the score (top-3 in percent, or the mean squared error) on samples the
departed had embedded (`score`) and on later ones (`later`), joules and seconds; and per device and
round (`each`) iterations, processing joules, importance, and distance to the server. Where a method
has a matched twin (Max VFL, GSP, VAFL), the joules that the twin would spend stand beside its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from scdn.control.plan import Plan
from scdn.control.problem import RoundProblem
from scdn.data.dataset import trivial_score
from scdn.learning.asynchronous import VirtualClock
from scdn.methods import Notes, method, methods
from scdn.paper.digits import rounded
from scdn.paper.jobs import Job
from scdn.scenario import Scenario, make_scenario
from scdn.simulation.loop import DivergedError, Simulation
from scdn.simulation.run import begin

WORK = "scdn.paper.learning:simulate"

Record = dict[str, Any]


def job(key: str, scenario: Scenario, name: str, seed: int, leader: str | None = None) -> Job:
    """A run of a method; a rival takes the mean iterations of the job `leader`."""
    chosen = scenario.model_copy(update={"method": name, "seed": seed})
    arguments = {"scenario": chosen.model_dump(mode="json", by_alias=True)}
    return Job(key, WORK, arguments, leader if method(name).rival else None)


def simulate(arguments: dict[str, Any], before: Record | None) -> Record:
    """Runs a scenario from its first round to its last."""
    scenario = make_scenario(arguments["scenario"])
    means = tuple(mean_iterations(before)) if before is not None else ()
    missing = scenario.learning.rounds - len(means)  # of a leader that ran away
    simulation = begin(scenario, means + (means[-1:] or (0.0,)) * missing)
    twin = _with_twin(simulation)
    events, status = [], "done"
    try:
        for event in simulation.loop():
            events.append(event)  # noqa: PERF402  what came before an error stays
    except DivergedError as error:
        status = f"diverged: {error}"
    trivial = trivial_score(simulation.material.dataset)
    record = {"status": status, "trivial": _score(trivial), **_kept(events)}
    if twin is not None:
        record["each"]["matched_j"] = twin[: len(events)]
    return record


def _with_twin(simulation: Simulation) -> list[list[float]] | None:
    """Lets the matched twin plan the same rounds; its processing joules, filled as rounds go."""
    chosen = simulation.method
    name = f"{chosen.name}-matched"
    if name not in {known.name for known in methods()}:
        return None
    twin, clock, spent = method(name), VirtualClock(), list[list[float]]()

    def both(problem: RoundProblem, notes: Notes) -> Plan:
        other = twin.controller(problem, notes)
        outcome = simulation.met(other)
        if twin.schedule == "asynchronous":
            arrivals = clock.round(simulation.cycles(other, outcome), len(problem))
            outcome = outcome.of_arrivals(problem.ids, arrivals)
        spent.append([rounded(value) for value in outcome.processing_j.tolist()])
        return chosen.controller(problem, notes)

    simulation.method = replace(chosen, controller=both)
    return spent


def mean_iterations(record: Record) -> list[float]:
    """Each round's iterations, averaged over the devices that were present."""
    return [float(np.mean(values)) if values else 0.0 for values in record["each"]["iterations"]]


def _kept(events: Sequence[Record]) -> Record:
    metrics = [event["metrics"] for event in events]
    devices = [event["devices"] for event in events]
    return {
        "score": [_score(found) for found in metrics],
        "later": [_score(found.get("future") or found) for found in metrics],
        "train_loss": [rounded(found["train_loss"]) for found in metrics],
        "server_j": [rounded(event["server"]["movement_j"]) for event in events],
        "server_m": [[rounded(x) for x in event["server"]["position_m"]] for event in events],
        "transmission_j": [_total(found, "transmission_j") for found in devices],
        "processing_j": [_total(found, "processing_j") for found in devices],
        "clock_hz": [rounded(sum(_clock(device) for device in found)) for found in devices],
        "latency_s": [rounded(event["latency_s"]) for event in events],
        "active": [len(event["active"]) for event in events],
        "present": [len(found) for found in devices],
        "failed": [len(event["link_failed"]) for event in events],
        "solve_s": [rounded(event["plan"]["solve_seconds"]) for event in events],
        "fallbacks": sum(event["plan"]["fallback"] is not None for event in events),
        "smoothness": [_mean(device["smoothness"] for device in found) for found in devices],
        "each": {
            "iterations": [[device["iterations"] for device in found] for found in devices],
            "processing_j": _each(devices, "processing_j"),
            "importance": _each(devices, "importance"),
            "distance_m": [
                [
                    rounded(math.dist(device["position_m"], event["server"]["position_m"]))
                    for device in event["devices"]
                ]
                for event in events
            ],
        },
    }


def _each(devices: Sequence[Sequence[Record]], term: str) -> list[list[float]]:
    return [[rounded(device[term]) for device in found] for found in devices]


def _score(found: Record) -> float:
    """Top-3 in percent, or the mean squared error."""
    return rounded(found["top3"] if "top3" in found else found["mse"])


def _clock(device: Record) -> float:
    """The clock of a device that takes part."""
    return float(device["cpu_hz"]) if device["active"] else 0.0


def _total(devices: Iterable[Record], term: str) -> float:
    return rounded(sum(device[term] for device in devices))


def _mean(values: Iterable[float]) -> float | None:
    every = list(values)
    return rounded(float(np.mean(every))) if every else None
