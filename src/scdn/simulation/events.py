"""The events of a run as they are written to `events.jsonl`."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from scdn.arrays import Mask
from scdn.control.plan import Plan
from scdn.control.problem import RoundProblem
from scdn.data import Dataset
from scdn.learning.asynchronous_schedule import Arrival
from scdn.learning.metrics import metric
from scdn.record.run_reader import Event
from scdn.scenario import Scenario
from scdn.simulation.outcome import Outcome
from scdn.simulation.server_compute import ServerCompute
from scdn.world.energy import MovementJ


def start_event(scenario: Scenario, method: str, dataset: Dataset, baselines: Event) -> Event:
    """Return the first event: scenario, method, seed, versions, data set and baselines."""
    import torch

    from scdn import __version__

    event: Event = {
        "event": "start",
        "schema": 1,
        "scenario": scenario.model_dump(mode="json", by_alias=True),
        "method": method,
        "seed": scenario.seed,
        "versions": {
            "scdn": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "torch": torch.__version__,
        },
        "dataset": {
            "name": dataset.name,
            "task": dataset.task,
            "classes": len(dataset.classes),
            "provenance": dataset.provenance,
        },
        "baselines": baselines,
    }
    return event | headline_score(scenario)


def headline_score(scenario: Scenario) -> Event:
    """Return the start event's `metrics`, those that the scenario names, and `score`, the first."""
    further = [
        {"metric": entry.name, "higher_is_better": entry.higher_is_better, "unit": entry.unit}
        for entry in map(metric, scenario.learning.metrics)
    ]
    return {"metrics": further, "score": further[0]} if further else {}


def round_event(
    round_index: int,
    plan: Plan,
    outcome: Outcome,
    movement: MovementJ,
    compute: ServerCompute,
    problem: RoundProblem,
    arrivals: Sequence[Arrival] | None,
    fallback: str | None,
) -> Event:
    """Return the event of a round: its plan and its outcome."""
    event: Event = {
        "event": "round",
        "round": round_index,
        "active": _selected_ids(problem, outcome.active),
        "link_failed": _selected_ids(problem, outcome.failed),
        "server": {
            "position_m": plan.server_m.tolist(),
            "movement_j": float(movement.total),
            "hover_j": float(movement.hover),
            "climb_j": float(movement.climb),
            "lateral_j": float(movement.lateral),
            "compute_j": compute.joules,
            "compute_s": compute.seconds,
            **asdict(compute.work),
        },
        "devices": _device_entries(plan, outcome, problem),
        "plan": {
            "solver": plan.solver,
            "objective": plan.objective,
            "gap": plan.gap,
            "solve_seconds": plan.solve_seconds,
            "fallback": fallback,
        },
        "bits_sent": float(outcome.bits.sum()),
    }
    if arrivals is not None:
        event["arrivals"] = [
            {
                "id": a.name,
                "at_s": a.at_s,
                "staleness": a.staleness,
                "dropped": a.cycle.late,
                "steps": a.cycle.local_steps.count,
                "transmission_j": a.cycle.transmission_j,
                "processing_j": a.cycle.processing_j,
                "bits_sent": a.cycle.bits,
            }
            for a in arrivals
        ]
    return event


def _selected_ids(problem: RoundProblem, mask: Mask) -> list[str]:
    return [problem.ids[n] for n in np.flatnonzero(mask)]


def _device_entries(plan: Plan, outcome: Outcome, problem: RoundProblem) -> list[Event]:
    decision, reasons = plan.decision, plan.reasons()
    entries = []
    for n, name in enumerate(problem.ids):
        delay = float(outcome.delay_s[n])
        iterations = float(decision.iterations[n])
        entries.append(
            {
                "id": name,
                "position_m": problem.position_m[n].tolist(),
                "active": bool(decision.active[n]),
                "reason": reasons[n],
                "iterations": int(iterations) if iterations.is_integer() else iterations,
                "executed_iterations": int(outcome.executed_iterations[n]),
                "power_w": float(decision.power_w[n]),
                "cpu_hz": float(decision.cpu_hz[n]),
                "delay_s": delay if math.isfinite(delay) else None,
                "transmission_j": float(outcome.transmission_j[n]),
                "processing_j": float(outcome.processing_j[n]),
                "bits_sent": float(outcome.bits[n]),
                "importance": float(problem.importance[n]),
                "smoothness": float(problem.smoothness[n]),
                "survival": float(problem.survival[n]),
            }
        )
    return entries
