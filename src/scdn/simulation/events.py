"""The events of a run as they are written to `events.jsonl`."""

from __future__ import annotations

import math
import platform
from dataclasses import asdict

import numpy as np

from scdn.control.plan import Plan
from scdn.control.problem import RoundProblem
from scdn.data import Dataset
from scdn.learning.metrics import Metric, further_metrics, headline_metric
from scdn.record.run_reader import Event
from scdn.scenario import Scenario
from scdn.simulation.outcome import Outcome, RoundResult
from scdn.simulation.server_compute import ServerCompute
from scdn.targets import parse_targets
from scdn.theory.theorem_1_conditions import learning_rate_limit
from scdn.world.fleet import OPTIMIZERS
from scdn.world.movement_models import MovementJ


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
            "train_rows": len(dataset.train_y),
            "provenance": dataset.provenance,
        },
        "baselines": baselines,
    }
    return event | headline_score(scenario, dataset)


def headline_score(scenario: Scenario, dataset: Dataset) -> Event:
    """Return the start event's `score`, the headline, and `metrics`, beside the task's usual ones.

    The paper's profile names the paper's own score, the top-3 accuracy.
    """
    targets = parse_targets((*filter(None, (scenario.mission.target,)), *scenario.targets))
    named = [target.metric for target in targets]
    if scenario.profile == "paper":
        named.append("top3")
    further = further_metrics(scenario.learning)
    score = headline_metric(scenario.learning, dataset, named)
    metrics = {"metrics": [_metric_entry(entry) for entry in further]} if further else {}
    return {**metrics, "score": _metric_entry(score)}


def _metric_entry(entry: Metric) -> Event:
    return {"metric": entry.name, "higher_is_better": entry.higher_is_better, "unit": entry.unit}


def round_event(
    round_index: int,
    plan: Plan,
    result: RoundResult,
    movement: MovementJ,
    compute: ServerCompute,
    fallback: str | None,
) -> Event:
    """Return the event of a round: its plan and its outcome."""
    problem, outcome = plan.problem, result.outcome
    event: Event = {
        "event": "round",
        "round": round_index,
        "active": problem.selected_ids(outcome.active),
        "link_failed": problem.selected_ids(outcome.failed),
        "server": {
            "position_m": plan.server_m.tolist(),
            "movement_j": float(movement.total),
            "hover_j": float(movement.hover),
            "climb_j": float(movement.climb),
            "lateral_j": float(movement.lateral),
            "compute_j": compute.joules,
            "compute_s": compute.seconds,
            "transmission_j": float(outcome.server_transmission_j.sum()),
            "airtime_s": float(outcome.receiving_s.sum()),
            **asdict(compute.work),
        },
        "devices": _device_entries(plan, outcome, problem),
        "plan": {
            "solver": plan.solver,
            "status": plan.status,
            "objective": plan.objective,
            "gap": plan.gap,
            "solve_seconds": plan.solve_seconds,
            "fallback": fallback,
        },
        "bits_sent": float(outcome.bits_sent.sum()),
        "bits_received": float(outcome.bits_received.sum()),
        "step": _step_entry(plan, result),
    }
    if problem.option is not None:
        option = problem.option
        event["plan"] |= {"duration": option.duration, "number_bits": option.number_bits}
    if plan.waits_for is not None:
        event["plan"]["waits_for"] = list(plan.waits_for)
    if result.arrivals is not None:
        event["arrivals"] = [
            {
                "id": a.name,
                "at_s": a.at_s,
                "staleness": a.staleness,
                "dropped": a.cycle.late,
                "steps": a.cycle.local_steps.count,
                "processing_j": a.cycle.processing_j,
                **asdict(a.radio),
            }
            for a in result.arrivals
        ]
    return event


def _step_entry(plan: Plan, result: RoundResult) -> Event:
    """Return how far parties went along their updates, and whom Theorem 1 no longer covers."""
    problem, lengths = plan.problem, [step.length for step in result.steps]
    steps = problem.learning.steps_per_iteration * problem.max_iterations
    taken = [max((s.rates.get(n, 0.0) for s in result.steps), default=0.0) for n in problem.ids]
    proximal = problem.optimizer == OPTIMIZERS.index("proximal")
    limits = [learning_rate_limit(mu, steps) for mu in problem.optimizer_value]
    return {
        "lengths": lengths,
        "shortenings": sum(step.shortenings for step in result.steps),
        "sendings": [step.sendings for step in result.steps],
        "diverged": sorted({name for step in result.steps for name in step.diverged}),
        "outside_theorem_1": problem.selected_ids(proximal & (np.array(taken) >= limits)),
    }


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
                "circuit_j": float(outcome.circuit_j[n]),
                "idle_j": float(outcome.idle_j[n]),
                "bits_sent": float(outcome.bits_sent[n]),
                "bits_received": float(outcome.bits_received[n]),
                "airtime_s": float(outcome.airtime_s[n]),
                "receiving_s": float(outcome.receiving_s[n]),
                "importance": float(problem.importance[n]),
                "smoothness": float(problem.smoothness[n]),
                "survival": float(problem.survival[n]),
            }
        )
    return entries
