"""Runs as a simulation would have recorded them, without training anything."""

from __future__ import annotations

import json

import numpy as np

from scdn.record.run_reader import EVENTS, find_runs
from scdn.record.target_results import target_results
from scdn.report.study import Study
from scdn.targets import parse_targets

BEHAVIOUR = {  # iterations, joules per iteration, final accuracy: plausible, nothing more
    "sc-dn": (2.4, 0.22, 93.0),
    "mission": (1.2, 0.11, 93.0),
    "gsp": (2.4, 0.61, 90.5),
    "gsp-matched": (2.4, 0.25, 90.4),
    "max-vfl": (5.0, 0.63, 92.6),
    "vafl": (2.4, 0.6, 88.0),
    "zoc": (2.3, 0.22, 84.0),
}
BASELINES = {
    "classes": {
        "trivial": {"top1": 11.4, "top3": 31.7},
        "best_party": {"top1": 60, "top3": 82.0},
        "centralised": {"top1": 92.0, "top3": 97.9},
    },
    "regression": {"trivial": {"mse": 0.0427}, "best_party": None},
}


def write_run(folder, method="sc-dn", seed=0, rounds=12, devices=5, task="classes", churn=False,
              end="done", baselines=True, score=None, targets=(), planned=None):  # fmt: skip
    """Write a run as a simulation would have; `planned` rounds of which it made fewer."""
    network = np.random.default_rng(seed)  # the same for every method
    noise = np.random.default_rng([seed, len(method), ord(method[-1])])
    iterations, joules, final = BEHAVIOUR[method]
    fleet = {f"d{n}": _position(network) for n in range(devices)}
    departed, server = set(), np.array([50.0, 50.0, 40.0])
    lines = [_start(method, seed, planned or rounds, task)]
    if baselines:
        lines[0]["baselines"] = BASELINES[task]
    if score:
        lines[0]["score"] = score
    if targets:
        lines[0]["scenario"]["targets"] = list(targets)
    for number in range(rounds):
        exits = churn and number % 5 == 4 and len(fleet) > 2
        exited = [network.choice(sorted(fleet))] if exits else []
        failed = [n for n in fleet if churn and network.random() < 0.05 and n not in exited]
        off = [name for name in fleet if network.random() < 0.1]
        active = [name for name in fleet if name not in (*exited, *failed, *off)]
        server = np.clip(server + noise.normal(0, 7, 3), [0, 0, 2], [100, 100, 79])
        counts = {n: float(max(1, round(iterations + noise.normal(0, 0.7)))) for n in fleet}
        records = [
            _device(name, position, 0 if name in off else counts[name], joules)
            for name, position in fleet.items()
        ]
        departed.update(exited)
        metrics = _metrics(task, 1 - np.exp(-(number + 1) / 5), final, noise, bool(departed))
        entered = [f"n{number}"] if churn and number % 4 == 3 else []
        lines.append(
            {
                "event": "round",
                "round": number,
                "active": active,
                "exited": exited,
                "entered": entered,
                "link_failed": failed,
                "devices": records,
                "metrics": metrics,
                "server": {"position_m": server.tolist(), "movement_j": 2 + noise.random()},
                "plan": {"objective": 1, "gap": 1e-4, "solve_seconds": 0.02},
                "latency_s": 3 + noise.random(),
                "bits_sent": 1_628_480 * len(active),
                "seconds": 0.5,
            }
        )
        for name in exited:
            del fleet[name]
        fleet |= {name: _position(network) for name in entered}
    if end:
        start, *events = lines
        reached = target_results(start, events, parse_targets(targets))
        lines.append({"event": "end", "status": end, "rounds": rounds,
                      "metrics": events[-1]["metrics"] if events else None,
                      "targets": reached})  # fmt: skip
    folder.mkdir(parents=True)
    (folder / EVENTS).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def _start(method, seed, rounds, task):
    scenario = {
        "name": "synthetic",
        "about": "Five devices, drawn; nothing is trained.",
        "region_m": [100, 100, 80],
        "learning": {"dataset": "mnist", "rounds": rounds},
    }
    return {
        "event": "start",
        "schema": 1,
        "scenario": scenario,
        "method": method,
        "seed": seed,
        "versions": {"scdn": "0.1", "torch": "2.9"},
        "dataset": {"name": "mnist", "task": task},
    }


def _device(name, position, iterations, joules):
    return {
        "id": name,
        "position_m": position,
        "iterations": iterations,
        "power_w": 0.1,
        "cpu_hz": 1e9,
        "delay_s": 0.05,
        "transmission_j": 0.004 * (iterations > 0),
        "processing_j": joules * iterations,
        "importance": 1,
        "smoothness": 0.5,
        "bits_sent": 1_628_480,
        "reason": None if iterations else "not_worth_it",
    }


def _metrics(task, progress, final, noise, with_future):
    loss = 2.3 - 1.9 * progress + noise.normal(0, 0.02)
    if task == "classes":
        score = 31 + (final - 31) * progress + noise.normal(0, 0.8)
        scores, future = {"top1": 0.8 * score, "top3": score}, {"top3": score - 9 - noise.random()}
    else:
        error = 0.06 - 0.02 * progress + 0.0005 * noise.normal()
        scores, future = {"mse": error}, {"mse": error + 0.004}
    metrics = {"train_loss": loss, "test_loss": loss + 0.05, "error_rate": 100 - final, **scores}
    return {**metrics, "future": future} if with_future else metrics


def _position(draws):
    return [*draws.uniform(0, 100, 2).round(1).tolist(), float(draws.choice([0, 0, 30]))]


def write_study(tmp_path, methods=("sc-dn", "gsp"), seeds=(0, 1, 2), **options):
    for method in methods:
        for seed in seeds:
            write_run(tmp_path / f"{method}-{seed}", method, seed, **options)
    return Study.from_runs(find_runs([tmp_path]))
