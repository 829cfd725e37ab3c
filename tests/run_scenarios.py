"""Scenarios and runs that several tests share: a small model, every method, and a run cache."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import LONG, many

from scdn.file_io import merge_tables
from scdn.learning import vertical_model
from scdn.methods import methods
from scdn.rng import generator
from scdn.scenario import make_scenario
from scdn.simulation.runner import run
from scdn.world.churn import make_trace

METHODS = {method.name: method for method in methods() if method.name != "sc-dn-paper"}

# A perceptron of 1,210 connections in place of 50,890: report time and FLOPs shrink with it, so
# that clocks, powers and reach matter as they do by default.
BASE = {
    "method": "sc-dn",
    "max_delay_s": 0.00143,
    "fleet": [
        {
            "kind": "d",
            "count": 6,
            "altitude_m": [0, 30],
            "flops_per_cycle": [1.9e-5, 4.4e-5],
            "optimizers": ["sgd", "proximal", "momentum"],
            "weibull_scale_rounds": 8.0,
        }
    ],
    "churn": {"entry_rate": 0.7},
    "learning": {
        "dataset": "digits",
        "model": "mlp",
        "hidden": 16,
        "fusion_hidden": 8,
        "rounds": 4,
        "sample_rows": 64,
        "batch_size": 16,
        "input": "masked",
        "payload": "model",
        "unheard": "known",
    },
}


def scenario(**settings):
    return make_scenario(merge_tables(BASE, settings))


def device(name, position_m, entered=None, exited=None, **settings):
    hardware = {"id": name, "position_m": position_m, "flops_per_cycle": 3e-5}
    return hardware | {"entered": entered, "exited": exited} | settings


# Two leave at once, the network is empty for a round, and then all devices are new.
SCRIPT = [
    device("a", [20, 20, 0], exited=1),
    device("b", [80, 30, 10], exited=2),
    device("c", [40, 90, 0], exited=1),
    device("n", [60, 60, 0], entered=3, optimizer={"kind": "momentum", "rho": 0.2}),
    device("m", [10, 95, 25], entered=3, exited=5),
]


def scripted(folder, devices=SCRIPT, rounds=6, **settings):
    path = folder / f"trace-{len(list(folder.glob('trace-*')))}.json"
    make_trace({"rounds": rounds, "devices": devices}).save(path)
    script = {"churn": {"trace": str(path)}, "fleet": [], "learning": {"rounds": rounds}}
    return scenario(**merge_tables(script, settings))


def random_scenario(number):
    """Return a scenario with random settings, the same for the same number."""
    draw = generator(number, "test-simulation")

    def one_of(*options):
        return options[int(draw.integers(len(options)))]

    group = {**BASE["fleet"][0], "count": int(draw.integers(1, 6))}
    return scenario(
        seed=number,
        fleet=[group | {"weibull_scale_rounds": float(draw.uniform(2, 20))}],
        max_iterations=int(draw.integers(1, 7)),
        max_delay_s=float(BASE["max_delay_s"] * draw.uniform(0.8, 1.3)),
        server={
            "start": one_of("centre", "random", "origin", "max", "random-edge"),
            "cpu_hz": 1e5 * (1 - number % 2),  # so slow that the server's seconds matter
        },
        churn={"entry_rate": float(draw.uniform(0, 2)), "quiet_rounds": int(draw.integers(3))},
        fading={"mode": one_of("none", "drawn")},
        learning={
            "rounds": int(draw.integers(3, 6)),
            "steps_per_iteration": int(draw.integers(1, 3)),
            "input": one_of("own", "masked"),
            "labels": one_of("shared", "server"),
            "step": ("searched", "fitted", "rate")[number % 3],
            "damping": one_of("none", "active", 0.5) if number % 3 == 2 else "none",
            "server_optimizer": ("adam", "sgd")[number % 2],
            "server_steps": 10 * (1 + number),
            "server_turn": one_of("parallel", "after"),
            "payload": one_of("model", "model", "protocol"),
            "unheard": ("imputed", "known")[number % 4 == 3],
            "imputation": one_of("zero", "mean", "learned"),
            "redraw_optimizers": one_of(True, False),
        },
    )


CASES = ["plain", "drawn", "scripted", *range(many(10))]


def left_out(case, name):
    """Whether the short profile leaves a method out, since others do the same."""
    return not LONG and case not in ("plain", "scripted") and name in ("sc-dn-greedy", "zoc-greedy")


def grid(names, cases=CASES):
    pairs = [(case, name) for case in cases for name in names if not left_out(case, name)]
    return [pytest.param(case, name) for case, name in pairs]


class RunCache:
    """Scenarios by case; each run is run once and kept with what was observed in its rounds."""

    def __init__(self, folder):
        self.folder = folder
        self.runs = {}
        self.scenarios = {
            "plain": scenario(seed=3),
            "drawn": scenario(seed=3, fading={"mode": "drawn"}),
            "scripted": scripted(folder, seed=1, learning={"input": "own", "labels": "server"}),
        }

    def scenario(self, case, name="sc-dn"):
        if case not in self.scenarios:
            self.scenarios[case] = random_scenario(case)
        return self.scenarios[case].model_copy(update={"method": name})

    def run(self, case, name):
        if (case, name) not in self.runs:
            reference = self.run(case, "sc-dn").run.folder if METHODS[name].rival else None
            try:
                self.runs[case, name] = self._run(case, name, reference)
            except Exception as error:  # the same for every test that asks
                self.runs[case, name] = error
        observed = self.runs[case, name]
        if isinstance(observed, Exception):
            raise observed
        return observed

    def _run(self, case, name, reference):
        batches, steps, rounds = {}, {}, []
        begin_round = vertical_model.begin_round

        def recording(model, key, count, local_steps, *more):
            begun = begin_round(model, key, count, local_steps, *more)
            batches[model.parties.round] = begun.task.batches.numpy()
            steps[model.parties.round] = {name: s.count for name, s in local_steps.items()}
            return begun

        def observe(event, simulation):
            server = simulation.model.server
            rounds.append(
                SimpleNamespace(
                    members=server.fusion.members,
                    present=simulation.model.present,
                    metrics=metrics_in_numpy(server),
                    kept={n: e.test.clone() for n, e in server.memory.embeddings.items()},
                    event=event,
                )
            )
            rounds[0].simulation = simulation

        folder = self.folder / f"{case}-{name}"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(vertical_model, "begin_round", recording)
            recorded = run(self.scenario(case, name), folder, reference=reference, on_round=observe)
        return SimpleNamespace(run=recorded, batches=batches, steps=steps, rounds=rounds)


def metrics_in_numpy(server):
    """Return test loss and accuracy, computed from the logits without PyTorch."""
    logits, truth = server.predict().double().numpy(), server.test_targets.numpy()
    logits = logits - logits.max(axis=1, keepdims=True)
    right = logits[np.arange(len(truth)), truth]
    loss = (np.log(np.exp(logits).sum(axis=1)) - right).mean()
    return {"test_loss": loss, "top1": 100 * (logits.argmax(axis=1) == truth).mean()}


def interrupted(scenario, folder, after):
    """Run until a round is recorded, end there as with Ctrl-C, and return the folder."""

    def stop(event, _):
        if event["round"] == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(scenario, folder, on_round=stop)
    return folder


def without_times(recorded):
    """Return a run's events without the seconds they took."""
    events = [recorded.start, *recorded.rounds, *([recorded.end] if recorded.end else [])]
    events = json.loads(json.dumps(events))
    for event in events:
        event.pop("seconds", None)
        event.get("plan", {}).pop("solve_seconds", None)
    return events


def one_line(error):
    """Return the text of an error, which must be one line."""
    text = str(error.value)
    assert text
    assert "\n" not in text
    return text
